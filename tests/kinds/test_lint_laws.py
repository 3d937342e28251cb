from __future__ import annotations

import pytest
from spec_models import (
    ALERT,
    DASHBOARD,
    MODELS,
    POLICIES,
    SLO,
    VIEW,
    SpecModel,
    board,
    code_of,
    policy,
    widget_board,
)

from reconciler.document import Json
from reconciler.kinds.checks import LISTED, lint
from reconciler.syntax.diagnostic import Advice, Severity, warning

SLI_QUERY: Json = {"query": "all"}
SLI = SLO.least["requestBasedMetricSli"]
FOLDER = "3dc02998-0b50-4ea8-b68a-4779d716fa1f"


def metric_rule(**fields: Json) -> dict[str, Json]:
    """Give the fields of an alert on a metric whose one condition has these fields."""
    condition: Json = {
        "conditionType": "METRIC_THRESHOLD_CONDITION_TYPE_LESS_THAN",
        "threshold": 1,
        "ofTheLast": {"metricTimeWindowSpecificValue": "METRIC_TIME_WINDOW_VALUE_MINUTES_5"},
        **fields,
    }
    part: Json = {"metricFilter": {"promql": "up"}, "rules": [{"condition": condition}]}
    return {"type": "ALERT_DEF_TYPE_METRIC_THRESHOLD", "metricThreshold": part}


def logs_rule(**fields: Json) -> dict[str, Json]:
    """Give the fields of an alert on log lines whose one condition has these fields."""
    condition: Json = {
        "conditionType": "LOGS_THRESHOLD_CONDITION_TYPE_MORE_THAN_OR_UNSPECIFIED",
        "threshold": 1,
        "timeWindow": {"logsTimeWindowSpecificValue": "LOGS_TIME_WINDOW_VALUE_MINUTES_10"},
        **fields,
    }
    return {
        "type": "ALERT_DEF_TYPE_LOGS_THRESHOLD",
        "logsThreshold": {"rules": [{"condition": condition}]},
    }


@pytest.mark.parametrize("kind", MODELS)
def test_the_least_spec_is_clean(kind: str) -> None:
    """A spec with no more than its kind needs has no finding."""
    assert MODELS[kind].of() == []


@pytest.mark.parametrize(
    ("model", "fields", "message"),
    [
        (ALERT, {"enabled": "maybe"}, "`enabled` must be true or false, not text"),
        (ALERT, {"enabled": 1}, "`enabled` must be true or false, not the number 1"),
        (ALERT, {"name": 7}, "`name` must be text, not the number 7"),
        (ALERT, {"groupByKeys": "team"}, "`groupByKeys` must be a list, not text"),
        (ALERT, {"groupByKeys": [None]}, "item 1 must be text, not null"),
        (ALERT, {"entityLabels": {"tier": 1}}, "`tier` must be text, not the number 1"),
        (
            ALERT,
            {"activeOn": []},
            "`activeOn` must be a mapping of `dayOfWeek`, `startTime`, `endTime`, not a list",
        ),
        (
            ALERT,
            {"incidentsSettings": {"minutes": 1.5}},
            "`minutes` must be a whole number, not the number 1.5",
        ),
        (
            SLO,
            {"targetThresholdPercentage": "99"},
            "`targetThresholdPercentage` must be a number, not text",
        ),
        (
            SLO,
            {"targetThresholdPercentage": True},
            "`targetThresholdPercentage` must be a number, not true",
        ),
        (SLO, {"name": None}, "`name` must be text, not null"),
        (
            VIEW,
            {"timeSelection": "1h"},
            "`timeSelection` must be a mapping of `quickSelection`, `customSelection`, not text",
        ),
        (
            DASHBOARD,
            {"dashboard": "x"},
            (
                "`dashboard` must be a mapping of `id`, `name`, `description`, `slugName`, "
                "`folderId`, `folderPath`, `off`, `twoMinutes` and 9 more, not text"
            ),
        ),
        (DASHBOARD, board(off=[]), "`off` must be a mapping, as `{}`, not a list"),
        (DASHBOARD, {"isLocked": {}}, "`isLocked` must be true or false, not a mapping"),
        (POLICIES, {"policies": {}}, "`policies` must be a list, not a mapping"),
    ],
)
def test_wrong_types(model: SpecModel, fields: dict[str, Json], message: str) -> None:
    """A value of the wrong type is one error, which names what is wanted and what is there."""
    findings = model.of(**fields)

    assert [(code_of(finding), finding.message) for finding in findings] == [("M301", message)]


