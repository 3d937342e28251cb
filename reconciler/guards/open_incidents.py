"""Which alerts that a plan silences have open incidents.

An incident bears the name of its alert, and its events say the alert's id; either
will do, as the API document gives an incident itself no alert (docs/guards.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reconciler.errors import ReconcilerError
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Consent
from reconciler.resource import Plan, Ref

if TYPE_CHECKING:
    # Only their types are needed here, and they bring the whole HTTP client.
    from reconciler.api.client import Api
    from reconciler.signals.incidents import Incident

MOST_EVENTS = 1_000  # ten pages; the newest come first, and an open incident is seldom old


@dataclass(frozen=True, slots=True)
class Incidents:
    """The ids of open incidents by the alert that a plan silences.

    `unread` says why the listing could not be read, "" where it could. Only then are the
    alerts kept that are `silenced`, with their names.
    """

    silenced: Mapping[Ref, frozenset[str]] = field(default_factory=dict)
    found: Mapping[Ref, frozenset[str]] = field(default_factory=dict)
    unread: str = ""

    def of(self, ref: Ref) -> frozenset[str]:
        """Give the open incidents of one alert."""
        return self.found.get(ref, frozenset())


async def incidents_of_silenced(api: Api, plan: Plan) -> Incidents:
    """List the open incidents, if the plan silences any alert."""
    silenced = {
        change.ref: weakening.incidents
        for change in plan.changes
        for weakening in BY_NAME[change.ref.kind].weakens(change)
        if weakening.consent is Consent.WITH_OPEN_INCIDENTS
    }
    if not silenced:
        return Incidents()
    ids = {str(one.remote_id).lower(): one.ref for one in plan.changes if one.ref in silenced}
    try:
        found = await _found(api, silenced, ids)
    except ReconcilerError as error:
        return Incidents(silenced, unread=str(error))
    return Incidents(found=found)


async def _found(
    api: Api, silenced: Mapping[Ref, frozenset[str]], ids: Mapping[str, Ref]
) -> dict[Ref, frozenset[str]]:
    from reconciler.signals.incidents import IncidentFilter, list_incidents  # noqa: PLC0415 - heavy

    open_ones = [one async for one in list_incidents(api, IncidentFilter(open_only=True))]
    if not open_ones:
        return {}
    told = await _told_by_events(api, open_ones, ids)
    return {
        ref: frozenset(one.id for one in open_ones if one.name in names or told.get(one.id) == ref)
        for ref, names in silenced.items()
    }


async def _told_by_events(
    api: Api, open_ones: list[Incident], ids: Mapping[str, Ref]
) -> dict[str, Ref]:
    """Map open incidents to the alert that one of their events names."""
    from reconciler.signals.incidents import (  # noqa: PLC0415 - heavy
        IncidentEventFilter,
        list_incident_events,
    )

    incident_of = {event.id: one.id for one in open_ones for event in one.events if event.id}
    told = {}
    async for event in list_incident_events(api, IncidentEventFilter(), MOST_EVENTS):
        inner, known = event.incident_event, event.incident_event_extended_metadata
        if inner is not None and known is not None and inner.id in incident_of:
            ref = ids.get(known.alert_id.lower())
            if ref is not None:
                told[incident_of[inner.id]] = ref
    return told
