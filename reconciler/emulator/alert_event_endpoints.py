"""Alert events: endpoint 2, a listing only.

Events are added by the life of the emulator. Without an order the newest comes first, as the API
document is silent on it. Names of the query parameters: docs/assumptions.md.
"""

import json
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from reconciler.emulator import paging
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Resource
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.wire_models import Int32, JsonObject, Labels, WireObject, timestamp


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
    order_bys: Annotated[list[paging.FieldOrder], paging.Objects, Field(alias="order_bys")] = Field(
        default_factory=list
    )
    pagination: paging.OptionalPageRequest = paging.OptionalPageRequest()


class AlertEventListReply(WireObject):
    """Reply of endpoint 2."""

    events: list[AlertEvent] = Field(default_factory=list)
    pagination: paging.PageInfo


ALERT_EVENTS = Resource(
    "alert_events (key TEXT PRIMARY KEY, at TEXT NOT NULL,"
    " version_id TEXT NOT NULL, record TEXT NOT NULL)",
)
_LISTING = paging.Listing("events", ("cxEventTimestamp", "cxEventType", "cxEventKey"), "cxEventKey")


def keep_alert_event(store: Store, event: AlertEvent, *, version_id: str) -> None:
    """Store an event of an alert version; one with the same key is replaced."""
    at = timestamp(datetime.fromtimestamp(int(event.cx_event_timestamp), UTC))
    store.keep("alert_events", event.cx_event_key, at, version_id, as_text(event))


@ALERT_EVENTS.answers(
    2, "GET", "/alerts/events/v3/alert-events", AlertEventQuery, AlertEventListReply, in_query=True
)
def _list(call: Call, asked: AlertEventQuery) -> Rendered:
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
    return _LISTING.page(found, asked, *orders)
