"""Records that the service makes by itself: alert events, cases, usage and incidents.

Their endpoints are 2, 7 to 10 and 19. Events, cases and incidents are added by the life of the
emulator. Where the API document is silent:

- The newest record comes first.
- Values of one filter are alternatives, and filters add up, as the document says of endpoint 7.
- Days without data are left out. A range of usage ends with today; `LAST_WEEK` is seven days.
- Closing a closed incident changes nothing, and the answer lists only the updated incidents.
- One unknown id refuses the whole close.
- `createdAtRange` and `timestamp` have the shape of `timestamp_range` of the alert events.

Further values, ranges and names of query parameters: docs/assumptions.md.

An incident is opened, acknowledged, closed. Each step is written twice, as the service does: in
short into the incident, and in full, with the incident of that time, into the list of events.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, ClassVar, Literal
from uuid import NAMESPACE_URL, uuid5

from pydantic import Field
from pydantic.alias_generators import to_camel

from reconciler.emulator import paging, wire
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Resource

PLATFORM_RECORDS = Resource(
    "alert_events (key TEXT PRIMARY KEY, at TEXT NOT NULL,"
    " version_id TEXT NOT NULL, record TEXT NOT NULL)",
    "cases (id TEXT PRIMARY KEY, record TEXT NOT NULL)",
    "daily_units (day TEXT PRIMARY KEY, record TEXT NOT NULL)",
)


class AlertEvent(wire.WireObject):
    """One event; its time is in seconds since 1970, as text."""

    company_id: wire.Int32
    cx_event_key: str
    cx_event_dedup_key: str
    cx_event_labels: wire.Labels = Field(default_factory=dict)
    cx_event_metadata: wire.JsonObject = Field(default_factory=dict)
    cx_event_payload: wire.JsonObject = Field(default_factory=dict)
    cx_event_payload_type: str = ""
    cx_event_timestamp: str
    cx_event_type: str = ""


class AlertEventQuery(wire.WireObject):
    """Query of endpoint 2; `alert_ids` are ids of alert *versions*."""

    alert_ids: Annotated[list[str], Field(alias="alert_ids")] = Field(default_factory=list)
    timestamp_range: Annotated[paging.TimeRange, Field(alias="timestamp_range")] = (
        paging.TimeRange()
    )
    cx_event_labels: Annotated[paging.TextMap, Field(alias="cx_event_labels")] = Field(
        default_factory=dict
    )
    order_bys: paging.OrderBys
    pagination: paging.OptionalPageRequest = paging.OptionalPageRequest()


class AlertEventListReply(wire.WireObject):
    """Reply of endpoint 2."""

    events: list[AlertEvent] = Field(default_factory=list)
    pagination: paging.PageInfo


_ALERT_EVENTS = paging.Listing(
    "events", ("cxEventTimestamp", "cxEventType", "cxEventKey"), "cxEventKey"
)


def keep_alert_event(store: Store, event: AlertEvent, *, version_id: str) -> None:
    """Store an event of an alert version; one with the same key is replaced."""
    at = wire.timestamp(datetime.fromtimestamp(int(event.cx_event_timestamp), UTC))
    store.keep("alert_events", event.cx_event_key, at, version_id, wire.as_text(event))


@PLATFORM_RECORDS.answers(
    2, "GET", "/alerts/events/v3/alert-events", AlertEventQuery, AlertEventListReply, in_query=True
)
def _list_alert_events(call: Call, asked: AlertEventQuery) -> wire.JsonObject:
    rows = call.store.rows("SELECT at, version_id, record FROM alert_events")
    events = [
        json.loads(record)
        for at, version, record in rows
        if asked.timestamp_range.holds(at) and paging.any_of(asked.alert_ids, version)
    ]
    found = [
        event
        for event in events
        if paging.has_labels(event["cxEventLabels"], asked.cx_event_labels)
    ]
    orders = [(order.field_name, order.direction) for order in asked.order_bys]
    return _ALERT_EVENTS.page(found, asked, *orders)


CaseCategory = Annotated[
    str, wire.OpenEnum("CASE_CATEGORY_", "UNSPECIFIED", "SECURITY", "AVAILABILITY")
]
CasePriority = Annotated[
    str, wire.OpenEnum("CASE_PRIORITY_", "UNSPECIFIED", "P1", "P2", "P3", "P4", "P5")
]
CaseState = Annotated[
    str, wire.OpenEnum("CASE_STATE_", "UNSPECIFIED", "CREATED", "ACTIVE", "RESOLVED")
]
CaseOrderField = Annotated[
    str,
    wire.OpenEnum(
        "CASE_ORDER_BY_FIELD_",
        "UNSPECIFIED",
        "CREATE_TIME",
        "UPDATE_TIME",
        "PRIORITY",
        "STATE",
        "STATUS",
        "TITLE",
    ),
]
CaseOrderDirection = Annotated[
    str, wire.OpenEnum("CASE_ORDER_BY_DIRECTION_", "UNSPECIFIED", "ASC", "DESC")
]


class KeyValue(wire.WireObject):
    """A label or one part of a grouping."""

    key: str = ""
    value: str = ""


class KeyValues(wire.WireObject):
    """A key and its values; any of the values matches."""

    key: str = ""
    values: list[str] = Field(default_factory=list)


class PriorityDetails(wire.WireObject):
    """The priority of the system, and that of a person, which replaces it."""

    override: CasePriority = "CASE_PRIORITY_UNSPECIFIED"
    system: CasePriority = "CASE_PRIORITY_UNSPECIFIED"


class Assignee(wire.WireObject):
    """The person who works on the case."""

    user_id: wire.Uuid


class ResolutionDetails(wire.WireObject):
    """When the case ended, and who ended it."""

    resolve_time: wire.Timestamp | None = None
    resolved_by: Annotated[
        str, wire.OpenEnum("CASE_RESOLVER_", "UNSPECIFIED", "USER", "SYSTEM")
    ] = "CASE_RESOLVER_UNSPECIFIED"


class AlertIndicator(wire.WireObject):
    """An alert that is part of the case."""

    alert_id: str
    alert_version_id: str
    grouping_type: Annotated[str, wire.OpenEnum("GROUPING_TYPE_", "UNSPECIFIED")] = (
        "GROUPING_TYPE_UNSPECIFIED"
    )
    groupings: list[KeyValue] = Field(default_factory=list)
    priority: Annotated[str, wire.OpenEnum("ALERT_PRIORITY_", "UNSPECIFIED", "P1", "P2", "P3")] = (
        "ALERT_PRIORITY_UNSPECIFIED"
    )
    state: Annotated[
        str, wire.OpenEnum("ALERT_INDICATOR_STATE_", "UNSPECIFIED", "TRIGGERED", "RESOLVED")
    ] = "ALERT_INDICATOR_STATE_UNSPECIFIED"
    trigger_time: wire.Timestamp | None = None
    resolve_time: wire.Timestamp | None = None


class Case(wire.WireObject):
    """Something people work on until it is resolved."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset(
        {"category", "createTime", "id", "priority", "state", "status", "title"}
    )

    id: wire.Uuid
    readable_id: str = ""
    title: str
    description: str = ""
    category: CaseCategory
    priority: CasePriority
    priority_details: PriorityDetails | None = None
    state: CaseState
    status: Annotated[
        str, wire.OpenEnum("CASE_STATUS_", "UNSPECIFIED", "OPEN", "ACKNOWLEDGED", "CLOSED")
    ]
    create_time: wire.Timestamp
    update_time: wire.Timestamp | None = None
    acknowledge_time: wire.Timestamp | None = None
    assignee: Assignee | None = None
    groupings: list[KeyValue] = Field(default_factory=list)
    labels: list[KeyValue] = Field(default_factory=list)
    resolution_details: ResolutionDetails | None = None
    alert_indicators: list[AlertIndicator] = Field(default_factory=list)


