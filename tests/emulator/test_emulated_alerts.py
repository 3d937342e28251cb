"""Endpoint 1: the bulk replace of alert definitions."""

from typing import Any

import pytest
from harness.emulated import Answer, Emulated
from harness.profiles import FILLING
from harness.routes import ALERTS
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.emulator import create_app
from reconciler.emulator.alert_definition_endpoints import type_of

FIRST = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
SECOND = "3dc02998-0b50-4ea8-b68a-4779d716fa1f"
STRANGER = "00000000-0000-4000-8000-000000000000"
TRACING = "alertDefsToReplace[0].alertDefProperties.tracingImmediate.tracingFilter.simpleFilter"
LISTS = ("alertDefs", "failedToReplaceAlertDefs", "notFoundIds", "skippedIds")


def item(alert_id: str, **properties: object) -> dict[str, object]:
    return {"id": alert_id, "alertDefProperties": {"name": "Errors", **properties}}


def slow(latency: object) -> dict[str, object]:
    """Give a request with one alert on slow traces."""
    tracing = {"tracingFilter": {"simpleFilter": {"latencyThresholdMs": latency}}}
    return {"alertDefsToReplace": [item(FIRST, tracingImmediate=tracing)]}


def replace(emulator: Emulated, *items: object) -> Answer:
    return emulator.put(ALERTS, {"alertDefsToReplace": items})


def memberships(body: dict[str, Any]) -> dict[str, list[str]]:
    """Give the ids in each of the four lists."""
    return {
        name: [entry if isinstance(entry, str) else entry["id"] for entry in body[name]]
        for name in LISTS
    }


def test_four_lists() -> None:
    """Replaced, refused, unknown and unchanged definitions each go to their own list."""
    third, fourth = FIRST.replace("1", "2"), FIRST.replace("1", "3")
    emulator = Emulated(alert_ids=[FIRST, SECOND, third, fourth])
    replace(emulator, item(third))

    answer = replace(emulator, item(FIRST), item(SECOND, name=""), item(STRANGER), item(third))

    assert memberships(answer.body) == {
        "alertDefs": [FIRST],
        "failedToReplaceAlertDefs": [SECOND],
        "notFoundIds": [STRANGER],
        "skippedIds": [third],
    }


@settings(deadline=None, max_examples=50)
@given(
    chosen=st.lists(
        st.tuples(st.sampled_from([FIRST, SECOND, STRANGER]), st.sampled_from(["", "a", "b"])),
        unique_by=lambda pair: pair[0],
    )
)
def test_each_id_in_one_list(chosen: list[tuple[str, str]]) -> None:
    """Every sent id is in exactly one of the four lists, whatever was sent."""
    emulator = Emulated(alert_ids=[FIRST, SECOND])
    replace(emulator, item(FIRST, name="a"))

    answer = replace(emulator, *(item(alert_id, name=name) for alert_id, name in chosen))

    found = [alert_id for ids in memberships(answer.body).values() for alert_id in ids]
    assert sorted(found) == sorted(alert_id for alert_id, _ in chosen)


def test_version_changes_with_content_only() -> None:
    """A replace gives a new version and keeps the creation time; an equal one does nothing."""
    emulator = Emulated(alert_ids=[FIRST])
    one = replace(emulator, item(FIRST, name="one")).body["alertDefs"][0]
    unchanged = replace(emulator, item(FIRST, name="one", description="", groupByKeys=[])).body
    two = replace(emulator, item(FIRST, name="two")).body["alertDefs"][0]

    assert unchanged["skippedIds"] == [FIRST]
    assert one["createdTime"] == two["createdTime"]
    assert one["alertVersionId"] != two["alertVersionId"]
    assert one["updatedTime"] < two["updatedTime"]


def test_true_is_not_one() -> None:
    """A part that turns 1 into true is a change, though Python calls them equal."""
    emulator = Emulated(alert_ids=[FIRST])
    replace(emulator, item(FIRST, logsImmediate={"x": 1}))

    assert memberships(replace(emulator, item(FIRST, logsImmediate={"x": True})).body)["alertDefs"]


