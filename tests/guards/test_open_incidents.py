"""An alert is not silenced unseen while it has open incidents."""

from __future__ import annotations

import pytest
from harness.golden import Golden
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    Meddler,
    Site,
    answer_with,
    codes_of,
    manifest,
    unreachable,
)

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.model import IncidentsUnread, Manifest, Plan
from reconciler.planning.guards import plan_limits, with_guards
from reconciler.project import Guards

INCIDENTS = "/incidents/incidents/v1"
EVENTS = INCIDENTS + "/events"
OPEN: dict[str, Json] = {"id": "i1", "name": "Errors", "events": [{"id": "e1"}]}


@pytest.fixture
def site(site: Site) -> Site:
    site.apply(alert())
    site.forget()
    return site


def alert(**fields: Json) -> Manifest:
    """Give an alert."""
    return manifest("AlertDefinition/errors", {**ALERT_SPEC, **fields}, ALERT_ID)


def guarded(site: Site, declared: Manifest) -> Plan:
    """Plan as the command does."""
    made = site.plan(declared)

    async def ask(api: Api) -> Plan:
        return await with_guards(api, made, Guards())

    return site.ask(ask)


def incidents(site: Site, *listed: dict[str, Json], events: tuple[Json, ...] = ()) -> None:
    """Let the service list these."""
    site.meddle("POST", INCIDENTS, answer_with(200, {"incidents": list(listed), "pagination": {}}))
    site.meddle("GET", EVENTS, answer_with(200, {"items": list(events)}))


def event(alert_id: str) -> Json:
    """Give an event of the open incident that names an alert."""
    known: Json = {"alertId": alert_id}
    return {"incidentEvent": {"id": "e1"}, "incidentEventExtendedMetadata": known}


@pytest.mark.parametrize("fields", [{"enabled": False}, {"phantomMode": True}])
def test_by_name(site: Site, fields: dict[str, Json], golden: Golden) -> None:
    """Silencing an alert needs consent while an incident with its name is open."""
    incidents(site, OPEN, {**OPEN, "id": "i2"}, {**OPEN, "id": "i3", "closedAt": "2025-01-01"})

    (objection,) = guarded(site, alert(**fields)).guarded

    assert objection.code == "alert-silenced"
    golden(objection.message)


def test_by_its_old_name(site: Site) -> None:
    """A new name in the same change does not hide the incidents of the old one."""
    incidents(site, OPEN)

    assert len(guarded(site, alert(enabled=False, name="New")).guarded) == 1


@pytest.mark.parametrize(("alert_id", "count"), [(ALERT_ID.upper(), 1), ("another", 0)])
def test_by_event(site: Site, alert_id: str, count: int) -> None:
    """An incident of another name is the alert's where one of its events says so."""
    incidents(site, {**OPEN, "name": "Something else"}, events=(event(alert_id),))

    assert len(guarded(site, alert(enabled=False)).guarded) == count


@pytest.mark.parametrize("listed", [[], [{**OPEN, "closedAt": "2025-01-31T09:00:00Z"}]])
def test_nothing_open(site: Site, listed: list[dict[str, Json]]) -> None:
    """Without an open incident an alert may be silenced."""
    incidents(site, *listed)

    assert guarded(site, alert(enabled=False)).guarded == ()


def test_not_asked(site: Site) -> None:
    """A plan that silences nothing asks for no incidents."""
    guarded(site, alert(name="Other"))

    assert site.sent == []


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (answer_with(403, {"message": "not you"}), "not you"),
        (unreachable, INCIDENTS),
        (answer_with(200, {"incidents": "x"}), "pagination"),
    ],
)
def test_unreadable_listing(site: Site, failure: Meddler, said: str) -> None:
    """Where incidents cannot be listed, the plan says so on the alert's line, and asks nothing."""
    site.meddle("POST", INCIDENTS, *[failure] * 5)

    made = guarded(site, alert(enabled=False))

    assert made.guarded == ()
    (why,) = made.changes[0].reasons
    assert isinstance(why, IncidentsUnread)
    assert said in why.said


def test_unreadable_events(site: Site) -> None:
    """Where only the events cannot be listed, that is said too: the name alone proves nothing."""
    site.meddle(
        "POST",
        INCIDENTS,
        answer_with(200, {"incidents": [{**OPEN, "name": "Else"}], "pagination": {}}),
    )
    site.meddle("GET", EVENTS, *[answer_with(500)] * 5)

    made = guarded(site, alert(enabled=False))

    assert codes_of(made.changes[0]) == ["incidents-unread"]


def page(token: str, total: int | None, *listed: Json) -> Json:
    """Give a page of incidents."""
    told: dict[str, Json] = {"nextPageToken": token}
    if total is not None:
        told["totalSize"] = total
    return {"incidents": [*listed], "pagination": told}


OTHER: dict[str, Json] = {**OPEN, "name": "Else"}
CUT: dict[str, list[Meddler]] = {
    "more pages than are read": [answer_with(200, page(f"{n}", None)) for n in range(4)],
    "an end before all": [answer_with(200, page("", 7, {**OTHER, "closedAt": "2025-01-01"}))],
}


@pytest.mark.parametrize("case", CUT)
def test_cut_incidents(site: Site, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all incidents were told, an open one may be the alert's: that needs consent."""
    monkeypatch.setattr(plan_limits, "MOST_INCIDENT_PAGES", 3)
    site.meddle("POST", INCIDENTS, *CUT[case])

    (objection,) = guarded(site, alert(enabled=False)).guarded

    assert objection.code == "alert-silenced"
    assert "unknown whether" in objection.message
    assert site.count("POST", INCIDENTS) <= 3


def test_cut_events(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open incident whose alert is beyond the events that are read may be the alert's."""
    monkeypatch.setattr(plan_limits, "MOST_EVENT_PAGES", 2)
    endless: list[Json] = [{"items": [], "pagination": {"nextPageToken": f"{n}"}} for n in range(9)]
    site.meddle("POST", INCIDENTS, answer_with(200, page("", None, OTHER)))
    site.meddle("GET", EVENTS, *[answer_with(200, value) for value in endless])

    (objection,) = guarded(site, alert(enabled=False)).guarded

    assert "unknown whether" in objection.message
    assert site.count("GET", EVENTS) == 2


def test_cut_events_of_another(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open incident that the newest events say is of another alert stands in no way."""
    monkeypatch.setattr(plan_limits, "MOST_EVENT_PAGES", 1)
    told: Json = {"items": [event("another")], "pagination": {"nextPageToken": "more"}}
    site.meddle("POST", INCIDENTS, answer_with(200, page("", None, OTHER)))
    site.meddle("GET", EVENTS, answer_with(200, told))

    assert guarded(site, alert(enabled=False)).guarded == ()
