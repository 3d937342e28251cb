"""Incidents: endpoints 8 to 10, their models, and the steps of an incident.

Where the API document is silent: the newest comes first; closing an incident that is closed
changes nothing and leaves it out of the answer, which lists the updated incidents; an unknown id
refuses the whole close. Names, shapes and further values: docs/assumptions.md. The shape of
`createdAtRange` and `timestamp` is not shown anywhere; they are assumed to be like
`timestamp_range` of the alert events.

An incident is opened, acknowledged, closed. Each step is written twice, as the service does: short
into the incident, and extended into the list of events with the incident as it was then.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar
from uuid import NAMESPACE_URL, uuid5

from pydantic import Field

from reconciler.emulator import paging
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Resource
from reconciler.emulator.reading import read
from reconciler.emulator.record_endpoints import KeyValue
from reconciler.emulator.rendering import MissingObjectError, Rendered, as_text
from reconciler.emulator.wire_models import (
    Empty,
    JsonObject,
    Labels,
    OpenEnum,
    Timestamp,
    WireObject,
)

IncidentSeverity = Annotated[
    str,
    OpenEnum("INCIDENT_SEVERITY_", "UNSPECIFIED", "LOW", "INFO", "WARNING", "ERROR", "CRITICAL"),
]
IncidentState = Annotated[str, OpenEnum("INCIDENT_STATE_", "UNSPECIFIED", "TRIGGERED", "RESOLVED")]
IncidentStatus = Annotated[
    str, OpenEnum("INCIDENT_STATUS_", "UNSPECIFIED", "TRIGGERED", "ACKNOWLEDGED", "RESOLVED")
]
IncidentEventType = Annotated[
    str,
    OpenEnum(
        "INCIDENT_EVENT_TYPE_",
        "UNSPECIFIED",
        "OPEN",
        "CLOSE",
        "UPSERT_STATE",
        "ACKNOWLEDGE",
        "ASSIGN",
        "UNASSIGN",
        "SNOOZE_INDICATOR",
    ),
]
OriginatorType = Annotated[str, OpenEnum("ORIGINATOR_TYPE_", "UNSPECIFIED", "USER", "AUTOMATIC")]
IncidentAlertType = Annotated[
    str, OpenEnum("INCIDENT_EVENT_ALERT_TYPE_", "STANDARD_OR_UNSPECIFIED", "METRIC", "SLO")
]


class User(WireObject):
    """A person by id."""

    user_id: str = ""


class Assignment(WireObject):
    """Who gave the incident to whom."""

    assigned_by: User | None = None
    assigned_to: User | None = None


class IncidentEvent(WireObject):
    """One step in the life of an incident; `close` is there for the last one."""

    id: str
    incident_event_type: IncidentEventType = "INCIDENT_EVENT_TYPE_UNSPECIFIED"
    originator_type: OriginatorType = "ORIGINATOR_TYPE_UNSPECIFIED"
    administrative_event: User | None = None
    close: Empty | None = None


class Incident(WireObject):
    """Something that went wrong; it is open while it has no `closedAt`."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"id"})

    id: str
    name: str = ""
    description: str = ""
    created_at: Timestamp | None = None
    closed_at: Timestamp | None = None
    duration: str = ""
    severity: IncidentSeverity = "INCIDENT_SEVERITY_UNSPECIFIED"
    state: IncidentState = "INCIDENT_STATE_UNSPECIFIED"
    status: IncidentStatus = "INCIDENT_STATUS_UNSPECIFIED"
    is_muted: bool = False
    last_state_update_key: str = ""
    last_state_update_time: Timestamp | None = None
    contextual_labels: Labels = Field(default_factory=dict)
    display_labels: Labels = Field(default_factory=dict)
    meta_labels: list[KeyValue] = Field(default_factory=list)
    assignments: list[Assignment] = Field(default_factory=list)
    events: list[IncidentEvent] = Field(default_factory=list)


