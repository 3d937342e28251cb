"""Guards: what a plan may not do without consent, and who consented. Source: docs/guards.md.

Consent to objections is a flag, an override, or a review.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from reconciler.document import Json, digest
from reconciler.errors import UsageError
from reconciler.kinds import BY_NAME
from reconciler.model import GuardViolation, IncidentsUnread, Plan, Ref
from reconciler.model import guards as guard_table
from reconciler.model.guards import GUARDS, OWN_RULE, REVIEW_LEVEL, GuardLevel, flag_of, whole_key
from reconciler.planning.guards.plan_limits import (
    ALERT_SILENCED,
    OpenIncidents,
    allowing,
    exceeded_limits,
    incidents_of_silenced,
    needed_consents,
    never_written,
    reviewing,
    reviewing_file,
    taken_over,
    with_names,
    without_memory,
)
from reconciler.project import Environment, Guards, ProjectFile, settings
from reconciler.runtime.rows import Rows
from reconciler.syntax.suggestions import nearest

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.journal.entries import Entry


MOST_LISTED: Final = 40


def listing_of(guarded: Sequence[GuardViolation]) -> tuple[str, ...]:
    """Return the keys of what a review consents to; if there are many, one key for each code."""
    by_code = _by_code(guarded)
    keys = [key for keys in by_code.values() for key in keys]
    if len(keys) <= MOST_LISTED:
        return tuple(keys)
    return tuple(whole_key(code, keys) for code, keys in by_code.items())


def listed_of(guarded: Sequence[GuardViolation], listing: Collection[str]) -> frozenset[str]:
    """Return the keys of the objections that a list covers."""
    whole = {code for code, keys in _by_code(guarded).items() if whole_key(code, keys) in listing}
    return frozenset(
        objection.key
        for objection in guarded
        if objection.key in listing or objection.code in whole
    )


def _by_code(guarded: Sequence[GuardViolation]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for objection in guarded:
        if objection.level == REVIEW_LEVEL:
            found.setdefault(objection.code, []).append(objection.key)
    return found


@dataclass(frozen=True, slots=True)
class OverrideReasons:
    """The reasons for single codes; `reason` is for all guards, None where there is none."""

    codes: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None

    def check_rules(self, known: Collection[str]) -> None:
        """Raise UsageError for the code of a rule that the project does not have."""
        for code in self.codes:
            if code.startswith(OWN_RULE) and code not in known:
                raise UsageError(_unknown(code, known))


NOTHING_OVERRIDDEN = OverrideReasons()


def read_overridden(texts: Iterable[str]) -> OverrideReasons:
    """Read `CODE=REASON` and `REASON`; several reasons for the same are joined.

    The text before the first `=` is a code if it has no blank inside. Raises UsageError where no
    reason is given, and for an unknown code. Codes of rules are checked by `check_rules`.
    """
    codes: dict[str, list[str]] = {}
    reasons: list[str] = []
    for text in texts:
        code, equals, reason = (part.strip() for part in text.partition("="))
        # A code alone, also a misspelt one, is no reason for all guards.
        is_word = not code.split()[1:]
        if equals and {*code.split()} <= {*GUARDS} and not is_word:
            raise UsageError("--override-guard takes one code: repeat it for another")
        is_near = bool(nearest(code.lower(), GUARDS))
        is_code = is_word and (bool(equals) or code.startswith(OWN_RULE) or is_near)
        if is_code and code not in GUARDS and not code.startswith(OWN_RULE):
            raise UsageError(_unknown(code, GUARDS))
        given = (reason if is_code else text).strip()
        if not given:
            raise UsageError("--override-guard needs a reason, which is kept in the journal")
        (codes.setdefault(code, []) if is_code else reasons).append(given)
    return OverrideReasons(
        {code: "; ".join(given) for code, given in codes.items()},
        "; ".join(reasons) if reasons else None,
    )


def _unknown(code: str, known: Iterable[str]) -> str:
    near = nearest(code, known)
    hint = f": did you mean `{near}`?" if near else f" (known: {', '.join(known) or 'none'})"
    return f"--override-guard: there is no guard `{code}`{hint}"


Base: TypeAlias = Callable[[], Mapping[Ref, Json] | None]
"""Reads the `spec` of each resource that the base branch declares; None where it cannot be read."""

ViolationListing: TypeAlias = Callable[[Sequence[GuardViolation]], Collection[str]]
"""Returns the keys of the objections that the reviewed plan listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderReview:
    """Ways to find out whether a review covers a rollback that is undone; None where unknown.

    Before the merge, the base branch shows which fields the change edits. After the merge, the
    reviewed plan lists which rollbacks the change undoes.
    """

    base: Base | None = None
    listed: ViolationListing | None = None


