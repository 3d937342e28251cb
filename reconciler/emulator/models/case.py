"""Cases, and how they are listed. Further values: docs/assumptions.md."""

from typing import Annotated, ClassVar

from pydantic import Field

from reconciler.emulator.models.enumerations import (
    CaseCategory,
    CaseOrderDirection,
    CaseOrderField,
    CasePriority,
    CaseResolver,
    CaseState,
    CaseStatus,
    IndicatorGrouping,
    IndicatorPriority,
    IndicatorState,
)
from reconciler.emulator.models.query import LARGEST_PAGE, PageInfo
from reconciler.emulator.models.wire import Empty, Int32, Timestamp, Uuid, WireObject, bounds


class KeyValue(WireObject):
    """A label or one part of a grouping."""

    key: str = ""
    value: str = ""


class KeyValues(WireObject):
    """A key and the values any of which will do."""

    key: str = ""
    values: list[str] = Field(default_factory=list)


class PriorityDetails(WireObject):
    """What the system found, and what a person said instead."""

    override: CasePriority = "CASE_PRIORITY_UNSPECIFIED"
    system: CasePriority = "CASE_PRIORITY_UNSPECIFIED"


class Assignee(WireObject):
    """The person who looks after it."""

    user_id: Uuid


class ResolutionDetails(WireObject):
    """When and by what it ended."""

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
    """Nobody, or one person."""

    unassigned: Empty | None = None
    user_id: Uuid | None = None


class CaseFilters(WireObject):
    """What a case must have; each empty filter lets all through."""

    assignees: list[AssigneeFilter] = Field(default_factory=list)
    categories: list[CaseCategory] = Field(default_factory=list)
    groupings: list[KeyValues] = Field(default_factory=list)
    labels: list[KeyValues] = Field(default_factory=list)
    priorities: list[CasePriority] = Field(default_factory=list)
    states: list[CaseState] = Field(default_factory=list)
    statuses: list[str] = Field(default_factory=list)
    text_search: str = ""


class CaseOrder(WireObject):
    """By what cases are sorted, unspecified is as if it were absent."""

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
