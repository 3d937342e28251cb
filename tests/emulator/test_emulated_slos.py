"""Endpoints 11 to 14: service-level objectives."""

from typing import Any

import pytest
from harness.emulated import Emulated
from harness.profiles import FILLING
from harness.routes import ALERTS, SLOS

ALERT = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
OTHER_ALERT = "3dc02998-0b50-4ea8-b68a-4779d716fa1f"
STRANGER = "00000000-0000-4000-8000-000000000000"
REQUESTS = {"requestBasedMetricSli": {"goodEvents": {"query": "g"}, "totalEvents": {"query": "t"}}}
WINDOWS = {"windowBasedMetricSli": {"query": {"query": "up"}}}


def slo(sli: dict[str, Any] = REQUESTS, **fields: Any) -> dict[str, object]:
    return {"name": "Checkout", "targetThresholdPercentage": 99.9, **sli, **fields}


def created(emulator: Emulated, **fields: Any) -> dict[str, Any]:
    answer = emulator.post(SLOS, slo(**fields))
    assert answer.status == 200, answer.text
    return dict(answer.body["slo"])


def watch(emulator: Emulated, slo_id: str, alert_id: str = ALERT, **properties: object) -> str:
    """Make an alert watch the budget of an SLO; gives its version."""
    threshold = {"sloDefinition": {"sloId": slo_id}, "errorBudget": {"rules": [{}]}}
    alert = {
        "name": "Budget",
        "type": "ALERT_DEF_TYPE_SLO_THRESHOLD",
        "sloThreshold": threshold,
        **properties,
    }
    sent = {"alertDefsToReplace": [{"id": alert_id, "alertDefProperties": alert}]}
    return str(emulator.put(ALERTS, sent).body["alertDefs"][0]["alertVersionId"])


def test_created_slo() -> None:
    """A new SLO gets an id of the service and, where it fills in, every field nobody sent."""
    emulator = Emulated(profile=FILLING)

    made = created(emulator, id=STRANGER, creator="mallory")

    at = "2025-01-31T09:00:02.000Z"
    assert made["id"] != STRANGER
    assert made == {
        **slo(),
        "id": made["id"],
        "description": "",
        "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
        "labels": {},
        "grouping": {"labels": []},
        "creator": "api-key",
        "type": "SLO_TYPE_REQUEST",
        "createTime": at,
        "updateTime": at,
        "revision": {"revision": 1, "updateTime": at},
    }
    assert emulator.get(f"{SLOS}/{made['id']}").body == {"slo": made}


def test_replaced_slo() -> None:
    """A replace counts the revision up, keeps origin and id, and may change the SLI."""
    emulator = Emulated(profile=FILLING)
    before = created(emulator)

    answer = emulator.put(SLOS, {**before, **slo(), "requestBasedMetricSli": None, **WINDOWS})
    after = emulator.get(f"{SLOS}/{before['id']}").body["slo"]

    assert answer.body == {"slo": after, "effectedSloAlertIds": []}
    assert (after["id"], after["createTime"]) == (before["id"], before["createTime"])
    assert (after["type"], after["revision"]["revision"]) == ("SLO_TYPE_WINDOW", 2)
    assert after["updateTime"] == after["revision"]["updateTime"] > before["updateTime"]
    assert after["windowBasedMetricSli"] == {
        "query": {"query": "up"},
        "window": "WINDOW_SLO_WINDOW_UNSPECIFIED",
        "comparisonOperator": "COMPARISON_OPERATOR_UNSPECIFIED",
        "missingDataStrategy": "MISSING_DATA_STRATEGY_UNSPECIFIED",
        "threshold": 0.0,
    }


def test_what_is_read_can_be_written() -> None:
    """An SLO as read is accepted as a replace, and only its revision and times move."""
    emulator = Emulated()
    before = created(emulator, grouping={"labels": ["app"]}, labels={"team": "payments"})

    after = emulator.put(SLOS, before).body["slo"]

    moving = {"revision", "updateTime"}
    assert {k: v for k, v in after.items() if k not in moving} == {
        k: v for k, v in before.items() if k not in moving
    }


def test_affected_alerts() -> None:
    """A replace names the alerts that watch the SLO, and no others."""
    emulator = Emulated(alert_ids=[ALERT, OTHER_ALERT])
    one, two = created(emulator), created(emulator)
    watch(emulator, one["id"])
    watch(emulator, two["id"], OTHER_ALERT)

    assert emulator.put(SLOS, one).body["effectedSloAlertIds"] == [ALERT]


