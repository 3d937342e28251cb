"""The explanation of a team's own rule: its message, its check, and its examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reconciler.errors import UsageError
from reconciler.features.rules.rule_settings import Rule, rules_of
from reconciler.operations.open_project import Options, open_project
from reconciler.report.explanations.pages import Explanation, Family, Sample
from reconciler.syntax.suggestions import nearest
from reconciler.syntax.tidy import yaml_text

FAMILY: Final = Family("a rule", "rules of this project", "rules", "rules test")
_NONE: Final = "The rule has no such example."


def own_rule(code: str, options: Options) -> Explanation:
    """Return the explanation of a rule of the project file. Raises UsageError without one."""
    rules = {rule.code: rule for rule in rules_of(open_project(options).settings)}
    if code not in rules:
        near = nearest(code, rules)
        hint = f"; did you mean `{near}`?" if near else f" (known: {', '.join(rules) or 'none'})"
        raise UsageError(f"there is no rule `{code}` in the project file{hint}")
    rule = rules[code]
    return Explanation(
        code=rule.code,
        family=FAMILY,
        title=f"a rule of this project, {'an error' if rule.is_error else 'a warning'}",
        means=rule.message,
        why=_asked(rule),
        wrong=_sample(rule.examples.fail),
        right=_sample(rule.examples.passing),
        command=FAMILY.command,
        advises="",
        page=FAMILY.page,
    )


def _asked(rule: Rule) -> str:
    """Return what the rule checks, for which resources, and until when."""
    whom = ", ".join(rule.kinds) or "every kind"
    what = "planned changes of" if rule.on == "plan" else "manifests of"
    when = f" where `{_one_line(rule.when)}`" if rule.when else ""
    until = f" It holds until {rule.until}." if rule.until else ""
    return f"It is about {what} {whom}{when}, and asks `{_one_line(rule.check)}`.{until}"


def _one_line(expression: str) -> str:
    return " ".join(expression.split())


def _sample(examples: Sequence[Mapping[str, Any]]) -> Sample:
    files = {f"example {nth}": yaml_text(dict(example)) for nth, example in enumerate(examples, 1)}
    return Sample(files=files, says="" if files else _NONE)