class AssigneeFilter(wire.WireObject):
    """No assignee, or one person."""

    unassigned: wire.Empty | None = None
    user_id: wire.Uuid | None = None


class CaseFilters(wire.WireObject):
    """Conditions on a case; an empty filter matches all cases."""

    assignees: list[AssigneeFilter] = Field(default_factory=list)
    categories: list[CaseCategory] = Field(default_factory=list)
    groupings: list[KeyValues] = Field(default_factory=list)
    labels: list[KeyValues] = Field(default_factory=list)
    priorities: list[CasePriority] = Field(default_factory=list)
    states: list[CaseState] = Field(default_factory=list)
    statuses: list[str] = Field(default_factory=list)
    text_search: str = ""


class CaseOrder(wire.WireObject):
    """The sort order of cases; an unspecified value is the same as an absent value."""

    direction: CaseOrderDirection = "CASE_ORDER_BY_DIRECTION_UNSPECIFIED"
    field: CaseOrderField = "CASE_ORDER_BY_FIELD_UNSPECIFIED"


class CasePagination(wire.WireObject):
    """Which page; `skip` leaves out that many cases before it."""

    page_size: Annotated[wire.Int32, wire.bounds(0, paging.LARGEST_PAGE)] = 0
    page_token: str = ""
    skip: Annotated[wire.Int32, wire.bounds(0)] = 0


