"""Records that the service makes by itself: alert events, cases and usage, endpoints 2, 7 and 19.

Events and cases are added by the life of the emulator. Without an order the newest event comes
first, as the API document is silent on it. Values of one filter are alternatives, filters add up:
the document says so of endpoint 7. Days without data are left out. A range of usage ends with
today; `LAST_WEEK` is seven days with it. Further values, ranges and names of query parameters:
docs/assumptions.md.
"""

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from reconciler.emulator import paging
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Resource
from reconciler.emulator.rendering import InvalidRequestError, Rendered, as_text
from reconciler.emulator.wire_models import (
    Empty,
    Int32,
    JsonObject,
    Labels,
    OpenEnum,
    Timestamp,
    Uuid,
    WireObject,
    bounds,
    timestamp,
)

PLATFORM_RECORDS = Resource(
    "alert_events (key TEXT PRIMARY KEY, at TEXT NOT NULL,"
    " version_id TEXT NOT NULL, record TEXT NOT NULL)",
    "cases (id TEXT PRIMARY KEY, record TEXT NOT NULL)",
    "daily_units (day TEXT PRIMARY KEY, record TEXT NOT NULL)",
)


class AlertEvent(WireObject):
    """One event; its time is in seconds since 1970, as text."""

    company_id: Int32
    cx_event_key: str
    cx_event_dedup_key: str
    cx_event_labels: Labels = Field(default_factory=dict)
    cx_event_metadata: JsonObject = Field(default_factory=dict)
    cx_event_payload: JsonObject = Field(default_factory=dict)
    cx_event_payload_type: str = ""
    cx_event_timestamp: str
    cx_event_type: str = ""


class AlertEventQuery(WireObject):
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


class AlertEventListReply(WireObject):
    """Reply of endpoint 2."""

    events: list[AlertEvent] = Field(default_factory=list)
    pagination: paging.PageInfo


_EVENT_LISTING = paging.Listing(
    "events", ("cxEventTimestamp", "cxEventType", "cxEventKey"), "cxEventKey"
)


def keep_alert_event(store: Store, event: AlertEvent, *, version_id: str) -> None:
    """Store an event of an alert version; one with the same key is replaced."""
    at = timestamp(datetime.fromtimestamp(int(event.cx_event_timestamp), UTC))
    store.keep("alert_events", event.cx_event_key, at, version_id, as_text(event))


@PLATFORM_RECORDS.answers(
    2, "GET", "/alerts/events/v3/alert-events", AlertEventQuery, AlertEventListReply, in_query=True
)
def _list_events(call: Call, asked: AlertEventQuery) -> Rendered:
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
    return _EVENT_LISTING.page(found, asked, *orders)


