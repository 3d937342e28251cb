"""Rules against their examples: each that should pass, and each that should not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reconciler.document import ANY, Json, Path, differences
from reconciler.errors import UsageError
from reconciler.kinds import BY_NAME
from reconciler.operations.open_project import Options, read_project
from reconciler.project import ProjectFile
from reconciler.project.rule_settings import CHANGE, RESOURCE, Rule
from reconciler.rules.ask_worker import Broken, Judges, RuleAnswer, RuleInput, RuleVerdict
from reconciler.rules.subjects import field_seen
from reconciler.rules.verdicts import expressions_of, said_of
from reconciler.suggestions import nearest
from reconciler.syntax.diagnostic import Complaint, Finding, warning
from reconciler.syntax.files import PROJECT_FILE
from reconciler.workspace.rule_checks import flaws_in_rules

PASS, FAIL = "pass", "fail"
OF_RESOURCE = ("apiVersion", "kind", "metadata", "spec", "environment")
OF_CHANGE = ("action", "fields", "before", "after", "destroys", RESOURCE)


@dataclass(frozen=True, slots=True)
class TestedRule:
    """A rule, how many examples it has, and how many of them came out as they should not."""

    rule: Rule
    examples: int
    failed: int


@dataclass(frozen=True, slots=True)
class Tested:
    """What became of all rules; of a project file that is malformed there are none."""

    rules: tuple[TestedRule, ...]
    complaints: tuple[Complaint, ...]

    @property
    def is_good(self) -> bool:
        """Whether all is as it should be, warnings aside."""
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


def run_rule_tests(asked: Options) -> Tested:
    """Hold each rule of the project file against its examples, whatever its `until` says.

    Raises UsageError for a path or a project file that is not there, and MissingExtra.
    """
    lost = next((path for path in asked.paths if not os.path.lexists(path)), None)
    if lost is not None:
        raise UsageError(f"there is no {lost}, from where a project file could be looked for")
    project, complaints = read_project(asked)
    if project is None:
        return Tested((), tuple(complaints))
    rules = project.settings.rules
    if not rules:
        return Tested((), tuple(complaints))
    found = list(complaints)
    examples = [example for number, rule in enumerate(rules) for example in _examples(number, rule)]
    failed: list[int] = []
    with Judges(expressions_of(rules)) as judges:
        found.extend(flaws_in_rules(judges, project.settings))
        verdicts = judges.verdicts([example.question for example in examples])
        for example, told in zip(examples, verdicts, strict=True):
            rule = rules[example.number]
            findings = list(_findings(example, rule, told.get(example.number)))
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
    """Yield why an example did not come out as it should."""
    seen = example.question.values
    known = OF_CHANGE if rule.on == "plan" else OF_RESOURCE
    given = (rule.examples.passing if example.wanted == PASS else rule.examples.fail)[example.index]
    for key in given:
        if key not in known:
            said = f"unknown field `{key}` of an example (known: {', '.join(known)})"
            near = nearest(key, known)
            yield Finding("P104", (*example.path, key), said, suggestion=near, at_key=True)
    resource = seen[RESOURCE]
    kind = resource.get("kind") if isinstance(resource, dict) else None
    if isinstance(kind, str) and not rule.is_about(kind):
        said = f"the rule `{rule.name}` is about {', '.join(rule.kinds)}, and not about {kind}"
        yield Finding("P104", example.path, said)
        return
    match example.wanted, verdict:
        case _, Broken():
            yield Finding("P104", example.path, said_of(rule, verdict))
        case "pass", RuleAnswer.FAILS:
            said = f"the rule `{rule.name}` should have nothing against this, and complains of it"
            yield Finding("P104", example.path, said)
        case "fail", RuleAnswer.HOLDS:
            said = f"the rule `{rule.name}` should complain of this, and its `check` is true"
            yield Finding("P104", example.path, said)
        case "fail", RuleAnswer.NOT_ABOUT:
            said = f"the rule `{rule.name}` should complain of this, and its `when` is false"
            yield Finding("P104", example.path, said)
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
            what = " and none that must ".join(lacks)
            said = (
                f"the rule `{rule.name}` has no example that must {what}: nobody can tell "
                "whether it does what it should"
            )
            yield warning("P104", ("rules", number, "name"), said)


def _placed(settings: ProjectFile, finding: Finding) -> Complaint:
    if settings.written is None:
        path, said = PROJECT_FILE, finding.message
        return Complaint(
            path,
            0,
            0,
            code=finding.code,
            message=said,
            suggestion=finding.suggestion,
            severity=finding.severity,
        )
    return settings.written.complaint(finding)


def _resource_values(example: Mapping[str, Json], rule: Rule) -> dict[str, Json]:
    return {RESOURCE: _resource(example, rule, {})}


def _resource(example: Mapping[str, Json], rule: Rule, spec: Json) -> Json:
    """Fill in what a part of a manifest leaves out."""
    metadata = example.get("metadata")
    about: dict[str, Json] = {"name": "example", "labels": {}, "protect": False}
    about |= metadata if isinstance(metadata, dict) else {}
    kinds: dict[str, Json] = {"kind": rule.kinds[0]} if rule.kinds else {}
    named = {key: example[key] for key in ("kind", "environment") if key in example}
    whole: dict[str, Json] = {"environment": "example", "spec": example.get("spec", spec)}
    return {**kinds, **whole, **named, "metadata": about}


def _change_values(example: Mapping[str, Json], rule: Rule) -> dict[str, Json]:
    """Fill in what a part of a change leaves out: its fields are what differs."""
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
