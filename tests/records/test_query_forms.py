"""The forms of filters that the API document leaves open: each both ways, on the emulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.golden import Golden
from harness.routes import ALERT_EVENTS
from harness.wire import asked, collected, queries, replying
from harness.workspaces import Shop

from reconciler.api.client import Api
from reconciler.emulator import Profile, create_app
from reconciler.errors import ServiceRefused
from reconciler.records.listings import (
    CaseFilter,
    EventFilter,
    IncidentEventFilter,
    IncidentFilter,
    list_alert_events,
    list_cases,
    list_incident_events,
    list_incidents,
)
from reconciler.records.record import Span

ALL_TIME = Span(datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
CHECKOUT = {"applicationName": "checkout"}
LISTINGS: dict[str, Callable[[Api], Any]] = {
    "cases": lambda api: list_cases(api, CaseFilter(statuses=("CASE_STATUS_CLOSED",))),
    "events in a range": lambda api: list_alert_events(api, EventFilter((), ALL_TIME), 20),
    "events by labels": lambda api: list_alert_events(
        api, EventFilter(labels={"application": "platform", "subsystem": "nodes"}), 20
    ),
    "incidents in a range": lambda api: list_incidents(api, IncidentFilter(created=ALL_TIME), 20),
    "incidents by labels": lambda api: list_incidents(api, IncidentFilter(labels=CHECKOUT), 20),
    "incidents by text": lambda api: list_incidents(api, IncidentFilter(text="checkout"), 20),
    "incident events in a range": lambda api: list_incident_events(
        api, IncidentEventFilter(span=ALL_TIME), 20
    ),
    "incident events by name": lambda api: list_incident_events(
        api, IncidentEventFilter(name="checkout"), 20
    ),
}
CASES = [
    ({"case_statuses": "bare"}, {}, {"caseStatuses": "prefixed"}, ("cases",)),
    ({"case_statuses": "prefixed"}, {"caseStatuses": "prefixed"}, {}, ("cases",)),
    (
        {"range_names": "start_end"},
        {"rangeNames": {"from": "start", "to": "end"}},
        {},
        ("events in a range", "incidents in a range", "incident events in a range"),
    ),
    (
        {"text_filters": "wrapped"},
        {"textField": "text"},
        {},
        ("incidents by text", "incident events by name"),
    ),
    (
        {"label_filters": "pairs"},
        {"labelFilters": "pairs"},
        {},
        ("events by labels", "incidents by labels"),
    ),
    ({"text_filters": "plain"}, {}, {"textField": "text"}, ("incidents by text",)),
    (
        {"range_names": "from_to"},
        {},
        {"rangeNames": {"from": "start", "to": "end"}},
        ("events in a range",),
    ),
]
"""A service, the settings that go with it, settings that do not, and what is asked."""


def found(
    data: Path, switches: Mapping[str, Any], name: str, settings: Mapping[str, Any], style: str
) -> list[Any]:
    """List something from a service that takes objects of a query in one style."""
    profile = Profile(**{"query_objects": style, **switches})
    app = create_app(data, profile=profile)
    service = httpx.ASGITransport(app)
    try:
        records: list[Any] = asked(
            service, lambda api: collected(LISTINGS[name](api)), **{"queryStyle": style, **settings}
        )
        return records
    finally:
        app.state.store.close()


@pytest.mark.promise("P54")
@pytest.mark.parametrize("style", ["dotted", "json"])
@pytest.mark.parametrize(("switches", "fitting", "other", "names"), CASES)
def test_each_form(  # noqa: PLR0917 - a table
    demo_data: Path,
    switches: dict[str, Any],
    fitting: dict[str, Any],
    other: dict[str, Any],
    names: tuple[str, ...],
    style: str,
) -> None:
    """A service that takes one form only gives what any gives, where the setting says so."""
    for name in names:
        usual = found(demo_data, {}, name, {}, style)

        assert len(usual) > 0
        assert found(demo_data, switches, name, fitting, style) == usual
        with pytest.raises(ServiceRefused):
            found(demo_data, switches, name, other, style)


@pytest.mark.promise("P54")
@pytest.mark.parametrize("end", ["--since", "--until"])
@pytest.mark.parametrize(
    "listing", [("events", "list"), ("incidents", "list"), ("incidents", "events")]
)
def test_both_ends_are_sent(shop: Shop, listing: tuple[str, ...], end: str) -> None:
    """`--since` or `--until` alone lists what a service has that needs both ends of a range."""
    shop.options["profile"] = Profile(range_ends="both")
    moment = (datetime.now(UTC) - timedelta(days=7)).isoformat()

    ran = shop.run(*listing, end, moment, "--format", "json")

    assert ran.code == 0, ran.err
    assert len(ran.json) > 0


@pytest.mark.promise("P54")
def test_half_a_range_is_refused(demo_data: Path) -> None:
    """The service of the law above does refuse half a range."""
    app = create_app(demo_data, profile=Profile(range_ends="both"))
    half = [("timestamp_range.from", "2026-03-02T12:00:00.000Z")]

    with pytest.raises(ServiceRefused, match="required"):
        asked(httpx.ASGITransport(app), lambda api: api.read(ALERT_EVENTS, half))
    app.state.store.close()


def test_nothing_lies_between(shop: Shop, golden: Golden) -> None:
    """A `--since` that lies ahead is refused, as now is where the range would end."""
    ahead = (datetime.now(UTC) + timedelta(days=1)).isoformat()

    ran = shop.run("events", "list", "--since", ahead)

    assert ran.code == 64
    golden(ran.err)


@pytest.mark.promise("P54")
def test_other_filter_names() -> None:
    """`filterNames` changes what a filter is called, and nothing else of it."""
    names = {
        "searchQuery": "q",
        "contextualLabels": "labels",
        "createdAtRange": "created",
        "eventName": "title",
        "eventTime": "at",
    }
    incidents = IncidentFilter(text="slow", labels={"a": "b"}, created=ALL_TIME)
    events = IncidentEventFilter(name="slow", span=ALL_TIME)

    def keys(call: Callable[[Api], Any], **settings: Any) -> list[str]:
        service = replying({"incidents": [], "items": [], "pagination": {}})
        asked(service, lambda api: collected(call(api)), **settings)
        return [key for key, _ in queries(service)[0] if key.startswith("filter.")]

    assert keys(lambda api: list_incidents(api, incidents), filterNames=names) == [
        "filter.q",
        "filter.labels.a",
        "filter.created.from",
        "filter.created.to",
    ]
    assert keys(lambda api: list_incident_events(api, events), filterNames=names) == [
        "filter.title",
        "filter.at.from",
        "filter.at.to",
    ]