CaseCategory = Annotated[str, OpenEnum("CASE_CATEGORY_", "UNSPECIFIED", "SECURITY", "AVAILABILITY")]
CasePriority = Annotated[
    str, OpenEnum("CASE_PRIORITY_", "UNSPECIFIED", "P1", "P2", "P3", "P4", "P5")
]
CaseState = Annotated[str, OpenEnum("CASE_STATE_", "UNSPECIFIED", "CREATED", "ACTIVE", "RESOLVED")]
CaseStatus = Annotated[
    str, OpenEnum("CASE_STATUS_", "UNSPECIFIED", "OPEN", "ACKNOWLEDGED", "CLOSED")
]
CaseResolver = Annotated[str, OpenEnum("CASE_RESOLVER_", "UNSPECIFIED", "USER", "SYSTEM")]
CaseOrderField = Annotated[
    str,
    OpenEnum(
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
    str, OpenEnum("CASE_ORDER_BY_DIRECTION_", "UNSPECIFIED", "ASC", "DESC")
]
IndicatorGrouping = Annotated[str, OpenEnum("GROUPING_TYPE_", "UNSPECIFIED")]
IndicatorPriority = Annotated[str, OpenEnum("ALERT_PRIORITY_", "UNSPECIFIED", "P1", "P2", "P3")]
IndicatorState = Annotated[
    str, OpenEnum("ALERT_INDICATOR_STATE_", "UNSPECIFIED", "TRIGGERED", "RESOLVED")
]


class KeyValue(WireObject):
    """A label or one part of a grouping."""

    key: str = ""
    value: str = ""


class KeyValues(WireObject):
    """A key and its values; any of the values matches."""

    key: str = ""
    values: list[str] = Field(default_factory=list)


class PriorityDetails(WireObject):
    """The priority of the system, and that of a person, which replaces it."""

    override: CasePriority = "CASE_PRIORITY_UNSPECIFIED"
    system: CasePriority = "CASE_PRIORITY_UNSPECIFIED"


class Assignee(WireObject):
    """The person who works on the case."""

    user_id: Uuid


class ResolutionDetails(WireObject):
    """When the case ended, and who ended it."""

    resolve_time: Timestamp | None = None
    resolved_by: CaseResolver = "CASE_RESOLVER_UNSPECIFIED"


class AlertIndicator(WireObject):
    """An alert that is part of the case."""

    alert_id: str
    alert_version_id: str
    grouping_type: IndicatorGrouping = "GROUPING_TYPE_UNSPECIFIED"
    groupings: list[KeyValue] = Field(default_factory=list)
    priority: IndicatorPriority = "ALERT_PRIORITY_UNSPECIFIED"
    state: IndicatorState = "ALERT_INDICATOR_STATE_UNSPECIFIED"
    trigger_time: Timestamp | None = None
    resolve_time: Timestamp | None = None


class Case(WireObject):
    """Something people work on until it is resolved."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset(
        {"category", "createTime", "id", "priority", "state", "status", "title"}
    )

    id: Uuid
    readable_id: str = ""
    title: str
    description: str = ""
    category: CaseCategory
    priority: CasePriority
    priority_details: PriorityDetails | None = None
    state: CaseState
    status: CaseStatus
    create_time: Timestamp
    update_time: Timestamp | None = None
    acknowledge_time: Timestamp | None = None
    assignee: Assignee | None = None
    groupings: list[KeyValue] = Field(default_factory=list)
    labels: list[KeyValue] = Field(default_factory=list)
    resolution_details: ResolutionDetails | None = None
    alert_indicators: list[AlertIndicator] = Field(default_factory=list)


class AssigneeFilter(WireObject):
    """No assignee, or one person."""

    unassigned: Empty | None = None
    user_id: Uuid | None = None


class CaseFilters(WireObject):
    """Conditions on a case; an empty filter matches all cases."""

    assignees: list[AssigneeFilter] = Field(default_factory=list)
    categories: list[CaseCategory] = Field(default_factory=list)
    groupings: list[KeyValues] = Field(default_factory=list)
    labels: list[KeyValues] = Field(default_factory=list)
    priorities: list[CasePriority] = Field(default_factory=list)
    states: list[CaseState] = Field(default_factory=list)
    statuses: list[str] = Field(default_factory=list)
    text_search: str = ""


class CaseOrder(WireObject):
    """The sort order of cases; an unspecified value is the same as an absent value."""

    direction: CaseOrderDirection = "CASE_ORDER_BY_DIRECTION_UNSPECIFIED"
    field: CaseOrderField = "CASE_ORDER_BY_FIELD_UNSPECIFIED"


class CasePagination(WireObject):
    """Which page; `skip` leaves out that many cases before it."""

    page_size: Annotated[Int32, bounds(0, paging.LARGEST_PAGE)] = 0
    page_token: str = ""
    skip: Annotated[Int32, bounds(0)] = 0


class CaseListRequest(WireObject):
    """Request of endpoint 7."""

    filters: CaseFilters = CaseFilters()
    order_by: CaseOrder = CaseOrder()
    pagination: CasePagination = CasePagination()


class CaseListReply(WireObject):
    """Reply of endpoint 7."""

    cases: list[Case] = Field(default_factory=list)
    pagination: paging.PageInfo


_STATUS = "CASE_STATUS_"
_CASE_LISTING = paging.Listing(
    "cases", ("createTime", "updateTime", "priority", "state", "status", "title"), "id"
)


def keep_case(store: Store, case: Case) -> None:
    """Store a case; a case with the same id is replaced."""
    store.keep("cases", case.id, as_text(case))


@PLATFORM_RECORDS.answers(
    7,
    "POST",
    "/cases/cases/v1",
    CaseListRequest,
    CaseListReply,
    permission="case:Read",
    only_reads=True,
)
def _list_cases(call: Call, request: CaseListRequest) -> Rendered:
    form = call.profile.case_statuses
    for index, status in enumerate(request.filters.statuses):
        if form != "either" and status.startswith(_STATUS) != (form == "prefixed"):
            raise InvalidRequestError(f"filters.statuses[{index}]: {status!r} is not {form}")
    found = [case for case in call.store.records("cases") if _passes(case, request.filters)]
    # `CASE_ORDER_BY_FIELD_CREATE_TIME` is `createTime`.
    field = to_camel(request.order_by.field.removeprefix("CASE_ORDER_BY_FIELD_").lower())
    order = ("" if field == "unspecified" else field, request.order_by.direction)
    return _CASE_LISTING.page(found, request, order)


def _passes(case: JsonObject, filters: CaseFilters) -> bool:
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
        and _has_assignee(case, filters.assignees)
        and any(
            text in case.get(field, "").casefold()
            for field in ("title", "description", "readableId")
        )
    )


def _has_pairs(pairs: list[JsonObject], wanted: Iterable[KeyValues]) -> bool:
    return all(
        any(
            pair["key"] == key_values.key and paging.any_of(key_values.values, pair["value"])
            for pair in pairs
        )
        for key_values in wanted
    )


def _has_assignee(case: JsonObject, wanted: list[AssigneeFilter]) -> bool:
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


class Units(WireObject):
    """A number in an object; zero is a number like any other."""

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"value"})

    value: float = 0.0


class DailyUnits(WireObject):
    """The usage of one day."""

    stats_date: Timestamp
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


class UsageRequest(WireObject):
    """Request of endpoint 19; an unspecified range is the current month."""

    range: UsageRange = "RANGE_UNSPECIFIED"


class UsageReply(WireObject):
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
    store.keep("daily_units", units.stats_date[:10], as_text(units))


def last_days(store: Store, today: date, number: int) -> list[JsonObject]:
    """Return the last days, with today."""
    first = today - timedelta(days=number - 1)
    between = "WHERE day BETWEEN ? AND ? ORDER BY day"
    return store.records("daily_units", between, first.isoformat(), today.isoformat())


@PLATFORM_RECORDS.answers(
    19, "POST", "/dataplans/data-usage/v2/daily:units", UsageRequest, UsageReply, only_reads=True
)
def _daily_units(call: Call, request: UsageRequest) -> Rendered:
    today = date.fromisoformat(call.now[:10])
    return as_text({"units": last_days(call.store, today, _DAYS.get(request.range, today.day))})
