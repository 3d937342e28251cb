"""Alert events: what alert definitions said, and when.

Names of the query parameters: docs/assumptions.md.
"""

from typing import Annotated

from pydantic import Field

from reconciler.emulator.models.query import (
    FieldOrder,
    Objects,
    OptionalPageRequest,
    PageInfo,
    TextMap,
    TimeRange,
)
from reconciler.emulator.models.wire import Int32, JsonObject, Labels, WireObject


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
    timestamp_range: Annotated[TimeRange, Field(alias="timestamp_range")] = TimeRange()
    cx_event_labels: Annotated[TextMap, Field(alias="cx_event_labels")] = Field(
        default_factory=dict
    )
    order_bys: Annotated[list[FieldOrder], Objects, Field(alias="order_bys")] = Field(
        default_factory=list
    )
    pagination: OptionalPageRequest = OptionalPageRequest()


class AlertEventListReply(WireObject):
    """Reply of endpoint 2."""

    events: list[AlertEvent] = Field(default_factory=list)
    pagination: PageInfo