@pytest.mark.promise("P40")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("99.9", "99.9"),
        ("99,9", "99.9"),
        ("99.9%", "99.9"),
        ("99,95 %", "99.95"),
        (" 99 ", "99"),
        ("+0099.50", "99.50"),
        ("-5", "-5"),
        ("1,234,567", "1234567"),
        ("1_000", "1000"),
        ("1 000.5", "1000.5"),
        ("1,000", ""),
        ("99.9.9", ""),
        ("five", ""),
        ("", ""),
        ("%", ""),
        ("1e5", ""),
        ("9" * 30, ""),
        ("٣", ""),
    ],
)
def test_numbers_in_other_spellings(written: str, meant: str) -> None:
    """A number in quotes, or written as elsewhere, is an error with the number that is meant."""
    (target,) = SLO.of(targetThresholdPercentage=written)
    (whole,) = ALERT.of(incidentsSettings={"minutes": written})

    assert (target.code, target.suggestion) == ("M301", meant)
    assert (whole.code, whole.suggestion) == ("M301", "" if "." in meant else meant)


@pytest.mark.promise("P40")
@pytest.mark.parametrize(
    ("value", "meant"), [(5.0, "5"), (5.5, ""), ("5.0", "5"), (True, ""), ([], "")]
)
def test_whole_numbers_in_other_spellings(value: Json, meant: str) -> None:
    """A whole number that is written with a fraction of nothing is offered without it."""
    found = ALERT.of(notificationGroup={"webhooks": [{"integration": {"integrationId": value}}]})

    assert [finding.suggestion for finding in found] == [meant]


@pytest.mark.promise("P40")
@pytest.mark.parametrize(("value", "meant"), [(7, '"7"'), (0.5, '"0.5"'), (True, '"true"')])
def test_scalars_for_text(value: Json, meant: str) -> None:
    """A number or a boolean where text belongs is offered in quotes."""
    (finding,) = ALERT.of(description=value)

    assert (finding.code, finding.suggestion) == ("M301", meant)


@pytest.mark.parametrize(("text", "boolean"), [("yes", "true"), ("Off", "false"), ("true", "true")])
def test_booleans_that_are_text(text: str, boolean: str) -> None:
    """`yes` where a boolean belongs is an error that says what to write."""
    (finding,) = ALERT.of(enabled=text)

    assert (finding.code, finding.suggestion) == ("M311", boolean)


@pytest.mark.parametrize(
    ("model", "spec", "path"),
    [
        (SLO, {"targetThresholdPercentage": 1, "requestBasedMetricSli": SLI}, ()),
        (SLO, {"name": "Checkout", "requestBasedMetricSli": SLI}, ()),
        (VIEW, {"timeSelection": {"quickSelection": {"seconds": 1}}}, ()),
        (VIEW, {"name": "Errors"}, ()),
        (POLICIES, {}, ()),
        (
            POLICIES,
            {
                "policies": [
                    {
                        "logRules": {"severities": []},
                        "policy": {"description": "", "priority": "PRIORITY_TYPE_LOW"},
                    }
                ]
            },
            ("policies", 0, "policy"),
        ),
        (DASHBOARD, {}, ()),
        (DASHBOARD, {"isLocked": True}, ()),
    ],
)
def test_required_fields(
    model: SpecModel, spec: dict[str, Json], path: tuple[str | int, ...]
) -> None:
    """A required field that is missing is one error at the object that lacks it."""
    assert [(code_of(finding), finding.path) for finding in model.findings(spec)] == [
        ("M302", path)
    ]


