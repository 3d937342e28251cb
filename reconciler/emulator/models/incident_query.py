"""What may be asked of incidents. Names and shapes: docs/assumptions.md.

The shape of `createdAtRange` and `timestamp` is not shown anywhere; they are
taken to be like `timestamp_range` of the alert events.
"""

from typing import Annotated

from pydantic import Field

from reconciler.emulator.models.case import KeyValue
from reconciler.emulator.models.enumerations import (
    IncidentSeverity,
    IncidentState,
    IncidentStatus,
)
from reconciler.emulator.models.query import (
    FieldOrder,
    Flag,
    Objects,
    PageRequest,
    Text,
    TextMap,
    TimeRange,
)
from reconciler.emulator.models.wire import WireObject


class IncidentFilter(WireObject):
    """What an incident must have; each absent filter lets all through."""

    application_name: list[str] = Field(default_factory=list)
    subsystem_name: list[str] = Field(default_factory=list)
    assignee: list[str] = Field(default_factory=list)
    severity: list[IncidentSeverity] = Field(default_factory=list)
    state: list[IncidentState] = Field(default_factory=list)
    status: list[IncidentStatus] = Field(default_factory=list)
    is_muted: Flag | None = None
    search_query: Text = ""
    contextual_labels: TextMap = Field(default_factory=dict)
    display_labels: TextMap = Field(default_factory=dict)
    meta_labels: Annotated[list[KeyValue], Objects] = Field(default_factory=list)
    created_at_range: TimeRange = TimeRange()


class IncidentQuery(WireObject):
    """Query of endpoint 8, whose body is empty."""

    filter: IncidentFilter = IncidentFilter()
    pagination: PageRequest
    order_bys: Annotated[list[FieldOrder], Objects, Field(alias="order_bys")] = Field(
        default_factory=list
    )


class IncidentEventFilter(WireObject):
    """What an incident event must have."""

    name: Text = ""
    severity: list[IncidentSeverity] = Field(default_factory=list)
    status: list[IncidentStatus] = Field(default_factory=list)
    is_muted: Flag | None = None
    labels: TextMap = Field(default_factory=dict)
    contextual_labels: TextMap = Field(default_factory=dict)
    display_labels: TextMap = Field(default_factory=dict)
    timestamp: TimeRange = TimeRange()


class EventOrder(WireObject):
    """By what incident events are sorted."""

    field: Text = ""
    direction: Text = ""


class IncidentEventQuery(WireObject):
    """Query of endpoint 9."""

    filter: IncidentEventFilter = IncidentEventFilter()
    pagination: PageRequest
    order_by: Annotated[EventOrder, Field(alias="order_by")] = EventOrder()


class CloseQuery(WireObject):
    """Query of endpoint 10, which has no body."""

    incident_ids: Annotated[list[str], Field(alias="incident_ids", min_length=1)]
