"""From a plan to the same plan with all that an apply of it would need consent for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.guards.failing_samples import failing_samples
from reconciler.guards.freeze import FreezeNow, with_freeze
from reconciler.guards.open_incidents import Incidents, incidents_of_silenced
from reconciler.guards.rules import exceeded_limits, needed_consents
from reconciler.project import Guards
from reconciler.resource import IncidentsUnread, Objection, Plan

if TYPE_CHECKING:
    # Only its type is needed here, and it brings the whole HTTP client.
    from reconciler.api.client import Api


async def with_guards(
    api: Api, plan: Plan, guards: Guards, freeze: FreezeNow | None = None
) -> Plan:
    """Fill in what an apply of the plan would need consent for.

    Incidents are listed only where the plan silences an alert. A listing that
    cannot be read is noted on the alert's line and stands in no way. A freeze is decided
    at the moment that `freeze` tells; without one there is none.
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
    guarded = replace(noted, guarded=objections(plan, guards, incidents))
    return guarded if freeze is None else await with_freeze(api, guarded, freeze)


def objections(
    plan: Plan, guards: Guards, incidents: Incidents | None = None
) -> tuple[Objection, ...]:
    """Give what must be consented to before the plan is applied: first what is about many."""
    return (
        *exceeded_limits(plan, guards),
        *needed_consents(plan, guards, incidents),
        *failing_samples(plan, guards),
    )
