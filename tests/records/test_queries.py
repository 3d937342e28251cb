"""How a listing is asked for, and that its answer is judged again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.wire import asked, bodies, collected, queries, replying

from reconciler.api.client import Api
from reconciler.emulator import Profile, create_app
from reconciler.records.listings import (
    CaseFilter,
    EventFilter,
    IncidentEventFilter,
    IncidentFilter,
    list_alert_events,
    list_cases,
    list_incident_events,
    list_incidents,
    list_log_policies,
)
from reconciler.records.record import Span

SINCE = datetime(2026, 3, 2, 12, tzinfo=UTC)
UNTIL = datetime(2026, 3, 2, 13, tzinfo=UTC)
HOUR = Span(SINCE, UNTIL)
INCIDENTS = IncidentFilter(
    applications=("checkout", "payments"),
    severities=("INCIDENT_SEVERITY_ERROR",),
    muted=False,
    text="slow",
    labels={"region": "eu"},
    created=HOUR,
)


NOTHING: dict[str, Any] = {
    **{name: [] for name in ("incidents", "items", "events", "cases", "policies")},
    "pagination": {},
}


def query_of(call: Callable[[Api], Any], **settings: Any) -> list[tuple[str, str]]:
    """Give the query of one listing that finds nothing."""
    service = replying(NOTHING)

    async def run(api: Api) -> None:
        await collected(call(api))

    asked(service, run, **settings)
    return queries(service)[0]


def test_dotted_query() -> None:
    """Objects travel as dotted flat keys, arrays as repeated keys, what is not set not at all."""
    assert query_of(lambda api: list_incidents(api, INCIDENTS)) == [
        ("filter.applicationName", "checkout"),
        ("filter.applicationName", "payments"),
        ("filter.severity", "INCIDENT_SEVERITY_ERROR"),
        ("filter.isMuted", "false"),
        ("filter.searchQuery", "slow"),
        ("filter.contextualLabels.region", "eu"),
        ("filter.createdAtRange.from", "2026-03-02T12:00:00.000Z"),
        ("filter.createdAtRange.to", "2026-03-02T13:00:00.000Z"),
        ("pagination.pageSize", "100"),
    ]


def test_bracketed_query() -> None:
    """`queryStyle: brackets` writes the same keys with brackets."""
    bracketed = query_of(lambda api: list_incidents(api, INCIDENTS), queryStyle="brackets")
    dotted = query_of(lambda api: list_incidents(api, INCIDENTS))

    assert [key.replace("[", ".").replace("]", "") for key, _ in bracketed] == [
        key for key, _ in dotted
    ]
    assert bracketed[5] == ("filter[contextualLabels][region]", "eu")


def test_json_query() -> None:
    """`queryStyle: json` writes each object as one JSON text, and no empty one."""
    wanted = IncidentFilter(applications=("a", "b"), muted=False, created=HOUR)

    assert query_of(lambda api: list_incidents(api, wanted), queryStyle="json") == [
        (
            "filter",
            '{"applicationName":["a","b"],"isMuted":false,'  # noqa: ISC004 - one text
            '"createdAtRange":{"from":"2026-03-02T12:00:00.000Z",'
            '"to":"2026-03-02T13:00:00.000Z"}}',
        ),
        ("pagination", '{"pageSize":100}'),
    ]
    assert query_of(lambda api: list_incidents(api, IncidentFilter()), queryStyle="json") == [
        ("pagination", '{"pageSize":100}')
    ]


def test_alert_event_query() -> None:
    """The parameters of alert events are those of docs/assumptions.md, each of its own."""
    wanted = EventFilter(("v1", "v2"), HOUR, {"application": "checkout"})

    assert query_of(lambda api: list_alert_events(api, wanted)) == [
        ("alert_ids", "v1"),
        ("alert_ids", "v2"),
        ("timestamp_range.from", "2026-03-02T12:00:00.000Z"),
        ("timestamp_range.to", "2026-03-02T13:00:00.000Z"),
        ("cx_event_labels.application", "checkout"),
        ("pagination.pageSize", "100"),
    ]


def test_incident_event_query() -> None:
    """The filter of incident events has a name and a `timestamp` range."""
    wanted = IncidentEventFilter(
        name="slow", statuses=("INCIDENT_STATUS_TRIGGERED",), muted=True, span=HOUR
    )

    assert query_of(lambda api: list_incident_events(api, wanted)) == [
        ("filter.name", "slow"),
        ("filter.status", "INCIDENT_STATUS_TRIGGERED"),
        ("filter.isMuted", "true"),
        ("filter.timestamp.from", "2026-03-02T12:00:00.000Z"),
        ("filter.timestamp.to", "2026-03-02T13:00:00.000Z"),
        ("pagination.pageSize", "100"),
    ]


def test_policy_query() -> None:
    """Log policies are asked for by their source, and by `enabled_only` only when wanted."""
    service = replying(NOTHING)

    asked(service, list_log_policies)
    asked(service, lambda api: list_log_policies(api, "SPANS", enabled_only=True))

    assert queries(service) == [
        [("source_type", "SOURCE_TYPE_LOGS")],
        [("source_type", "SOURCE_TYPE_SPANS"), ("enabled_only", "true")],
    ]


def test_other_names() -> None:
    """`parameterNames` changes a parameter's name wherever it is sent, and no other."""
    names = {"filter": "where", "pagination": "page"}

    query = query_of(lambda api: list_incidents(api, INCIDENTS), parameterNames=names)

    assert {key.partition(".")[0] for key, _ in query} == {"where", "page"}