class IncidentEventMetadata(WireObject):
    """The alert behind an event, and the incident as it was then."""

    alert_group_by_fields: list[str] = Field(default_factory=list)
    alert_id: str = ""
    alert_labels: list[KeyValue] = Field(default_factory=list)
    alert_name: str = ""
    alert_type: IncidentAlertType = "INCIDENT_EVENT_ALERT_TYPE_STANDARD_OR_UNSPECIFIED"
    incident_permutation: Annotated[Empty, Field(default_factory=Empty)]
    incident_severity: IncidentSeverity = "INCIDENT_SEVERITY_UNSPECIFIED"
    incident_state: IncidentState = "INCIDENT_STATE_UNSPECIFIED"
    incident_status: IncidentStatus = "INCIDENT_STATUS_UNSPECIFIED"
    is_muted: bool = False


class ExtendedIncidentEvent(WireObject):
    """An incident event as the listing shows it."""

    cx_event_key: str
    cx_event_timestamp: Timestamp
    incident_event: IncidentEvent
    incident_event_extended_metadata: IncidentEventMetadata


class IncidentListReply(WireObject):
    """Reply of endpoint 8."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"incidents", "pagination"})

    incidents: list[Incident]
    pagination: paging.PageInfo


class IncidentEventListReply(WireObject):
    """Reply of endpoint 9."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"items"})

    items: list[ExtendedIncidentEvent]
    pagination: paging.PageInfo | None = None


class IncidentCloseReply(WireObject):
    """Reply of endpoint 10: the incidents it closed."""

    incidents: list[Incident] = Field(default_factory=list)


class IncidentFilter(WireObject):
    """Conditions on an incident; an absent filter matches all incidents."""

    application_name: list[str] = Field(default_factory=list)
    subsystem_name: list[str] = Field(default_factory=list)
    assignee: list[str] = Field(default_factory=list)
    severity: list[IncidentSeverity] = Field(default_factory=list)
    state: list[IncidentState] = Field(default_factory=list)
    status: list[IncidentStatus] = Field(default_factory=list)
    is_muted: paging.Flag | None = None
    search_query: paging.Text = ""
    contextual_labels: paging.TextMap = Field(default_factory=dict)
    display_labels: paging.TextMap = Field(default_factory=dict)
    meta_labels: Annotated[list[KeyValue], paging.Objects] = Field(default_factory=list)
    created_at_range: paging.TimeRange = paging.TimeRange()


class IncidentQuery(WireObject):
    """Query of endpoint 8, which has an empty body."""

    filter: IncidentFilter = IncidentFilter()
    pagination: paging.PageRequest
    order_bys: paging.OrderBys


class IncidentEventFilter(WireObject):
    """Conditions on an incident event."""

    name: paging.Text = ""
    severity: list[IncidentSeverity] = Field(default_factory=list)
    status: list[IncidentStatus] = Field(default_factory=list)
    is_muted: paging.Flag | None = None
    labels: paging.TextMap = Field(default_factory=dict)
    contextual_labels: paging.TextMap = Field(default_factory=dict)
    display_labels: paging.TextMap = Field(default_factory=dict)
    timestamp: paging.TimeRange = paging.TimeRange()


class EventOrder(WireObject):
    """The sort order of incident events."""

    field: paging.Text = ""
    direction: paging.Text = ""


class IncidentEventQuery(WireObject):
    """Query of endpoint 9."""

    filter: IncidentEventFilter = IncidentEventFilter()
    pagination: paging.PageRequest
    order_by: Annotated[EventOrder, Field(alias="order_by")] = EventOrder()


class CloseQuery(WireObject):
    """Query of endpoint 10, which has no body."""

    incident_ids: Annotated[list[str], Field(alias="incident_ids", min_length=1)]


INCIDENTS = Resource(
    "incidents (id TEXT PRIMARY KEY, alert TEXT NOT NULL, record TEXT NOT NULL)",
    "incident_events (key TEXT PRIMARY KEY, incident_id TEXT NOT NULL,"
    " at TEXT NOT NULL, record TEXT NOT NULL)",
)


