"""What alerts did before a plan: the figures of the service's own store, within a bound."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness.sites import ALERT_ID, ALERT_SPEC, Site, answer_with, manifest
from harness.stores import NO_TIME

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.emulator import create_app
from reconciler.emulator.record_endpoints import AlertEvent, keep_alert_event
from reconciler.features.track_record.track_records import (
    MOST_REQUESTS,
    TrackRecordDocument,
    describe_record,
    touched_alerts,
    track_records,
)
from reconciler.journal.line_fields import KnownVersion
from reconciler.model import Manifest, Ref, SignalsUnread
from reconciler.records.record import Span

EVENTS = "/alerts/events/v3/alert-events"
INCIDENTS = "/incidents/incidents/v1"
INCIDENT_EVENTS = f"{INCIDENTS}/events"
CASES = "/cases/cases/v1"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ERRORS = Ref("AlertDefinition", "errors")
QUIETER = "ALERT_DEF_PRIORITY_P4"

Records = dict[Ref, TrackRecordDocument]


def tracked(
    site: Site, declared: Sequence[Manifest], days: int = 14, now: datetime = NOW
) -> tuple[Records, SignalsUnread | None]:
    """Plan, and ask what the alerts that it touches did; only that asking is noted as sent."""
    made, history = site.plan(*declared), site.journal.history
    site.forget()

    async def ask(api: Api) -> tuple[Records, SignalsUnread | None]:
        return await track_records(api, made, history, days, now)

    return site.ask(ask)


def alert(number: int = 0, **fields: Json) -> Manifest:
    """Give an alert, the one that every site has or another."""
    if not number:
        return manifest("AlertDefinition/errors", {**ALERT_SPEC, **fields}, ALERT_ID)
    spec = {**ALERT_SPEC, "name": f"Alert {number}", **fields}
    return manifest(f"AlertDefinition/a{number}", spec, id_of(number))


def id_of(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def version_of(site: Site, alert_id: str) -> str:
    """Look the version of an alert up in what the service keeps."""
    query = "SELECT json_extract(record, '$.alertVersionId') FROM alert_definitions WHERE id = ?"
    return str(site.app.state.store.row(query, alert_id)[0])


def fire(site: Site, at: datetime, version: str, key: str, **fields: Any) -> None:
    """Let an alert fire; by itself the event tells nothing but that."""
    event = AlertEvent(
        company_id=1,
        cx_event_dedup_key=key,
        cx_event_key=key,
        cx_event_timestamp=str(int(at.timestamp())),
        **{"cx_event_type": "alert_triggered", **fields},
    )
    store = site.app.state.store
    with store.writing():
        keep_alert_event(store, event, version_id=version)


def of_alert(alert_id: str, version: str = "") -> dict[str, Any]:
    """Give what an event tells of its alert."""
    return {"cx_event_metadata": {"alertId": alert_id, "alertVersionId": version}}


@pytest.fixture
def applied(site: Site) -> Site:
    """Give a site whose alert was applied long before, so that its versions are all known."""
    site.apply(alert())
    return site


def company(tmp_path: Path) -> tuple[Site, list[Manifest], datetime]:
    """Give the seeded company, and manifests for all its alerts."""
    now = datetime.now(UTC)
    site = Site(tmp_path, create_app(seed="demo"))
    rows = site.app.state.store.rows("SELECT id, record FROM alert_definitions")
    declared = [
        manifest(f"AlertDefinition/a{number}", json.loads(record)["alertDefProperties"], alert_id)
        for number, (alert_id, record) in enumerate(rows)
    ]
    return site, declared, now


def counted(site: Site, alert_id: str, since: datetime, now: datetime) -> dict[str, Any]:
    """Count in the service's own store, by its own tables."""
    store = site.app.state.store
    bounds = [one.isoformat(timespec="milliseconds").replace("+00:00", "Z") for one in (since, now)]
    version = version_of(site, alert_id)
    events = [
        json.loads(record)
        for (record,) in store.rows(
            "SELECT record FROM alert_events WHERE version_id = ? AND at >= ? AND at < ?",
            version,
            *bounds,
        )
    ]
    incidents = [
        json.loads(record)
        for behind, record in store.rows("SELECT alert, record FROM incidents")
        if json.loads(behind)[0] == alert_id
    ]
    cases = [
        json.loads(record)
        for (record,) in store.rows("SELECT record FROM cases")
        if alert_id
        in [alertIndicator["alertId"] for alertIndicator in json.loads(record)["alertIndicators"]]
    ]
    begun = [case for case in cases if bounds[0] <= case["createTime"] < bounds[1]]
    return {
        "events": sum(event["cxEventType"] == "alert_triggered" for event in events),
        "incidents": sum(bounds[0] <= incident["createdAt"] < bounds[1] for incident in incidents),
        "openIncidents": sum(incident.get("closedAt") is None for incident in incidents),
        "cases": len(begun),
        "casesByPriority": dict(
            Counter(value["priority"].removeprefix("CASE_PRIORITY_") for value in begun)
        ),
    }


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, list[Manifest], datetime]:
    return company(tmp_path_factory.mktemp("company"))


