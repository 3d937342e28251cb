"""`reconciler rules`: test each rule with the examples that should pass and should fail.

The results are for a terminal and as JSON; `explain` shows a rule. Source: docs/rules.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import click
from pydantic import Field
from typing_extensions import TypedDict

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style, words
from reconciler.cli.root import Group
from reconciler.document import ANY, Json, Path, differences
from reconciler.errors import InvalidInput, UsageError
from reconciler.features.rules.ask_worker import Broken, Judges, RuleAnswer, RuleInput, RuleVerdict
from reconciler.features.rules.rule_checks import field_seen, flaws_in_rules, said_of, text_of_rules
from reconciler.features.rules.rule_settings import CHANGE, RESOURCE, Rule, rules_of
from reconciler.kinds import BY_NAME
from reconciler.operations.open_project import Options, open_project, read_project
from reconciler.report.complaints.document import (
    ComplaintDocument,
    complaint_document,
    complaints_text,
)
from reconciler.report.explanations.pages import Explanation, Family, Sample
from reconciler.report.safe import json_text
from reconciler.report.words import plural
from reconciler.syntax.diagnostic import Complaint, Finding, warning
from reconciler.syntax.suggestions import nearest
from reconciler.syntax.tidy import yaml_text

FAMILY: Final = Family("a rule", "rules of this project", "rules", "rules test")


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
        why=_describe_check(rule),
        wrong=_sample(rule.examples.fail),
        right=_sample(rule.examples.passing),
        command=FAMILY.command,
        advises="",
        page=FAMILY.page,
    )


def _describe_check(rule: Rule) -> str:
    whom = ", ".join(rule.kinds) or "every kind"
    what = "planned changes of" if rule.on == "plan" else "manifests of"
    when = f" where `{_one_line(rule.when)}`" if rule.when else ""
    until = f" It holds until {rule.until}." if rule.until else ""
    return f"It is about {what} {whom}{when}, and asks `{_one_line(rule.check)}`.{until}"


def _one_line(expression: str) -> str:
    return " ".join(expression.split())


def _sample(examples: Sequence[Mapping[str, Any]]) -> Sample:
    files = {f"example {nth}": yaml_text(dict(example)) for nth, example in enumerate(examples, 1)}
    return Sample(files=files, says="" if files else "The rule has no such example.")


PASS, FAIL = "pass", "fail"
OF_RESOURCE = ("apiVersion", "kind", "metadata", "spec", "environment")
OF_CHANGE = ("action", "fields", "before", "after", "destroys", RESOURCE)


class TestedRuleDocument(TypedDict):
    """A rule."""

    code: Annotated[str, Field(description="R/NAME, as findings and guards have it.")]
    on: Literal["resource", "plan"]
    severity: Literal["error", "warning"]
    examples: Annotated[int, Field(ge=0)]
    failed: Annotated[
        int, Field(ge=0, description="Examples that did not come out as they should.")
    ]


class RuleTestsDocument(TypedDict):
    """Output of `rules test --format json`."""

    valid: Annotated[bool, Field(description="Whether none of the complaints is an error.")]
    rules: list[TestedRuleDocument]
    complaints: list[ComplaintDocument]


@dataclass(frozen=True, slots=True)
class Tested:
    """Test results of all rules; a malformed project file has none."""

    rules: tuple[TestedRuleDocument, ...]
    complaints: tuple[Complaint, ...]

    @property
    def is_good(self) -> bool:
        """Return whether there are no errors; warnings do not count."""
        return not any(complaint.is_error for complaint in self.complaints)


@dataclass(frozen=True, slots=True)
class _Example:
    """An example of a rule, by the rule's number, and the wanted result.

    `path` is its place in the project file.
    """

    number: int
    wanted: str
    given: Mapping[str, Json]
    path: Path


def run_rule_tests(options: Options) -> Tested:
    """Test each rule of the project file with its examples, even if its `until` has passed.

    Raises UsageError for a missing path or project file, and MissingExtra.
    """
    lost = next((path for path in options.paths if not os.path.lexists(path)), None)
    if lost is not None:
        raise UsageError(f"there is no {lost}, from where a project file could be looked for")
    project, complaints = read_project(options)
    if project is None:
        return Tested((), tuple(complaints))
    rules = rules_of(project.settings)
    if not rules:
        return Tested((), tuple(complaints))
    found, text = list(complaints), text_of_rules(project.settings)
    examples = [example for number, rule in enumerate(rules) for example in _examples(number, rule)]
    failed: list[int] = []
    with Judges(rules) as judges:
        found.extend(flaws_in_rules(judges, project.settings))
        questions = [
            RuleInput(_values(example.given, rules[example.number]), (example.number,))
            for example in examples
        ]
        for example, question, verdict in zip(
            examples, questions, judges.verdicts(questions), strict=True
        ):
            rule, answer = rules[example.number], verdict.get(example.number)
            findings = list(_findings(example, rule, question.values[RESOURCE], answer))
            found.extend(map(text.complaint, findings))
            if findings or judges.flaws(example.number):
                failed.append(example.number)
    found.extend(map(text.complaint, _without_examples(rules)))
    tested: Iterator[TestedRuleDocument] = (
        {
            "code": rule.code,
            "on": rule.on,
            "severity": rule.severity,
            "examples": sum(example.number == number for example in examples),
            "failed": failed.count(number),
        }
        for number, rule in enumerate(rules)
    )
    return Tested(tuple(tested), tuple(sorted(set(found))))


def _examples(number: int, rule: Rule) -> Iterator[_Example]:
    for wanted, examples in ((PASS, rule.examples.passing), (FAIL, rule.examples.fail)):
        for index, given in enumerate(examples):
            yield _Example(number, wanted, given, ("rules", number, "examples", wanted, index))


_WRONG: Final = {
    (PASS, RuleAnswer.FAILS): "have nothing against this, and complains of it",
    (FAIL, RuleAnswer.HOLDS): "complain of this, and its `check` is true",
    (FAIL, RuleAnswer.NOT_ABOUT): "complain of this, and its `when` is false",
}
"""The wanted and the actual effect of a rule, by the wanted result and the rule's answer."""