@dataclass(frozen=True)
class AlertBehind:
    """The alert an incident came from."""

    id: str
    name: str
    labels: dict[str, str]
    group_by: Sequence[str] = ()


def incident_in(store: Store, incident_id: str) -> Incident | None:
    """Return a stored incident, or None."""
    record = store.find("incidents", incident_id)
    return read(Incident, record) if record else None


def open_incident(store: Store, incident: Incident, alert: AlertBehind, *, now: str) -> None:
    """Store a new incident with its first event."""
    incident.created_at = now
    incident.state = "INCIDENT_STATE_TRIGGERED"
    incident.status = "INCIDENT_STATUS_TRIGGERED"
    _note(store, incident, alert, "OPEN", now=now)


def acknowledge(store: Store, incident: Incident, *, user_id: str, now: str) -> None:
    """Note that a person has seen the incident."""
    incident.status = "INCIDENT_STATUS_ACKNOWLEDGED"
    _note(store, incident, _alert_of(store, incident), "ACKNOWLEDGE", now=now, user_id=user_id)


def close(store: Store, incident: Incident, *, now: str, user_id: str | None = None) -> None:
    """Close an incident: by a person, or by itself without `user_id`."""
    incident.state = "INCIDENT_STATE_RESOLVED"
    incident.status = "INCIDENT_STATUS_RESOLVED"
    incident.closed_at = now
    lasted = datetime.fromisoformat(now) - datetime.fromisoformat(incident.created_at or now)
    incident.duration = f"{max(0, int(lasted.total_seconds()))}s"
    _note(store, incident, _alert_of(store, incident), "CLOSE", now=now, user_id=user_id)


def _note(
    store: Store,
    incident: Incident,
    alert: AlertBehind,
    step: str,
    *,
    now: str,
    user_id: str | None = None,
) -> None:
    event = IncidentEvent(
        id=str(uuid5(NAMESPACE_URL, f"{incident.id}:{len(incident.events)}")),
        incident_event_type=f"INCIDENT_EVENT_TYPE_{step}",
        originator_type="ORIGINATOR_TYPE_USER" if user_id else "ORIGINATOR_TYPE_AUTOMATIC",
        administrative_event=User(user_id=user_id) if user_id else None,
        close=Empty() if step == "CLOSE" else None,
    )
    incident.events.append(event)
    incident.last_state_update_time = now
    incident.last_state_update_key = event.id
    behind = json.dumps([alert.id, alert.name, alert.labels, alert.group_by])
    store.keep("incidents", incident.id, behind, as_text(incident))
    extended = ExtendedIncidentEvent(
        cx_event_key=event.id,
        cx_event_timestamp=now,
        incident_event=event,
        incident_event_extended_metadata=IncidentEventMetadata(
            alert_group_by_fields=list(alert.group_by),
            alert_id=alert.id,
            alert_labels=[KeyValue(key=key, value=text) for key, text in alert.labels.items()],
            alert_name=alert.name,
            incident_permutation=Empty(),
            incident_severity=incident.severity,
            incident_state=incident.state,
            incident_status=incident.status,
            is_muted=incident.is_muted,
        ),
    )
    store.keep("incident_events", event.id, incident.id, now, as_text(extended))


def _alert_of(store: Store, incident: Incident) -> AlertBehind:
    ((alert,),) = store.rows("SELECT alert FROM incidents WHERE id = ?", incident.id)
    return AlertBehind(*json.loads(alert))


_PATH = "/incidents/incidents/v1"
_LISTING = paging.Listing(
    "incidents",
    ("createdAt", "closedAt", "lastStateUpdateTime", "name", "severity", "state", "status"),
    "id",
)
_EVENT_LISTING = paging.Listing("items", ("cxEventTimestamp", "cxEventKey"), "cxEventKey")


