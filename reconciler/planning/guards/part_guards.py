"""The guards of a part of a plan, with the figures of the whole. Source: docs/plan.md."""

from __future__ import annotations

from dataclasses import replace

from reconciler.kinds import BY_NAME
from reconciler.model import GuardViolation, Plan
from reconciler.planning.guards import plan_limits
from reconciler.planning.guards.takeovers import never_written
from reconciler.project import Guards, settings


def guards_of_part(whole: Plan, part: Plan, guards: Guards) -> tuple[GuardViolation, ...]:
    """Return the objections to a whole plan that also apply to a part of its changes.

    They keep the figures of the whole plan, which were reviewed. A guard about the whole plan that
    has no case here applies to every part.
    """
    refs = {change.ref for change in part.changes}
    kinds = {change.ref.kind for change in part.changes if change.action.writes}
    ended = _ended_limits(whole, part, guards)
    lacks_journal = any(True for _ in plan_limits.without_memory(part))

    def holds(objection: GuardViolation) -> bool:
        match objection.code:
            case _ if objection.ref is not None:
                return objection.ref in refs
            case plan_limits.NEW_JOURNAL:
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
            [*plan_limits.exceeded_limits(_of_kind(plan, kind), guards)] for plan in (whole, part)
        )
        if not of_part:
            ended |= {objection.key for objection in of_whole}
    return ended


def _of_kind(plan: Plan, kind: str) -> Plan:
    return replace(
        plan, changes=tuple(change for change in plan.changes if change.ref.kind == kind)
    )