@pytest.mark.parametrize("days", [1, 14, 20])
def test_figures_of_the_store(seeded: tuple[Site, list[Manifest], datetime], days: int) -> None:
    """Each figure of each alert equals a count over the service's own store."""
    site, declared, now = seeded

    records, remark = tracked(site, declared, days, now)

    assert remark is None
    assert len(records) == len(declared)
    for one in declared:
        record = records[one.ref]
        known = counted(site, str(one.remote_id), now - timedelta(days=days), now)
        assert record.items() >= known.items()
        assert (record["complete"], sum(record["daily"]), len(record["daily"])) == (
            True,
            record["events"],
            days,
        )


def test_at_most_so_many_requests(tmp_path: Path) -> None:
    """Fifty touched alerts that fired far too often cost no more than twenty requests."""
    numbers = range(1, 51)
    site = Site(tmp_path, create_app(alert_ids=[id_of(number) for number in numbers]))
    for text in ("one", "two", "three"):
        site.apply(*(alert(number, description=text) for number in numbers))
    for number in numbers:
        version = version_of(site, id_of(number))
        for turn in range(60):
            at = NOW - timedelta(hours=turn, minutes=number)
            fire(site, at, version, f"{number}-{turn}", **of_alert(id_of(number)))

    records, _ = tracked(site, [alert(number, priority=QUIETER) for number in numbers])

    assert len(records) == 50
    assert len(site.sent) <= MOST_REQUESTS == 20
    assert not any(record["complete"] for record in records.values())
    assert all((record["events"] or 0) <= 60 for record in records.values())
    assert sum(record["events"] or 0 for record in records.values()) >= 500


def test_a_quiet_plan_is_complete(tmp_path: Path) -> None:
    """Fifty touched alerts whose events fit are complete, and cost a request for each listing."""
    numbers = range(1, 51)
    site = Site(tmp_path, create_app(alert_ids=[id_of(number) for number in numbers]))
    site.apply(*(alert(number) for number in numbers))
    for number in numbers:
        fire(
            site,
            NOW - timedelta(days=1),
            version_of(site, id_of(number)),
            str(number),
            **of_alert(id_of(number)),
        )

    records, _ = tracked(site, [alert(number, priority=QUIETER) for number in numbers])

    assert {(record["events"], record["complete"]) for record in records.values()} == {(1, True)}
    assert len(site.sent) == 5
    assert site.count("GET", EVENTS) == 1


def test_nothing_asked_of_nothing(applied: Site) -> None:
    """A plan that touches no alert asks nothing."""
    records, remark = tracked(applied, [alert()])

    assert (records, remark, applied.sent) == ({}, None, [])


REFUSALS = [
    *((path, 403) for path in (EVENTS, INCIDENTS, INCIDENT_EVENTS, CASES)),
    *((EVENTS, status) for status in (400, 401, 404, 500, 501, 503)),
]


@pytest.mark.parametrize(("path", "status"), REFUSALS)
def test_a_refusal_is_one_line(applied: Site, path: str, status: int) -> None:
    """A listing that is refused is said in one remark, and no figure stands for it."""
    fire(applied, NOW - timedelta(days=1), version_of(applied, ALERT_ID), "1", **of_alert(ALERT_ID))
    refusing = answer_with(status, {"code": status, "message": "no such luck"})
    applied.meddle("*", path, *[refusing] * 20)

    records, remark = tracked(applied, [alert(priority=QUIETER)])

    record = records[ERRORS]
    assert remark is not None
    assert not record["complete"]
    told = {EVENTS: record["events"], INCIDENTS: record["incidents"], CASES: record["cases"]}
    assert [one for one, known in told.items() if known is None] == ([path] if path in told else [])