def test_zero_values_are_rendered() -> None:
    """Documented fields nobody sent may come back as zero values; absent objects stay absent."""
    emulator = Emulated(alert_ids=[FIRST], profile=FILLING)
    tracing = {
        "tracingFilter": {"simpleFilter": {"latencyThresholdMs": 1000, "tracingLabelFilters": {}}}
    }

    stored = replace(
        emulator,
        item(
            FIRST,
            type="ALERT_DEF_TYPE_TRACING_IMMEDIATE",
            tracingImmediate=tracing,
            notificationGroup={"router": {}, "webhooks": [{"integration": {"integrationId": 7}}]},
        ),
    ).body["alertDefs"][0]

    notify_on = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"
    assert stored["status"] == "ALERT_DEF_STATUS_UNSPECIFIED"
    assert stored["alertDefProperties"] == {
        "name": "Errors",
        "description": "",
        "enabled": False,
        "deleted": False,
        "phantomMode": False,
        "priority": "ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED",
        "type": "ALERT_DEF_TYPE_TRACING_IMMEDIATE",
        "entityLabels": {},
        "groupByKeys": [],
        "notificationGroup": {
            "destinations": [],
            "groupByKeys": [],
            "router": {"notifyOn": notify_on},
            "webhooks": [{"integration": {"integrationId": 7}, "notifyOn": notify_on}],
        },
        "notificationGroupExcess": [],
        "tracingImmediate": {
            "notificationPayloadFilter": [],
            "tracingFilter": {
                "simpleFilter": {
                    "latencyThresholdMs": "1000",
                    "tracingLabelFilters": {
                        "applicationName": [],
                        "operationName": [],
                        "serviceName": [],
                        "subsystemName": [],
                        "spanFields": [],
                    },
                }
            },
        },
    }


def test_null_clears() -> None:
    """A documented field that is null counts as not sent."""
    emulator = Emulated(alert_ids=[FIRST])
    replace(emulator, item(FIRST))

    answer = replace(emulator, item(FIRST, groupByKeys=None, activeOn=None))

    assert answer.body["skippedIds"] == [FIRST]


@pytest.mark.parametrize(
    "properties",
    [
        {"name": None},
        {"name": ""},
        {"name": "x" * 513},
        {"description": "x" * 3001},
        {"groupByKeys": ["k"] * 101},
        {"priority": "P1"},
        {"priority": "ALERT_DEF_TYPE_FLOW"},
        {"priority": 1},
        {"entityLabels": {}, "activeOn": {"dayOfWeek": [1]}},
        {"incidentsSettings": {"minutes": 0}},
        {"incidentsSettings": {"minutes": 10_081}},
        {"notificationGroup": {"webhooks": [{"minutes": 0}]}},
        {"activeOn": {"startTime": {"hours": 24}}},
        {"activeOn": {"endTime": {"minutes": 60}}},
        {"activeOn": {"dayOfWeek": ["MONDAY"]}},
        {"logsThreshold": {}},
        {"type": "ALERT_DEF_TYPE_FLOW", "flow": {}, "logsImmediate": {}},
        {"type": "ALERT_DEF_TYPE_FLOW", "flow": {"stages": []}},
        {"type": "ALERT_DEF_TYPE_FLOW", "flow": {"stages": [{}] * 31}},
        {"type": "ALERT_DEF_TYPE_LOGS_THRESHOLD", "logsThreshold": {"rules": [{}] * 6}},
        {"type": "ALERT_DEF_TYPE_LOGS_ANOMALY", "logsAnomaly": {"rules": [{}] * 2}},
        {"type": "ALERT_DEF_TYPE_LOGS_ANOMALY", "logsAnomaly": {"evaluationDelayMs": 10_800_001}},
        {"type": "ALERT_DEF_TYPE_LOGS_ANOMALY", "logsAnomaly": {"evaluationDelayMs": "10800001"}},
        {
            "type": "ALERT_DEF_TYPE_METRIC_THRESHOLD",
            "metricThreshold": {"metricFilter": {"promql": "x" * 65_536}},
        },
        {"type": "ALERT_DEF_TYPE_SLO_THRESHOLD", "sloThreshold": {}},
        {"type": "ALERT_DEF_TYPE_SLO_THRESHOLD", "sloThreshold": {"sloDefinition": {"sloId": "x"}}},
    ],
)
def test_refused_definition(properties: dict[str, object]) -> None:
    """A definition that breaks a rule fails alone; its neighbour is replaced."""
    emulator = Emulated(alert_ids=[FIRST, SECOND])

    answer = replace(emulator, item(FIRST, **properties), item(SECOND))

    assert memberships(answer.body)["failedToReplaceAlertDefs"] == [FIRST]
    assert memberships(answer.body)["alertDefs"] == [SECOND]


