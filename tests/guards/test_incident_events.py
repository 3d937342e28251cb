"""Which events of incidents name an alert, and how many are looked through."""

from __future__ import annotations

import pytest
from harness.sites import ALERT_ID, ALERT_SPEC, Site, answer_with, manifest

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.model import Manifest, Plan
from reconciler.planning.guards import with_guards
from reconciler.project import Guards

INCIDENTS = "/incidents/incidents/v1"
EVENTS = INCIDENTS + "/events"
OPEN: dict[str, Json] = {"id": "i1", "name": "Something else", "events": [{"id": "e1"}]}
NAMED: Json = {"alertId": ALERT_ID}


def alert(*, enabled: bool) -> Manifest:
    """Give an alert."""
    return manifest("AlertDefinition/errors", {**ALERT_SPEC, "enabled": enabled}, ALERT_ID)


@pytest.fixture
def site(site: Site) -> Site:
    site.apply(alert(enabled=True))
    site.meddle("POST", INCIDENTS, answer_with(200, {"incidents": [OPEN], "pagination": {}}))
    return site


def silenced(site: Site) -> Plan:
    """Plan to disable the alert, as the command does."""
    made = site.plan(alert(enabled=False))

    async def ask(api: Api) -> Plan:
        return await with_guards(api, made, Guards())

    site.forget()
    return site.ask(ask)


def test_events_that_name_nothing(site: Site) -> None:
    """Events of other incidents, or without incident or alert, name no alert and do no harm."""
    events: list[Json] = [
        {},
        {"incidentEvent": {"id": "e1"}},
        {"incidentEventExtendedMetadata": NAMED},
        {"incidentEvent": {"id": "e9"}, "incidentEventExtendedMetadata": NAMED},
        {"incidentEvent": {"id": "e1"}, "incidentEventExtendedMetadata": {"alertId": "other"}},
    ]
    site.meddle("GET", EVENTS, answer_with(200, {"items": events}))

    made = silenced(site)

    assert made.guarded == ()
    assert made.changes[0].reasons == ()


@pytest.mark.parametrize("order", [1, -1])
def test_events_of_two_alerts(site: Site, order: int) -> None:
    """An incident with an event of the alert is the alert's, whatever other events it has."""
    events: list[Json] = [
        {"incidentEvent": {"id": "e1"}, "incidentEventExtendedMetadata": NAMED},
        {"incidentEvent": {"id": "e1"}, "incidentEventExtendedMetadata": {"alertId": "other"}},
    ]
    site.meddle("GET", EVENTS, answer_with(200, {"items": events[::order]}))

    assert [objection.code for objection in silenced(site).guarded] == ["alert-silenced"]


def test_most_events(site: Site) -> None:
    """Of a history without end the newest thousand events are looked through, and no more."""
    other: Json = {"incidentEvent": {"id": "e9"}, "incidentEventExtendedMetadata": NAMED}
    pages = [
        answer_with(
            200, {"items": [other] * 100, "pagination": {"nextPageToken": f"page {number}"}}
        )
        for number in range(12)
    ]
    site.meddle("GET", EVENTS, *pages)

    assert [violation.code for violation in silenced(site).guarded] == ["alert-silenced"]
    assert [one.path for one in site.sent].count(EVENTS) == 10
