from __future__ import annotations

import pytest
from spec_models import ALERT, code_of

from reconciler.document import Json
from reconciler.kinds.alert_definition.parts import TYPE_OF

TYPES = {
    "logsImmediate": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
    "logsThreshold": "ALERT_DEF_TYPE_LOGS_THRESHOLD",
    "logsAnomaly": "ALERT_DEF_TYPE_LOGS_ANOMALY",
    "logsRatioThreshold": "ALERT_DEF_TYPE_LOGS_RATIO_THRESHOLD",
    "logsNewValue": "ALERT_DEF_TYPE_LOGS_NEW_VALUE",
    "logsUniqueCount": "ALERT_DEF_TYPE_LOGS_UNIQUE_COUNT",
    "logsTimeRelativeThreshold": "ALERT_DEF_TYPE_LOGS_TIME_RELATIVE_THRESHOLD",
    "metricThreshold": "ALERT_DEF_TYPE_METRIC_THRESHOLD",
    "metricAnomaly": "ALERT_DEF_TYPE_METRIC_ANOMALY",
    "tracingImmediate": "ALERT_DEF_TYPE_TRACING_IMMEDIATE",
    "tracingThreshold": "ALERT_DEF_TYPE_TRACING_THRESHOLD",
    "flow": "ALERT_DEF_TYPE_FLOW",
    "sloThreshold": "ALERT_DEF_TYPE_SLO_THRESHOLD",
}


def test_every_part_has_its_type() -> None:
    """The type of a part is its name in capitals, and the first one is the unspecified."""
    assert TYPE_OF == TYPES


@pytest.mark.parametrize(("part", "of"), TYPES.items())
def test_type_and_part_agree(part: str, of: str) -> None:
    """Each part is accepted beside its own type."""
    fields: dict[str, Json] = {"type": of, part: {}}

    assert "M310" not in {finding.code for finding in ALERT.of(**fields)}


@pytest.mark.parametrize(
    ("fields", "code", "suggestion"),
    [
        (
            {"type": TYPES["logsThreshold"], "metricThreshold": {}},
            "M310",
            "ALERT_DEF_TYPE_METRIC_THRESHOLD",
        ),
        ({"type": TYPES["flow"]}, "M310?", "write flow"),
        ({"type": TYPES["flow"], "flow": None}, "M310?", "write flow"),
        ({"sloThreshold": {}}, "M310?", "write type: ALERT_DEF_TYPE_SLO_THRESHOLD"),
        (
            {"type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE", "logsImmediate": {}},
            "M306?",
            "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
        ),
    ],
)
def test_type_and_part_disagree(fields: dict[str, Json], code: str, suggestion: str) -> None:
    """Another part than the type's is an error, none at all a warning, each with the way out."""
    spec = {"name": "Checkout errors", **fields}
    (finding,) = (finding for finding in ALERT.findings(spec) if finding.code != "M302")

    assert (code_of(finding), finding.suggestion) == (code, suggestion)


def test_types_nobody_knows_are_not_judged() -> None:
    """A type that is not listed may go with any part: it is all there is to say."""
    flow: Json = {"stages": []}

    codes = ALERT.codes_of(type="ALERT_DEF_TYPE_WEATHER", flow=flow)

    assert codes == ["M306?", "M307?"]


def test_duration_under_the_wrong_key() -> None:
    """`dynamicDuration` under `ofTheLast` is a warning that names the right key."""
    condition: Json = {"ofTheLast": {"dynamicDuration": "5m"}}
    part: Json = {"rules": [{"condition": condition}]}

    found = ALERT.of(type=TYPES["metricThreshold"], metricThreshold=part)

    (finding,) = (finding for finding in found if finding.code != "M302")

    assert (code_of(finding), finding.suggestion) == ("M304?", "metricTimeWindowDynamicDuration")