def _findings(
    example: _Example, rule: Rule, resource: Json, verdict: RuleVerdict | None
) -> Iterator[Finding]:
    known = OF_CHANGE if rule.on == "plan" else OF_RESOURCE
    for key in example.given:
        if key not in known:
            message = f"unknown field `{key}` of an example (known: {', '.join(known)})"
            near = nearest(key, known)
            yield Finding("P104", (*example.path, key), message, suggestion=near, at_key=True)
    kind = resource.get("kind") if isinstance(resource, dict) else None
    if isinstance(kind, str) and not rule.is_about(kind):
        message = f"the rule `{rule.name}` is about {', '.join(rule.kinds)}, and not about {kind}"
        yield Finding("P104", example.path, message)
    elif isinstance(verdict, Broken):
        yield Finding("P104", example.path, said_of(rule, verdict))
    elif verdict is not None and (wrong := _WRONG.get((example.wanted, verdict))):
        yield Finding("P104", example.path, f"the rule `{rule.name}` should {wrong}")


def _without_examples(rules: Sequence[Rule]) -> Iterator[Finding]:
    for number, rule in enumerate(rules):
        lacks = [
            name
            for name, examples in ((PASS, rule.examples.passing), (FAIL, rule.examples.fail))
            if not examples
        ]
        if lacks:
            expected = " and none that must ".join(lacks)
            message = (
                f"the rule `{rule.name}` has no example that must {expected}: it is unknown "
                "whether it does what it should"
            )
            yield warning("P104", ("rules", number, "name"), message)


def _resource(example: Mapping[str, Json], rule: Rule, spec: Json) -> Json:
    """Return a whole manifest for an example that leaves parts out."""
    metadata = example.get("metadata")
    about: dict[str, Json] = {"name": "example", "labels": {}, "protect": False}
    about |= metadata if isinstance(metadata, dict) else {}
    kinds: dict[str, Json] = {"kind": rule.kinds[0]} if rule.kinds else {}
    named = {key: example[key] for key in ("kind", "environment") if key in example}
    whole: dict[str, Json] = {"environment": "example", "spec": example.get("spec", spec)}
    return {**kinds, **whole, **named, "metadata": about}


def _values(example: Mapping[str, Json], rule: Rule) -> dict[str, Json]:
    """Return the values of the variables, whole where the example leaves parts out.

    The fields of a change are computed.
    """
    if rule.on == "resource":
        return {RESOURCE: _resource(example, rule, {})}
    before, after = example.get("before"), example.get("after", {})
    given = example.get("resource")
    resource = _resource(given if isinstance(given, dict) else {}, rule, after)
    kind = resource.get("kind") if isinstance(resource, dict) else None
    shape = BY_NAME[kind].shape if isinstance(kind, str) and kind in BY_NAME else ANY
    found = [] if before is None else differences(before, after, shape)
    fields: list[Json] = [field_seen(difference) for difference in found]
    change: dict[str, Json] = {
        "action": "create" if before is None else "update",
        "fields": fields,
        "before": before,
        "after": after,
        "destroys": [],
    }
    change |= {key: example[key] for key in change if key in example}
    return {CHANGE: change, RESOURCE: resource}


def rule_tests_json(tested: Tested) -> str:
    """Return the JSON of schemas/rule-tests.schema.json, ending in a line break."""
    document: RuleTestsDocument = {
        "valid": tested.is_good,
        "rules": [*tested.rules],
        "complaints": [complaint_document(complaint) for complaint in tested.complaints],
    }
    return json_text(document)


def rule_tests_summary(tested: Tested) -> str:
    """Return the results of all rules in one line."""
    rules, complaints = tested.rules, tested.complaints
    if not rules and not complaints:
        return "the project file has no rules: docs/rules.md says how to write one"
    count = sum(rule["examples"] for rule in rules)
    failed = sum(rule["failed"] for rule in rules)
    held = f"{plural(len(rules), 'rule')} tested with {plural(count, 'example')}"
    if failed:
        return f"{held}: {failed} came out as they should not"
    wrong = sum(complaint.is_error for complaint in complaints)
    return f"{held}: {plural(wrong, 'error')}" if wrong else f"{held}: all came out as they should"


@click.group(cls=Group)
def rules() -> None:
    """Test the rules of the project file."""


@rules.command
@options.locating
@options.formats("text", "json")
def test(*, options: Options, form: str) -> int:
    """Check that each rule of the project file judges its examples as they say; offline.

    With PATH, the project file is looked for from there upward.
    """
    tested = run_rule_tests(options)
    if form == "json":
        data(rule_tests_json(tested))
    elif shown := [
        complaint for complaint in tested.complaints if complaint.is_error or not options.quiet
    ]:
        data(complaints_text(shown, stdout_style(verbose=options.verbose)))
    if not options.quiet:
        words(rule_tests_summary(tested))
    return 0 if tested.is_good else InvalidInput.exit_code
