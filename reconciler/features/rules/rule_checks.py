"""A team's own rules: findings about manifests and about the rules, and guards over a plan.

Source: docs/rules.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, assert_never

from reconciler.document import ABSENT, Difference, Json, Path, value_at
from reconciler.errors import MissingExtra
from reconciler.features.rules.ask_worker import Broken, Judges, RuleAnswer, RuleInput, RuleVerdict
from reconciler.features.rules.rule_settings import CHANGE, RESOURCE, Rule, rules_of
from reconciler.model import Change, GuardViolation, Manifest, Plan, Ref, RuleWarns
from reconciler.model.guards import NAMES, ResourceRemedy
from reconciler.planning.guards import PlanUnderGuard, at_level
from reconciler.planning.guards.plan_limits import allowing, overriding, reviewing, splitting
from reconciler.project import Guards, ProjectFile
from reconciler.syntax.diagnostic import Complaint, Finding, Severity, complaint_at
from reconciler.syntax.parsed_text import DocumentText
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.expression_scope import WITHHELD
from reconciler.workspace.workspace_checks import CheckedWorkspace

if TYPE_CHECKING:
    from reconciler.project.project import Readable


def resource_seen(manifest: Manifest, environment: str) -> dict[str, Json]:
    """Return the value of the variable `resource`. Secrets have their public form, as in a plan."""
    metadata: dict[str, Json] = {
        "name": manifest.ref.name,
        "labels": dict(manifest.labels),
        "protect": manifest.protect,
    }
    if manifest.remote_id is not None:
        metadata["id"] = manifest.remote_id
    return {
        "kind": manifest.ref.kind,
        "metadata": metadata,
        "spec": manifest.spec,
        "environment": environment,
    }


def field_seen(difference: Difference) -> dict[str, Json]:
    """Return one field that differs; a side that is absent is left out."""
    sides = {"before": difference.before, "after": difference.after}
    path = ".".join(map(str, difference.path))
    return {"path": path, **{name: side for name, side in sides.items() if side is not ABSENT}}


def said_of(rule: Rule, verdict: RuleVerdict) -> str:
    """Return the message of a rule; "" where it has none."""
    match verdict:
        case RuleAnswer.FAILS:
            return rule.message
        case RuleAnswer.HOLDS | RuleAnswer.NOT_ABOUT:
            return ""
        case Broken(said=said, is_last=is_last):
            rest = "; it is no longer asked in this run" if is_last else ""
            return f"the rule `{rule.name}` cannot be judged: {said}{rest}"
        case _:
            assert_never(verdict)


def rule_complaints(checked: CheckedWorkspace) -> Iterator[Complaint]:
    """Yield the violations of the rules that are valid today, and errors in rules.

    Raises MissingExtra if there are rules but the extra that evaluates them is not installed.
    """
    rules = rules_of(checked.settings)
    if not rules or not checked.scope.ruled:
        return
    with Judges(rules) as judges:
        yield from flaws_in_rules(judges, checked.settings)
        holding = [
            (number, rule)
            for number, rule in enumerate(rules)
            if rule.on == "resource" and rule.holds_on(checked.scope.today)
        ]
        yield from _against(checked, judges, holding)


def _against(
    checked: CheckedWorkspace, judges: Judges, rules: Sequence[tuple[int, Rule]]
) -> Iterator[Complaint]:
    # A text that may be a key is not passed on, not even to a worker.
    hidden = {complaint.ref for complaint in checked.complaints if complaint.code == WITHHELD}
    wrong = {complaint.ref for complaint in checked.complaints if complaint.is_error}
    seen = [manifest for manifest in checked.declared if str(manifest.manifest.ref) not in hidden]
    questions = [
        RuleInput(
            {"resource": resource_seen(manifest.manifest, checked.scope.environment)},
            tuple(number for number, rule in rules if rule.is_about(manifest.kind.name)),
        )
        for manifest in seen
    ]
    by_number = dict(rules)
    for manifest, found in zip(seen, judges.verdicts(questions), strict=True):
        for number, verdict in found.items():
            # A rule may fail on a missing field; that error of the manifest is already reported.
            is_wrong = str(manifest.manifest.ref) in wrong
            yield from _complaints(manifest, by_number[number], verdict, is_wrong=is_wrong)


def _complaints(
    declared: DeclaredManifest, rule: Rule, verdict: RuleVerdict, *, is_wrong: bool
) -> Iterator[Complaint]:
    message = said_of(rule, verdict)
    if not message or (is_wrong and isinstance(verdict, Broken) and not verdict.is_last):
        return
    severity = Severity.ERROR if rule.is_error else Severity.WARNING
    text, place = _place(declared, rule)
    yield text.complaint(Finding(rule.code, place, message, severity, at_key=not rule.place))


def _place(declared: DeclaredManifest, rule: Rule) -> tuple[DocumentText, Path]:
    """Return the text and the path of a finding.

    The path is that of the field that the check reads, or of the name.
    """
    if rule.place:
        return declared.spec, rule.place
    for head, *steps in rule.read_fields:
        of_spec = head == "spec"
        holder = declared.manifest.spec if of_spec else declared.text.document.value
        path: Path = tuple(steps if of_spec else (head, *steps))
        while path and value_at(holder, path) is ABSENT:
            path = path[:-1]
        if path not in ((), ("metadata",)):
            return declared.spec if of_spec else declared.text, path
    return declared.text, ("metadata", "name")


def early_flaws(settings: ProjectFile, made: Readable) -> Iterator[Complaint]:
    """Yield errors in expressions of rules when other settings of rules are wrong too.

    So one run reports all errors. Yields nothing if the extra that evaluates rules is missing.
    """
    rules = rules_of(settings)
    if not rules:
        return
    with suppress(MissingExtra), Judges(rules) as judges:
        yield from flaws_in_rules(judges, settings, made)


def flaws_in_rules(
    judges: Judges, settings: ProjectFile, made: Readable | None = None
) -> Iterator[Complaint]:
    """Yield errors in the expressions of rules, placed inside them.

    `made` is what could be read of the settings, if other settings are wrong.
    """
    flaws = (
        (number, rule, flaw)
        for number, rule in enumerate(rules_of(settings))
        for flaw in judges.flaws(number)
    )
    for number, rule, flaw in flaws:
        text = text_of_rules(settings)
        document = text.document
        written = rule.check if flaw.part == "check" else rule.when or ""
        message = f"`{flaw.part}` of the rule `{rule.name}`: {flaw.said}"
        near = nearest(flaw.name, rule.variables) if flaw.name else ""
        finding = Finding("P103", ("rules", number, flaw.part), message, suggestion=near)
        finding = finding if made is None else made.as_written(finding)
        line, column = document.locate_inside(finding.path, written, flaw.offset(written))
        complaint = complaint_at(text.file, document.lines, line, column, finding)
        if near and complaint.excerpt is not None:
            # The marked place ends at a blank, and a name in an expression may have none after it.
            excerpt = replace(complaint.excerpt, width=len(flaw.name))
            complaint = replace(complaint, excerpt=excerpt)
        yield complaint


def text_of_rules(settings: ProjectFile) -> DocumentText:
    """Return the text of the project file, in which flaws of its rules are placed."""
    assert settings.written is not None  # noqa: S101 - only a project file has rules
    return settings.written


async def with_rules(asked: PlanUnderGuard) -> Plan:
    """Return the plan with violations and warnings of the project's rules. Raises MissingExtra."""
    rules = rules_of(asked.settings)
    return with_own_rules(asked.plan, rules, asked.environment.guards, asked.now.date())


