"""Incidents, their events, and closing them. Source: docs/endpoints.md, 8 to 10."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from reconciler.api.retry import Request
from reconciler.document import Json, value_at
from reconciler.errors import OutcomeUnknown
from reconciler.model.assumptions import Assumptions
from reconciler.records import record

if TYPE_CHECKING:
    from reconciler.api.client import Api

INCIDENTS = "/incidents/incidents/v1"
EVENTS = f"{INCIDENTS}/events"
CLOSE = f"{INCIDENTS}/close"

FIRST_YEAR: Final = 1971
"""No incident was closed before this year: a service may write a missing time as its zero."""

MOST_AHEAD: Final = timedelta(minutes=5)
"""Clocks differ; a closing time further ahead than this does not count yet."""

SEVERITIES = record.Enumeration(
    "INCIDENT_SEVERITY_", ("LOW", "INFO", "WARNING", "ERROR", "CRITICAL")
)
STATES = record.Enumeration("INCIDENT_STATE_", ("TRIGGERED", "RESOLVED"))
STATUSES = record.Enumeration("INCIDENT_STATUS_", ("TRIGGERED", "ACKNOWLEDGED", "RESOLVED"))
UNRESOLVED = ("INCIDENT_STATUS_TRIGGERED", "INCIDENT_STATUS_ACKNOWLEDGED")
EVENT_TYPES = record.Enumeration(
    "INCIDENT_EVENT_TYPE_",
    ("OPEN", "CLOSE", "UPSERT_STATE", "ACKNOWLEDGE", "ASSIGN", "UNASSIGN", "SNOOZE_INDICATOR"),
)


class Person(record.Record):
    """A user."""

    user_id: record.Text = ""


class Assignment(record.Record):
    """The person who assigned an incident, and the person who got it."""

    assigned_by: Person | None = None
    assigned_to: Person | None = None


class IncidentEvent(record.Record):
    """An event of an incident; a close has the empty object `close`."""

    id: record.Text = ""
    incident_event_type: record.Text = ""
    originator_type: record.Text = ""
    administrative_event: Person | None = None
    close: dict[str, Any] | None = None


class Incident(record.Record):
    """One incident; it is open while it has no `closedAt` (docs/assumptions.md)."""

    id: record.Text
    name: record.Text = ""
    description: record.Text = ""
    created_at: record.Text = ""
    closed_at: record.Text = ""
    duration: record.Text = ""
    severity: record.Text = ""
    state: record.Text = ""
    status: record.Text = ""
    is_muted: bool | None = None
    last_state_update_key: record.Text = ""
    last_state_update_time: record.Text = ""
    contextual_labels: record.Labels = Field(default_factory=dict)
    display_labels: record.Labels = Field(default_factory=dict)
    meta_labels: Annotated[list[record.KeyValue], record.OrEmpty] = Field(default_factory=list)
    assignments: Annotated[list[Assignment], record.OrEmpty] = Field(default_factory=list)
    events: Annotated[list[IncidentEvent], record.OrEmpty] = Field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Return whether no valid time says that it was closed; a zero date does not count."""
        closed = record.moment(self.closed_at)
        return closed is None or closed.year < FIRST_YEAR

    def is_open_at(self, now: datetime) -> bool:
        """Return whether it is open at a moment; a closing time in the future does not count."""
        closed = record.moment(self.closed_at)
        return self.is_open or (closed is not None and closed > now + MOST_AHEAD)


class EventMetadata(record.Record):
    """The fields that the event listing adds to an event."""

    alert_group_by_fields: Annotated[list[record.Text], record.OrEmpty] = Field(
        default_factory=list
    )
    alert_id: record.Text = ""
    alert_labels: Annotated[list[record.KeyValue], record.OrEmpty] = Field(default_factory=list)
    alert_name: record.Text = ""
    alert_type: record.Text = ""
    incident_permutation: Any = None
    incident_severity: record.Text = ""
    incident_state: record.Text = ""
    incident_status: record.Text = ""
    is_muted: bool | None = None


class ExtendedIncidentEvent(record.Record):
    """An incident event as the event listing returns it."""

    cx_event_key: record.Text = ""
    cx_event_timestamp: record.Text = ""
    incident_event: IncidentEvent | None = None
    incident_event_extended_metadata: EventMetadata | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter:
    """The incidents that are wanted. Lists are alternatives."""

    applications: tuple[str, ...] = ()
    subsystems: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    muted: bool | None = None
    text: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    created: record.Span | None = None
    open_only: bool = False

    def document(self, assumptions: Assumptions) -> dict[str, Json]:
        """Return the `filter` of the request, without fields that are not set."""
        names = assumptions.filter_names
        filters: dict[str, Json] = {
            "applicationName": list(self.applications),
            "subsystemName": list(self.subsystems),
            "severity": list(self.severities),
            "state": list(self.states),
            "status": list(self.statuses),
            "isMuted": self.muted,
            names.search_query: assumptions.text_filter(self.text),
            names.contextual_labels: assumptions.label_filter(self.labels),
            names.created_at_range: record.range_filter(self.created, assumptions),
        }
        return {key: value for key, value in filters.items() if value not in ([], {}, "", None)}

    def holds(self, incident: Incident) -> bool:
        """Return whether an incident matches.

        A service may ignore a filter that it does not know.
        """
        labels = incident.contextual_labels
        return (
            _among(incident.severity, self.severities)
            and _among(incident.state, self.states)
            and _among(incident.status, self.statuses)
            and (self.muted is None or incident.is_muted in (self.muted, None))
            and (self.created is None or self.created.holds(incident.created_at))
            and all(labels.get(key) == value for key, value in self.labels.items())
            and (incident.is_open or not self.open_only)
        )