def test_everything_refused(applied: Site) -> None:
    """Of a service that tells nothing at all nothing is said but that."""
    applied.meddle("*", "*", *[answer_with(403, {"message": "no"})] * 40)
    made, history = applied.plan(alert(priority=QUIETER)), applied.journal.history

    async def ask(api: Api) -> tuple[Records, SignalsUnread | None]:
        return await track_records(api, made, history, 14, NOW)

    records, remark = applied.ask(ask)

    assert remark is not None
    assert remark.what == ("incidents", "incident events", "cases", "alert events")
    assert describe_record(records[ERRORS]).startswith("how often it fired is not known")


def test_versions_of_the_span(applied: Site) -> None:
    """Those are asked for that a span can have seen: made in it, and the last one before."""
    made, history = applied.plan(alert(priority=QUIETER)), applied.journal.history
    history.memories[ERRORS].versions = tuple(
        KnownVersion(version=version, at=f"2026-02-{day:02}T00:00:00Z")
        for version, day in (("A", 1), ("b", 10), ("c", 20), ("d", 25))
    )

    (after,) = touched_alerts(made, history, Span(NOW - timedelta(days=14), NOW))
    (first,) = touched_alerts(made, history, Span(NOW - timedelta(days=60), NOW))

    assert (sorted(after.versions), after.all_versions) == (["b", "c", "d"], True)
    assert (sorted(first.versions), first.all_versions) == (["a", "b", "c", "d"], False)


def test_events_of_older_versions(applied: Site) -> None:
    """What fired under an older version counts, and what fired under another alert's does not."""
    before = version_of(applied, ALERT_ID)
    applied.apply(alert(description="other"))
    soon = NO_TIME + timedelta(days=2)
    for number, version in enumerate((before, version_of(applied, ALERT_ID), "another")):
        told = {"cx_event_metadata": {"alertVersionId": version}}
        fire(applied, soon - timedelta(days=1), version, str(number), **told)

    record = tracked(applied, [alert(priority=QUIETER)], now=soon)[0][ERRORS]

    assert (record["events"], record["byName"], record["complete"]) == (2, 0, True)


@pytest.mark.promise("S11")
def test_events_that_are_tied_to_no_alert(site: Site) -> None:
    """Events of an unknown version make an alert incomplete whose versions are not all known."""
    for number in range(3):
        told = {"cx_event_metadata": {"alertVersionId": f"v{number}"}}
        fire(site, NOW - timedelta(days=2), f"v{number}", str(number), **told)

    record = tracked(site, [alert()])[0][ERRORS]

    assert (record["events"], record["complete"], record["untied"]) == (0, False, 3)
    assert describe_record(record).startswith("not seen to fire")
    assert (
        "not all its versions are known, and 3 records name only an unknown one"
        in describe_record(record)
    )
    assert record["untied"] == 3


@pytest.mark.promise("S11")
def test_cases_that_are_tied_to_no_alert(site: Site) -> None:
    """Cases of an unknown version make an alert incomplete whose versions are not all known."""
    case: Json = {
        "id": "c",
        "category": "x",
        "priority": "CASE_PRIORITY_P1",
        "state": "x",
        "status": "x",
        "title": "t",
        "createTime": "2026-02-25T00:00:00Z",
        "alertIndicators": [{"alertVersionId": "by-hand"}],
    }
    site.meddle("POST", CASES, answer_with(200, {"cases": [case], "pagination": {}}))

    record = tracked(site, [alert()])[0][ERRORS]

    assert (record["cases"], record["complete"], record["untied"]) == (0, False, 1)


def test_resolved_is_no_trigger(applied: Site) -> None:
    """An event that ends something is not counted; one of an unknown type is, and is said."""
    version = version_of(applied, ALERT_ID)
    kinds = ("alert_triggered", "alert_resolved", "ALERT.FIRED", "alertState", "")
    for kind in kinds:
        at = NOW - timedelta(days=2)
        fire(applied, at, version, f"k{kind}", cx_event_type=kind, **of_alert(ALERT_ID))

    records, _ = tracked(applied, [alert(priority=QUIETER)])

    assert (records[ERRORS]["events"], records[ERRORS]["unclearEvents"]) == (4, 2)


def test_never_applied(site: Site) -> None:
    """Of an alert whose versions nobody knows all events are looked through for its id."""
    fire(site, NOW - timedelta(days=2), "v", "1", **of_alert(ALERT_ID))
    fire(site, NOW - timedelta(days=2), "w", "2", **of_alert(id_of(9)))

    records, remark = tracked(site, [alert()])

    assert (records[ERRORS]["events"], records[ERRORS]["complete"], remark) == (1, True, None)


