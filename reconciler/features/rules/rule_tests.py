"""Rule tests: each rule against its examples that should pass and that should fail."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reconciler.document import ANY, Json, Path, differences
from reconciler.errors import UsageError
from reconciler.features.rules.ask_worker import Broken, Judges, RuleAnswer, RuleInput, RuleVerdict
from reconciler.features.rules.rule_checks import (
    expressions_of,
    field_seen,
    flaws_in_rules,
    said_of,
)
from reconciler.features.rules.rule_settings import CHANGE, RESOURCE, Rule, rules_of
from reconciler.kinds import BY_NAME
from reconciler.operations.open_project import Options, read_project
from reconciler.project import ProjectFile
from reconciler.syntax.diagnostic import Complaint, Finding, warning
from reconciler.syntax.files import PROJECT_FILE
from reconciler.syntax.suggestions import nearest

PASS, FAIL = "pass", "fail"
OF_RESOURCE = ("apiVersion", "kind", "metadata", "spec", "environment")
OF_CHANGE = ("action", "fields", "before", "after", "destroys", RESOURCE)


@dataclass(frozen=True, slots=True)
class TestedRule:
    """A rule, the number of its examples, and how many of them had the wrong result."""

    rule: Rule
    examples: int
    failed: int


@dataclass(frozen=True, slots=True)
class Tested:
    """Test results of all rules; a malformed project file has none."""

    rules: tuple[TestedRule, ...]
    complaints: tuple[Complaint, ...]

    @property
    def is_good(self) -> bool:
        """Return whether there are no errors; warnings do not count."""
        return not any(complaint.is_error for complaint in self.complaints)


@dataclass(frozen=True, slots=True)
class _Example:
    number: int
    wanted: str
    index: int
    question: RuleInput

    @property
    def path(self) -> Path:
        return ("rules", self.number, "examples", self.wanted, self.index)


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
    found = list(complaints)
    examples = [example for number, rule in enumerate(rules) for example in _examples(number, rule)]
    failed: list[int] = []
    with Judges(expressions_of(rules)) as judges:
        found.extend(flaws_in_rules(judges, project.settings))
        verdicts = judges.verdicts([example.question for example in examples])
        for example, verdict in zip(examples, verdicts, strict=True):
            rule = rules[example.number]
            findings = list(_findings(example, rule, verdict.get(example.number)))
            found.extend(_placed(project.settings, finding) for finding in findings)
            if findings or judges.flaws(example.number):
                failed.append(example.number)
    found.extend(_placed(project.settings, finding) for finding in _without_examples(rules))
    tested = (
        TestedRule(
            rule, sum(example.number == number for example in examples), failed.count(number)
        )
        for number, rule in enumerate(rules)
    )
    return Tested(tuple(tested), tuple(sorted(set(found))))


def _examples(number: int, rule: Rule) -> Iterator[_Example]:
    for wanted, examples in ((PASS, rule.examples.passing), (FAIL, rule.examples.fail)):
        for index, example in enumerate(examples):
            values = (
                _change_values(example, rule)
                if rule.on == "plan"
                else _resource_values(example, rule)
            )
            yield _Example(number, wanted, index, RuleInput(values, (number,)))


def _findings(example: _Example, rule: Rule, verdict: RuleVerdict | None) -> Iterator[Finding]:
    """Yield why an example does not have the result that it should have."""
    seen = example.question.values
    known = OF_CHANGE if rule.on == "plan" else OF_RESOURCE
    given = (rule.examples.passing if example.wanted == PASS else rule.examples.fail)[example.index]
    for key in given:
        if key not in known:
            message = f"unknown field `{key}` of an example (known: {', '.join(known)})"
            near = nearest(key, known)
            yield Finding("P104", (*example.path, key), message, suggestion=near, at_key=True)
    resource = seen[RESOURCE]
    kind = resource.get("kind") if isinstance(resource, dict) else None
    if isinstance(kind, str) and not rule.is_about(kind):
        message = f"the rule `{rule.name}` is about {', '.join(rule.kinds)}, and not about {kind}"
        yield Finding("P104", example.path, message)
        return
    match example.wanted, verdict:
        case _, Broken():
            yield Finding("P104", example.path, said_of(rule, verdict))
        case "pass", RuleAnswer.FAILS:
            message = (
                f"the rule `{rule.name}` should have nothing against this, and complains of it"
            )
            yield Finding("P104", example.path, message)
        case "fail", RuleAnswer.HOLDS:
            message = f"the rule `{rule.name}` should complain of this, and its `check` is true"
            yield Finding("P104", example.path, message)
        case "fail", RuleAnswer.NOT_ABOUT:
            message = f"the rule `{rule.name}` should complain of this, and its `when` is false"
            yield Finding("P104", example.path, message)
        case _:
            pass


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


def _placed(settings: ProjectFile, finding: Finding) -> Complaint:
    if settings.written is None:
        path, message = PROJECT_FILE, finding.message
        return Complaint(
            path,
            0,
            0,
            code=finding.code,
            message=message,
            suggestion=finding.suggestion,
            severity=finding.severity,
        )
    return settings.written.complaint(finding)


def _resource_values(example: Mapping[str, Json], rule: Rule) -> dict[str, Json]:
    return {RESOURCE: _resource(example, rule, {})}


def _resource(example: Mapping[str, Json], rule: Rule, spec: Json) -> Json:
    """Return a whole manifest for an example that leaves parts out."""
    metadata = example.get("metadata")
    about: dict[str, Json] = {"name": "example", "labels": {}, "protect": False}
    about |= metadata if isinstance(metadata, dict) else {}
    kinds: dict[str, Json] = {"kind": rule.kinds[0]} if rule.kinds else {}
    named = {key: example[key] for key in ("kind", "environment") if key in example}
    whole: dict[str, Json] = {"environment": "example", "spec": example.get("spec", spec)}
    return {**kinds, **whole, **named, "metadata": about}


def _change_values(example: Mapping[str, Json], rule: Rule) -> dict[str, Json]:
    """Return a whole change for an example that leaves parts out; its fields are computed."""
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