LISTED = record.PageShape("incidents", Incident, ("incidents", record.PAGINATION))
EVENTS_LISTED = record.PageShape("items", ExtendedIncidentEvent, ("items",))


def _among(value: str, wanted: Sequence[str]) -> bool:
    return not wanted or not value or value in wanted


def list_incidents(
    api: Api,
    wanted: IncidentFilter,
    limit: int | record.Allowance | None = None,
    *,
    whole: bool = False,
) -> AsyncIterator[Incident]:
    """Return incidents page by page.

    Raises what `Api.ask` raises, and with `whole` UnreadableReply for a listing that is cut.
    """
    fixed = api.assumptions.parameter("filter", wanted.document(api.assumptions))
    fetch = record.paged(api, partial(api.ask, INCIDENTS, {}), fixed)
    return record.follow(fetch, LISTED, limit, wanted.holds, whole=whole)


async def every_incident(api: Api, most_pages: int) -> tuple[list[Incident], bool]:
    """Return all incidents, open or not, and whether these are all.

    The service filters nothing, as a filter that it understands differently would silently leave
    some out. Raises what `follow_whole` and `Api.ask` raise.
    """
    return await record.follow_whole(
        record.paged(api, partial(api.ask, INCIDENTS, {})), LISTED, most_pages
    )


async def every_incident_event(
    api: Api, most_pages: int
) -> tuple[list[ExtendedIncidentEvent], bool]:
    """Return all incident events, and whether these are all.

    Raises what `follow_whole` and `Api.read` raise.
    """
    return await record.follow_whole(
        record.paged(api, partial(api.read, EVENTS)), EVENTS_LISTED, most_pages
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEventFilter:
    """The incident events that are wanted."""

    name: str = ""
    severities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    muted: bool | None = None
    span: record.Span | None = None

    def document(self, assumptions: Assumptions) -> dict[str, Json]:
        """Return the `filter` of the request, without fields that are not set."""
        names = assumptions.filter_names
        filters: dict[str, Json] = {
            names.event_name: assumptions.text_filter(self.name),
            "severity": list(self.severities),
            "status": list(self.statuses),
            "isMuted": self.muted,
            names.event_time: record.range_filter(self.span, assumptions),
        }
        return {key: value for key, value in filters.items() if value not in ([], {}, "", None)}

    def holds(self, event: ExtendedIncidentEvent) -> bool:
        """Return whether an event matches.

        A service may ignore a filter that it does not know.
        """
        known = event.incident_event_extended_metadata or EventMetadata()
        return (
            (self.span is None or self.span.holds(event.cx_event_timestamp))
            and _among(known.incident_severity, self.severities)
            and _among(known.incident_status, self.statuses)
            and (self.muted is None or known.is_muted in (self.muted, None))
        )


def list_incident_events(
    api: Api, wanted: IncidentEventFilter, limit: int | record.Allowance | None = None
) -> AsyncIterator[ExtendedIncidentEvent]:
    """Return incident events page by page. Raises what `Api.read` raises."""
    fixed = api.assumptions.parameter("filter", wanted.document(api.assumptions))
    fetch = record.paged(api, partial(api.read, EVENTS), fixed)
    return record.follow(fetch, EVENTS_LISTED, limit, wanted.holds)


async def find_incidents(api: Api, ids: Sequence[str]) -> dict[str, Incident]:
    """Find incidents by id in the listing, as the API has no read of one, nor a filter by id.

    Unresolved incidents are listed first: they are few, and most wanted. Raises what `Api.ask`
    raises.
    """
    found: dict[str, Incident] = {}
    for wanted in (IncidentFilter(statuses=UNRESOLVED), IncidentFilter()):
        missing = set(ids) - found.keys()
        if not missing:
            break
        async for incident in list_incidents(api, wanted):
            if incident.id in missing:
                found[incident.id] = incident
                if missing <= found.keys():
                    break
    return found


async def close_incidents(api: Api, ids: Sequence[str]) -> list[Incident]:
    """Close incidents and return them as they are now.

    After a lost answer the incidents are listed, and only those still open are sent again, once
    (docs/network.md). An incident that the answer leaves out is looked up. Raises what `Api.send`
    raises.
    """
    known: dict[str, Incident] = {}
    try:
        answered = await _close(api, ids)
    except OutcomeUnknown:
        known = await find_incidents(api, ids)
        still_open = [id_ for id_ in ids if id_ not in known or known[id_].is_open]
        answered = await _close(api, still_open) if still_open else []
    known |= {incident.id: incident for incident in answered}
    missing = [id_ for id_ in ids if id_ not in known]
    if missing:
        known |= await find_incidents(api, missing)
    return [known[id_] for id_ in ids if id_ in known]


async def _close(api: Api, ids: Sequence[str]) -> list[Incident]:
    field_name = api.assumptions.close_body_field
    body: Json = {} if field_name is None else {field_name: list(ids)}
    params = api.assumptions.parameter("incidentIds", list(ids)) if field_name is None else []
    reply = await api.send("POST", CLOSE, body, request=Request.FINDABLE, params=params)
    listed = value_at(reply, ("incidents",))
    # Incidents that the answer leaves out are looked up.
    return (
        [record.read_record(incident, Incident) for incident in listed]
        if isinstance(listed, list)
        else []
    )
