"""What lifts an objection: flags, and reviews of a plan that lists it. Source: docs/guards.md."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from reconciler.document import Json, digest
from reconciler.guards.rules import ALERT_SILENCED, REVIEW, REVIEW_FILE, allowing
from reconciler.project import Guards
from reconciler.resource import Objection, Plan
from reconciler.resource.guard_levels import REVIEW_LEVEL, GuardLevel, flag_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """What was agreed to: by flags, or by whoever reviewed the very plan that is applied.

    `flags` are those that were given, without dashes. `override` lifts every guard that has no
    flag of its own, and `codes` are overridden each by itself. `listed` are the keys of what the
    reviewed plan listed; None where whoever agrees sees these very objections.
    """

    flags: Collection[str] = ()
    override: bool = False
    codes: Collection[str] = ()
    reviewed: bool = False
    listed: Collection[str] | None = None

    def to(self, objection: Objection) -> bool:
        """Return whether it lifts an objection."""
        if flag := flag_of(objection.code):
            return flag in self.flags
        overridden = self.override or objection.code in self.codes
        return overridden or self._has_reviewed(objection)

    def _has_reviewed(self, objection: Objection) -> bool:
        if not self.reviewed or objection.level != REVIEW_LEVEL:
            return False
        return self.listed is None or objection.key in self.listed


def at_level(objection: Objection, level: GuardLevel, environment: str) -> Objection:
    """Return an objection of a level, without the ways out that are none at that level."""
    if level == objection.level:
        return objection
    never = (REVIEW, REVIEW_FILE, allowing(objection.code, environment))
    ways_out = tuple(way for way in objection.ways_out if way not in never)
    return replace(objection, own_level=level, ways_out=ways_out)


def with_levels(plan: Plan, guards: Guards) -> Plan:
    """Return a plan of which the objections have the levels of its environment, none a lower one.

    The digest of a plan without objections of level review stays as it is.
    """
    guarded = tuple(
        at_level(objection, guards.levels.get(objection.code, objection.level), plan.environment)
        for objection in plan.guarded
    )
    covered: list[Json] = [*sorted(one.key for one in guarded if is_covered(one))]
    bound = digest({"plan": plan.digest, "guards": covered}) if covered else plan.digest
    return replace(plan, guarded=guarded, digest=bound)


def is_covered(objection: Objection) -> bool:
    """Return whether the digest of a plan covers an objection.

    Those of level review are, as a review consents to them; incidents come and go.
    """
    return objection.level == REVIEW_LEVEL and objection.code != ALERT_SILENCED


def unmet(guarded: Sequence[Objection], agreed: Agreed) -> tuple[Objection, ...]:
    """Give the objections that stand all the same."""
    return tuple(one for one in guarded if not agreed.to(one))