@pytest.mark.parametrize(
    ("model", "fields", "codes"),
    [
        (VIEW, {"name": ""}, ["M309"]),
        (VIEW, {"name": "x" * 250}, []),
        (VIEW, {"name": "x" * 251}, ["M307?"]),
        (VIEW, {"folderId": FOLDER}, []),
        (VIEW, {"folderId": FOLDER.upper()}, ["M309"]),
        (VIEW, {"folderId": FOLDER[:-1]}, ["M309"]),
        (VIEW, {"folderId": f"{FOLDER}\n"}, ["M309"]),
        (VIEW, {"timeSelection": {"quickSelection": {"seconds": -1}}}, ["M307?"]),
        (VIEW, {"filters": {}, "searchQuery": {"query": ""}}, []),
        (SLO, {"targetThresholdPercentage": 100}, []),
        (SLO, {"targetThresholdPercentage": 100.1}, ["M307"]),
        (SLO, {"targetThresholdPercentage": -1}, ["M307"]),
        (ALERT, {"name": ""}, ["M307?"]),
        (ALERT, {"name": "x" * 513}, ["M307?"]),
        (ALERT, {"description": "x" * 3001}, ["M307?"]),
        (ALERT, {"groupByKeys": ["x"] * 101}, ["M307?"]),
        (ALERT, {"incidentsSettings": {"minutes": 10_080}}, []),
        (ALERT, {"incidentsSettings": {"minutes": 10_081}}, ["M307?"]),
        (ALERT, {"incidentsSettings": {"minutes": 0}}, ["M307?"]),
        (ALERT, {"incidentsSettings": {"minutes": 2**31}}, ["M309", "M307?"]),
        (ALERT, {"notificationGroup": {"router": {"id": FOLDER.upper()}}}, []),
        (ALERT, {"notificationGroup": {"router": {"id": "main"}}}, ["M309"]),
        (ALERT, {"notificationGroup": {"webhooks": [{"minutes": 0}]}}, ["M307?"]),
        (
            ALERT,
            {"notificationGroup": {"webhooks": [{"integration": {"integrationId": 2**31}}]}},
            ["M309"],
        ),
        (POLICIES, {"policies": [policy()]}, []),
        (POLICIES, {"policies": [policy(name="")]}, ["M309"]),
        (POLICIES, {"policies": [policy(name="x" * 256)]}, ["M307?"]),
        (POLICIES, {"policies": [policy(description="naïve")]}, []),
        (POLICIES, {"policies": [policy(description="→")]}, ["M307?"]),
        (POLICIES, {"policies": [policy(name=str(n)) for n in range(201)]}, ["M307?"]),
        (DASHBOARD, board(id="tSheVQcieUCGLE8f7WoaE"), []),
        (DASHBOARD, board(id="short"), ["M307?"]),
        (DASHBOARD, board(slugName="check-out_2"), []),
        (DASHBOARD, board(slugName="check.out"), ["M307?"]),
        (DASHBOARD, board(slugName="a" * 256), ["M307?"]),
        (DASHBOARD, board(relativeTimeFrame="s"), ["M307"]),
        (DASHBOARD, board(folderPath={"segments": ["a", "b", "c"]}), ["M307?"]),
        (DASHBOARD, board(folderPath={"segments": []}), ["M307?"]),
        (DASHBOARD, board(actions=[{}] * 1001), ["M307?"]),
        (DASHBOARD, widget_board(appearance={"width": 0}), []),
        (
            DASHBOARD,
            board(layout={"sections": [{"rows": [{"appearance": {"height": 0}}]}]}),
            ["M307?"],
        ),
    ],
)
def test_bounds(model: SpecModel, fields: dict[str, Json], codes: list[str]) -> None:
    """A bound of the API document is an error, a limit that was only observed a warning."""
    assert model.codes_of(**fields) == codes


