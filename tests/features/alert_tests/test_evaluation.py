"""When a log alert fires: windows, thresholds, groups, schedules, and each type of alert."""

from __future__ import annotations

from typing import Any

import pytest
from log_alerts import LESS, at, fires, immediate, judged, threshold

from reconciler.features.alert_tests.alert_test import MONDAY
from reconciler.features.alert_tests.log_alert import read_alert
from reconciler.features.alert_tests.query_match import NotEvaluatedError

HOUR = 3_600_000


def test_a_window_is_open_at_its_beginning_and_closed_at_its_end() -> None:
    """Rows five minutes apart are never in one window of five minutes; closer, they are."""
    assert not fires(threshold(1), at("60s", "360s"))
    assert fires(threshold(1), at("60001ms", "360s"))


def test_more_than_is_strict() -> None:
    """As many rows as the threshold do not fire, one more does; with OR_EQUALS they do."""
    three = at("1s", "2s", "3s")

    assert not fires(threshold(3), three)
    assert fires(threshold(3), at("1s", "2s", "3s", "4s"))
    assert fires(threshold(3, how="MORE_THAN_OR_EQUALS"), three)


def test_less_than_waits_for_a_whole_window() -> None:
    """Silence fires at the end of the first whole window, and not before."""
    assert not fires(threshold(1, how=LESS), at("0s"), until=4)
    assert judged(threshold(1, how=LESS), at("1s"), until=6).first is not None
    assert not fires(threshold(1, how=LESS), at("1s"), until=5)


def test_rows_after_the_end_do_not_count() -> None:
    """A row after `until` is not seen."""
    assert not fires(threshold(0), at("10m"), until=5)


def test_only_groups_over_the_threshold_fire() -> None:
    """Each group is counted by itself, and a row without the key is in none."""
    rows = [
        *at("1s", "2s", text={"service": "pay"}),
        *at("3s", text={"service": "search"}),
        *at("4s", "5s", text={"other": 1}),
    ]

    assert judged(threshold(1, groupByKeys=["service"]), rows).fired == {("pay",): 5}


def test_a_silent_group_fires_only_where_asked() -> None:
    """A group without rows in its window is judged only with `triggerUndetectedValues`."""
    rows = at("1s", text={"service": "pay"})
    asked = {"undetectedValuesManagement": {"triggerUndetectedValues": True}}
    keyed: dict[str, Any] = {"groupByKeys": ["service"]}

    assert not fires(threshold(1, how=LESS, **keyed), rows, until=20)
    assert fires(threshold(1, how=LESS, part=asked, **keyed), rows, until=20)


def test_the_highest_priority_that_fires() -> None:
    """A rule has its own priority, or that of the alert; the most urgent one counts."""
    spec = threshold(0, priority="ALERT_DEF_PRIORITY_P3")
    (rule,) = spec["logsThreshold"]["rules"]
    urgent = {**rule, "override": {"priority": "ALERT_DEF_PRIORITY_P1"}}
    spec["logsThreshold"]["rules"] = [
        rule,
        {**urgent, "condition": {**rule["condition"], "threshold": 1}},
    ]

    assert judged(spec, at("1s")).priority == 3
    assert judged(spec, at("1s", "2s")).priority == 1


ACTIVE = {
    "dayOfWeek": ["DAY_OF_WEEK_MONDAY_OR_UNSPECIFIED"],
    "startTime": {"hours": 22, "minutes": 0},
    "endTime": {"hours": 6, "minutes": 0},
}


@pytest.mark.parametrize(
    ("time", "fired"),
    [
        ("21h", False),
        ("22h", True),
        ("23h30m", True),
        ("30h", True),
        ("31h", False),
        ("46h", False),
    ],
)
def test_a_night_belongs_to_the_day_on_which_it_begins(time: str, fired: bool) -> None:
    """A schedule past midnight holds on the morning after its day, not on its own morning."""
    assert fires({**immediate(), "activeOn": ACTIVE}, at(time)) is fired
    assert not fires({**immediate(), "activeOn": ACTIVE}, at("1h"))


def test_a_threshold_that_is_crossed_before_its_schedule() -> None:
    """A window that is over the threshold when the schedule begins fires then."""
    spec = threshold(0, activeOn=ACTIVE)

    assert fires(spec, at("1318m"), until=1322)
    assert not fires(spec, at("1310m"), until=1322)


def ratio(limit: float, **more: Any) -> dict[str, Any]:
    """Return the spec of errors by all."""
    condition = {"conditionType": "LOGS_RATIO_CONDITION_TYPE_MORE_THAN", "threshold": limit}
    sides = {
        "numerator": {"simpleFilter": {"luceneQuery": "failed"}},
        "denominator": {"simpleFilter": {"luceneQuery": "paid OR failed"}},
    }
    return {"logsRatioThreshold": {**sides, "rules": [{"condition": condition}], **more}}


def test_a_ratio_is_a_number() -> None:
    """A ratio is numerator by denominator: one of two is 0.5, and no per cent."""
    rows = [*at("1s", text="failed"), *at("2s", text="paid")]

    assert fires(ratio(0.4), rows)
    assert not fires(ratio(0.5), rows, until=1)


def test_a_denominator_of_nothing() -> None:
    """Something by nothing is more than any threshold, unless infinity is ignored."""
    spec = ratio(100)
    spec["logsRatioThreshold"]["denominator"] = {"simpleFilter": {"luceneQuery": "paid"}}
    rows = at("1s", text="failed")

    assert fires(spec, rows)
    spec["logsRatioThreshold"]["ignoreInfinity"] = True
    assert not fires(spec, rows)