class CaseListRequest(wire.WireObject):
    """Request of endpoint 7."""

    filters: CaseFilters = CaseFilters()
    order_by: CaseOrder = CaseOrder()
    pagination: CasePagination = CasePagination()


class CaseListReply(wire.WireObject):
    """Reply of endpoint 7."""

    cases: list[Case] = Field(default_factory=list)
    pagination: paging.PageInfo


_STATUS = "CASE_STATUS_"
_CASE_LISTING = paging.Listing(
    "cases", ("createTime", "updateTime", "priority", "state", "status", "title"), "id"
)


def keep_case(store: Store, case: Case) -> None:
    """Store a case; a case with the same id is replaced."""
    store.keep("cases", case.id, wire.as_text(case))


@PLATFORM_RECORDS.answers(
    7,
    "POST",
    "/cases/cases/v1",
    CaseListRequest,
    CaseListReply,
    permission="case:Read",
    only_reads=True,
)
def _list_cases(call: Call, request: CaseListRequest) -> wire.JsonObject:
    form = call.profile.case_statuses
    for index, status in enumerate(request.filters.statuses):
        if form != "either" and status.startswith(_STATUS) != (form == "prefixed"):
            raise wire.InvalidRequestError(f"filters.statuses[{index}]: {status!r} is not {form}")
    found = [case for case in call.store.records("cases") if _case_passes(case, request.filters)]
    # `CASE_ORDER_BY_FIELD_CREATE_TIME` is `createTime`.
    field = to_camel(request.order_by.field.removeprefix("CASE_ORDER_BY_FIELD_").lower())
    order = ("" if field == "unspecified" else field, request.order_by.direction)
    return _CASE_LISTING.page(found, request, order)


def _case_passes(case: wire.JsonObject, filters: CaseFilters) -> bool:
    text = filters.text_search.casefold()
    return (
        paging.any_of(filters.categories, case["category"])
        and paging.any_of(filters.priorities, case["priority"])
        and paging.any_of(filters.states, case["state"])
        # A status may be short, as in the API document.
        and paging.any_of(
            [_STATUS + status.removeprefix(_STATUS) for status in filters.statuses], case["status"]
        )
        and _has_pairs(case.get("groupings", []), filters.groupings)
        and _has_pairs(case.get("labels", []), filters.labels)
        and _case_has_assignee(case, filters.assignees)
        and any(
            text in case.get(field, "").casefold()
            for field in ("title", "description", "readableId")
        )
    )


def _has_pairs(pairs: list[wire.JsonObject], wanted: Iterable[KeyValues]) -> bool:
    return all(
        any(
            pair["key"] == key_values.key and paging.any_of(key_values.values, pair["value"])
            for pair in pairs
        )
        for key_values in wanted
    )


def _case_has_assignee(case: wire.JsonObject, wanted: list[AssigneeFilter]) -> bool:
    holder = case.get("assignee", {}).get("userId")
    return not wanted or any(
        assignee_filter.user_id == holder
        if assignee_filter.user_id
        else assignee_filter.unassigned is None or holder is None
        for assignee_filter in wanted
    )


UsageRange = Literal[
    "RANGE_UNSPECIFIED",
    "RANGE_CURRENT_MONTH",
    "RANGE_LAST_WEEK",
    "RANGE_LAST_30_DAYS",
    "RANGE_LAST_90_DAYS",
    "RANGE_LAST_YEAR",
]


