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
from reconciler.finding import Severity, warning
from reconciler.kinds.lint import lint

FOLDER = "3dc02998-0b50-4ea8-b68a-4779d716fa1f"


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
        (ALERT, {"activeOn": []}, "`activeOn` must be a mapping, not a list"),
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
        (VIEW, {"timeSelection": "1h"}, "`timeSelection` must be a mapping, not text"),
        (DASHBOARD, {"isLocked": {}}, "`isLocked` must be true or false, not a mapping"),
        (POLICIES, {"policies": {}}, "`policies` must be a list, not a mapping"),
    ],
)
def test_wrong_types(model: SpecModel, fields: dict[str, Json], message: str) -> None:
    """A value of the wrong type is one error, which names what is wanted and what is there."""
    findings = model.of(**fields)

    assert [(code_of(finding), finding.message) for finding in findings] == [("M301", message)]


@pytest.mark.parametrize(("text", "boolean"), [("yes", "true"), ("Off", "false"), ("true", "true")])
def test_booleans_that_are_text(text: str, boolean: str) -> None:
    """`yes` where a boolean belongs is an error that says what to write."""
    (finding,) = ALERT.of(enabled=text)

    assert (finding.code, finding.suggestion) == ("M311", boolean)


@pytest.mark.parametrize(
    ("model", "spec", "path"),
    [
        (SLO, {"targetThresholdPercentage": 1, "requestBasedMetricSli": {}}, ()),
        (SLO, {"name": "Checkout", "requestBasedMetricSli": {}}, ()),
        (VIEW, {"timeSelection": {}}, ()),
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
        (SLO, {"targetThresholdPercentage": 100.1}, ["M307?"]),
        (SLO, {"targetThresholdPercentage": -1}, ["M307?"]),
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
        (DASHBOARD, board(relativeTimeFrame="s"), ["M307?"]),
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


@pytest.mark.parametrize(
    ("model", "fields", "code", "suggestion"),
    [
        (ALERT, {"groupByKey": []}, "M303", "groupByKeys"),
        (ALERT, {"group_by_keys": []}, "M303", "groupByKeys"),
        (ALERT, {"logsThresold": {}}, "M304?", "logsThreshold"),
        (ALERT, {"logs_threshold": {}}, "M304?", "logsThreshold"),
        (ALERT, {"colour": "red"}, "M304?", ""),
        (ALERT, {"notificationGroup": {"destination": []}}, "M303", "destinations"),
        (ALERT, {"created_time": "2024-01-01"}, "M305", "remove it"),
        (VIEW, {"isCompactmode": True}, "M303", "isCompactMode"),
        (SLO, {"requestBasedMetricSli": {"goodEvent": {}}}, "M304?", "goodEvents"),
        (
            DASHBOARD,
            widget_board(definition={"markdown": {}, "linechart": {}}),
            "M304?",
            "lineChart",
        ),
        (
            DASHBOARD,
            widget_board(definition={"data_table": {}}),
            "M304?",
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
    """A miss of a documented field is an error, any other unknown field a warning."""
    (finding,) = model.of(**fields)

    assert (code_of(finding), finding.suggestion, finding.at_key) == (code, suggestion, True)


@pytest.mark.parametrize(
    "fields",
    [
        {"timeSelection": {"calendarSelection": {}}},
        {"searchQuery": {"dialect": "plain"}},
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
        (SLO, {"sloTimeFrame": "SLO_TIME_FRAME_7_DAY"}, "SLO_TIME_FRAME_7_DAYS"),
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


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ALERT, {"priority": "ALERT_DEF_PRIORITY_P6"}),
        (SLO, {"sloTimeFrame": "SLO_TIME_FRAME_90_DAYS"}),
        (VIEW, {"viewType": "VIEW_TYPE_SPANS"}),
        (POLICIES, {"policies": [policy(priority="PRIORITY_TYPE_URGENT")]}),
        (ALERT, {"notificationGroup": {"destinations": [{"notifyOn": "NOTIFY_ON_RESOLVED_ONLY"}]}}),
    ],
)
def test_enumerations_are_open(model: SpecModel, fields: dict[str, Json]) -> None:
    """A value the document does not list, and that is near none, is accepted."""
    assert model.of(**fields) == []


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
    codes = model.codes_of(**fields)

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
        (VIEW, {"filters": {"filters": []}, "searchQuery": {}}),
    ],
)
def test_empties_are_kept(model: SpecModel, fields: dict[str, Json]) -> None:
    """An empty object, list or text is a value like any other."""
    assert model.of(**fields) == []


def test_twins_in_a_list_of_named_items() -> None:
    """Two policies of one name are an error at the second: the name is their identity."""
    twins = POLICIES.of(policies=[policy(), policy()])

    assert [(code_of(finding), finding.path) for finding in twins] == [
        ("M402", ("policies", 1, "policy", "name"))
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
