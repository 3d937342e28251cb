"""Open incidents of the alerts that a plan silences.

An incident has the name of its alert, and its events have the alert's id. Either is enough, as the
API document gives the incident itself no alert. Source: docs/guards.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reconciler.errors import CutListing, ReconcilerError
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import ConsentRule
from reconciler.model import Plan, Ref

if TYPE_CHECKING:
    # Only the types are needed here, and they would load the whole HTTP client.
    from reconciler.api.client import Api
    from reconciler.records.incident_records import Incident

MOST_PAGES: Final = 200
MOST_EVENT_PAGES: Final = 10
"""The newest events come first, and an open incident is seldom old."""


@dataclass(frozen=True, slots=True)
class OpenIncidents:
    """The ids of open incidents by the alert that a plan silences.

    `unread` is why the listing could not be read, "" where it could. `cut` is what was left unread
    because the listing is too long: an alert without an open incident may have one there.
    `silenced` has the alerts with their names.
    """

    silenced: Mapping[Ref, frozenset[str]] = field(default_factory=dict)
    found: Mapping[Ref, frozenset[str]] = field(default_factory=dict)
    unread: str = ""
    cut: str = ""

    def of(self, ref: Ref) -> frozenset[str]:
        """Return the open incidents of one alert."""
        return self.found.get(ref, frozenset())


async def incidents_of_silenced(api: Api, plan: Plan) -> OpenIncidents:
    """Return the open incidents, if the plan silences any alert."""
    silenced = {
        change.ref: weakening.incidents
        for change in plan.declared
        for weakening in BY_NAME[change.ref.kind].weakens(change)
        if weakening.consent is ConsentRule.WITH_OPEN_INCIDENTS
    }
    if not silenced:
        return OpenIncidents()
    ids = {
        str(change.remote_id).lower(): change.ref
        for change in plan.changes
        if change.ref in silenced
    }
    try:
        return await _found(api, silenced, ids)
    except CutListing as error:
        return OpenIncidents(silenced, cut=str(error))
    except ReconcilerError as error:
        return OpenIncidents(silenced, unread=str(error))


async def _found(
    api: Api, silenced: Mapping[Ref, frozenset[str]], ids: Mapping[str, Ref]
) -> OpenIncidents:
    from reconciler.records.incident_records import every_incident  # noqa: PLC0415 - heavy
    from reconciler.records.record import PAGE_SIZE  # noqa: PLC0415 - heavy

    listed, is_whole = await every_incident(api, MOST_PAGES)
    cut = "" if is_whole else f"there are more than {MOST_PAGES * PAGE_SIZE:,} incidents"
    open_incidents = [incident for incident in listed if incident.is_open]
    by_events: Mapping[str, Ref | None] = {}
    if open_incidents:
        by_events, is_whole = await _named_by_events(api, open_incidents, ids)
        if not is_whole and any(incident.id not in by_events for incident in open_incidents):
            newest = f"the newest {MOST_EVENT_PAGES * PAGE_SIZE:,}"
            cut = cut or f"of an open incident no event is among {newest}"
    found = {
        ref: frozenset(
            incident.id
            for incident in open_incidents
            if incident.name in names or by_events.get(incident.id) == ref
        )
        for ref, names in silenced.items()
    }
    return OpenIncidents(silenced, found, cut=cut)


async def _named_by_events(
    api: Api, open_ones: list[Incident], ids: Mapping[str, Ref]
) -> tuple[dict[str, Ref | None], bool]:
    """Map open incidents to the alert that one of their events names, None for another alert.

    The second value is whether all events were read.
    """
    from reconciler.records.incident_records import every_incident_event  # noqa: PLC0415 - heavy

    incident_of = {
        event.id: incident.id for incident in open_ones for event in incident.events if event.id
    }
    alerts: dict[str, Ref | None] = {}
    events, is_whole = await every_incident_event(api, MOST_EVENT_PAGES)
    for event in events:
        inner, known = event.incident_event, event.incident_event_extended_metadata
        if inner is not None and known is not None and known.alert_id and inner.id in incident_of:
            own = incident_of[inner.id]
            alerts[own] = ids.get(known.alert_id.lower()) or alerts.get(own)
    return alerts, is_whole