class Units(wire.WireObject):
    """A number in an object; zero is a number like any other."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"value"})

    value: float = 0.0


class DailyUnits(wire.WireObject):
    """The usage of one day."""

    stats_date: wire.Timestamp
    blocked_metrics_units: Units = Units()
    blocked_units: Units = Units()
    cpu_profiles_units: Units = Units()
    evaluation_units: Units = Units()
    high_logs_units: Units = Units()
    high_metrics_units: Units = Units()
    high_tracing_units: Units = Units()
    low_logs_units: Units = Units()
    low_session_recording_units: Units = Units()
    low_tracing_units: Units = Units()
    medium_logs_units: Units = Units()
    medium_tracing_units: Units = Units()
    total_units: Units = Units()


class UsageRequest(wire.WireObject):
    """Request of endpoint 19; an unspecified range is the current month."""

    range: UsageRange = "RANGE_UNSPECIFIED"


class UsageReply(wire.WireObject):
    """Reply of endpoint 19, the oldest day first."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"units"})

    units: list[DailyUnits] = Field(default_factory=list)


_DAYS = {
    "RANGE_LAST_WEEK": 7,
    "RANGE_LAST_30_DAYS": 30,
    "RANGE_LAST_90_DAYS": 90,
    "RANGE_LAST_YEAR": 365,
}


def keep_daily_units(store: Store, units: DailyUnits) -> None:
    """Store the usage of a day; an earlier record of the day is replaced."""
    store.keep("daily_units", units.stats_date[:10], wire.as_text(units))


def last_days(store: Store, today: date, number: int) -> list[wire.JsonObject]:
    """Return the last days, with today."""
    first = today - timedelta(days=number - 1)
    between = "WHERE day BETWEEN ? AND ? ORDER BY day"
    return store.records("daily_units", between, first.isoformat(), today.isoformat())


@PLATFORM_RECORDS.answers(
    19, "POST", "/dataplans/data-usage/v2/daily:units", UsageRequest, UsageReply, only_reads=True
)
def _daily_units(call: Call, request: UsageRequest) -> wire.JsonObject:
    today = date.fromisoformat(call.now[:10])
    return {"units": last_days(call.store, today, _DAYS.get(request.range, today.day))}