def test_case_body() -> None:
    """Cases are asked for in the body: what is set, and statuses without their prefix."""
    service = replying(NOTHING)
    wanted = CaseFilter(
        states=("CASE_STATE_ACTIVE",),
        statuses=("CASE_STATUS_ACKNOWLEDGED",),
        labels={"team": ("a", "b")},
        text="slow",
        unassigned=True,
    )

    asked(service, lambda api: collected(list_cases(api, wanted)))

    assert bodies(service) == [
        {
            "filters": {
                "states": ["CASE_STATE_ACTIVE"],
                "statuses": ["ACKNOWLEDGED"],
                "labels": [{"key": "team", "values": ["a", "b"]}],
                "textSearch": "slow",
                "assignees": [{"unassigned": {}}],
            },
            "pagination": {"pageSize": 100},
        }
    ]


GOOD: dict[str, Any] = {
    "id": "good",
    "severity": "INCIDENT_SEVERITY_ERROR",
    "state": "INCIDENT_STATE_TRIGGERED",
    "status": "INCIDENT_STATUS_TRIGGERED",
    "isMuted": False,
    "createdAt": "2026-03-02T12:30:00Z",
    "contextualLabels": {"region": "eu"},
}


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        (IncidentFilter(severities=(GOOD["severity"],)), {"severity": "INCIDENT_SEVERITY_LOW"}),
        (IncidentFilter(states=(GOOD["state"],)), {"state": "INCIDENT_STATE_RESOLVED"}),
        (IncidentFilter(statuses=(GOOD["status"],)), {"status": "INCIDENT_STATUS_RESOLVED"}),
        (IncidentFilter(muted=False), {"isMuted": True}),
        (IncidentFilter(created=HOUR), {"createdAt": "2026-03-02T11:59:59Z"}),
        (IncidentFilter(created=HOUR), {"createdAt": "2026-03-02T13:00:00Z"}),
        (IncidentFilter(labels={"region": "eu"}), {"contextualLabels": {"region": "us"}}),
        (IncidentFilter(open_only=True), {"closedAt": "2026-03-02T12:40:00Z"}),
    ],
)
def test_incidents_are_judged_again(wanted: IncidentFilter, other: dict[str, Any]) -> None:
    """An incident that a filter should have left out is left out on our side."""
    service = replying({**NOTHING, "incidents": [{**GOOD, "id": "other", **other}, GOOD]})

    found = asked(service, lambda api: collected(list_incidents(api, wanted)))

    assert [incident.id for incident in found] == ["good"]


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        (EventFilter(span=HOUR), {"cxEventTimestamp": "1772452799"}),
        (EventFilter(span=HOUR), {"cxEventTimestamp": "1772456400"}),
        (EventFilter(labels={"region": "eu"}), {"cxEventLabels": {"region": "us"}}),
        (EventFilter(labels={"region": "eu"}), {"cxEventLabels": {}}),
    ],
)
def test_alert_events_are_judged_again(wanted: EventFilter, other: dict[str, Any]) -> None:
    """An alert event that a filter should have left out is left out on our side."""
    good: dict[str, Any] = {
        "cxEventKey": "good",
        "cxEventTimestamp": "1772454600",
        "cxEventLabels": {"region": "eu", "application": "x"},
    }
    service = replying({"events": [{**good, "cxEventKey": "other", **other}, good]})

    found = asked(service, lambda api: collected(list_alert_events(api, wanted)))

    assert [event.cx_event_key for event in found] == ["good"]


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        (IncidentEventFilter(severities=("X",)), {"incidentSeverity": "Y"}),
        (IncidentEventFilter(statuses=("X",)), {"incidentStatus": "Y"}),
        (IncidentEventFilter(muted=True), {"isMuted": False}),
    ],
)
def test_incident_events_are_judged_again(
    wanted: IncidentEventFilter, other: dict[str, Any]
) -> None:
    """An incident event that a filter should have left out is left out on our side."""
    known = {"incidentSeverity": "X", "incidentStatus": "X", "isMuted": True}
    good: dict[str, Any] = {"cxEventKey": "good", "incidentEventExtendedMetadata": known}
    bad: dict[str, Any] = {"cxEventKey": "bad", "incidentEventExtendedMetadata": {**known, **other}}
    service = replying({"items": [bad, good]})

    found = asked(service, lambda api: collected(list_incident_events(api, wanted)))

    assert [event.cx_event_key for event in found] == ["good"]


