"""Guards: what a plan may not do without consent. Source: docs/guards.md."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from reconciler.model import GuardViolation, IncidentsUnread, Plan
from reconciler.planning.guards.consent import NO_REVIEW, Agreed, UnderReview, unmet, with_levels
from reconciler.planning.guards.plan_limits import (
    OpenIncidents,
    exceeded_limits,
    incidents_of_silenced,
    needed_consents,
    taken_over,
    with_names,
)
from reconciler.project import Environment, Guards, ProjectFile
from reconciler.runtime.rows import Rows

if TYPE_CHECKING:
    # Only the type is needed here, and it would load the whole HTTP client.
    from reconciler.api.client import Api
    from reconciler.journal.entries import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUnderGuard:
    """A plan, and what guards of features judge it by.

    `now` is the moment of the run, in UTC, and `same_clock` means that the service runs by the
    clock of this machine. `review` is what is known about the review of the plan. `entries`
    reads the entries of the journal.
    """

    api: Api
    plan: Plan
    environment: Environment
    settings: ProjectFile
    now: datetime
    same_clock: bool = False
    review: UnderReview = NO_REVIEW
    entries: Callable[[], Sequence[Entry]] = tuple


FeatureGuard: TypeAlias = Callable[[PlanUnderGuard], Awaitable[Plan]]
"""Returns the plan with the violations and remarks of one feature."""

FEATURE_GUARDS: Final = Rows[FeatureGuard]("guards")
"""The guards of features, by their causes: the code of a reason of a change, or a setting."""


async def with_feature_guards(asked: PlanUnderGuard) -> Plan:
    """Return the plan with what an apply of it would need consent for by guards of features.

    A guard is loaded only where the plan writes and has the cause of the guard.
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
    if written:
        yield from (reason.code for change in written for reason in change.reasons)
        yield from (name for name, _ in asked.environment.settings_given(object))
        yield from ("rules",) if asked.settings.plan_rules else ()


async def with_guards(api: Api, plan: Plan, guards: Guards) -> Plan:
    """Return the plan with what an apply of it would need consent for by guards of the core.

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


__all__ = [
    "Agreed",
    "PlanUnderGuard",
    "objections",
    "unmet",
    "with_feature_guards",
    "with_guards",
    "with_levels",
]
