"""The demo company, and time that passes."""

import asyncio
import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness.emulated import Emulated
from harness.routes import (
    ALERT_EVENTS,
    ALERTS,
    CASES,
    INCIDENT_EVENTS,
    INCIDENTS,
    POLICIES,
    SLOS,
    USAGE,
)

from reconciler.emulator import tick
from reconciler.emulator.life import keep_living, lived_until
from reconciler.emulator.resources import ALERTS as DEMO_ALERTS
from reconciler.emulator.resources import REQUESTS

NOW = datetime(2025, 1, 31, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def demo() -> Emulated:
    return Emulated(seed="demo")


def everything(emulator: Emulated, method: str, path: str, items: str) -> list[dict[str, Any]]:
    """Follow the pages of a listing to their end."""
    found: list[dict[str, Any]] = []
    token = ""
    while True:
        query = f"?pagination.pageSize=500&pagination.pageToken={token}"
        paging = {"pagination": {"pageSize": 500, "pageToken": token}}
        answer = emulator.send(method, path + query, paging if path == CASES else None)
        assert answer.status == 200, answer.text
        found += answer.body[items]
        token = answer.body["pagination"]["nextPageToken"]
        if not token:
            assert len(found) == answer.body["pagination"]["totalSize"]
            return found


def test_demo_is_taken_whole(demo: Emulated) -> None:
    """Every declared thing of the demo is one the service takes."""
    ((_, bulk),) = [request for request in REQUESTS if request[0] == 1]

    answer = demo.put(ALERTS, bulk)

    assert answer.body["skippedIds"] == list(DEMO_ALERTS)
    assert len(demo.get(POLICIES).body["policies"]) == 5
    assert demo.get("/v1/dashboards/by-slug/checkout").status == 200
    assert demo.get(f"{SLOS}/5b1e6a52-6a0c-4f0e-9a55-0d5a3f6f1a01").status == 200


def test_weeks_of_events(demo: Emulated) -> None:
    """Four weeks of events lie behind, of many alerts, some of them far noisier than others."""
    events = everything(demo, "GET", ALERT_EVENTS, "events")

    moments = [int(event["cxEventTimestamp"]) for event in events]
    days = {datetime.fromtimestamp(moment, UTC).date() for moment in moments}
    per_alert = Counter(event["cxEventPayload"]["name"] for event in events)
    assert len(events) > 200
    assert len(days) >= 25
    assert max(moments) <= NOW.timestamp() + 60
    assert min(moments) >= (NOW - timedelta(days=28)).timestamp() - 60
    assert len(per_alert) >= 10
    assert max(per_alert.values()) > 10 * min(per_alert.values())
    assert "Old shop front" not in per_alert


def test_events_name_their_version(demo: Emulated) -> None:
    """The events of an alert are found by its version, and triggers pair with resolutions."""
    events = everything(demo, "GET", ALERT_EVENTS, "events")
    version = events[0]["cxEventMetadata"]["alertVersionId"]

    found = demo.get(f"{ALERT_EVENTS}?alert_ids={version}&pagination.pageSize=1000").body["events"]

    assert {event["cxEventMetadata"]["alertVersionId"] for event in found} == {version}
    kinds = Counter(event["cxEventType"] for event in found)
    assert 0 <= kinds["alert_triggered"] - kinds["alert_resolved"] <= 1


def test_incidents_open_and_closed(demo: Emulated) -> None:
    """Some incidents are open and more are closed, each with its events."""
    incidents = everything(demo, "POST", INCIDENTS, "incidents")
    events = everything(demo, "GET", INCIDENT_EVENTS, "items")

    closed = [incident for incident in incidents if "closedAt" in incident]
    assert 0 < len(incidents) - len(closed) < len(closed)
    assert len(events) == sum(len(incident["events"]) for incident in incidents)
    assert all(incident["closedAt"] > incident["createdAt"] for incident in closed)
    assert all("close" in incident["events"][-1] for incident in closed)


def test_cases(demo: Emulated) -> None:
    """Cases of both categories are there, in several states, with the alert they came from."""
    cases = everything(demo, "POST", CASES, "cases")

    assert len(cases) >= 5
    assert len({case["state"] for case in cases}) >= 2
    assert len({case["readableId"] for case in cases}) == len(cases)
    assert {case["alertIndicators"][0]["alertId"] for case in cases} <= set(DEMO_ALERTS)


def test_usage_has_a_weekly_rhythm(demo: Emulated) -> None:
    """Weekends use clearly less than the days before them, over a whole year."""
    units = demo.post(USAGE, {"range": "RANGE_LAST_YEAR"}).body["units"]

    by_day = {
        date.fromisoformat(unit["statsDate"][:10]): unit["totalUnits"]["value"] for unit in units
    }
    sundays = [value for day, value in by_day.items() if day.weekday() == 6]
    wednesdays = [value for day, value in by_day.items() if day.weekday() == 2]
    assert len(units) == 365
    assert sum(sundays) / len(sundays) < 0.7 * sum(wednesdays) / len(wednesdays)


def test_same_moment_same_company() -> None:
    """The demo of one moment is always the same, but for the ids of versions."""
    one, other = Emulated(seed="demo"), Emulated(seed="demo")

    keys = [
        [event["cxEventKey"] for event in everything(emulator, "GET", ALERT_EVENTS, "events")]
        for emulator in (one, other)
    ]

    assert keys[0] == keys[1]


def test_seeded_once(tmp_path: Path) -> None:
    """A restart with the same seed changes nothing."""
    data = tmp_path / "demo.db"
    first = everything(Emulated(data, seed="demo"), "GET", ALERT_EVENTS, "events")

    again = everything(Emulated(data, seed="demo"), "GET", ALERT_EVENTS, "events")

    assert first == again


def test_unknown_seed() -> None:
    """A seed that there is not is refused by name."""
    with pytest.raises(ValueError, match="seed 'production': not one of demo"):
        Emulated(seed="production")


def noisy() -> Emulated:
    """Give an emulator with one enabled alert and no past."""
    emulator = Emulated(alert_ids=[DEMO_ALERTS[0]])
    properties = {"name": "Noise", "enabled": True, "priority": "ALERT_DEF_PRIORITY_P2"}
    item = {"id": DEMO_ALERTS[0], "alertDefProperties": properties}
    emulator.put(ALERTS, {"alertDefsToReplace": [item]})
    return emulator


def test_tick() -> None:
    """Time brings events, incidents and cases for the definitions that are there."""
    emulator = noisy()
    tick(emulator.app.state.store, NOW)

    happened = tick(emulator.app.state.store, NOW + timedelta(days=30))

    assert happened["events"] == len(everything(emulator, "GET", ALERT_EVENTS, "events")) > 0
    assert happened["incidents"] == len(everything(emulator, "POST", INCIDENTS, "incidents")) > 0
    assert happened["cases"] == len(everything(emulator, "POST", CASES, "cases")) > 0
    assert 0 < happened["closed"] <= happened["incidents"]


def test_ticks_add_up() -> None:
    """Many short ticks bring what one long tick brings."""
    long, short = noisy(), noisy()
    tick(long.app.state.store, NOW)
    tick(short.app.state.store, NOW)

    tick(long.app.state.store, NOW + timedelta(days=20))
    for hours in range(0, 20 * 24 + 1, 7):
        tick(short.app.state.store, NOW + timedelta(hours=hours))
    tick(short.app.state.store, NOW + timedelta(days=20))

    keys = [
        [event["cxEventKey"] for event in everything(emulator, "GET", ALERT_EVENTS, "events")]
        for emulator in (long, short)
    ]
    assert keys[0] == keys[1] != []


def test_tick_goes_forward_only() -> None:
    """A clock that goes back brings nothing and forgets nothing."""
    emulator = noisy()
    store = emulator.app.state.store
    tick(store, NOW)

    happened = tick(store, NOW - timedelta(days=3))

    assert happened["events"] == 0
    assert lived_until(store) == NOW


def test_keeps_living() -> None:
    """A living emulator ticks again and again, until it is told to stop."""
    emulator = noisy()
    moments = (NOW + timedelta(days=number) for number in range(1000))

    async def watch() -> None:
        await asyncio.wait_for(
            keep_living(emulator.app.state.store, lambda: next(moments), 0.001), 0.3
        )

    with pytest.raises(TimeoutError):
        asyncio.run(watch())

    until = lived_until(emulator.app.state.store)
    assert until is not None
    assert until >= NOW + timedelta(days=2)


def test_disabled_alerts_are_silent() -> None:
    """A definition that is switched off brings nothing."""
    emulator = noisy()
    item = {"id": DEMO_ALERTS[0], "alertDefProperties": {"name": "Noise", "enabled": False}}
    emulator.put(ALERTS, {"alertDefsToReplace": [item]})
    tick(emulator.app.state.store, NOW)

    assert tick(emulator.app.state.store, NOW + timedelta(days=30))["events"] == 0


def test_last_trigger_is_known() -> None:
    """A definition knows when it last triggered."""
    emulator = noisy()
    tick(emulator.app.state.store, NOW)
    tick(emulator.app.state.store, NOW + timedelta(days=30))

    row = emulator.app.state.store.row("SELECT record FROM alert_definitions")

    assert json.loads(row[0])["lastTriggeredTime"] > "2025-01-31"