@pytest.mark.promise("P37")
@pytest.mark.parametrize(
    ("model", "fields", "code", "suggestion"),
    [
        (ALERT, {"groupByKey": []}, "M303", "groupByKeys"),
        (ALERT, {"group_by_keys": []}, "M303", "groupByKeys"),
        (ALERT, {"logsThresold": {}}, "M303", "logsThreshold"),
        (ALERT, {"logs_threshold": {}}, "M303", "logsThreshold"),
        (ALERT, {"colour": "red"}, "M304?", ""),
        (ALERT, {"notificationGroup": {"destination": []}}, "M303", "destinations"),
        (ALERT, {"created_time": "2024-01-01"}, "M305", "remove it"),
        (VIEW, {"isCompactmode": True}, "M303", "isCompactMode"),
        (
            SLO,
            {"requestBasedMetricSli": {"goodEvents": SLI_QUERY, "totalEvent": SLI_QUERY}},
            "M303",
            "totalEvents",
        ),
        (
            ALERT,
            metric_rule(ofTheLast={"dynamicDuration": "5m"}),
            "M304?",
            "metricTimeWindowDynamicDuration",
        ),
        (
            DASHBOARD,
            widget_board(definition={"linechart": {}}),
            "M303",
            "lineChart",
        ),
        (
            DASHBOARD,
            widget_board(definition={"data_table": {}}),
            "M303",
            "dataTable",
        ),
        (DASHBOARD, widget_board(titel="CPU"), "M303", "title"),
        (DASHBOARD, widget_board(layoutColumns=12), "M304?", ""),
        (POLICIES, {"policies": [policy(disable=True)]}, "M303", "disabled"),
    ],
)
def test_unknown_fields(
    model: SpecModel, fields: dict[str, Json], code: str, suggestion: str
) -> None:
    """A slip of a known field, or a miss of a documented one, is an error; any other a warning."""
    (finding,) = model.of(**fields)

    assert (code_of(finding), finding.suggestion, finding.at_key) == (code, suggestion, True)


@pytest.mark.parametrize(
    "fields",
    [
        {"timeSelection": {"calendarSelection": {}}},
        {"searchQuery": {"query": "", "dialect": "plain"}},
    ],
)
def test_parts_that_are_not_shown_take_any_field(fields: dict[str, Json]) -> None:
    """Where the API document shows no shape, a field nobody knows is no finding."""
    assert VIEW.of(**fields) == []


@pytest.mark.parametrize(
    ("model", "fields", "suggestion"),
    [
        (ALERT, {"priority": "ALERT_DEF_PRIORITY_P5"}, "ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED"),
        (ALERT, {"priority": "P1"}, "ALERT_DEF_PRIORITY_P1"),
        (ALERT, {"priority": "ALERT_DEF_PRIORTY_P1"}, "ALERT_DEF_PRIORITY_P1"),
        (ALERT, {"activeOn": {"dayOfWeek": ["DAY_OF_WEEK_TEUSDAY"]}}, "DAY_OF_WEEK_TUESDAY"),
        (VIEW, {"viewType": "view_type_logs"}, "VIEW_TYPE_LOGS"),
        (
            ALERT,
            {"incidentsSettings": {"notifyOn": "NOTIFY_ON_TRIGGERED_ONLY"}},
            "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED",
        ),
    ],
)
def test_near_misses_of_enumerations(
    model: SpecModel, fields: dict[str, Json], suggestion: str
) -> None:
    """A slip in a listed value is a warning with the value that was meant."""
    (finding,) = model.of(**fields)

    assert (code_of(finding), finding.suggestion) == ("M306?", suggestion)


@pytest.mark.promise("P36")
@pytest.mark.parametrize(
    ("model", "fields", "named"),
    [
        (ALERT, {"priority": "ALERT_DEF_PRIORITY_P9"}, "ALERT_DEF_PRIORITY_P4"),
        (ALERT, {"type": "ALERT_DEF_TYPE_WEATHER"}, "ALERT_DEF_TYPE_FLOW"),
        (VIEW, {"viewType": "VIEW_TYPE_SPANS"}, "VIEW_TYPE_TEMPLATES"),
        (VIEW, {"viewType": ""}, "VIEW_TYPE_TEMPLATES"),
        (POLICIES, {"policies": [policy(priority="PRIORITY_TYPE_URGENT")]}, "PRIORITY_TYPE_LOW"),
        (
            ALERT,
            {"notificationGroup": {"destinations": [{"notifyOn": "NOTIFY_ON_RESOLVED_ONLY"}]}},
            "NOTIFY_ON_TRIGGERED_AND_RESOLVED",
        ),
    ],
)
def test_enumerations_are_open(model: SpecModel, fields: dict[str, Json], named: str) -> None:
    """A value of an open enumeration that nobody has met is a warning with those that are known."""
    (finding,) = model.of(**fields)

    assert code_of(finding) == "M306?"
    assert named in finding.message


