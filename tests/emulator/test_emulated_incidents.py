"""Endpoints 8 to 10: incidents, what happened to them, and closing them."""

import pytest
from harness.emulated import Emulated
from harness.routes import CLOSE, INCIDENT_EVENTS, INCIDENTS

from reconciler.emulator.record_endpoints import (
    AlertBehind,
    Assignment,
    Incident,
    KeyValue,
    User,
    acknowledge,
    open_incident,
)

ALERT = AlertBehind("alert-1", "Slow checkout", {"team": "shop"}, ("region",))

ASCENDING = "order_bys.direction=ASC"


@pytest.fixture
def emulator() -> Emulated:
    """Two open incidents, an hour apart; the second is muted, labelled and acknowledged."""
    emulator = Emulated()
    store = emulator.app.state.store
    first = Incident(id="i1", name="Checkout", description="slow", severity="INCIDENT_SEVERITY_LOW")
    second = Incident(
        id="i2",
        name="Payments",
        severity="INCIDENT_SEVERITY_CRITICAL",
        is_muted=True,
        contextual_labels={"applicationName": "pay", "subsystemName": "api"},
        display_labels={"Region": "eu"},
        meta_labels=[KeyValue(key="team", value="pay")],
        assignments=[Assignment(assigned_to=User(user_id="ann"))],
    )
    with store.writing():
        open_incident(store, first, ALERT, now="2025-01-30T12:00:00.000Z")
        open_incident(store, second, ALERT, now="2025-01-30T13:00:00.000Z")
        acknowledge(store, second, user_id="ann", now="2025-01-30T13:05:00.000Z")
    return emulator


def ids(emulator: Emulated, query: str = "") -> list[str]:
    answer = emulator.post(f"{INCIDENTS}?pagination.pageSize=10&{query}", {})
    assert answer.status == 200, answer.text
    return [incident["id"] for incident in answer.body["incidents"]]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["i2", "i1"]),
        ("filter.applicationName=pay", ["i2"]),
        ("filter.subsystemName=api&filter.subsystemName=web", ["i2"]),
        ("filter.assignee=ann", ["i2"]),
        ("filter.severity=INCIDENT_SEVERITY_LOW", ["i1"]),
        ("filter.state=INCIDENT_STATE_TRIGGERED", ["i2", "i1"]),
        ("filter.state=INCIDENT_STATE_RESOLVED", []),
        ("filter.status=INCIDENT_STATUS_ACKNOWLEDGED", ["i2"]),
        ("filter.isMuted=false", ["i1"]),
        ("filter.searchQuery=CHECK", ["i1"]),
        ("filter.contextualLabels.applicationName=pay", ["i2"]),
        ("filter.displayLabels.Region=eu&filter.displayLabels.Region=us", ["i2"]),
        ("filter.metaLabels.key=team&filter.metaLabels.value=pay", ["i2"]),
        ("filter.metaLabels.key=team&filter.metaLabels.value=shop", []),
        ("filter.createdAtRange.from=2025-01-30T12:30:00Z", ["i2"]),
        ("filter.createdAtRange.to=2025-01-30T12:30:00Z", ["i1"]),
        ("order_bys.fieldName=severity&order_bys.direction=ASC", ["i1", "i2"]),
        ("order_bys.fieldName=name", ["i2", "i1"]),
        (
            f"order_bys.fieldName=state&order_bys.fieldName=createdAt&{ASCENDING}&{ASCENDING}",
            ["i1", "i2"],
        ),
    ],
)
def test_filters(emulator: Emulated, query: str, found: list[str]) -> None:
    """Each filter finds its incidents; without an order the newest comes first."""
    assert ids(emulator, query) == found


@pytest.mark.parametrize("path", [INCIDENTS, INCIDENT_EVENTS])
def test_page_size_is_needed(emulator: Emulated, path: str) -> None:
    """A listing without a page size is refused."""
    answer = emulator.send("POST" if path == INCIDENTS else "GET", path)

    assert (answer.status, answer.message) == (400, "pagination: required")


def test_bad_filter(emulator: Emulated) -> None:
    """A value that is none of its enumeration is refused by name."""
    answer = emulator.post(f"{INCIDENTS}?pagination.pageSize=1&filter.isMuted=maybe")

    assert (answer.status, answer.message) == (400, "filter.isMuted: not a boolean")


def test_pages(emulator: Emulated) -> None:
    """A token continues even when the incident it came from fell out of the filter."""
    query = "filter.state=INCIDENT_STATE_TRIGGERED"
    first = emulator.post(f"{INCIDENTS}?pagination.pageSize=1&{query}").body
    emulator.post(f"{CLOSE}?incident_ids=i2")

    token = first["pagination"]["nextPageToken"]

    assert [incident["id"] for incident in first["incidents"]] == ["i2"]
    assert ids(emulator, f"{query}&pagination.pageToken={token}") == ["i1"]