IncidentSeverity = Annotated[
    str,
    wire.OpenEnum(
        "INCIDENT_SEVERITY_", "UNSPECIFIED", "LOW", "INFO", "WARNING", "ERROR", "CRITICAL"
    ),
]
IncidentState = Annotated[
    str, wire.OpenEnum("INCIDENT_STATE_", "UNSPECIFIED", "TRIGGERED", "RESOLVED")
]
IncidentStatus = Annotated[
    str, wire.OpenEnum("INCIDENT_STATUS_", "UNSPECIFIED", "TRIGGERED", "ACKNOWLEDGED", "RESOLVED")
]
IncidentEventType = Annotated[
    str,
    wire.OpenEnum(
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


class User(wire.WireObject):
    """A person by id."""

    user_id: str = ""


class Assignment(wire.WireObject):
    """Who gave the incident to whom."""

    assigned_by: User | None = None
    assigned_to: User | None = None


class IncidentEvent(wire.WireObject):
    """One step in the life of an incident; `close` is there for the last one."""

    id: str
    incident_event_type: IncidentEventType = "INCIDENT_EVENT_TYPE_UNSPECIFIED"
    originator_type: Annotated[
        str, wire.OpenEnum("ORIGINATOR_TYPE_", "UNSPECIFIED", "USER", "AUTOMATIC")
    ] = "ORIGINATOR_TYPE_UNSPECIFIED"
    administrative_event: User | None = None
    close: wire.Empty | None = None


class Incident(wire.WireObject):
    """Something that went wrong; it is open while it has no `closedAt`."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"id"})

    id: str
    name: str = ""
    description: str = ""
    created_at: wire.Timestamp | None = None
    closed_at: wire.Timestamp | None = None
    duration: str = ""
    severity: IncidentSeverity = "INCIDENT_SEVERITY_UNSPECIFIED"
    state: IncidentState = "INCIDENT_STATE_UNSPECIFIED"
    status: IncidentStatus = "INCIDENT_STATUS_UNSPECIFIED"
    is_muted: bool = False
    last_state_update_key: str = ""
    last_state_update_time: wire.Timestamp | None = None
    contextual_labels: wire.Labels = Field(default_factory=dict)
    display_labels: wire.Labels = Field(default_factory=dict)
    meta_labels: list[KeyValue] = Field(default_factory=list)
    assignments: list[Assignment] = Field(default_factory=list)
    events: list[IncidentEvent] = Field(default_factory=list)


class IncidentEventMetadata(wire.WireObject):
    """The alert behind an event, and the state of its incident at that time."""

    alert_group_by_fields: list[str] = Field(default_factory=list)
    alert_id: str = ""
    alert_labels: list[KeyValue] = Field(default_factory=list)
    alert_name: str = ""
    alert_type: Annotated[
        str, wire.OpenEnum("INCIDENT_EVENT_ALERT_TYPE_", "STANDARD_OR_UNSPECIFIED", "METRIC", "SLO")
    ] = "INCIDENT_EVENT_ALERT_TYPE_STANDARD_OR_UNSPECIFIED"
    incident_permutation: Annotated[wire.Empty, Field(default_factory=wire.Empty)]
    incident_severity: IncidentSeverity = "INCIDENT_SEVERITY_UNSPECIFIED"
    incident_state: IncidentState = "INCIDENT_STATE_UNSPECIFIED"
    incident_status: IncidentStatus = "INCIDENT_STATUS_UNSPECIFIED"
    is_muted: bool = False


class ExtendedIncidentEvent(wire.WireObject):
    """An incident event as the listing shows it."""

    cx_event_key: str
    cx_event_timestamp: wire.Timestamp
    incident_event: IncidentEvent
    incident_event_extended_metadata: IncidentEventMetadata


class IncidentListReply(wire.WireObject):
    """Reply of endpoint 8."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"incidents", "pagination"})

    incidents: list[Incident]
    pagination: paging.PageInfo


class IncidentEventListReply(wire.WireObject):
    """Reply of endpoint 9."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"items"})

    items: list[ExtendedIncidentEvent]
    pagination: paging.PageInfo | None = None


class IncidentCloseReply(wire.WireObject):
    """Reply of endpoint 10: the incidents it closed."""

    incidents: list[Incident] = Field(default_factory=list)


class IncidentFilter(wire.WireObject):
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


class IncidentQuery(wire.WireObject):
    """Query of endpoint 8, which has an empty body."""

    filter: IncidentFilter = IncidentFilter()
    pagination: paging.PageRequest
    order_bys: paging.OrderBys


class IncidentEventFilter(wire.WireObject):
    """Conditions on an incident event."""

    name: paging.Text = ""
    severity: list[IncidentSeverity] = Field(default_factory=list)
    status: list[IncidentStatus] = Field(default_factory=list)
    is_muted: paging.Flag | None = None
    labels: paging.TextMap = Field(default_factory=dict)
    contextual_labels: paging.TextMap = Field(default_factory=dict)
    display_labels: paging.TextMap = Field(default_factory=dict)
    timestamp: paging.TimeRange = paging.TimeRange()


class EventOrder(wire.WireObject):
    """The sort order of incident events."""

    field: paging.Text = ""
    direction: paging.Text = ""


class IncidentEventQuery(wire.WireObject):
    """Query of endpoint 9."""

    filter: IncidentEventFilter = IncidentEventFilter()
    pagination: paging.PageRequest
    order_by: Annotated[EventOrder, Field(alias="order_by")] = EventOrder()


class CloseQuery(wire.WireObject):
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
    return wire.read(Incident, record) if record else None


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
        close=wire.Empty() if step == "CLOSE" else None,
    )
    incident.events.append(event)
    incident.last_state_update_time = now
    incident.last_state_update_key = event.id
    behind = json.dumps([alert.id, alert.name, alert.labels, alert.group_by])
    store.keep("incidents", incident.id, behind, wire.as_text(incident))
    extended = ExtendedIncidentEvent(
        cx_event_key=event.id,
        cx_event_timestamp=now,
        incident_event=event,
        incident_event_extended_metadata=IncidentEventMetadata(
            alert_group_by_fields=list(alert.group_by),
            alert_id=alert.id,
            alert_labels=[KeyValue(key=key, value=text) for key, text in alert.labels.items()],
            alert_name=alert.name,
            incident_permutation=wire.Empty(),
            incident_severity=incident.severity,
            incident_state=incident.state,
            incident_status=incident.status,
            is_muted=incident.is_muted,
        ),
    )
    store.keep("incident_events", event.id, incident.id, now, wire.as_text(extended))


def _alert_of(store: Store, incident: Incident) -> AlertBehind:
    ((alert,),) = store.rows("SELECT alert FROM incidents WHERE id = ?", incident.id)
    return AlertBehind(*json.loads(alert))


_PATH = "/incidents/incidents/v1"
_LISTING = paging.Listing(
    "incidents",
    ("createdAt", "closedAt", "lastStateUpdateTime", "name", "severity", "state", "status"),
    "id",
)
_INCIDENT_EVENTS = paging.Listing("items", ("cxEventTimestamp", "cxEventKey"), "cxEventKey")


@INCIDENTS.answers(
    8, "POST", _PATH, IncidentQuery, IncidentListReply, in_query=True, only_reads=True
)
def _list_incidents(call: Call, asked: IncidentQuery) -> wire.JsonObject:
    incidents = call.store.records("incidents")
    found = [incident for incident in incidents if _incident_passes(incident, asked.filter)]
    orders = [(order.field_name, order.direction) for order in asked.order_bys]
    return _LISTING.page(found, asked, *orders)


def _incident_passes(incident: wire.JsonObject, wanted: IncidentFilter) -> bool:
    labels = incident["contextualLabels"]
    text = wanted.search_query.casefold()
    return (
        paging.any_of(wanted.application_name, labels.get("applicationName"))
        and paging.any_of(wanted.subsystem_name, labels.get("subsystemName"))
        and paging.any_of(wanted.severity, incident["severity"])
        and paging.any_of(wanted.state, incident["state"])
        and paging.any_of(wanted.status, incident["status"])
        and wanted.is_muted in (None, incident["isMuted"])
        and _incident_has_assignee(incident, wanted.assignee)
        and any(text in incident[field].casefold() for field in ("name", "description"))
        and paging.has_labels(labels, wanted.contextual_labels)
        and paging.has_labels(incident["displayLabels"], wanted.display_labels)
        and all(
            {"key": meta_label.key, "value": meta_label.value} in incident["metaLabels"]
            for meta_label in wanted.meta_labels
        )
        and wanted.created_at_range.holds(incident["createdAt"])
    )


def _incident_has_assignee(incident: wire.JsonObject, wanted: list[str]) -> bool:
    holders = {
        assignment.get("assignedTo", {}).get("userId") for assignment in incident["assignments"]
    }
    return not wanted or not holders.isdisjoint(wanted)


@INCIDENTS.answers(
    9, "GET", _PATH + "/events", IncidentEventQuery, IncidentEventListReply, in_query=True
)
def _list_incident_events(call: Call, asked: IncidentEventQuery) -> wire.JsonObject:
    rows = call.store.rows(
        """SELECT incident_events.record, incidents.record
           FROM incident_events JOIN incidents ON incidents.id = incident_events.incident_id"""
    )
    both = ((json.loads(event), json.loads(incident)) for event, incident in rows)
    found = [event for event, incident in both if _event_passes(event, incident, asked.filter)]
    return _INCIDENT_EVENTS.page(found, asked, (asked.order_by.field, asked.order_by.direction))


def _event_passes(
    event: wire.JsonObject, incident: wire.JsonObject, wanted: IncidentEventFilter
) -> bool:
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
            raise wire.MissingObjectError("incident", incident_id)
        named.append(incident)
    reply = IncidentCloseReply()
    for index, incident in enumerate(named):
        if incident.closed_at is None and call.partial.carries_out(index):
            close(call.store, incident, now=call.now, user_id=call.author.id)
            if index not in call.partial.missing:
                reply.incidents.append(incident)
    return reply