@pytest.mark.promise("P36")
@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("DATASET_SCOPE_UNSPECIFIED", []),
        ("DATASET_SCOPE_USER_DATA", []),
        ("USER_DATA", ["M306?"]),
        ("dataset", ["M306?"]),
    ],
)
def test_enumerations_of_which_little_is_shown(value: str, codes: list[str]) -> None:
    """Where only examples are known, any value with their prefix is accepted."""
    instant: Json = {"instant": {"timestampField": {"scope": value}}}
    annotation: Json = {"source": {"queryLanguage": {"strategy": instant}}}

    assert DASHBOARD.codes_of(**board(annotations=[annotation])) == codes


@pytest.mark.promise("P36")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("SLO_TIME_FRAME_30_DAYS", ""),
        ("28d", "SLO_TIME_FRAME_28_DAYS"),
        ("SLO_TIME_FRAME_7_DAY", "SLO_TIME_FRAME_7_DAYS"),
        ("7_DAYS", "SLO_TIME_FRAME_7_DAYS"),
        ("", ""),
    ],
)
def test_a_closed_list(written: str, meant: str) -> None:
    """A value beside the list that the API document closes is an error that names the list."""
    (finding,) = SLO.of(sloTimeFrame=written)

    assert (code_of(finding), finding.suggestion) == ("M309", meant or LISTED)
    for days in (7, 14, 21, 28):
        assert f"SLO_TIME_FRAME_{days}_DAYS" in finding.message


@pytest.mark.promise("P36")
@pytest.mark.parametrize(
    ("model", "fields", "code", "says", "meant"),
    [
        (SLO, {"targetThresholdPercentage": 0.999}, "M314?", "per cent", "99.9"),
        (SLO, {"targetThresholdPercentage": 0.9}, "M314?", "per cent", "90"),
        (
            ALERT,
            metric_rule(conditionType="MORE_THAN"),
            "M306?",
            "listed",
            "METRIC_THRESHOLD_CONDITION_TYPE_MORE_THAN_OR_UNSPECIFIED",
        ),
        (ALERT, metric_rule(ofTheLast={}), "M302?", "`metricTimeWindowSpecificValue`", ""),
        (ALERT, metric_rule(ofTheLast={"value": "5m"}), "M304?", "`value`", ""),
        (
            ALERT,
            logs_rule(timeWindow={"value": "5m"}),
            "M302?",
            "`timeWindow` is without `logsTimeWindowSpecificValue`",
            "",
        ),
        (ALERT, logs_rule(timeWindow=None), "M302?", "`timeWindow` is null", ""),
        (DASHBOARD, board(relativeTimeFrame="1h"), "M307", "as `900s`", "3600s"),
        (DASHBOARD, board(relativeTimeFrame="15 m"), "M307", "as `900s`", "900s"),
        (DASHBOARD, board(relativeTimeFrame="900"), "M307", "as `900s`", "900s"),
        (DASHBOARD, board(relativeTimeFrame="now-1h"), "M307", "as `900s`", ""),
        (DASHBOARD, {"dashboard": {}}, "M302?", "`dashboard` is without `name`", ""),
        (DASHBOARD, widget_board(definition=None), "M302?", "`definition` is null", ""),
        (
            SLO,
            {"windowBasedMetricSli": {}},
            "M302?",
            "without `query`, `window`, `comparisonOperator`, `threshold`",
            "",
        ),
        (SLO, {"requestBasedMetricSli": {}}, "M302?", "without `goodEvents`, `totalEvents`", ""),
        (
            SLO,
            {"requestBasedMetricSli": {"goodEvents": {}, "totalEvents": {"query": "x"}}},
            "M302?",
            "`goodEvents` is without `query`",
            "",
        ),
        (VIEW, {"timeSelection": {"quickSelection": {}}}, "M302?", "without `seconds`", ""),
        (VIEW, {"timeSelection": {}}, "M302?", "`customSelection`, `quickSelection`", ""),
        (VIEW, {"searchQuery": {}}, "M302?", "`searchQuery` is without `query`", ""),
        (
            SLO,
            {"requestBasedMetricSli": {"goodEvents": {"promql": "x"}, "totalEvents": SLI_QUERY}},
            "M304?",
            "`promql` is not a field",
            "query",
        ),
    ],
)
def test_what_services_are_known_to_need(
    model: SpecModel, fields: dict[str, Json], code: str, says: str, meant: str
) -> None:
    """What no service is known to take is one warning, with what to write where that is sure."""
    (finding,) = model.of(**fields)

    sure = "" if isinstance(finding.suggestion, Advice) else finding.suggestion
    assert (code_of(finding), sure) == (code, meant)
    assert says in finding.message


