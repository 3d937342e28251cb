"""Seeing and deleting beside the API, as a person in the web interface does."""

import pytest
from harness.emulated import Emulated
from harness.routes import ALERTS, DASHBOARDS, OVERWRITE, SLOS, VIEWS

ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
BY_ALERT = "SELECT 1 FROM alert_definitions WHERE id = ?"
SLO = {
    "name": "s",
    "targetThresholdPercentage": 99,
    "windowBasedMetricSli": {"query": {"query": "up"}},
}


def test_seeing() -> None:
    """What the API does not return can be seen: alerts, views, and the severities of policies."""
    emulator = Emulated(alert_ids=[ALERT])
    properties = {"name": "a", "description": "all of it"}
    emulator.put(ALERTS, {"alertDefsToReplace": [{"id": ALERT, "alertDefProperties": properties}]})
    emulator.post(VIEWS, {"name": "v", "timeSelection": {}})
    emulator.post(SLOS, SLO)
    emulator.post(DASHBOARDS, {"requestId": "r", "dashboard": {"name": "d"}})
    rest = {"description": "", "priority": "PRIORITY_TYPE_LOW"}
    both = [
        {"logRules": {"severities": [severity]}, "policy": {"name": name, **rest}}
        for name, severity in (("b", "SEVERITY_INFO"), ("a", "SEVERITY_ERROR"))
    ]
    emulator.post(OVERWRITE, {"policies": both})

    (alert,) = emulator.web("alerts")
    assert alert["alertDefProperties"]["description"] == "all of it"
    assert [value["name"] for value in emulator.web("saved-views")] == ["v"]
    assert [value["name"] for value in emulator.web("slos")] == ["s"]
    assert [value["dashboard"]["name"] for value in emulator.web("dashboards")] == ["d"]
    assert [
        (value["name"], value["logRules"]["severities"]) for value in emulator.web("policies")
    ] == [
        ("b", ["SEVERITY_INFO"]),
        ("a", ["SEVERITY_ERROR"]),
    ]
    assert emulator.get("/web/cases").status == 404


def test_deleting() -> None:
    """What was deleted is not there any more, and cannot be deleted again."""
    emulator = Emulated(alert_ids=[ALERT])
    board = emulator.post(DASHBOARDS, {"requestId": "r", "dashboard": {"name": "d"}}).body
    slo = emulator.post(SLOS, SLO).body["slo"]["id"]
    view = emulator.post(VIEWS, {"name": "v", "timeSelection": {}}).body["id"]
    there = [
        f"dashboards/{board['dashboardId']}",
        f"slos/{slo}",
        f"saved-views/{view}",
        f"alerts/{ALERT}",
    ]

    assert [emulator.web_delete(text) for text in there] == [204] * 4
    assert [emulator.web_delete(text) for text in there] == [404] * 4
    assert emulator.get(f"{DASHBOARDS}/{board['dashboardId']}").status == 404
    assert emulator.get(f"{SLOS}/{slo}").status == 404
    assert emulator.app.state.store.row(BY_ALERT, ALERT) is None


@pytest.mark.parametrize(("what", "status"), [("cases/1", 404), ("dashboards/none", 404)])
def test_nothing_to_delete(what: str, status: int) -> None:
    """Only what is there, and of these four, can be deleted."""
    assert Emulated().web_delete(what) == status


def test_web_needs_a_key() -> None:
    """All of it needs the key as every endpoint does, and no other method is answered there."""
    emulator = Emulated(api_key="canary")

    assert emulator.send("GET", "/web/alerts", headers={}).status == 401
    assert emulator.web_delete("dashboards/x", headers={}) == 401
    assert emulator.web_delete("dashboards/x", headers={"Authorization": "canary"}) == 404
    assert emulator.send("GET", "/web/dashboards/x").status == 405