def new_value(window: str = "HOURS_12_OR_UNSPECIFIED") -> dict[str, Any]:
    """Return the spec of an alert on a new country."""
    value = f"LOGS_NEW_VALUE_TIME_WINDOW_VALUE_{window}"
    condition = {
        "keypathToTrack": "country",
        "timeWindow": {"logsNewValueTimeWindowSpecificValue": value},
    }
    return {"logsNewValue": {"rules": [{"condition": condition}]}}


def test_a_new_value() -> None:
    """The first value is learnt, another is new, and an old one is new again after its window."""
    known = at("1s", "2s", text={"country": "pt"})

    assert not fires(new_value(), known)
    assert fires(new_value(), [*known, *at("3s", text={"country": "at"})])
    assert not fires(new_value(), [*known, *at("12h1s", text={"country": "pt"})])
    assert fires(new_value(), [*known, *at("12h2s", text={"country": "pt"})])


def test_a_count_of_unique_values() -> None:
    """Values count once however often they come, and leave with their window."""
    value = "LOGS_UNIQUE_VALUE_TIME_WINDOW_VALUE_MINUTES_5"
    window = {"logsUniqueValueTimeWindowSpecificValue": value}
    rules = [{"condition": {"maxUniqueCount": "1", "timeWindow": window}}]
    spec = {"logsUniqueCount": {"uniqueCountKeypath": "user", "rules": rules}}

    assert not fires(spec, at("1s", "2s", text={"user": "a"}))
    assert fires(spec, [*at("1s", text={"user": "a"}), *at("9s", text={"user": "b"})])
    assert not fires(spec, [*at("1s", text={"user": "a"}), *at("6m", text={"user": "b"})])


def test_relative_to_the_hour_before() -> None:
    """Rows of this hour are compared with those of the hour before, once both are whole."""
    condition = {
        "conditionType": "LOGS_TIME_RELATIVE_CONDITION_TYPE_MORE_THAN_OR_UNSPECIFIED",
        "threshold": 2,
        "comparedTo": "LOGS_TIME_RELATIVE_COMPARED_TO_PREVIOUS_HOUR_OR_UNSPECIFIED",
    }
    spec = {"logsTimeRelativeThreshold": {"rules": [{"condition": condition}]}}

    assert fires(spec, at("10m", "70m", "71m", "72m"), until=120)
    assert not fires(spec, at("10m", "70m", "71m"), until=120)
    assert not fires(spec, at("10m", "70m", "71m", "72m"), until=119)


def test_labels() -> None:
    """Conditions on one label are alternatives, conditions on different labels must all hold."""
    operation = "LOG_FILTER_OPERATION_TYPE_"
    labels: dict[str, Any] = {
        "applicationName": [
            {"operation": f"{operation}IS_OR_UNSPECIFIED", "value": "shop"},
            {"operation": f"{operation}STARTS_WITH", "value": "pay"},
        ],
        "subsystemName": [{"operation": f"{operation}ENDS_WITH", "value": "out"}],
        "severities": ["LOG_SEVERITY_ERROR"],
    }
    row = {"application": "shop", "subsystem": "checkout", "severity": "error"}
    spec = immediate(**labels)

    assert fires(spec, at("1s", **row))
    assert fires(spec, at("1s", **{**row, "application": "payments"}))
    for other in ({"application": "Shop"}, {"subsystem": "cart"}, {"severity": "critical"}):
        assert not fires(spec, at("1s", **{**row, **other}))


@pytest.mark.parametrize(
    "spec",
    [
        {"metricThreshold": {}, "type": "ALERT_DEF_TYPE_METRIC_THRESHOLD"},
        {"logsAnomaly": {}},
        {},
        immediate("near~2"),
        immediate("[1 TO 2]"),
        immediate("a && b"),
        immediate("(("),
        immediate("service:${ref:x}"),
        threshold(1, window="DYNAMIC"),
        threshold(1, how="BETWEEN"),
        {"logsThreshold": {}},
    ],
)
def test_what_cannot_be_evaluated_says_why(spec: dict[str, Any]) -> None:
    """What needs the service, or is not known, is refused with a reason, and never guessed."""
    with pytest.raises(NotEvaluatedError, match=r"\w+ \w+"):
        read_alert(spec)


def test_no_window_is_missed_where_nothing_happens() -> None:
    """What happens to a window between two rows is judged: rows that leave it."""
    spec = ratio(0.5)
    rows = [*at("1s", text="paid"), *at("2m", text="failed")]

    # At the sixth minute the paid one has left, and one of one is failed.
    verdict = judged(spec, rows, until=10)
    assert verdict.first is not None
    assert verdict.first.minute == MONDAY // 60_000 + 6


@pytest.mark.parametrize("last", ["1m", "4m", "4m30s", "5m", "6m", "10m"])
def test_silence_after_any_last_row(last: str) -> None:
    """Silence fires one window after the last row, whenever that row is."""
    rows = at("1m", last, text={"a": "x"})
    silent = {"undetectedValuesManagement": {"triggerUndetectedValues": True}}

    assert fires(threshold(1, how=LESS), rows, until=30)
    assert fires(threshold(1, how=LESS, groupByKeys=["a"], part=silent), rows, until=30)


def test_a_group_that_appears_late_and_falls_silent() -> None:
    """A group whose first row comes after the first whole window fires when it falls silent."""
    silent = {"undetectedValuesManagement": {"triggerUndetectedValues": True}}
    spec = threshold(1, how=LESS, groupByKeys=["a"], part=silent)

    assert fires(spec, at("20m", text={"a": "x"}), until=25)
    assert not fires(spec, at("20m", text={"a": "x"}), until=24)