@INCIDENTS.answers(
    8, "POST", _PATH, IncidentQuery, IncidentListReply, in_query=True, only_reads=True
)
def _list(call: Call, asked: IncidentQuery) -> Rendered:
    incidents = call.store.records("incidents")
    found = [incident for incident in incidents if _passes(incident, asked.filter)]
    orders = [(order.field_name, order.direction) for order in asked.order_bys]
    return _LISTING.page(found, asked, *orders)


def _passes(incident: JsonObject, wanted: IncidentFilter) -> bool:
    labels = incident["contextualLabels"]
    text = wanted.search_query.casefold()
    return (
        paging.any_of(wanted.application_name, labels.get("applicationName"))
        and paging.any_of(wanted.subsystem_name, labels.get("subsystemName"))
        and paging.any_of(wanted.severity, incident["severity"])
        and paging.any_of(wanted.state, incident["state"])
        and paging.any_of(wanted.status, incident["status"])
        and wanted.is_muted in (None, incident["isMuted"])
        and _has_assignee(incident, wanted.assignee)
        and any(text in incident[field].casefold() for field in ("name", "description"))
        and paging.has_labels(labels, wanted.contextual_labels)
        and paging.has_labels(incident["displayLabels"], wanted.display_labels)
        and all(
            {"key": meta_label.key, "value": meta_label.value} in incident["metaLabels"]
            for meta_label in wanted.meta_labels
        )
        and wanted.created_at_range.holds(incident["createdAt"])
    )


def _has_assignee(incident: JsonObject, wanted: list[str]) -> bool:
    holders = {
        assignment.get("assignedTo", {}).get("userId") for assignment in incident["assignments"]
    }
    return not wanted or not holders.isdisjoint(wanted)


@INCIDENTS.answers(
    9, "GET", _PATH + "/events", IncidentEventQuery, IncidentEventListReply, in_query=True
)
def _list_events(call: Call, asked: IncidentEventQuery) -> Rendered:
    rows = call.store.rows(
        """SELECT incident_events.record, incidents.record
           FROM incident_events JOIN incidents ON incidents.id = incident_events.incident_id"""
    )
    both = ((json.loads(event), json.loads(incident)) for event, incident in rows)
    found = [event for event, incident in both if _event_passes(event, incident, asked.filter)]
    return _EVENT_LISTING.page(found, asked, (asked.order_by.field, asked.order_by.direction))


def _event_passes(event: JsonObject, incident: JsonObject, wanted: IncidentEventFilter) -> bool:
    behind = event["incidentEventExtendedMetadata"]
    labels = {pair["key"]: pair["value"] for pair in behind["alertLabels"]}
    return (
        wanted.name.casefold() in behind["alertName"].casefold()
        and paging.any_of(wanted.severity, behind["incidentSeverity"])
        and paging.any_of(wanted.status, behind["incidentStatus"])
        and wanted.is_muted in (None, behind["isMuted"])
        and paging.has_labels(labels, wanted.labels)
        and paging.has_labels(incident["contextualLabels"], wanted.contextual_labels)
        and paging.has_labels(incident["displayLabels"], wanted.display_labels)
        and wanted.timestamp.holds(event["cxEventTimestamp"])
    )


@INCIDENTS.answers(10, "POST", _PATH + "/close", CloseQuery, IncidentCloseReply, in_query=True)
def _close(call: Call, asked: CloseQuery) -> IncidentCloseReply:
    named = []
    for incident_id in dict.fromkeys(asked.incident_ids):
        incident = incident_in(call.store, incident_id)
        if incident is None:
            raise MissingObjectError("incident", incident_id)
        named.append(incident)
    reply = IncidentCloseReply()
    for index, incident in enumerate(named):
        if incident.closed_at is None and call.partial.carries_out(index):
            close(call.store, incident, now=call.now, user_id=call.author.id)
            if index not in call.partial.missing:
                reply.incidents.append(incident)
    return reply
