from __future__ import annotations

import pytest
from spec_models import DASHBOARD, POLICIES, SLO, board, policy, widget_board

from reconciler.document import Json
from reconciler.syntax.diagnostic import Severity


@pytest.mark.promise("S33")
def test_an_slo_measures_something() -> None:
    """An SLO without an indicator is an error that names both."""
    (finding,) = SLO.of(requestBasedMetricSli=None)

    assert (finding.code, finding.severity) == ("M310", Severity.ERROR)
    assert finding.suggestion == "write requestBasedMetricSli or windowBasedMetricSli"


@pytest.mark.promise("S37")
def test_the_beginning_of_a_field() -> None:
    """An unknown field that begins only one known field gets a hint at it."""
    found = SLO.of(targetThresholdPercentage=None, target=99.9)

    assert ("M304", "targetThresholdPercentage") in {
        (finding.code, finding.suggestion) for finding in found
    }


@pytest.mark.parametrize(
    ("low", "high", "codes"),
    [(0, 100, []), (5, 5, ["M310?"]), (10, 1.5, ["M310?"]), (None, 0, []), ("1", 0, [])],
)
def test_gauges_want_min_below_max(low: Json, high: Json, codes: list[str]) -> None:
    """A gauge whose min is not below its max is a warning."""
    assert DASHBOARD.codes(widget_board(definition={"gauge": {"min": low, "max": high}})) == codes


def test_constant_variables_may_be_refused() -> None:
    """A constant variable is a warning, another definition is not."""
    variables: Json = [
        {"name": "a", "definition": {"constant": {"value": "1"}}},
        {"name": "b", "definition": {"multiSelect": {}}},
    ]

    (finding,) = DASHBOARD.findings(board(variables=variables))

    assert finding.code == "M307"
    assert finding.path == ("dashboard", "variables", 0, "definition", "constant")


@pytest.mark.parametrize(
    "inside",
    [
        {"query": {"metrics": {"promqlQuery": {"value": "x" * 10_001}}}},
        {"queryDefinitions": [{"query": {"metrics": {"promqlQuery": {"value": "x" * 10_001}}}}]},
    ],
)
def test_long_metric_queries(inside: Json) -> None:
    """A metric query beyond what services take is a warning, wherever a widget keeps it."""
    assert DASHBOARD.codes(widget_board(definition={"lineChart": inside})) == ["M307?"]


def test_widget_definitions_are_opaque() -> None:
    """Nothing inside a widget's definition is judged by the model."""
    inside: Json = {"titel": 1, "data_table": [], "createdAt": None}

    assert DASHBOARD.findings(widget_board(definition={"hexagon": inside})) == []


@pytest.mark.parametrize(
    ("item", "missing"),
    [
        ({**policy(), "logRules": {}}, "logRules.severities"),
        ({"policy": policy()["policy"]}, "logRules.severities"),
        (policy(description=None), "policy.description"),
        (policy(priority=None), "policy.priority"),
    ],
)
def test_what_an_overwrite_needs(item: Json, missing: str) -> None:
    """A policy that lacks what services need for an overwrite is a warning that names it."""
    (finding,) = POLICIES.findings({"policies": [item]})

    assert finding.code == "M302"
    assert finding.path[:2] == ("policies", 0)
    assert missing in finding.message