def test_by_name_alone(applied: Site) -> None:
    """What tells nothing but a name counts for the alert of that name, and is said."""
    version = version_of(applied, ALERT_ID)
    fire(applied, NOW - timedelta(days=2), version, "1", cx_event_payload={"name": "Errors"})

    records, _ = tracked(applied, [alert(priority=QUIETER)])

    assert (records[ERRORS]["events"], records[ERRORS]["byName"]) == (1, 1)


def test_a_shared_name_tells_nothing(tmp_path: Path) -> None:
    """A name that two touched alerts bear is counted for neither."""
    site = Site(tmp_path, create_app(alert_ids=[id_of(1), id_of(2)]))
    same = {"name": "Same"}
    site.apply(alert(1, **same), alert(2, **same))
    fire(site, NOW - timedelta(days=2), version_of(site, id_of(1)), "1", cx_event_payload=same)

    records, _ = tracked(
        site, [alert(1, priority=QUIETER, **same), alert(2, priority=QUIETER, **same)]
    )

    assert {record["events"] for record in records.values()} == {0}


def test_events_of_nothing(applied: Site) -> None:
    """Events that tell of no alert make the figures incomplete, with how many they were."""
    version = version_of(applied, ALERT_ID)
    for number in range(3):
        fire(applied, NOW - timedelta(days=2), version, str(number))

    records, remark = tracked(applied, [alert(priority=QUIETER)])

    assert not records[ERRORS]["complete"]
    assert remark == SignalsUnread(("alert events",), ("3 of them name no alert",))


def test_a_filter_that_is_ignored(applied: Site) -> None:
    """What a service gives in spite of the filter is not counted: other alerts, other days."""
    version = version_of(applied, ALERT_ID)
    fire(applied, NOW - timedelta(days=2), version, "1", **of_alert(ALERT_ID))
    fire(applied, NOW - timedelta(days=40), version, "2", **of_alert(ALERT_ID))
    fire(applied, NOW - timedelta(days=2), version, "3", **of_alert(id_of(7)))
    listed = [
        json.loads(value)
        for (value,) in applied.app.state.store.rows("SELECT record FROM alert_events")
    ]
    everything = answer_with(200, {"events": listed, "pagination": {"totalSize": 3}})
    applied.meddle("GET", EVENTS, everything)

    records, _ = tracked(applied, [alert(priority=QUIETER)])

    assert records[ERRORS]["events"] == 1


def test_an_endless_listing(applied: Site) -> None:
    """A service that ignores the time and has ever more pages is left after the bound."""
    fire(applied, NOW - timedelta(days=40), "v", "1", **of_alert(ALERT_ID))
    ((old,),) = applied.app.state.store.rows("SELECT record FROM alert_events")
    pages = [
        answer_with(
            200, {"events": [json.loads(old)], "pagination": {"nextPageToken": str(number)}}
        )
        for number in range(40)
    ]
    applied.meddle("GET", EVENTS, *pages)

    records, _ = tracked(applied, [alert(priority=QUIETER)])

    assert len(applied.sent) <= MOST_REQUESTS
    assert (records[ERRORS]["events"], records[ERRORS]["complete"]) == (0, False)


def test_versions_that_cases_tell(applied: Site) -> None:
    """A version that somebody made in the web interface counts where a case tells of it."""
    case: Json = {
        "id": "c",
        "category": "x",
        "priority": "CASE_PRIORITY_P1",
        "state": "x",
        "status": "x",
        "title": "t",
        "createTime": "2026-02-25T00:00:00Z",
        "acknowledgeTime": "2026-02-25T01:00:00Z",
        "alertIndicators": [{"alertId": ALERT_ID.upper(), "alertVersionId": "by-hand"}],
    }
    applied.meddle("POST", CASES, answer_with(200, {"cases": [case], "pagination": {}}))
    fire(applied, NOW - timedelta(days=2), "by-hand", "1", **of_alert(ALERT_ID, "by-hand"))

    record = tracked(applied, [alert(priority=QUIETER)])[0][ERRORS]

    assert (record["events"], record["cases"], record["casesByPriority"]) == (1, 1, {"P1": 1})
    assert record["lastAcknowledged"] == "2026-02-25T01:00:00.000Z"
