"""What the emulator adds to what a client sent: nothing but what a switch says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from harness.emulated import Emulated
from harness.profiles import ADAPTER, FILLS, SWITCHES, profile
from harness.routes import ALERTS, DASHBOARDS, OVERWRITE, POLICIES, SLOS, VIEWS

from reconciler.emulator import Profile
from reconciler.emulator.dashboard_endpoints import StoredDashboard
from reconciler.emulator.log_policy_endpoints import LogPolicy
from reconciler.emulator.slo_endpoints import SloDefinition

pytestmark = pytest.mark.promise("S2")

ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
REQUESTS = {"goodEvents": {"query": "g"}, "totalEvents": {"query": "t"}}
SLO = {"targetThresholdPercentage": 99.5, "requestBasedMetricSli": REQUESTS, "name": "s"}
FULL_SLO = {
    **SLO,
    "labels": {},
    "description": "",
    "grouping": {"labels": []},
    "x": {"b": 1, "a": 2},
}
WIDGET = {"title": "", "definition": {"markdown": {"b": "", "a": []}}, "id": {"value": "w"}}
LAYOUT = {"sections": [{"rows": [{"widgets": [WIDGET]}], "options": {"internal": {}}}]}
BOARD = {"name": "Shop", "layout": LAYOUT, "variables": [], "filters": [{"displayName": "f"}]}
PROPERTIES = {
    "type": "ALERT_DEF_TYPE_TRACING_IMMEDIATE",
    "name": "a",
    "enabled": False,
    "notificationGroup": {"router": {"id": ALERT.upper()}},
    "tracingImmediate": {"tracingFilter": {"simpleFilter": {"latencyThresholdMs": 5}}},
}
VIEW = {"timeSelection": {"quickSelection": {"seconds": 5}}, "name": "v"}


def dumped(value: Any) -> str:
    """Write a value so that the order of its keys counts."""
    return json.dumps(value)


def without(record: dict[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    """Return a record less what the service keeps of it beside what was sent."""
    return {key: value for key, value in record.items() if key not in fields}


@pytest.mark.parametrize("sent", [SLO, FULL_SLO])
def test_slo_comes_back(sent: dict[str, Any]) -> None:
    """An SLO comes back as it was sent, in its order, with an id and who made it and when."""
    emulator = Emulated()

    made = emulator.post(SLOS, sent).body["slo"]
    read = emulator.get(f"{SLOS}/{made['id']}").body["slo"]

    assert dumped(without(made, SloDefinition.metadata | {"id"})) == dumped(sent)
    assert dumped(read) == dumped(made)


@pytest.mark.parametrize("sent", [{"name": "Shop"}, BOARD])
def test_dashboard_comes_back(sent: dict[str, Any]) -> None:
    """A dashboard comes back as it was sent, in its order, without a slug, and with an id."""
    emulator = Emulated()
    own = emulator.post(DASHBOARDS, {"requestId": "r", "dashboard": sent}).body["dashboardId"]

    record = emulator.get(f"{DASHBOARDS}/{own}").body

    assert dumped(record["dashboard"]) == dumped({**sent, "id": own})
    assert without(record, StoredDashboard.metadata).keys() == {"dashboard"}


def test_alert_comes_back() -> None:
    """The properties of an alert come back as they were sent, numbers, ids and order too."""
    emulator = Emulated(alert_ids=[ALERT])
    body = {"alertDefsToReplace": [{"id": ALERT, "alertDefProperties": PROPERTIES}]}

    (stored,) = emulator.put(ALERTS, body).body["alertDefs"]

    assert dumped(stored["alertDefProperties"]) == dumped(PROPERTIES)


def test_view_comes_back() -> None:
    """A saved view comes back as it was sent, and with an id."""
    assert dumped(Emulated().post(VIEWS, VIEW).body) == dumped({**VIEW, "id": 1})


@pytest.mark.promise("S9")
def test_policy_comes_back() -> None:
    """A policy needs a name, and comes back with that, its id, place and state alone."""
    emulator = Emulated()
    sent = {"logRules": {"severities": []}, "policy": {"name": "p"}}

    answer = emulator.post(OVERWRITE, {"policies": [sent]})

    assert answer.status == 200
    (policy,) = emulator.get(POLICIES).body["policies"]
    rest = without(policy, LogPolicy.metadata | {"id"})
    assert rest == {"name": "p", "order": 1, "enabled": True}


@pytest.mark.promise("S9", "S59")
@pytest.mark.parametrize(("how", "status"), [("documented", 200), ("observed", 400)])
def test_required_fields(how: Any, status: int) -> None:
    """What services are known to demand beyond the document is demanded by the switch alone."""
    emulator = Emulated(profile=Profile(required_fields=how))
    policy = {
        "logRules": {"severities": []},
        "policy": {"name": "p", "priority": "PRIORITY_TYPE_LOW"},
    }

    answers = [
        emulator.post(OVERWRITE, {"policies": [policy]}),
        emulator.post(DASHBOARDS, {"requestId": "r", "dashboard": {"name": "b", "filters": [{}]}}),
    ]

    assert [answer.status for answer in answers] == [status] * 2
    assert status == 200 or answers[0].message == "policies[0].policy.description: required"


@pytest.mark.parametrize("switch", sorted(FILLS))
def test_each_switch_fills_something(switch: str) -> None:
    """Each switch of what is filled in, put in order or normalised adds something of its own."""
    assert ADAPTER.dump_python(Profile(), by_alias=True)[switch] != FILLS[switch]
    assert _seen(profile({switch: FILLS[switch]})) != _seen(Profile())


def _seen(chosen: Profile) -> list[Any]:
    """Return what a service answers to one write of each kind."""
    emulator = Emulated(alert_ids=[ALERT], profile=chosen)
    one = {"id": ALERT, "alertDefProperties": PROPERTIES}
    policies = [{"logRules": {"severities": []}, "policy": {"name": name}} for name in ("a", "b")]
    made = emulator.post(SLOS, SLO).body["slo"]
    (alert,) = emulator.put(ALERTS, {"alertDefsToReplace": [one]}).body["alertDefs"]
    board = {"id": "A-Za-z0-9_-1234567890", "slugName": "shop", **BOARD}
    bare = {"id": "A-Za-z0-9_-1234567891", "name": "Bare"}
    written = [
        emulator.post(DASHBOARDS, {"requestId": str(n), "dashboard": element}).status
        for n, element in enumerate((board, bare))
    ]
    emulator.post(OVERWRITE, {"policies": policies})
    listed = emulator.get(POLICIES).body.get("policies", [])
    boards = [emulator.get(f"{DASHBOARDS}/{value['id']}").text for value in (board, bare)]
    for drawn in (made, alert, *listed):
        for field in ("id", "alertVersionId"):
            drawn.pop(field, None)
    return [dumped(made), dumped(alert), written, dumped(listed), boards]


def test_first_value_is_the_default() -> None:
    """A switch that is left out keeps the first of its values."""
    schema = ADAPTER.json_schema()["properties"]
    listed = {name: schema[name]["enum"] for name in SWITCHES if "enum" in schema[name]}

    assert {name: values[0] for name, values in listed.items()} == {
        name: schema[name]["default"] for name in listed
    }
