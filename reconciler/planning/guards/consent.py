"""Consent to objections: a flag, an override, or a review. Source: docs/guards.md."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from reconciler.document import Json, digest
from reconciler.model import GuardViolation, Plan
from reconciler.model.guard_levels import REVIEW_LEVEL, GuardLevel, flag_of
from reconciler.planning.guards.plan_limits import ALERT_SILENCED
from reconciler.planning.guards.remedies import allowing, reviewing, reviewing_file
from reconciler.project import Guards


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
        overridden = self.override or objection.code in self.codes
        return overridden or self._has_reviewed(objection)

    def _has_reviewed(self, objection: GuardViolation) -> bool:
        if not self.reviewed or objection.level != REVIEW_LEVEL:
            return False
        return self.listed is None or objection.key in self.listed


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

    It covers level review, which a review consents to, but not open incidents: they come and go.
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