@pytest.mark.promise("P36")
def test_an_alert_of_nothing() -> None:
    """An alert with no more than a name is a warning that says what it lacks."""
    (finding,) = ALERT.findings({"name": "Checkout errors"})

    assert code_of(finding) == "M302?"
    assert "never triggers" in finding.message


@pytest.mark.parametrize(
    ("model", "fields", "suggestion"),
    [
        (ALERT, {"id": FOLDER}, "metadata.id"),
        (ALERT, {"alertDefProperties": {}}, "write its fields under spec"),
        (ALERT, {"status": "ALERT_DEF_STATUS_UNSPECIFIED"}, "remove it"),
        (SLO, {"id": FOLDER}, "metadata.id"),
        (SLO, {"revision": {"revision": 3}}, "remove it"),
        (VIEW, {"id": 3}, "metadata.id"),
        (POLICIES, {"policies": [policy(enabled=True)]}, "`disabled`, its opposite"),
        (DASHBOARD, {"authorId": "1"}, "remove it"),
        (DASHBOARD, {"requestId": "1"}, "remove it"),
        (DASHBOARD, widget_board(createdAt=None), "remove it"),
    ],
)
def test_read_only_fields(model: SpecModel, fields: dict[str, Json], suggestion: str) -> None:
    """A field that only the service sets is one error, whatever its value."""
    (finding,) = model.of(**fields)

    assert (code_of(finding), finding.suggestion, finding.at_key) == ("M305", suggestion, True)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ALERT, {"flow": {}, "sloThreshold": {}}),
        (
            ALERT,
            {
                "notificationGroup": {
                    "webhooks": [{"integration": {"integrationId": 1, "recipients": {}}}]
                }
            },
        ),
        (SLO, {"windowBasedMetricSli": {}}),
        (VIEW, {"timeSelection": {"quickSelection": {}, "customSelection": {}}}),
        (DASHBOARD, {"file": "export.json"}),
        (DASHBOARD, board(off={}, fiveMinutes={})),
        (DASHBOARD, board(relativeTimeFrame="900s", absoluteTimeFrame={})),
        (DASHBOARD, board(folderId={}, folderPath={"segments": ["a"]})),
        (DASHBOARD, board(layout={"sections": [{"options": {"internal": {}, "custom": {}}}]})),
        (DASHBOARD, widget_board(definition={"gauge": {}, "markdown": {}})),
        (DASHBOARD, board(filters=[{"source": {"logs": {}, "metrics": {}}}])),
        (
            DASHBOARD,
            board(
                filters=[
                    {
                        "source": {
                            "metrics": {
                                "operator": {"equals": {"selection": {"all": {}, "list": {}}}}
                            }
                        }
                    }
                ]
            ),
        ),
    ],
)
def test_alternatives_exclude_each_other(model: SpecModel, fields: dict[str, Json]) -> None:
    """Two fields of which an object has one at most are an error at the second."""
    codes = model.codes({**model.least, **fields})

    assert [code for code in codes if not code.endswith("?")] == ["M308"]


