"""Violations of a team's own rules of plans: guards for errors, warnings at the changes.

Source: docs/rules.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from reconciler.features.rules.ask_worker import Broken, Judges, RuleInput
from reconciler.features.rules.rule_checks import field_seen, resource_seen, said_of
from reconciler.features.rules.rule_settings import CHANGE, RESOURCE, Rule, rules_of
from reconciler.model import Change, GuardViolation, Manifest, Plan, Ref, RuleWarns
from reconciler.model.guards import NAMES, ResourceRemedy
from reconciler.planning.guards import PlanUnderGuard, at_level
from reconciler.planning.guards.plan_limits import allowing, overriding, reviewing, splitting
from reconciler.project import Guards


@dataclass(frozen=True, slots=True)
class _Said:
    manifest: Manifest
    rule: Rule
    words: str


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
    messages = [
        message
        for message in _said(plan, written, holding)
        if message.rule.code not in (*guards.allow, *message.manifest.exempt)
    ]
    objections = [
        _objection(message, plan.environment) for message in messages if message.rule.is_error
    ]
    warned: dict[Ref, list[RuleWarns]] = defaultdict(list)
    for message in messages:
        if not message.rule.is_error:
            warned[message.manifest.ref].append(RuleWarns(message.rule.code, message.words))
    noted = tuple(
        replace(change, reasons=(*change.reasons, *warned[change.ref]))
        if change.ref in warned
        else change
        for change in plan.changes
    )
    return replace(plan, changes=noted, guarded=(*plan.guarded, *objections))


def _said(
    plan: Plan, written: Sequence[tuple[Change, Manifest]], rules: Sequence[Rule]
) -> Iterator[_Said]:
    """Yield the message of each rule about each change."""
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
                words = said_of(rules[number], verdict)
                if words:
                    yield _Said(manifest, rules[number], words)


def _objection(said: _Said, environment: str) -> GuardViolation:
    ref, code = said.manifest.ref, said.rule.code
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
        GuardViolation(ref=ref, said=f": {said.words}", remedies=remedies, code=code),
        said.rule.level,
        environment,
    )
