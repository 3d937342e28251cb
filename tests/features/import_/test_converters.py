"""What other tools' documents become: right where they map, and said where they do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from harness.foreign_documents import BOARD, DOCUMENTS, RULES, SLO, yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.features.import_ import grafana, openslo, prometheus
from reconciler.features.import_.import_sources import CONVERTERS
from reconciler.features.import_.prometheus import compared_in
from reconciler.features.import_.records import Beside, Conversion, Converted
from reconciler.features.lint.lint import practices_of
from reconciler.kinds.judge_spec import judge
from reconciler.syntax.diagnostic import Severity


def only(conversion: Conversion) -> Converted:
    """Give the one thing that was made."""
    (made,) = conversion.made
    return made


def flawless(one: Converted) -> dict[str, Any]:
    """Give the `spec` of something that was made, in which nothing may be wrong."""
    found = [
        finding.message for finding in judge(one.kind, one.spec, one.spec, has_id=True).findings
    ]
    assert found == []
    return one.spec


def left(one: Converted | Conversion) -> str:
    """Give all that was left behind as one text."""
    return "\n".join(f"{left_behind.what}: {left_behind.why}" for left_behind in one.left_behind)


def test_an_objective_on_requests() -> None:
    """A ratio of OpenSLO is a request-based SLO with target, time frame, service and labels."""
    made = only(openslo.convert(yaml(SLO), "slo.yaml"))

    assert flawless(made) == {
        "name": "Checkout succeeds",
        "description": "Orders go through.",
        "targetThresholdPercentage": 99.5,
        "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
        "labels": {"service": "shop", "team": "a,b"},
        "requestBasedMetricSli": {
            "goodEvents": {"query": "sum(increase(good[5m]))"},
            "totalEvents": {"query": "sum(increase(all[5m]))"},
        },
    }
    assert made.name == "checkout"
    assert left(made).startswith("spec.indicator.metadata, spec.objectives.displayName: ")


def test_bad_events() -> None:
    """Where only bad events are told, good ones are all others, also where none was bad."""
    text = SLO.replace("good:", "bad:").replace("sum(increase(good", "sum(increase(bad")
    sli = flawless(only(openslo.convert(yaml(text), "f")))["requestBasedMetricSli"]

    assert sli["goodEvents"]["query"] == (
        "(sum(increase(all[5m]))) - ((sum(increase(bad[5m]))) or (sum(increase(all[5m]))) * 0)"
    )


def test_objectives_on_windows() -> None:
    """A threshold, or slices of a ratio, is a window-based SLO, one for each objective."""
    head, _, _ = SLO.partition("  indicator:")
    threshold = (
        head
        + (
            "  indicator: {spec: {thresholdMetric: {metricSource: {spec: {query: p95 # all}}}}}\n"
        ).replace(" # all", "")
        + (
            "  timeWindow: [{duration: 30d, isRolling: false}]\n  budgetingMethod: Timeslices\n"
            "  objectives:\n    - {op: lte, value: 0.4, target: 0.99, timeSliceWindow: 5m}\n"
            "    - {op: gt, value: '2', targetPercent: 50, timeSliceWindow: 10m}\n"
            "    - {op: like, value: 1, target: 0.9}\n"
        )
    )
    converted = openslo.convert(yaml(threshold), "slo.yaml")
    first, second = (flawless(one) for one in converted.made)
    slices = SLO.replace("Occurrences", "Timeslices").replace(
        "target: 0.995", "target: 0.9, timeSliceTarget: 0.99, timeSliceWindow: 1m"
    )

    assert first["windowBasedMetricSli"] == {
        "query": {"query": "p95"},
        "window": "WINDOW_SLO_WINDOW_5_MINUTES",
        "comparisonOperator": "COMPARISON_OPERATOR_LESS_THAN_OR_EQUALS",
        "threshold": 0.4,
    }
    assert first["sloTimeFrame"] == "SLO_TIME_FRAME_28_DAYS"
    assert second["name"] == "Checkout succeeds: objective 2"
    assert "objective 3: its threshold needs `op`" in left(converted)
    assert "30d in OpenSLO" in left(converted.made[0])
    assert "time frames here always end now" in left(converted.made[0])
    assert "10m in OpenSLO" in left(converted.made[1])
    sli = flawless(only(openslo.convert(yaml(slices), "f")))["windowBasedMetricSli"]
    assert sli["query"]["query"] == "(sum(increase(good[5m]))) / (sum(increase(all[5m])))"
    assert (sli["comparisonOperator"], sli["threshold"]) == (
        "COMPARISON_OPERATOR_GREATER_THAN_OR_EQUALS",
        0.99,
    )


def test_an_indicator_beside() -> None:
    """An indicator in a document of its own is found in the same file, and else asked for."""
    slo: Any = yaml(SLO)
    indicator = slo["spec"].pop("indicator")
    slo["spec"]["indicatorRef"] = "ratio"
    beside = {"apiVersion": "openslo/v1", "kind": "SLI", **indicator}

    assert flawless(only(openslo.convert(slo, "f", Beside([slo, beside])))) == flawless(
        only(openslo.convert(yaml(SLO), "f"))
    )
    assert "is in no document of this file" in left(openslo.convert(slo, "f", Beside([slo])))
    assert openslo.convert(beside, "f", Beside([slo, beside])) == Conversion()
    assert "no objective of this file refers to it" in left(openslo.convert(beside, "f"))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("openslo/v1", "openslo/v2alpha", "only openslo/v1 is read"),
        ("kind: SLO", "kind: AlertPolicy", "only objectives become manifests"),
        ("type: Prometheus", "type: Datadog", "takes PromQL only"),
        ("target: 0.995", "target: 99.5", "neither a `target` from 0 to 1"),
        ("total:", "raw:", "its ratioMetric needs `total`"),
    ],
)
def test_objectives_that_stay(old: str, new: str, why: str) -> None:
    """What is no SLO here is left behind whole, with the reason, and never guessed."""
    converted = openslo.convert(yaml(SLO.replace(old, new)), "slo.yaml")

    assert converted.made == ()
    assert why in left(converted)
    assert "`checkout` (slo.yaml)" in left(converted)


def test_rules() -> None:
    """Alerting rules become alerts; recording rules and queries of logs are left, and said."""
    converted = prometheus.convert(yaml(RULES), "rules.yaml")
    high, absent = (flawless(one) for one in converted.made)
    condition = high["metricThreshold"]["rules"][0]["condition"]

    assert prometheus.recognise(yaml(RULES))
    assert high["metricThreshold"]["metricFilter"]["promql"] == (
        'sum(rate(errors_total{job="a > b"}[5m])) by (job) / 2'
    )
    assert condition["threshold"] == 0.5
    assert condition["ofTheLast"] == {"metricTimeWindowDynamicDuration": "1h30m"}
    assert high["priority"] == "ALERT_DEF_PRIORITY_P1"
    assert high["entityLabels"] == {"severity": "critical", "team": "shop"}
    assert high["description"] == ("Too many errors\nrunbook_url: https://runbooks.example.com/1")
    assert absent["metricThreshold"]["metricFilter"]["promql"] == (
        'group without () (absent(up{job="shop"}))'
    )
    assert absent["metricThreshold"]["missingValues"] == {"replaceWithZero": True}
    assert "1 recording rules" in left(converted)
    assert "alert `OfLogs` (rules.yaml, group `shop`): its expression is" in left(converted)
    assert "label shard: it is a template" in left(converted.made[0])


@pytest.mark.parametrize(
    ("expression", "query", "condition", "threshold"),
    [
        ("a > 5", "a", "MORE_THAN_OR_UNSPECIFIED", 5),
        ("a{b='>'} - c < -1e3", "a{b='>'} - c", "LESS_THAN", -1000),
        ("a >= 5", "group without () (a >= 5)", "MORE_THAN_OR_UNSPECIFIED", 0),
        ("a > 5 and b > 3", "group without () (a > 5 and b > 3)", "MORE_THAN_OR_UNSPECIFIED", 0),
        ("a > 5 or b", "group without () (a > 5 or b)", "MORE_THAN_OR_UNSPECIFIED", 0),
        ("a > b", "group without () (a > b)", "MORE_THAN_OR_UNSPECIFIED", 0),
        ("5 < a", "group without () (5 < a)", "MORE_THAN_OR_UNSPECIFIED", 0),
        ("a > bool 5", "group without () (a > bool 5)", "MORE_THAN_OR_UNSPECIFIED", 0),
        ("a > 5 # why", "group without () (a > 5 # why\n)", "MORE_THAN_OR_UNSPECIFIED", 0),
        ("a > 1e999999999", "group without () (a > 1e999999999)", "MORE_THAN_OR_UNSPECIFIED", 0),
    ],
)
def test_comparisons(expression: str, query: str, condition: str, threshold: float) -> None:
    """Only one query compared with one number is taken apart; any other is kept whole."""
    found = compared_in(expression)

    assert (found.query, found.condition) == (query, condition)
    assert float(found.threshold) == threshold


def test_rules_of_kubernetes() -> None:
    """A PrometheusRule is read as the rule file in it."""
    resource: Json = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "spec": yaml(RULES),
    }

    assert prometheus.recognise(resource)
    assert prometheus.convert(resource, "f") == prometheus.convert(yaml(RULES), "f")


@pytest.mark.parametrize("document", [BOARD, {"dashboard": BOARD, "meta": {}}], ids=["bare", "api"])
def test_a_dashboard(document: Json) -> None:
    """Rows become sections, panels widgets in their places, and what does not map text."""
    made = only(grafana.convert(document, "board.json"))
    dashboard = flawless(made)["dashboard"]
    above, errors = dashboard["layout"]["sections"]
    widgets = [widget for row in above["rows"] for widget in row["widgets"]]
    heat, lines = (row["widgets"][0] for row in errors["rows"])

    assert grafana.recognise(document)
    assert dashboard["relativeTimeFrame"] == "21600s"
    assert "twoMinutes" in dashboard
    assert errors["options"] == {"custom": {"name": "Errors", "collapsed": True}}
    assert [widget["title"] for widget in widgets] == ["Rate", "Now", ""]
    assert [row["appearance"]["height"] for row in above["rows"]] == [38, 19]
    assert widgets[0]["definition"]["lineChart"]["queryDefinitions"][0] == {
        "id": "1-A",
        "name": "A",
        "isVisible": True,
        "query": {"metrics": {"promqlQuery": {"value": "rate(x[$step])"}}},
        "seriesNameTemplate": "{{pod}}",
        "unit": "UNIT_UNSPECIFIED",
    }
    assert widgets[1]["definition"]["gauge"]["unit"] == "UNIT_PERCENT"
    assert widgets[2]["definition"] == {"markdown": {"markdownText": "# Hi"}}
    assert "`heatmap` stood here" in heat["definition"]["markdown"]["markdownText"]
    assert lines["definition"]["dataTable"]["query"]["logs"]["luceneQuery"] == {
        "value": 'app:"shop" AND NOT env:"dev" AND "failed" AND NOT "retry"'
    }
    for said in (
        "panel `Rate`: transformations",
        "panel `Now`: queries 2",
        "variables of the type query",
        "`$__rate_interval`: it follows the zoom in Grafana; here it is 5m",
        "refresh: 30s",
        "panel `Heat`: a panel `heatmap`",
    ):
        assert said in left(made)


def test_nobody_elses_documents() -> None:
    """A converter takes its own tool's documents, and none of another's or of the service."""
    documents = {openslo: yaml(SLO), prometheus: yaml(RULES), grafana: BOARD}
    ours: Json = {"name": "x", "layout": {"sections": []}}

    for module in documents:
        assert [module.recognise(document) for document in documents.values()] == [
            document is module for document in documents
        ]
        assert not module.recognise(ours)


def words_in(document: Json) -> set[str]:
    """Give the keys and texts of a document."""
    if isinstance(document, dict):
        return set(document).union(*map(words_in, document.values()))
    if isinstance(document, list):
        return set().union(*map(words_in, document))
    return {document} if isinstance(document, str) else set()


_WORDS = sorted(set().union(*map(words_in, DOCUMENTS)))
_TEXTS = st.sampled_from([*_WORDS, "", "a > 1", '{a="b"} |= "c', '"\\', "((", "9" * 40, "1e9999"])
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXTS
_DOCUMENTS = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=6)
    ),
    max_leaves=40,
)


def grown(seed: Json, odd: Json, path: list[int]) -> Json:
    """Give a document with something odd in one of its places."""
    if not path or not isinstance(seed, dict | list) or not seed:
        return odd
    at, *rest = path
    if isinstance(seed, list):
        where = at % len(seed)
        return [*seed[:where], grown(seed[where], odd, rest), *seed[where + 1 :]]
    key = [*seed][at % len(seed)]
    return {**seed, key: grown(seed[key], odd, rest)}


@given(
    st.sampled_from(DOCUMENTS),
    _DOCUMENTS,
    st.lists(st.integers(0, 30), min_size=1, max_size=8),
)
@settings(max_examples=150)
def test_hostile_documents(seed: Json, odd: Json, path: list[int]) -> None:
    """Whatever stands at any place of a document, something is made or left, and none fails."""
    for document in (odd, grown(seed, odd, path)):
        for converter in CONVERTERS:
            if converter.recognise(document):
                for converted in converter.convert(document, "f", Beside([document])).made:
                    found = judge(
                        converted.kind, converted.spec, converted.spec, has_id=True
                    ).findings
                    assert [
                        finding for finding in found if finding.severity is Severity.ERROR
                    ] == []


@pytest.mark.parametrize("text", ['\\"' * 30_000, "`" * 60_001, "(" * 60_000, "a > " * 15_000])
def test_expressions_that_take_long(text: str) -> None:
    """No expression is looked at more than a few times over: the test would not end."""
    rules: Json = {"groups": [{"rules": [{"alert": "a", "expr": text}] * 3}]}

    assert prometheus.convert(rules, "f") is not None


def test_huge_documents() -> None:
    """What is above the bounds is left behind, and said once."""
    panels: Json = [{"type": "text", "gridPos": {"y": number}} for number in range(10_000)]
    rules: Json = [{"alert": f"a{number}", "expr": "a > 1"} for number in range(6_000)]
    board = grafana.convert({"schemaVersion": 1, "panels": panels}, "f")
    alerts = prometheus.convert({"groups": [{"rules": rules}]}, "f")

    assert "only the first 1,000 are read" in left(only(board))
    assert len(alerts.made) == 5_000
    assert len(alerts.left_behind) <= 1_001


def test_what_a_dashboard_of_grafana_loses() -> None:
    """What of a panel, a row, a target or a variable has no counterpart is said by its name."""
    steps: Json = [{"color": "green"}, {"value": 80}]
    panel: Json = {
        "type": "timeseries",
        "title": "Load",
        "gridPos": {"x": 0, "y": 0, "w": 6, "h": 8},
        "targets": [{"refId": "A", "expr": "up"}, {"refId": "B"}],
        "transformations": [{"id": "sort"}],
        "fieldConfig": {
            "defaults": {"unit": "bytes", "decimals": 2, "thresholds": {"steps": steps}},
            "overrides": [{"matcher": {}}],
        },
    }
    wide: Json = {"type": "text", "title": "Wide", "gridPos": {"x": 6, "y": 0, "w": 18, "h": 8}}
    inner: Json = {"type": "row", "panels": [wide]}
    row: Json = {"type": "row", "title": "Row", "repeat": "host", "panels": [inner]}
    variable: Json = {"name": "host", "type": "query"}
    board: Json = {
        "schemaVersion": 39,
        "title": "Board",
        "templating": {"list": [variable]},
        "panels": [panel, wide, row],
    }

    made = only(grafana.convert(board, "f"))

    said = left(made)
    for what in ("query B", "transformations", "unit bytes", "decimals", "thresholds", "overrides"):
        assert what in said
    assert "repeat" in said
    assert "variable `host`" in said
    text = json.dumps(made.spec)
    assert text.count('"Wide"') == 2
    assert '"width": 320' in text
    assert '"width": 960' in text


def asking(expr: str, *variables: Json) -> Json:
    """Return a dashboard of Grafana with one query."""
    panel: Json = {"type": "timeseries", "title": "Load", "targets": [{"expr": expr}]}
    return {
        "schemaVersion": 39,
        "title": "Board",
        "templating": {"list": [*variables]},
        "panels": [panel],
        "__inputs": [{"name": "VAR_JOB", "type": "constant", "value": "node"}],
    }


@pytest.mark.promise("S4")
@pytest.mark.parametrize(
    ("variable", "values"),
    [
        (
            {"type": "custom", "query": "prod, Far away : eu\\,us,", "current": {"value": "eu,us"}},
            [("prod", "prod", False), ("Far away", "eu,us", True)],
        ),
        (
            {"type": "custom", "query": "a,b,c", "current": {"value": ["a", "c"]}},
            [("a", "a", True), ("b", "b", False), ("c", "c", True)],
        ),
        (
            {
                "type": "custom",
                "query": "a,b",
                "includeAll": True,
                "current": {"value": ["$__all"]},
            },
            [("a", "a", False), ("b", "b", False)],
        ),
        ({"type": "textbox", "query": "a, b"}, [("a, b", "a, b", True)]),
        ({"type": "textbox", "query": ""}, [("", "", True)]),
        ({"type": "constant", "query": "node"}, [("node", "node", True)]),
        ({"type": "constant", "query": "${VAR_JOB}"}, [("node", "node", True)]),
        ({"type": "interval", "query": "1m,5m"}, [("1m", "1m", True), ("5m", "5m", False)]),
    ],
)
def test_variables_with_fixed_values(
    variable: dict[str, Json], values: list[tuple[str, str, bool]]
) -> None:
    """A variable whose values stand in the dashboard is declared, with what was selected."""
    (rule,) = (rule for rule in practices_of("Dashboard") if rule.code == "L406")
    assert rule.find is not None
    made = only(grafana.convert(asking('up{x=~"$x"}', {**variable, "name": "x"}), "f"))
    ((declared,),) = [flawless(made)["dashboard"]["variablesV2"]]
    static = declared["source"]["static"]

    assert [
        (value["label"], value["value"], value["isDefault"]) for value in static["values"]
    ] == values
    assert static["allOption"] == {"includeAll": variable.get("includeAll", False)}
    assert [*rule.find(made.spec)] == []


@pytest.mark.promise("S4")
@pytest.mark.parametrize(
    "variable", [{"type": "query"}, {"type": "custom", "valuesFormat": "json"}]
)
def test_variables_without_fixed_values(variable: dict[str, Json]) -> None:
    """A variable whose values the service would have to ask for is named, and declared nowhere."""
    made = only(grafana.convert(asking("up", {**variable, "name": "x", "query": "[1]"}), "f"))

    assert "variablesV2" not in made.spec["dashboard"]  # type: ignore[operator]  # an object
    assert "variable `x`: variables of the type" in left(made)


@pytest.mark.promise("S4")
@pytest.mark.parametrize("name", ["__rate_interval", "__interval"])
@pytest.mark.parametrize("written", ["${}", "${{{}}}", "${{{}:raw}}", "[[{}]]"])
def test_intervals_of_the_zoom(written: str, name: str) -> None:
    """An interval that follows the zoom becomes a literal in each spelling, and that is said."""
    text = written.format(name)
    made = only(grafana.convert(asking(f"rate(a[5m:{text}]) + ${name}_ms"), "f"))

    assert f'"rate(a[5m:5m]) + ${name}_ms"' in json.dumps(made.spec)
    assert f"`{text}`: it follows the zoom in Grafana; here it is 5m" in left(made)