def test_null_chooses_nothing() -> None:
    """A choice that is null stands beside another without an error."""
    assert DASHBOARD.of(**board(off={}, fiveMinutes=None)) == []


def test_a_widget_shows_exactly_one_thing() -> None:
    """A widget without any definition inside is an error, one of a new kind is not."""
    assert DASHBOARD.codes(widget_board(definition={})) == ["M302"]
    assert DASHBOARD.codes(widget_board(definition={"heatmap": {}})) == ["M304?"]


@pytest.mark.parametrize("kind", MODELS)
def test_optional_fields_take_null(kind: str) -> None:
    """Null is accepted wherever a field may be left out, and is no finding of its own."""
    model = MODELS[kind]
    optional = {
        info.alias or name: None
        for name, info in model.spec.model_fields.items()
        if not info.is_required()
    }

    codes = [code_of(finding) for finding in lint({**optional, **model.least}, model.spec)]

    assert set(codes) <= {"M305"}


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ALERT, {"notificationGroup": {"router": {}}, "groupByKeys": [], "entityLabels": {}}),
        (ALERT, {"notificationGroupExcess": [], "description": ""}),
        (SLO, {"grouping": {"labels": []}, "labels": {}, "description": ""}),
        (DASHBOARD, board(off={}, layout={"sections": []}, variables=[], filters=[])),
        (DASHBOARD, board(layout={"sections": [{"options": {"internal": {}}, "rows": []}]})),
        (POLICIES, {"policies": []}),
        (VIEW, {"filters": {"filters": []}, "searchQuery": {"query": ""}}),
    ],
)
def test_empties_are_kept(model: SpecModel, fields: dict[str, Json]) -> None:
    """An empty object, list or text is a value like any other."""
    assert model.of(**fields) == []


def test_twins_in_a_list_of_named_items() -> None:
    """Two policies of one name are an error at the second: the name is their identity."""
    twins = POLICIES.of(policies=[policy(), policy()])

    assert [(code_of(finding), finding.path) for finding in twins] == [
        ("M312", ("policies", 1, "policy", "name"))
    ]


@pytest.mark.parametrize(
    ("model", "fields", "codes"),
    [
        (VIEW, {"folderId": "${secret:FOLDER}"}, []),
        (ALERT, {"notificationGroup": {"router": {"id": "${ref:Router/main}"}}}, []),
        (ALERT, {"priority": "${secret:ALERT_DEF_PRIORITY_P5}"}, []),
        (DASHBOARD, board(slugName="${ref:Dashboard/other}"), []),
        (DASHBOARD, board(relativeTimeFrame="${secret:FRAME}" + "x" * 64), []),
        (ALERT, {"incidentsSettings": {"minutes": "${ref:SavedView/errors}"}}, []),
        (ALERT, {"incidentsSettings": {"minutes": "${secret:MINUTES}"}}, ["M301"]),
        (ALERT, {"enabled": "${secret:ON}"}, ["M301"]),
        (SLO, {"targetThresholdPercentage": "${secret:TARGET}"}, ["M301"]),
        (VIEW, {"folderId": "${other}"}, ["M309"]),
    ],
)
def test_open_expressions(model: SpecModel, fields: dict[str, Json], codes: list[str]) -> None:
    """The form of text that is filled in later is not judged; a secret is never a number."""
    assert model.codes_of(**fields) == codes


def test_paths_lead_from_where_the_caller_says() -> None:
    """Findings of a spec point into the whole manifest."""
    (finding,) = lint({"name": 1}, ALERT.spec, ("spec",))

    assert finding.path == ("spec", "name")


def test_warnings_are_no_errors() -> None:
    """What `warning` makes does not stop a run."""
    assert warning("M304", (), "odd").severity is Severity.WARNING


@pytest.mark.parametrize("document", [None, [], "text", 3, True])
def test_a_spec_is_a_mapping(document: Json) -> None:
    """Whatever is no mapping is one error."""
    assert [finding.code for finding in lint(document, VIEW.spec)] == ["M301"]