@pytest.mark.parametrize(
    ("start", "end", "codes"),
    [
        ({"hours": 22, "minutes": 0}, {"hours": 6, "minutes": 30}, []),
        ({"hours": 8}, {"hours": 17}, []),
        ({"hours": 0, "minutes": 0}, {"hours": 23, "minutes": 59}, []),
        ({"hours": 24}, {"hours": 6}, ["M307?"]),
        ({"hours": -1}, {"minutes": 60}, ["M307?", "M307?"]),
        ({"hours": "8"}, {}, ["M301"]),
    ],
)
def test_times_of_day(start: Json, end: Json, codes: list[str]) -> None:
    """An end before the start crosses midnight and is fine; odd times are warnings."""
    assert ALERT.codes_of(activeOn={"startTime": start, "endTime": end}) == codes


@pytest.mark.parametrize(
    ("latency", "codes"),
    [
        ("1000", []),
        (1000, []),
        ("${secret:LATENCY}", []),
        ("-1", []),
        ("1s", ["M301"]),
        ("", ["M301"]),
        (1.5, ["M301"]),
        (True, ["M301"]),
        (None, []),
    ],
)
def test_int64_travels_as_text(latency: Json, codes: list[str]) -> None:
    """An int64 may be text or a number, but must be a whole number."""
    tracing: Json = {"tracingFilter": {"simpleFilter": {"latencyThresholdMs": latency}}}

    assert ALERT.codes_of(type=TYPES["tracingImmediate"], tracingImmediate=tracing) == codes


@pytest.mark.parametrize(
    ("part", "value", "codes"),
    [
        ("logsThreshold", {"rules": []}, ["M307?"]),
        ("logsThreshold", {"rules": [{}] * 5}, []),
        ("logsThreshold", {"rules": [{}] * 6}, ["M307?"]),
        ("logsAnomaly", {"rules": [{}] * 2}, ["M307?"]),
        ("logsNewValue", {"rules": [{}] * 2}, ["M307?"]),
        ("logsUniqueCount", {"rules": [{}] * 2}, ["M307?"]),
        ("tracingThreshold", {"rules": [{}] * 2}, ["M307?"]),
        ("metricAnomaly", {"rules": [{}] * 2}, ["M307?"]),
        ("logsTimeRelativeThreshold", {"rules": [{}] * 6}, ["M307?"]),
        ("logsUniqueCount", {"rules": [{"condition": {"maxUniqueCount": "x"}}]}, ["M301"]),
        ("flow", {"stages": [{"timeframeMs": 1000}] * 30}, []),
        ("flow", {"stages": [{}] * 31}, ["M307?"]),
        ("metricThreshold", {"metricFilter": {"promql": "x" * 65_536}}, ["M307?"]),
        ("logsThreshold", {"evaluationDelayMs": 10_800_001}, ["M307?"]),
        ("logsImmediate", {"whatever": 1}, []),
    ],
)
def test_limits_of_type_parts(part: str, value: Json, codes: list[str]) -> None:
    """The observed limits of a type's part are warnings."""
    found = ALERT.codes_of(**{"type": TYPES[part], part: value})

    assert [code for code in found if code != "M302?"] == codes


@pytest.mark.parametrize("group", ["notificationGroup", "notificationGroupExcess"])
@pytest.mark.parametrize("overrides", ["triggeredRoutingOverrides", "resolvedRouteOverrides"])
@pytest.mark.parametrize(
    ("name", "template", "codes"),
    [
        ("apiKey", "hunter2hunter2", ["M313?"]),
        ("authorization", "Bearer aB3dE6gH9jK2mN5pQ8sT1vW4", ["M313?"]),
        ("token", "${secret:TOKEN}", []),
        ("token", "{{ alert.token }}", []),
        ("password", "", []),
        ("title", "hunter2hunter2", []),
    ],
)
def test_secrets_in_connector_fields(
    group: str, overrides: str, name: str, template: str, codes: list[str]
) -> None:
    """A literal in a connector field whose name says it is secret is one warning."""
    fields: Json = [{"fieldName": name, "template": template}]
    destination: Json = {overrides: {"configOverrides": {"connectorConfigFields": fields}}}
    told: Json = {"destinations": [destination]}

    assert ALERT.codes_of(**{group: [told] if group.endswith("Excess") else told}) == codes