NO_REVIEW: Final = UnderReview()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """The consent to an apply: its flags, its overrides, and whether the plan was reviewed.

    `flags` are the given flags, without dashes. `override` lifts every guard that has no flag of
    its own, and `codes` lift single guards. `listed` are the keys of the objections that the
    reviewed plan listed; None where a person is asked and sees the objections.
    """

    flags: Collection[str] = ()
    override: bool = False
    codes: Collection[str] = ()
    reviewed: bool = False
    listed: Collection[str] | None = None

    def to(self, objection: GuardViolation) -> bool:
        """Return whether the consent lifts an objection."""
        if flag := flag_of(objection.code):
            return flag in self.flags
        if self.override or objection.code in self.codes:
            return True
        is_reviewed = self.reviewed and objection.level == REVIEW_LEVEL
        return is_reviewed and (self.listed is None or objection.key in self.listed)


def at_level(objection: GuardViolation, level: GuardLevel, environment: str) -> GuardViolation:
    """Return an objection at a level, without the remedies that do not work at that level."""
    if level == objection.level:
        return objection
    never = (reviewing(), reviewing_file(), allowing(objection.code, environment))
    remedies = tuple(way for way in objection.remedies if way not in never)
    return replace(objection, own_level=level, remedies=remedies)


def with_levels(plan: Plan, guards: Guards) -> Plan:
    """Return a plan in which objections have the levels of its environment; levels only rise.

    The digest of a plan without objections of level review stays as it is.
    """
    guarded = tuple(
        at_level(objection, guards.levels.get(objection.code, objection.level), plan.environment)
        for objection in plan.guarded
    )
    covered: list[Json] = [*sorted(objection.key for objection in guarded if is_covered(objection))]
    bound = digest({"plan": plan.digest, "guards": covered}) if covered else plan.digest
    return replace(plan, guarded=guarded, digest=bound)


def is_covered(objection: GuardViolation) -> bool:
    """Return whether the digest of a plan covers an objection.

    It covers objections of level review, except those about open incidents, which come and go.
    """
    return objection.level == REVIEW_LEVEL and objection.code != ALERT_SILENCED


def consented(plan: Plan) -> Plan:
    """Return the plan with all its objections consented to."""
    return replace(
        plan, guarded=tuple(replace(violation, is_met=True) for violation in plan.guarded)
    )


def unmet(guarded: Sequence[GuardViolation], agreed: Agreed) -> tuple[GuardViolation, ...]:
    """Return the objections that no consent lifts."""
    return tuple(objection for objection in guarded if not agreed.to(objection))


def guards_of_part(whole: Plan, part: Plan, guards: Guards) -> tuple[GuardViolation, ...]:
    """Return the objections to a whole plan that also apply to a part of its changes.

    They keep the figures of the whole plan, which were reviewed. A guard about the whole plan that
    has no case here applies to every part.
    """
    refs = {change.ref for change in part.changes}
    kinds = {change.ref.kind for change in part.changes if change.action.writes}
    ended = _ended_limits(whole, part, guards)
    lacks_journal = any(True for _ in without_memory(part))

    def holds(objection: GuardViolation) -> bool:
        match objection.code:
            case _ if objection.ref is not None:
                return objection.ref in refs
            case guard_table.NEW_JOURNAL:
                return lacks_journal
            case settings.TAKES_OVER:
                return any(never_written(change) is not None for change in part.changes)
            case settings.POLICY_SAMPLES:
                return any(BY_NAME[kind].destroyable for kind in kinds)
            case _:
                return objection.key not in ended

    return tuple(objection for objection in whole.guarded if holds(objection))


