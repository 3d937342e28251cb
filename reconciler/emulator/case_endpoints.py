"""Cases: endpoint 7, a listing only, and its models.

Values of one filter are alternatives, filters add up. The API document says so of endpoint 7.
Further values: docs/assumptions.md.
"""

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.alias_generators import to_camel

from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Resource
from reconciler.emulator.http_errors import InvalidRequestError
from reconciler.emulator.paging import LARGEST_PAGE, Listing, PageInfo, any_of
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.wire_models import (
    Empty,
    Int32,
    JsonObject,
    OpenEnum,
    Timestamp,
    Uuid,
    WireObject,
    bounds,
)

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

    page_size: Annotated[Int32, bounds(0, LARGEST_PAGE)] = 0
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
    pagination: PageInfo


CASES = Resource("cases (id TEXT PRIMARY KEY, record TEXT NOT NULL)")
_STATUS = "CASE_STATUS_"
_TEXTS = ("title", "description", "readableId")
_LISTING = Listing(
    "cases", ("createTime", "updateTime", "priority", "state", "status", "title"), "id"
)


def keep_case(store: Store, case: Case) -> None:
    """Store a case; a case with the same id is replaced."""
    store.keep("cases", case.id, as_text(case))


@CASES.answers(
    7,
    "POST",
    "/cases/cases/v1",
    CaseListRequest,
    CaseListReply,
    permission="case:Read",
    only_reads=True,
)
def _list(call: Call, request: CaseListRequest) -> Rendered:
    _check_statuses(call, request.filters.statuses)
    found = [case for case in call.store.records("cases") if _passes(case, request.filters)]
    # `CASE_ORDER_BY_FIELD_CREATE_TIME` is `createTime`.
    field = to_camel(request.order_by.field.removeprefix("CASE_ORDER_BY_FIELD_").lower())
    order = ("" if field == "unspecified" else field, request.order_by.direction)
    return _LISTING.page(found, request, order)


def _check_statuses(call: Call, statuses: Iterable[str]) -> None:
    """Raise InvalidRequestError for a status that has another form than that of the profile."""
    wanted = call.profile.case_statuses
    for index, status in enumerate(statuses):
        if wanted != "either" and status.startswith(_STATUS) != (wanted == "prefixed"):
            raise InvalidRequestError(f"filters.statuses[{index}]: {status!r} is not {wanted}")


def _passes(case: JsonObject, filters: CaseFilters) -> bool:
    text = filters.text_search.casefold()
    return (
        any_of(filters.categories, case["category"])
        and any_of(filters.priorities, case["priority"])
        and any_of(filters.states, case["state"])
        # A status may be short, as in the API document.
        and any_of(
            [_STATUS + status.removeprefix(_STATUS) for status in filters.statuses], case["status"]
        )
        and _has_pairs(case.get("groupings", []), filters.groupings)
        and _has_pairs(case.get("labels", []), filters.labels)
        and _has_assignee(case, filters.assignees)
        and any(text in case.get(field, "").casefold() for field in _TEXTS)
    )


def _has_pairs(pairs: list[JsonObject], wanted: Iterable[KeyValues]) -> bool:
    return all(
        any(
            pair["key"] == key_values.key and any_of(key_values.values, pair["value"])
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