@pytest.mark.parametrize("sli", [REQUESTS, WINDOWS])
@pytest.mark.parametrize("path", [SLOS, f"{SLOS}/validate"])
def test_either_sli(sli: dict[str, Any], path: str) -> None:
    """Both SLIs are taken everywhere."""
    assert Emulated().post(path, slo(sli)).status == 200


@pytest.mark.parametrize("slo_id", [STRANGER, "x"])
def test_missing_read(slo_id: str) -> None:
    """An SLO that is not there is named in the answer."""
    answer = Emulated().get(f"{SLOS}/{slo_id}")

    assert (answer.status, answer.message) == (404, f"Not Found: slo {slo_id}")


def test_missing_replace() -> None:
    """A replace never creates."""
    answer = Emulated().put(SLOS, slo(id=STRANGER))

    assert (answer.status, answer.message) == (404, f"Not Found: slo {STRANGER}")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": ""}, "name"),
        ({"targetThresholdPercentage": None}, "targetThresholdPercentage"),
        ({"targetThresholdPercentage": -0.1}, "targetThresholdPercentage"),
        ({"targetThresholdPercentage": 100.1}, "targetThresholdPercentage"),
        ({"sloTimeFrame": "SLO_TIME_FRAME_30_DAYS"}, "sloTimeFrame"),
        ({"requestBasedMetricSli": None}, "exactly one is required of"),
        (WINDOWS, "requestBasedMetricSli and windowBasedMetricSli exclude each other"),
        (
            {"requestBasedMetricSli": {"goodEvents": {"query": "g"}}},
            "requestBasedMetricSli.totalEvents",
        ),
        ({"requestBasedMetricSli": {"goodEvents": {}}}, "requestBasedMetricSli.goodEvents.query"),
        ({"id": "x"}, "id"),
    ],
)
@pytest.mark.parametrize("target", [("POST", SLOS), ("PUT", SLOS), ("POST", f"{SLOS}/validate")])
def test_refused_slo(fields: dict[str, Any], complaint: str, target: tuple[str, str]) -> None:
    """An SLO out of bounds is refused, by validate as well."""
    answer = Emulated().send(*target, slo(REQUESTS, **fields))

    assert answer.status == 400
    assert answer.message.startswith(complaint)


def test_replace_needs_id() -> None:
    """A replace has to say which SLO; the deprecated query parameter is taken, but not garbage."""
    emulator = Emulated()
    made = created(emulator)

    assert emulator.put(SLOS, slo()).message == "id: required"
    assert emulator.put(f"{SLOS}?silence_data_validations=true", made).status == 200
    assert emulator.put(f"{SLOS}?silence_data_validations=1", made).status == 400


def test_validate_lost_label() -> None:
    """Validate reports an alert that groups by a label the SLO would lose."""
    emulator = Emulated(alert_ids=[ALERT])
    made = created(emulator, grouping={"labels": ["app", "region"]})
    version = watch(emulator, made["id"], groupByKeys=["app"])

    kept = emulator.post(f"{SLOS}/validate", {**made, "grouping": {"labels": ["app"]}})
    lost = emulator.post(f"{SLOS}/validate", {**made, "grouping": {"labels": ["region"]}})

    assert kept.body == {"alertsValidationResult": []}
    [result] = lost.body["alertsValidationResult"]
    assert (result["id"], result["name"], result["alertVersionId"]) == (ALERT, "Budget", version)
    assert "app" in result["errorMessage"]


def test_validate_lost_budget() -> None:
    """Validate reports an alert on an error budget that a target of 100 leaves empty."""
    emulator = Emulated(alert_ids=[ALERT, OTHER_ALERT])
    made = created(emulator)
    watch(emulator, made["id"])
    burn_rate = {"sloDefinition": {"sloId": made["id"]}, "burnRate": {}}
    watch(emulator, made["id"], OTHER_ALERT, sloThreshold=burn_rate)

    answer = emulator.post(f"{SLOS}/validate", {**made, "targetThresholdPercentage": 100})

    assert [result["id"] for result in answer.body["alertsValidationResult"]] == [ALERT]


def test_validate_writes_nothing() -> None:
    """Validate leaves the SLO as it is."""
    emulator = Emulated()
    made = created(emulator)

    emulator.post(f"{SLOS}/validate", {**made, "name": "Other"})

    assert emulator.get(f"{SLOS}/{made['id']}").body["slo"] == made


@pytest.mark.parametrize("fields", [{}, {"id": STRANGER}])
def test_validate_new_slo(fields: dict[str, Any]) -> None:
    """An SLO that does not exist yet breaks no alert."""
    answer = Emulated().post(f"{SLOS}/validate", slo(REQUESTS, **fields))

    assert (answer.status, answer.body) == (200, {"alertsValidationResult": []})