def _ended_limits(whole: Plan, part: Plan, guards: Guards) -> set[str]:
    """Return the keys of the limits that the whole plan exceeds, and the part does not."""
    ended: set[str] = set()
    for kind in {change.ref.kind for change in whole.changes}:
        of_whole, of_part = (
            [*exceeded_limits(replace(plan, changes=changes), guards)]
            for plan in (whole, part)
            for changes in [tuple(found for found in plan.changes if found.ref.kind == kind)]
        )
        if not of_part:
            ended |= {objection.key for objection in of_whole}
    return ended


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUnderGuard:
    """A plan, and what guards of features judge it by.

    `now` is the moment of the run, in UTC, and `same_clock` means that the service runs by the
    clock of this machine. `review` is what is known about the review of the plan. `entries`
    reads the entries of the journal. `session` is that of the run, for features that know it.
    """

    api: Api
    plan: Plan
    environment: Environment
    settings: ProjectFile
    now: datetime
    same_clock: bool = False
    review: UnderReview = NO_REVIEW
    entries: Callable[[], Sequence[Entry]] = tuple
    session: object = None


FeatureGuard: TypeAlias = Callable[[PlanUnderGuard], Awaitable[Plan]]
"""Returns the plan with the violations and remarks of one feature."""

FEATURE_GUARDS: Final = Rows[FeatureGuard]("guards")
"""The guards of features, by their causes: the code of a reason of a change, or a setting."""


async def with_feature_guards(asked: PlanUnderGuard) -> Plan:
    """Return the plan with the violations that guards of features find in it.

    A guard is loaded only if the plan has its cause and writes something. The guard of a setting is
    loaded too if only the journal would change.
    """
    for cause in dict.fromkeys(_causes(asked)):
        if cause in FEATURE_GUARDS:
            asked = replace(asked, plan=await FEATURE_GUARDS.load(cause)(asked))
    return asked.plan


def _causes(asked: PlanUnderGuard) -> Iterator[str]:
    """Yield the codes of reasons, the given settings of features, and `rules` for rules of plans.

    The violations come in this order.
    """
    written = [change for change in asked.plan.changes if change.action.writes]
    yield from (reason.code for change in written for reason in change.reasons)
    if written or asked.plan.is_noted:
        yield from (name for name, _ in asked.environment.settings_given(object))
    if written and asked.settings.plan_rules:
        yield "rules"


async def with_guards(api: Api, plan: Plan, guards: Guards) -> Plan:
    """Return the plan with the violations that guards of the core find in it.

    Incidents are listed only where the plan silences an alert, and names only where it takes over
    an alert unseen. A listing that cannot be read is noted and stops nothing.
    """
    incidents = await incidents_of_silenced(api, plan)
    noted = plan
    if incidents.unread:
        unread = IncidentsUnread(incidents.unread)
        noted = replace(
            plan,
            changes=tuple(
                replace(change, reasons=(*change.reasons, unread))
                if change.ref in incidents.silenced
                else change
                for change in plan.changes
            ),
        )
    noted, unnamed = await with_names(api, noted)
    return replace(noted, guarded=objections(noted, guards, incidents, unnamed))


def objections(
    plan: Plan,
    guards: Guards,
    incidents: OpenIncidents | None = None,
    unnamed: str = "",
) -> tuple[GuardViolation, ...]:
    """Return what needs consent before the plan is applied; objections about many come first.

    `unnamed` is why the names of what is taken over could not be read, "" where they could.
    """
    return (
        *exceeded_limits(plan, guards),
        *taken_over(plan, guards, unnamed),
        *needed_consents(plan, guards, incidents),
    )
