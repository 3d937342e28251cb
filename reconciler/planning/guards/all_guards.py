"""All guards: from a plan to the same plan with everything that needs consent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.features.freeze.freeze_guard import FreezeNow, with_freeze
from reconciler.features.policy_samples.failing_samples import failing_samples
from reconciler.features.rollback.undone_rollbacks import NO_REVIEW, UnderReview, undone_rollbacks
from reconciler.model import GuardViolation, IncidentsUnread, Plan
from reconciler.planning.guards.open_incidents import OpenIncidents, incidents_of_silenced
from reconciler.planning.guards.plan_limits import exceeded_limits, needed_consents
from reconciler.planning.guards.takeovers import taken_over, with_names
from reconciler.project import Guards

if TYPE_CHECKING:
    # Only the type is needed here, and it would load the whole HTTP client.
    from reconciler.api.client import Api


async def with_guards(
    api: Api,
    plan: Plan,
    guards: Guards,
    freeze: FreezeNow | None = None,
    review: UnderReview = NO_REVIEW,
) -> Plan:
    """Return the plan with what an apply of it would need consent for.

    Incidents are listed only where the plan silences an alert, and names only where it takes over
    an alert unseen. A listing that cannot be read is noted and stops nothing. A freeze is decided
    at the moment in `freeze`; without `freeze` there is none. `review` is what is known about the
    review of the plan.
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
    guarded = replace(noted, guarded=objections(noted, guards, incidents, unnamed, review))
    return guarded if freeze is None else await with_freeze(api, guarded, freeze)


def objections(
    plan: Plan,
    guards: Guards,
    incidents: OpenIncidents | None = None,
    unnamed: str = "",
    review: UnderReview = NO_REVIEW,
) -> tuple[GuardViolation, ...]:
    """Return what needs consent before the plan is applied; objections about many come first.

    `unnamed` is why the names of what is taken over could not be read, "" where they could.
    """
    return (
        *exceeded_limits(plan, guards),
        *taken_over(plan, guards, unnamed),
        *needed_consents(plan, guards, incidents),
        *undone_rollbacks(plan, guards, review),
        *failing_samples(plan, guards),
    )