def test_close(emulator: Emulated) -> None:
    """Closing sets `closedAt`, state and status, and adds a close event."""
    answer = emulator.post(f"{CLOSE}?incident_ids=i1")

    (closed,) = answer.body["incidents"]
    assert closed["closedAt"] == closed["lastStateUpdateTime"] == "2025-01-31T09:00:02.000Z"
    assert closed["state"] == "INCIDENT_STATE_RESOLVED"
    assert closed["status"] == "INCIDENT_STATUS_RESOLVED"
    assert closed["duration"] == f"{21 * 3600 + 2}s"
    assert closed["events"][-1]["close"] == {}
    assert closed["events"][-1]["incidentEventType"] == "INCIDENT_EVENT_TYPE_CLOSE"
    assert ids(emulator, "filter.state=INCIDENT_STATE_RESOLVED") == ["i1"]


def test_close_several(emulator: Emulated) -> None:
    """Several ids are closed in one request; an id sent twice is closed once."""
    answer = emulator.post(f"{CLOSE}?incident_ids=i1&incident_ids=i2&incident_ids=i1")

    assert [incident["id"] for incident in answer.body["incidents"]] == ["i1", "i2"]


def test_close_again(emulator: Emulated) -> None:
    """Closing a closed incident changes nothing and does not list it as updated."""
    first = emulator.post(f"{CLOSE}?incident_ids=i1").body["incidents"][0]

    again = emulator.post(f"{CLOSE}?incident_ids=i1")

    listed = emulator.post(f"{INCIDENTS}?pagination.pageSize=9&filter.searchQuery=checkout")
    assert again.body == {"incidents": []}
    assert listed.body["incidents"] == [first]


def test_close_unknown(emulator: Emulated) -> None:
    """An id nobody has refuses the whole request."""
    answer = emulator.post(f"{CLOSE}?incident_ids=i1&incident_ids=nobody")

    assert (answer.status, answer.message) == (404, "Not Found: incident nobody")
    assert ids(emulator, "filter.state=INCIDENT_STATE_TRIGGERED") == ["i2", "i1"]


def test_close_nothing(emulator: Emulated) -> None:
    """Ids in the body are not ids in the query."""
    answer = emulator.post(CLOSE, {"incident_ids": ["i1"]})

    assert (answer.status, answer.message) == (400, "incident_ids: required")


def steps(emulator: Emulated, query: str = "") -> list[str]:
    answer = emulator.get(f"{INCIDENT_EVENTS}?pagination.pageSize=10&{query}")
    assert answer.status == 200, answer.text
    kinds = [item["incidentEvent"]["incidentEventType"] for item in answer.body["items"]]
    return [kind.removeprefix("INCIDENT_EVENT_TYPE_") for kind in kinds]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["ACKNOWLEDGE", "OPEN", "OPEN"]),
        ("filter.name=checkout", ["ACKNOWLEDGE", "OPEN", "OPEN"]),
        ("filter.name=search", []),
        ("filter.severity=INCIDENT_SEVERITY_LOW", ["OPEN"]),
        ("filter.status=INCIDENT_STATUS_ACKNOWLEDGED", ["ACKNOWLEDGE"]),
        ("filter.isMuted=true", ["ACKNOWLEDGE", "OPEN"]),
        ("filter.labels.team=shop", ["ACKNOWLEDGE", "OPEN", "OPEN"]),
        ("filter.labels.team=pay", []),
        ("filter.contextualLabels.applicationName=pay", ["ACKNOWLEDGE", "OPEN"]),
        ("filter.displayLabels.Region=us", []),
        ("filter.timestamp.from=2025-01-30T13:05:00Z", ["ACKNOWLEDGE"]),
        ("filter.timestamp.to=2025-01-30T12:30:00Z", ["OPEN"]),
        ("order_by.field=cxEventTimestamp&order_by.direction=ASC", ["OPEN", "OPEN", "ACKNOWLEDGE"]),
    ],
)
def test_event_filters(emulator: Emulated, query: str, found: list[str]) -> None:
    """Each filter of the event listing finds its events, the newest first."""
    assert steps(emulator, query) == found


def test_event_fields(emulator: Emulated) -> None:
    """An event carries the alert behind it and the incident as it was then."""
    query = "pagination.pageSize=1&filter.status=INCIDENT_STATUS_ACKNOWLEDGED"

    (event,) = emulator.get(f"{INCIDENT_EVENTS}?{query}").body["items"]

    assert event == {
        "cxEventKey": event["incidentEvent"]["id"],
        "cxEventTimestamp": "2025-01-30T13:05:00.000Z",
        "incidentEvent": {
            "id": event["incidentEvent"]["id"],
            "incidentEventType": "INCIDENT_EVENT_TYPE_ACKNOWLEDGE",
            "originatorType": "ORIGINATOR_TYPE_USER",
            "administrativeEvent": {"userId": "ann"},
        },
        "incidentEventExtendedMetadata": {
            "alertGroupByFields": ["region"],
            "alertId": "alert-1",
            "alertLabels": [{"key": "team", "value": "shop"}],
            "alertName": "Slow checkout",
            "alertType": "INCIDENT_EVENT_ALERT_TYPE_STANDARD_OR_UNSPECIFIED",
            "incidentPermutation": {},
            "incidentSeverity": "INCIDENT_SEVERITY_CRITICAL",
            "incidentState": "INCIDENT_STATE_TRIGGERED",
            "incidentStatus": "INCIDENT_STATUS_ACKNOWLEDGED",
            "isMuted": True,
        },
    }