def test_what_does_not_tell_passes() -> None:
    """A record that does not say what a filter asks for passes: the service has judged it."""
    service = replying({**NOTHING, "incidents": [{"id": "i"}], "items": [{}], "events": [{}]})
    since = IncidentFilter(severities=("X",), muted=True, created=HOUR, open_only=True)

    assert len(asked(service, lambda api: collected(list_incidents(api, since)))) == 1
    assert len(asked(service, lambda api: collected(list_alert_events(api, EventFilter((), HOUR)))))
    assert len(
        asked(
            service,
            lambda api: collected(
                list_incident_events(api, IncidentEventFilter(severities=("X",)))
            ),
        )
    )


@pytest.mark.parametrize("style", ["dotted", "json"])
def test_both_styles_on_the_emulator(style: str, demo_data: Path) -> None:
    """A deployment that takes objects as JSON gives the same under `queryStyle: json`."""
    app = create_app(demo_data, profile=Profile(query_objects=style))  # type: ignore[arg-type]  # one of the two
    service = httpx.ASGITransport(app)
    wanted = IncidentFilter(
        severities=("INCIDENT_SEVERITY_CRITICAL",), labels={"applicationName": "checkout"}
    )

    found = asked(service, lambda api: collected(list_incidents(api, wanted)), queryStyle=style)
    app.state.store.close()

    assert len(found) > 0
    assert {incident.severity for incident in found} == {"INCIDENT_SEVERITY_CRITICAL"}


@pytest.mark.parametrize("switches", [{"zero_values": "dropped"}, {"floats": "single"}])
def test_listings_under_profiles(switches: dict[str, Any], demo_data: Path, tmp_path: Path) -> None:
    """Empty and full listings are read whatever the service renders or drops."""
    for data in (demo_data, tmp_path / "empty.db"):
        app = create_app(data, profile=Profile(**switches))
        service = httpx.ASGITransport(app)

        counts = [
            len(asked(service, lambda api: collected(list_incidents(api, IncidentFilter(), 150)))),
            len(asked(service, lambda api: collected(list_cases(api, CaseFilter())))),
            len(asked(service, lambda api: collected(list_alert_events(api, EventFilter(), 150)))),
            len(asked(service, list_log_policies)),
        ]
        app.state.store.close()

        assert all(counts) is (data == demo_data)
