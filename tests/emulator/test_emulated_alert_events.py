"""Endpoint 2: alert events."""

from datetime import UTC, datetime
from typing import Any

import pytest
from harness.emulated import Emulated
from harness.routes import ALERT_EVENTS

from reconciler.emulator.record_endpoints import AlertEvent, keep_alert_event

NOON = int(datetime(2025, 1, 30, 12, tzinfo=UTC).timestamp())


def with_events(*labels: dict[str, str], **options: Any) -> Emulated:
    """Give an emulator with one event a minute; the n-th is of version `v<n>`."""
    emulator = Emulated(**options)
    store = emulator.app.state.store
    with store.writing():
        for number, label in enumerate(labels):
            event = AlertEvent(
                company_id=1,
                cx_event_key=f"k{number}",
                cx_event_dedup_key=f"d{number}",
                cx_event_labels=label,
                cx_event_timestamp=str(NOON + 60 * number),
                cx_event_type="triggered",
            )
            keep_alert_event(store, event, version_id=f"v{number}")
    return emulator


def keys(emulator: Emulated, query: str = "") -> list[str]:
    answer = emulator.get(f"{ALERT_EVENTS}?{query}")
    assert answer.status == 200, answer.text
    return [event["cxEventKey"] for event in answer.body["events"]]


SHOP = ({"application": "shop"}, {"application": "pay"}, {"application": "pay", "k8s.zone": "b"})


def test_every_field() -> None:
    """An event has every field of the document, zero values too."""
    answer = with_events({"application": "shop"}).get(ALERT_EVENTS)

    assert answer.body == {
        "events": [
            {
                "companyId": 1,
                "cxEventKey": "k0",
                "cxEventDedupKey": "d0",
                "cxEventLabels": {"application": "shop"},
                "cxEventMetadata": {},
                "cxEventPayload": {},
                "cxEventPayloadType": "",
                "cxEventTimestamp": str(NOON),
                "cxEventType": "triggered",
            }
        ],
        "pagination": {"nextPageToken": "", "totalSize": 1},
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["k2", "k1", "k0"]),
        ("alert_ids=v0", ["k0"]),
        ("alert_ids=v0&alert_ids=v2", ["k2", "k0"]),
        ("alert_ids=nobody", []),
        ("cx_event_labels.application=pay", ["k2", "k1"]),
        ("cx_event_labels.application=pay&cx_event_labels.application=shop", ["k2", "k1", "k0"]),
        ("cx_event_labels.k8s.zone=b", ["k2"]),
        ("cx_event_labels.application=shop&cx_event_labels.k8s.zone=b", []),
        ("timestamp_range.from=2025-01-30T12:01:00Z", ["k2", "k1"]),
        ("timestamp_range.to=2025-01-30T12:01:00Z", ["k0"]),
        ("timestamp_range.from=2025-01-30T13:01:00%2B01:00", ["k2", "k1"]),
        ("order_bys.fieldName=cxEventTimestamp&order_bys.direction=ORDER_BY_DIRECTION_ASC",
         ["k0", "k1", "k2"]),
        ("something=else", ["k2", "k1", "k0"]),
    ],
)  # fmt: skip
def test_filters(query: str, found: list[str]) -> None:
    """Filters add up, values of one are alternatives, and the newest event comes first."""
    assert keys(with_events(*SHOP), query) == found


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("timestamp_range.from=yesterday", "timestamp_range.from: not a timestamp"),
        ("timestamp_range=x", "timestamp_range: not an object"),
        ("pagination.pageSize=0", "pagination.pageSize: "),
        ("pagination.pageSize=many", "pagination.pageSize: not an integer"),
        ("pagination.pageSize=1&pagination.pageSize=2", "pagination.pageSize: not an integer"),
        ("pagination.pageToken=%C3%A9", "pagination.pageToken: not a token of this listing"),
        ("pagination.pageToken=W10", "pagination.pageToken: not a token of this listing"),
        ("pagination=1&pagination.pageSize=1", "pagination.pageSize: pagination is a value"),
        ("pagination.pageSize=1&pagination=1", "pagination: a value and an object"),
        ("order_bys.fieldName=colour", "the order: colour is not a field to sort by"),
        ("order_bys.direction=SIDEWAYS", "the order: SIDEWAYS is not a direction"),
    ],
)
def test_bad_query(query: str, message: str) -> None:
    """A query that cannot be read is refused and names the parameter."""
    answer = with_events(*SHOP).get(f"{ALERT_EVENTS}?{query}")

    assert answer.status == 400
    assert answer.message.startswith(message)


def test_pages() -> None:
    """Pages follow each other without gap or overlap, and all say how many there are."""
    emulator = with_events(*SHOP)

    first = emulator.get(f"{ALERT_EVENTS}?pagination.pageSize=2").body
    token = first["pagination"]["nextPageToken"]
    last = emulator.get(f"{ALERT_EVENTS}?pagination.pageSize=2&pagination.pageToken={token}").body

    assert [event["cxEventKey"] for event in (*first["events"], *last["events"])] == [
        "k2",
        "k1",
        "k0",
    ]
    assert last["pagination"] == {"nextPageToken": "", "totalSize": 3}


def test_token_of_another_query() -> None:
    """A token is for the query it came from only."""
    emulator = with_events(*SHOP)
    first = emulator.get(f"{ALERT_EVENTS}?pagination.pageSize=1").body
    token = first["pagination"]["nextPageToken"]

    answer = emulator.get(f"{ALERT_EVENTS}?alert_ids=v0&pagination.pageToken={token}")

    assert answer.status == 400


def test_added_between_pages() -> None:
    """What is added between two pages makes no event come twice."""
    emulator = with_events(*SHOP)
    first = emulator.get(f"{ALERT_EVENTS}?pagination.pageSize=1").body
    store = emulator.app.state.store
    late = AlertEvent(
        company_id=1, cx_event_key="late", cx_event_dedup_key="", cx_event_timestamp=str(NOON + 999)
    )
    with store.writing():
        keep_alert_event(store, late, version_id="v")

    token = first["pagination"]["nextPageToken"]

    assert keys(emulator, f"pagination.pageToken={token}") == ["k1", "k0"]