def with_own_rules(plan: Plan, rules: Sequence[Rule], guards: Guards, today: date) -> Plan:
    """Return the plan with violations and warnings of the rules of plans that are in force today.

    Only changes that write are judged. A rule without an answer counts as broken. Raises
    MissingExtra.
    """
    holding = [rule for rule in rules if rule.on == "plan" and rule.holds_on(today)]
    written = [
        (change, change.manifest)
        for change in plan.changes
        if change.action.writes and change.manifest is not None
    ]
    if not holding or not written:
        return plan
    objections: list[GuardViolation] = []
    warned: dict[Ref, list[RuleWarns]] = defaultdict(list)
    for manifest, rule, words in _rule_messages(plan, written, holding):
        if rule.code in (*guards.allow, *manifest.exempt):
            continue
        if rule.is_error:
            objections.append(_objection(manifest.ref, rule, words, plan.environment))
        else:
            warned[manifest.ref].append(RuleWarns(rule.code, words))
    noted = tuple(
        replace(change, reasons=(*change.reasons, *warned[change.ref]))
        if change.ref in warned
        else change
        for change in plan.changes
    )
    return replace(plan, changes=noted, guarded=(*plan.guarded, *objections))


def _rule_messages(
    plan: Plan, written: Sequence[tuple[Change, Manifest]], rules: Sequence[Rule]
) -> Iterator[tuple[Manifest, Rule, str]]:
    questions = [
        RuleInput(
            {
                # Live documents are hidden where a secret belongs.
                CHANGE: {
                    "action": change.action.word,
                    "fields": [field_seen(difference) for difference in change.differences],
                    "before": change.before,
                    "after": change.body,
                    "destroys": [*change.destroys],
                },
                RESOURCE: resource_seen(manifest, plan.environment),
            },
            tuple(number for number, rule in enumerate(rules) if rule.is_about(change.ref.kind)),
        )
        for change, manifest in written
    ]
    with Judges(rules) as judges:
        answers = judges.verdicts(questions)
        for (_, manifest), question, found in zip(written, questions, answers, strict=True):
            for number in question.rules:
                # A rule with a flaw was not evaluated; only such rules have no verdict.
                verdict = found.get(number) or Broken(judges.flaws(number)[0].said)
                if words := said_of(rules[number], verdict):
                    yield manifest, rules[number], words


def _objection(ref: Ref, rule: Rule, words: str, environment: str) -> GuardViolation:
    code = rule.code
    exempting = f"in an earlier merge, say why it may be: `metadata.exempt: {{{code}: REASON}}`"
    remedies = (
        ResourceRemedy(
            *(f"declare {named} so that the rule holds" for named in (f"`{ref}`", NAMES)),
        ),
        reviewing(),
        splitting(ref),
        ResourceRemedy(*(f"{exempting} of {named}" for named in (f"`{ref}`", NAMES))),
        allowing(code, environment),
        overriding(code),
    )
    return at_level(
        GuardViolation(ref=ref, said=f": {words}", remedies=remedies, code=code),
        rule.level,
        environment,
    )
