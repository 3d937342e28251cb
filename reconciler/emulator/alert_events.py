"""Alert events: endpoint 2, a listing only.

Events are added by the life of the emulator. Without an order the newest
comes first, as the API document is silent on it.
"""

import json
from datetime import UTC, datetime

from reconciler.emulator.endpoint import Call, Endpoint, Resource
from reconciler.emulator.models.alert_event import AlertEvent, AlertEventListReply, AlertEventQuery
from reconciler.emulator.models.query import any_of
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.paging import Criterion, Listing, criterion
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.store import Store

_TABLE = """alert_events (
    key TEXT PRIMARY KEY, at TEXT NOT NULL, version_id TEXT NOT NULL, record TEXT NOT NULL
)"""
_FIELDS = ("cxEventTimestamp", "cxEventType", "cxEventKey")


def keep_alert_event(store: Store, event: AlertEvent, *, version_id: str) -> None:
    """Store an event of an alert version; one with the same key is replaced."""
    moment = datetime.fromtimestamp(int(event.cx_event_timestamp), UTC)
    store.write(
        "INSERT OR REPLACE INTO alert_events VALUES (?, ?, ?, ?)",
        event.cx_event_key,
        moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        version_id,
        as_text(event),
    )


def _list(call: Call, asked: AlertEventQuery) -> Rendered:
    orders = [
        criterion(order.field_name, order.direction, known=_FIELDS, default=_FIELDS[0])
        for order in asked.order_bys
    ]
    listing = Listing(
        records=_found(call.store, asked),
        criteria=tuple(orders) or (Criterion(_FIELDS[0]),),
        identity="cxEventKey",
        asked=asked,
    )
    page = listing.page(asked.pagination.page_size, asked.pagination.page_token)
    return as_text({"events": page.records, "pagination": page.info})


def _found(store: Store, asked: AlertEventQuery) -> list[JsonObject]:
    window = asked.timestamp_range
    rows = store.rows(
        "SELECT version_id, record FROM alert_events WHERE at >= ? AND (? IS NULL OR at < ?)",
        window.from_ or "",
        window.to,
        window.to,
    )
    events = [json.loads(record) for version, record in rows if any_of(asked.alert_ids, version)]
    return [event for event in events if _has_labels(event, asked.cx_event_labels)]


def _has_labels(event: JsonObject, wanted: dict[str, list[str]]) -> bool:
    labels = event["cxEventLabels"]
    return all(labels.get(key) in values for key, values in wanted.items())


ALERT_EVENTS = Resource(
    tables=(_TABLE,),
    endpoints=(
        Endpoint(
            2,
            "GET",
            "/alerts/events/v3/alert-events",
            AlertEventQuery,
            AlertEventListReply,
            _list,
            in_query=True,
        ),
    ),
)