@pytest.mark.parametrize(
    "properties",
    [
        {"name": "x" * 512},
        {"activeOn": {"startTime": {"hours": 22}, "endTime": {"hours": 6}}},
        {"incidentsSettings": {}},
        {"incidentsSettings": {"minutes": 10_080}},
        {"type": "ALERT_DEF_TYPE_TRACING_IMMEDIATE"},
        {"type": "ALERT_DEF_TYPE_LOGS_ANOMALY", "logsAnomaly": {"evaluationDelayMs": "10800000"}},
        {"priority": "ALERT_DEF_PRIORITY_P9"},
    ],
)
def test_accepted_definition(properties: dict[str, object]) -> None:
    """What keeps to the bounds is taken, and so are values of enumerations not listed."""
    answer = replace(Emulated(alert_ids=[FIRST]), item(FIRST, **properties))

    assert memberships(answer.body)["alertDefs"] == [FIRST]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "alertDefsToReplace: required"),
        ({"alertDefsToReplace": [5]}, "alertDefsToReplace[0]: not an object"),
        ({"alertDefsToReplace": [item("x")]}, "alertDefsToReplace[0].id: not a uuid"),
        (
            {"alertDefsToReplace": [item(FIRST), item(FIRST.upper())]},
            f"alertDefsToReplace[1].id: {FIRST} is there twice",
        ),
        (
            {"alertDefsToReplace": [{"id": FIRST}]},
            "alertDefsToReplace[0].alertDefProperties: required",
        ),
        (
            {"alertDefsToReplace": [item(FIRST, enabled="yes")]},
            "alertDefsToReplace[0].alertDefProperties.enabled: not a boolean",
        ),
        (
            {"alertDefsToReplace": [item(FIRST, incidentsSettings={"minutes": 2**31})]},
            "alertDefsToReplace[0].alertDefProperties.incidentsSettings.minutes: not an int32",
        ),
        (slow("1s"), f"{TRACING}.latencyThresholdMs: not an int64"),
        (slow(True), f"{TRACING}.latencyThresholdMs: not an int64"),  # noqa: FBT003 - a wrong type
        (slow(10**30), f"{TRACING}.latencyThresholdMs: not an int64"),
    ],
)
def test_refused_request(body: object, message: str) -> None:
    """A request of the wrong shape is refused whole and replaces nothing."""
    emulator = Emulated(alert_ids=[FIRST, SECOND])
    sound = item(SECOND, name="never")

    answer = emulator.put(ALERTS, body)

    assert (answer.status, answer.message) == (400, message)
    assert memberships(replace(emulator, sound).body)["alertDefs"] == [SECOND]


@pytest.mark.parametrize(("count", "status"), [(100, 200), (101, 400)])
def test_bulk_limit(count: int, status: int) -> None:
    """A request holds at most 100 definitions."""
    items = [item(f"00000000-0000-4000-8000-{number:012}") for number in range(count)]

    assert replace(Emulated(), *items).status == status


def test_ids_are_canonical() -> None:
    """An id sent in capitals is the same alert and comes back in lower case."""
    answer = replace(Emulated(alert_ids=[FIRST.upper()]), item(FIRST.upper()))

    assert memberships(answer.body)["alertDefs"] == [FIRST]


def test_bad_alert_id() -> None:
    """An emulator does not start with an alert id that is no uuid."""
    with pytest.raises(ValueError, match="'checkout': not a uuid"):
        create_app(alert_ids=["checkout"])


@pytest.mark.parametrize(
    ("part", "alert_type"),
    [
        ("logsImmediate", "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED"),
        ("logsTimeRelativeThreshold", "ALERT_DEF_TYPE_LOGS_TIME_RELATIVE_THRESHOLD"),
        ("flow", "ALERT_DEF_TYPE_FLOW"),
    ],
)
def test_type_of_part(part: str, alert_type: str) -> None:
    """The type is the name of the part in capitals with underscores."""
    assert type_of(part) == alert_type
