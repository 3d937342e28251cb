"""Impact of a plan on log samples, and the proof of it after an overwrite.

The service answers for today's policies, and the evaluator for the policies after the apply. The
evaluator finds the policy of a log, and policies that no log can meet. How a service compares is
partly assumed (docs/assumptions.md), so a plan first compares the evaluator with the service on the
live list.

After an overwrite, samples must get the planned policy. If not, the former list is put back in one
overwrite, with journal entries like every write: before it is sent, and once its answer is known.
Source: docs/policy-impact.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from operator import and_
from typing import ClassVar

from reconciler import model
from reconciler.api.client import Api
from reconciler.applying.one_write import (
    PAUSES,
    Acknowledged,
    Proved,
    Scribe,
    outcome_of,
    seen_after,
)
from reconciler.document import Json, covers, digest, stored_name, value_at
from reconciler.errors import JournalError, Locked, ReconcilerError, UnreadableReply
from reconciler.features.policy_samples.policy_impact import (
    Met,
    PolicyImpact,
    PolicySample,
    SampleAnswer,
    Samples,
)
from reconciler.journal.entries import Started, WrittenEntry
from reconciler.journal.history import once_written
from reconciler.kinds import BY_NAME
from reconciler.kinds.assumed_reads import text
from reconciler.kinds.kind import Kind, Sending, observe
from reconciler.kinds.log_policy_set import INCLUDES, IS, IS_NOT, STARTS, NameMatcher
from reconciler.kinds.log_policy_set.remote import bulk_test
from reconciler.model.quoting import listed, quoted
from reconciler.operations.plan_and_drift import SectionRequest
from reconciler.planning.guards import PlanUnderGuard
from reconciler.planning.guards.plan_limits import MOST_NAMED, allowing, overriding, reviewing
from reconciler.project import Guards
from reconciler.project.settings import POLICY_SAMPLES
from reconciler.runtime.failpoints import Point, reached

BATCH = 100  # docs/assumptions.md: chosen, no limit of a request is documented
_UNSAID = "PRIORITY_TYPE_UNSPECIFIED"
_FIELDS = ("applicationNameValues", "subsystemNameValues", "severityValues")


async def answers_to(api: Api, samples: Sequence[PolicySample]) -> list[Met]:
    """Return the policy and the priority that the service gives each sample now.

    Raises what `Api.ask` raises, and UnreadableReply if an answer does not have one result for each
    sample.
    """
    answers: list[Met] = []
    for start in range(0, len(samples), BATCH):
        rows: list[dict[str, Json]] = [
            dict(zip(_FIELDS, (row.application, row.subsystem, row.severity), strict=True))
            for row in samples[start : start + BATCH]
        ]
        results = await bulk_test(api, rows)
        _check_order(rows, results)
        answers.extend(map(_met, results))
    return answers


def met_of(name: str, priority: str) -> Met:
    """Return a policy and its priority for comparisons, however a service spells them."""
    return Met(stored_name(name), "" if priority == _UNSAID else priority)


def _check_order(rows: Sequence[dict[str, Json]], results: Sequence[dict[str, Json]]) -> None:
    """Raise UnreadableReply for answers about other logs than were requested, if that is visible.

    A service may write case and severities in another way, and may leave out any field.
    """
    for row, result in zip(rows, results, strict=True):
        echo = result.get("metaFieldsValues")
        if not isinstance(echo, dict):
            continue
        for name in _FIELDS:
            sent, returned = (
                text(document, name).casefold().removeprefix("severity_")
                for document in (row, echo)
            )
            if returned not in ("", sent):
                raise UnreadableReply(
                    "the service answered about other logs, or in another order, than it was asked"
                )


def _met(result: dict[str, Json]) -> Met:
    matched, policy = result.get("matched"), result.get("policy")
    # A service may leave out what is false.
    if matched is False or (matched is None and policy is None):
        return Met()
    if matched is not True or not isinstance(policy, dict) or not text(policy, "name"):
        raise UnreadableReply("the service does not say which policy a sample meets")
    return met_of(text(policy, "name"), text(policy, "priority"))


ANY_NAME = NameMatcher(IS_NOT, ())


@dataclass(frozen=True, slots=True)
class PolicyMatcher:
    """The parts of a policy that decide which logs it takes.

    `severities` is None where they are unknown, and empty where the policy takes all severities.
    """

    met: Met
    severities: frozenset[str] | None
    application: NameMatcher
    subsystem: NameMatcher
    enabled: bool

    def takes(self, severity: str) -> bool:
        """Return whether it takes logs of a severity; False if its severities are unknown."""
        return self.severities == frozenset() or severity in (self.severities or ())


@dataclass(frozen=True, slots=True)
class Policies:
    """A list of policies in its order.

    With `any_case` the service ignores case in names, which are case-folded here then.
    """

    listed: tuple[PolicyMatcher, ...]
    any_case: bool = False

    def met(self, sample: PolicySample) -> Met | None:
        """Return the first policy that takes a log; None where an unknown severity decides."""
        applications = parts_of(sample.application, any_case=self.any_case)
        subsystems = parts_of(sample.subsystem, any_case=self.any_case)
        for policy in self.listed:
            named = (
                policy.enabled
                and any(map(policy.application.lets_in, applications))
                and any(map(policy.subsystem.lets_in, subsystems))
            )
            if not named:
                continue
            if policy.severities is None:
                return None
            if policy.takes(sample.severity):
                return policy.met
        return Met()


def parts_of(joined: str, *, any_case: bool = False) -> list[str]:
    """Return the names in a text, separated by commas; an empty text is one empty name."""
    folded = joined.casefold() if any_case else joined
    return [part.strip() for part in folded.split(",")]


def policies_in(document: Json, *, seen: bool = False, any_case: bool = False) -> Policies:
    """Read a `spec` of a log policy set.

    Severities that are left out mean all severities where the list is declared, and are unknown
    where it was `seen`.
    """
    items = value_at(document, ("policies",))
    policies = []
    for item in items if isinstance(items, list) else []:
        policy = value_at(item, ("policy",))
        if not isinstance(policy, dict):
            continue
        severities = value_at(item, ("logRules", "severities"))
        known: Iterable[Json] = severities if isinstance(severities, list) else ()
        is_unknown = seen and not isinstance(severities, list)
        matcher = PolicyMatcher(
            met_of(text(policy, "name"), text(policy, "priority")),
            None
            if is_unknown
            else frozenset(severity for severity in known if isinstance(severity, str)),
            _rule(policy.get("applicationRule"), any_case=any_case),
            _rule(policy.get("subsystemRule"), any_case=any_case),
            policy.get("disabled") is not True,
        )
        policies.append(matcher)
    return Policies(tuple(policies), any_case)


def _rule(rule: Json, *, any_case: bool) -> NameMatcher:
    """Read a rule; a rule without a known way to compare accepts all names."""
    how = text(rule, "ruleTypeId") if isinstance(rule, dict) else ""
    if not isinstance(rule, dict) or how not in (IS, IS_NOT, STARTS, INCLUDES):
        return ANY_NAME
    return NameMatcher(how, tuple(parts_of(text(rule, "name"), any_case=any_case)))


SEVERITIES = tuple(
    f"SEVERITY_{name}" for name in ("DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL")
)
MOST_COMBINED = 1_000_000
"""The most combinations of names that are tried for one policy; with more, nothing is reported."""


def shadowed(policies: Policies) -> list[int]:
    """Return the indexes of policies that no log can meet, as earlier policies take all their logs.

    A log has one application, one subsystem and one severity. The infinitely many names come down
    to a few representatives, one for each way to be compared (`_representatives`), so a policy is
    reported only where this is proved. Disabled policies take nothing, and are not reported.
    """
    found: list[int] = []
    named = (policy.severities or frozenset() for policy in policies.listed)
    # All severities that count, and one that no policy names.
    known = frozenset((*SEVERITIES, "")).union(*named)
    rules = [
        [policy.application for policy in policies.listed],
        [policy.subsystem for policy in policies.listed],
    ]
    applications_apart, subsystems_apart = map(_compared_whole, rules)
    held = {letter for rule in chain(*rules) for letter in "".join(rule.names)}
    # A character that no rule has, of Unicode's last private-use plane, where none has case.
    fresh = next(letter for letter in map(chr, range(0x100000, 0x10FFFE)) if letter not in held)
    deciding = [
        (place, policy)
        for place, policy in enumerate(policies.listed)
        if policy.enabled and policy.severities is not None
    ]
    for number, (place, policy) in enumerate(deciding):
        before = [earlier for _, earlier in deciding[:number]]
        applications = _representatives(policy.application, applications_apart, fresh)
        subsystems = _representatives(policy.subsystem, subsystems_apart, fresh)
        takers = (
            _takers([policy.application.lets_in for policy in before], applications),
            _takers([policy.subsystem.lets_in for policy in before], subsystems),
            _takers([policy.takes for policy in before], policy.severities or known),
        )
        if _covered(takers):
            found.append(place)
    return found


def _compared_whole(rules: Sequence[NameMatcher]) -> frozenset[str]:
    return frozenset(name for rule in rules if rule.how in (IS, IS_NOT) for name in rule.names)


def _representatives(rule: NameMatcher, whole: frozenset[str], fresh: str) -> list[str]:
    """Return names that a rule accepts, which represent all names that it accepts.

    If any accepted name escapes all other rules, one of these does. A name that is compared as a
    whole represents itself. For any other accepted name, the representative has only what makes the
    rule accept it, and a character that no rule has. Whatever a rule looks for in the
    representative is also in the name. So a rule that takes the representative takes the name too.
    """
    exact = [name for name in sorted(whole) if rule.lets_in(name)]
    match rule.how:
        case "RULE_TYPE_ID_IS":
            return exact
        case "RULE_TYPE_ID_START_WITH":
            return [*(name + fresh for name in rule.names), *exact]
        case "RULE_TYPE_ID_INCLUDES":
            return [*(fresh + name + fresh for name in rule.names), *exact]
        case _:
            return [fresh, *exact]


def _takers(policies: Sequence[Callable[[str], bool]], values: Iterable[str]) -> list[int]:
    """Return for each value the policies that accept it, as bits; the fewest first, no repeats.

    Masks that contain another are left out: they are covered wherever the other is.
    """
    masks = {sum(accepts(value) << bit for bit, accepts in enumerate(policies)) for value in values}
    kept: list[int] = []
    for mask in sorted(masks, key=int.bit_count):
        if not any(mask & number == number for number in kept):
            kept.append(mask)
    return kept


def _covered(takers: tuple[list[int], list[int], list[int]]) -> bool:
    """Return whether earlier policies take each application with each subsystem and severity."""
    if reduce(and_, (mask for masks in takers for mask in masks), -1):
        # One policy takes everything, or all lists are empty.
        return True
    applications, subsystems, severities = takers
    if len(applications) * len(subsystems) * len(severities) > MOST_COMBINED:
        return False
    return all(
        application & subsystem & severity
        for application in applications
        for subsystem in subsystems
        for severity in severities
    )


async def with_policy_impact(request: SectionRequest) -> model.Plan:
    """Return the plan with its impact on the samples; its digest covers the samples then."""
    made, samples = request.plan, request.asked
    impact = await policy_impact(request.api, made, samples)
    if impact is None:
        return made
    if impact.writes:
        # Samples decide whether the overwrite is refused or undone, so a review covers them.
        rows: list[Json] = [
            [row.application, row.subsystem, row.severity, row.policy if row.expects else None]
            for row in samples.rows
        ]
        agreed = {"plan": made.digest, "samples": rows, "onMismatch": samples.on_mismatch}
        made = replace(made, digest=digest(agreed))
    return made.with_section(replace(impact, of_base=request.session.against is not None))


async def policy_impact(api: Api, plan: model.Plan, samples: Samples) -> PolicyImpact | None:
    """Ask the service about the samples, and compare; None where the plan has no policy list.

    The error of a service that cannot be asked is in the result, and stops no plan.
    """
    change = next((change for change in plan.declared if BY_NAME[change.ref.kind].sampled), None)
    if change is None:
        return None
    answers: Sequence[Met] = ()
    unasked = "the list that is live could not be read"
    if change.action is not model.Action.BLOCKED:
        try:
            answers, unasked = await answers_to(api, samples.rows), ""
        except ReconcilerError as error:
            unasked = str(error)
    is_any_case = api.assumptions.policy_names == "anyCase"
    return impact_of(change, samples, answers, unasked, any_case=is_any_case)


def impact_of(
    change: model.Change, samples: Samples, told: Sequence[Met], unasked: str, *, any_case: bool
) -> PolicyImpact:
    """Compare what was `told` with what the evaluator says of the live list and of the new list."""
    seen = change.observation if isinstance(change.observation, model.Seen) else None
    today = policies_in(seen.document if seen else None, seen=True, any_case=any_case)
    tomorrow = policies_in(change.body, any_case=any_case)
    is_blocked = change.action is model.Action.BLOCKED
    before: Sequence[Met | None] = told or [None] * len(samples.rows)
    after = before
    if not is_blocked and (change.action.writes or not told):
        # Otherwise nothing is written, and the service's answer stays true after the apply.
        after = [tomorrow.met(row) for row in samples.rows]
    pairs = zip(samples.rows, told, strict=bool(told))
    held = [SampleAnswer(row, met, today.met(row)) for row, met in pairs]
    agreeing = sum(answer.before == answer.after for answer in held)
    return PolicyImpact(
        answers=tuple(map(SampleAnswer, samples.rows, before, after)),
        agreement=agreeing / len(held) if held else None,
        shadowed=tuple(
            tomorrow.listed[place].met.policy
            for place in (() if is_blocked else shadowed(tomorrow))
        ),
        recalled=tuple(str(path[1]) for path in seen.recalled) if seen else (),
        unknown=tuple(str(path[1]) for path in seen.unseen) if seen else (),
        unasked=unasked,
        on_mismatch=samples.on_mismatch,
        writes=change.action.writes,
        disagreeing=tuple(answer for answer in held if answer.before != answer.after),
    )


async def with_failing(asked: PlanUnderGuard) -> model.Plan:
    """Return the plan with an objection where it fails samples with an expected policy."""
    found = failing_samples(asked.plan, asked.environment.guards)
    return replace(asked.plan, guarded=(*asked.plan.guarded, *found))


def failing_samples(plan: model.Plan, guards: Guards) -> Iterator[model.GuardViolation]:
    """Yield one objection where a new list of policies fails samples with an expected policy."""
    impact = plan.section(PolicyImpact)
    if impact is None or not impact.writes or POLICY_SAMPLES in guards.allow:
        return
    wrong = [*map(_reported_otherwise, impact.failures)]
    if not wrong:
        return
    counted = "1 sample" if len(wrong) == 1 else f"{len(wrong)} samples"
    shown = listed(wrong, MOST_NAMED, "; ")
    remedies = (
        "declare the policies in an order in which each sample meets the expected one",
        "if the sample is wrong by now, say in it which policy is meant",
        reviewing(),
        allowing(POLICY_SAMPLES, plan.environment),
        overriding(POLICY_SAMPLES),
    )
    yield model.GuardViolation(
        said=f"{counted} of logs would not have the policy that is expected: {shown}",
        remedies=remedies,
        code=POLICY_SAMPLES,
        figures=digest([*wrong]),
    )


def _reported_otherwise(answer: SampleAnswer) -> str:
    expected, got = (
        _named(Met(met.policy) if met is not None else None)
        for met in (Met(answer.sample.policy), answer.after)
    )
    return f"{answer.sample.log} expects {expected}, and would have {got}"


MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Overwritten:
    """An overwrite that was acknowledged and seen, with the list right before and after it."""

    sending: Sending
    answer: model.Written
    before: model.Seen | None
    after: model.Seen | None = None


@dataclass(frozen=True, slots=True)
class Proving:
    """The check of a run: it asks the samples again, and puts the list back."""

    left: ClassVar[str] = "the run was left before its samples were asked: the new list is live"
    api: Api
    scribe: Scribe
    impact: PolicyImpact

    async def proved(
        self, kind: Kind, sending: Sending, answer: model.Written, before: model.Seen | None
    ) -> Proved:
        """Check that the service gives each sample the planned policy.

        If it does not, the old list is written again, but only with `onMismatch: rollback`;
        otherwise the new list remains live.

        Never raises for an answer. `before` is the list that was read right before the overwrite.
        """
        overwrite = Overwritten(sending, answer, before)
        if self.impact.on_mismatch == "rollback":
            overwrite = replace(overwrite, after=await self._seen(kind, overwrite))
        try:
            wrong = await self._reported_otherwise()
        except ReconcilerError as error:
            message = (
                f"the samples could not be asked after the overwrite ({error}): the new list is "
                "live, and it is unknown whether it does what was planned"
            )
            return _standing(overwrite, message)
        if not wrong:
            return Proved(overwrite.answer)
        shown = listed([*map(_otherwise, wrong)], MOST_SHOWN, "; ")
        count = len(self.impact.answers)
        message = f"{len(wrong)} of {count} samples are not answered as planned: {shown}"
        if self.impact.on_mismatch != "rollback":
            return _standing(overwrite, f"{message}; the new list is live")
        return await self._put_back(kind, overwrite, message)

    async def _reported_otherwise(self) -> list[SampleAnswer]:
        """Return the samples with an answer that was not planned.

        Their `before` is the answer, and `after` the plan. A service may apply a write a little
        after its answer.
        """
        planned = [answer for answer in self.impact.answers if answer.after is not None]
        wrong: list[SampleAnswer] = []
        for pause in (*PAUSES, None):
            answers = await answers_to(self.api, [answer.sample for answer in planned])
            wrong = [
                SampleAnswer(answer.sample, met, answer.after)
                for answer, met in zip(planned, answers, strict=True)
                if met != answer.after
            ]
            if not wrong or pause is None:
                break
            await self.api.patience.sleep(pause)
        return wrong

    async def _put_back(self, kind: Kind, overwrite: Overwritten, said: str) -> Proved:
        before, change = overwrite.before, overwrite.sending.change
        now = await self._now(kind, overwrite)
        why = _cannot_be_put_back(before) or (now if isinstance(now, str) else "")
        if why or before is None or isinstance(now, str):
            return _not_put_back(overwrite, said, why)
        kept = self.scribe.backup(replace(change, observation=before))
        if kept is None or kept.live is None:
            return _not_put_back(overwrite, said, "it is too long for the journal")
        manifest = replace(overwrite.sending.manifest, spec=before.document)
        change = replace(change, manifest=manifest, observation=now, declared=kept.live)
        started = Started(
            run=self.scribe.run,
            at=self.scribe.journal.now(),
            ref=change.ref,
            operation="replace",
            declared=kept.live,
            request_id="",
            remote_id=None,
            seen=digest(now.document),
            protect=change.protected,
        )
        try:
            reached(Point.BEFORE_STARTED)
            self.scribe.append([started])
            reached(Point.AFTER_STARTED)
        except (JournalError, Locked) as error:
            why = f"the journal could not be written ({error})"
            return replace(_not_put_back(overwrite, said, why), stopped_by=error)
        return await self._sent_back(kind, Sending(change, before.document), overwrite, said)

    async def _sent_back(
        self, kind: Kind, back: Sending, overwrite: Overwritten, said: str
    ) -> Proved:
        # An overwrite of a list returns no id.
        (answer,) = await kind.remote.write(self.api, [back], lambda *_: None)
        outcome = outcome_of(back, answer)
        stopped_by = answer if isinstance(answer, ReconcilerError) else None
        entry = self.scribe.closing(back.change, outcome)
        if isinstance(outcome, model.Written) and isinstance(entry, WrittenEntry):
            entry = replace(entry, put_back=True)
            memory = once_written(self.scribe.journal.history.of(back.ref), entry)
            seen = (await seen_after(kind, self.api, [Acknowledged(back, outcome, memory)]))[0]
            if seen is not None and not isinstance(seen, model.Seen):
                return _unsure(
                    overwrite, f"{said}; the list before was sent back, and is not to be seen"
                )
        if entry is not None:
            try:
                reached(Point.BEFORE_WRITTEN)
                self.scribe.append([entry])
                reached(Point.AFTER_WRITTEN)
            except (JournalError, Locked) as error:
                stopped_by = error
        match outcome:
            case model.Written():
                message = f"{said}; the list before was put back, and is live"
                return Proved(model.Refused(overwrite.answer.ref, message), message, stopped_by)
            case model.Refused(message=why):
                message = (
                    f"{said}; the list before was not taken back ({why}): the new list is live"
                )
                return replace(_standing(overwrite, message), stopped_by=stopped_by)
            case _:
                message = f"{said}; the answer to putting the list back was lost"
                return replace(_unsure(overwrite, message), stopped_by=stopped_by)

    async def _now(self, kind: Kind, overwrite: Overwritten) -> model.Seen | str:
        """Read the list once more, or return why it must not be overwritten."""
        now = await self._seen(kind, overwrite)
        if now is None or overwrite.after is None:
            return "the list could not be read again"
        written, revision = overwrite.answer.revision, now.revision
        is_ours = covers(now.document, overwrite.sending.document, kind.shape)
        if written and revision:
            is_ours = written == revision
        # A writer who keeps the ids of policies changes one of their fields, or the last editor.
        same = (now.document, now.edit) == (overwrite.after.document, overwrite.after.edit)
        return now if is_ours and same else "another writer changed the list meanwhile"

    async def _seen(self, kind: Kind, overwrite: Overwritten) -> model.Seen | None:
        """Read the list; None where it cannot be read."""
        memory = self.scribe.journal.history.of(overwrite.answer.ref)
        try:
            found = await observe(kind, self.api, overwrite.sending.manifest, memory)
        except ReconcilerError:
            return None
        return found if isinstance(found, model.Seen) else None


def _cannot_be_put_back(before: model.Seen | None) -> str:
    """Return why the list cannot be written again as it was; "" where it can."""
    if before is None:
        return "it was not read right before"
    if before.unseen:
        names = sorted({str(path[1]) for path in before.unseen})
        return f"the severities of {listed([*map(quoted, names)], MOST_SHOWN)} are unknown"
    return ""


def _not_put_back(overwrite: Overwritten, said: str, why: str) -> Proved:
    return _standing(overwrite, f"{said}; the list before was not put back, as {why}")


def _standing(overwrite: Overwritten, said: str) -> Proved:
    """Return an overwrite that stays live, though it is not as planned."""
    message = f"{overwrite.answer.message}; {said}" if overwrite.answer.message else said
    return Proved(replace(overwrite.answer, message=message), said)


def _unsure(overwrite: Overwritten, said: str) -> Proved:
    message = f"{said}: the old list or the new one is live, and the next plan shows which"
    return Proved(model.Unconfirmed(overwrite.answer.ref, message), message)


def _otherwise(answer: SampleAnswer) -> str:
    has, should = _named(answer.before), _named(answer.after)
    return f"{answer.sample.log} has {has}, and should have {should}"


def _named(met: Met | None) -> str:
    if met is None or not met.policy:
        return "no policy"
    priority = met.priority_word
    return f"{quoted(met.policy)} ({priority})" if priority else quoted(met.policy)
