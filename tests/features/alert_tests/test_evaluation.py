"""When a log alert fires: windows, thresholds, groups, schedules, and each type of alert."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from log_alerts import LESS, at, fires, immediate, judged, threshold

from reconciler.features.alert_tests.alert_test import MONDAY
from reconciler.features.alert_tests.evaluate import Judged, evaluate
from reconciler.features.alert_tests.log_alert import AlertRule, read_alert
from reconciler.features.alert_tests.log_row import LogRow
from reconciler.features.alert_tests.query_match import NotEvaluatedError
from reconciler.model import Ref
from reconciler.redaction.templates import RefHole, Template

FIRST = MONDAY // 60_000


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
    """A row at `until` is the last that counts."""
    assert fires(threshold(0), at("5m"), until=5)
    assert not fires(threshold(0), at("300001ms"), until=5)


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


@pytest.mark.parametrize(
    ("spec", "times", "value", "minute"),
    [
        (threshold(9), ("1m", "10m", "10m", "30m", "30m"), 2, 10),
        (threshold(0, how=LESS), ("1m", "9m", "20m"), 0, 6),
        (threshold(0, how=LESS), ("1m", "1m", "5m", "9m"), 1, 6),
        (immediate(), ("90s", "200s"), 1, 1),
    ],
)
def test_the_value_that_came_nearest(
    spec: dict[str, Any], times: tuple[str, ...], value: float, minute: int
) -> None:
    """A test names the highest count, or the lowest for less-than, and the first of equal ones."""
    rows = at(*times, text={"a": "x"})

    assert judged(spec, rows).nearest == [Judged(value, FIRST + minute, ())]


@pytest.mark.parametrize(
    ("spec", "until"), [(threshold(1, how=LESS), 4), (immediate("nothing"), 9), (immediate(), 0)]
)
def test_nothing_came_near_where_nothing_was_judged(spec: dict[str, Any], until: int) -> None:
    """Without a whole window, or without a row that matches, no value came nearest."""
    assert judged(spec, at("2s", text="x"), until=until).nearest == [None]


def test_the_first_that_fires() -> None:
    """The group and the minute of the first value that fires are kept, not those of later ones."""
    each_row = {**immediate(), "groupByKeys": ["a"]}
    rows = [*at("90s", "100s", text={"a": "x"}), *at("200s", text={"a": "y"})]

    assert judged(each_row, rows).first == Judged(1, FIRST + 1, ("x",))
    value = {**new_value(), "groupByKeys": ["app"]}
    countries = [*at("1s", text={"app": "b", "country": "fi"}), *at("2s", text={"app": "a"})]
    countries += [
        row
        for time, country in (("3s", "pt"), ("90s", "at"), ("9m", "de"))
        for row in at(time, text={"app": "a", "country": country})
    ]
    verdict = judged(value, countries)
    assert verdict.first == Judged(1, FIRST + 1, ("a",))
    assert verdict.fired == {("a",): 5}


def test_rows_that_match_in_no_group() -> None:
    """Rows that match are counted for each side, and of these the rows without the key."""
    spec = {**ratio(9), "groupByKeys": ["a"]}
    rows = [
        *at("1s", "2s", text="failed"),
        *at("3s", text={"a": {"b": 1}, "c": "paid"}),
        *at("4s", text={"a": "x", "b": "failed"}),
    ]
    verdict = judged(spec, rows)

    assert (verdict.counted, verdict.ungrouped) == (7, 5)


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


TUESDAY, WEDNESDAY = "DAY_OF_WEEK_TUESDAY", "DAY_OF_WEEK_WEDNESDAY"
NINE, HALF_PAST_NINE = {"hours": 9}, {"hours": 9, "minutes": 30}
FROM_NINE = {"startTime": NINE}


@pytest.mark.parametrize(
    ("active", "time", "fired"),
    [
        ({"dayOfWeek": [TUESDAY], "startTime": NINE, "endTime": {"hours": 17}}, "9h", False),
        ({"dayOfWeek": [TUESDAY], "startTime": NINE, "endTime": {"hours": 17}}, "32h59m", False),
        ({"dayOfWeek": [TUESDAY], "startTime": NINE, "endTime": {"hours": 17}}, "33h", True),
        ({"dayOfWeek": [TUESDAY], "startTime": NINE, "endTime": {"hours": 17}}, "41h59s", True),
        ({"dayOfWeek": [TUESDAY], "startTime": NINE, "endTime": {"hours": 17}}, "41h1m", False),
        ({"dayOfWeek": [TUESDAY], "startTime": NINE, "endTime": {"hours": 17}}, "57h", False),
        ({"dayOfWeek": [TUESDAY], "startTime": NINE, "endTime": {"hours": 17}}, "201h", True),
        ({"startTime": HALF_PAST_NINE, "endTime": HALF_PAST_NINE}, "9h30m", True),
        ({"startTime": HALF_PAST_NINE, "endTime": HALF_PAST_NINE}, "9h29m", False),
        ({"startTime": HALF_PAST_NINE, "endTime": HALF_PAST_NINE}, "9h31m", False),
        (FROM_NINE, "8h59m", False),
        (FROM_NINE, "9h", True),
        (FROM_NINE, "23h59m", True),
        (FROM_NINE, "24h", False),
        ({"endTime": NINE}, "0s", True),
        ({"endTime": NINE}, "9h1m", False),
        *(({}, f"{day * 24}h", True) for day in range(7)),
    ],
)
def test_a_schedule_by_day(active: dict[str, Any], time: str, fired: bool) -> None:
    """A day's schedule holds from its first to its last minute; without days, on each day."""
    assert fires({**immediate(), "activeOn": active}, at(time)) is fired


@pytest.mark.parametrize(
    ("active", "rows", "until", "minute"),
    [
        (ACTIVE, at("1318m"), 1322, 22 * 60),
        (ACTIVE, at("1310m"), 1322, None),
        ({"dayOfWeek": [WEDNESDAY], "startTime": NINE}, [], 9999, 57 * 60),
        ({"dayOfWeek": [WEDNESDAY, TUESDAY], "startTime": NINE}, [], 9999, 33 * 60),
        ({"startTime": NINE}, [], 9999, 9 * 60),
        ({"endTime": {"minutes": 2}}, [], 9999, 24 * 60),
        ({**ACTIVE, "startTime": {"minutes": 1}, "endTime": {}}, [], 9999, 5),
        ({**ACTIVE, "startTime": {}, "endTime": {"minutes": 2}}, [], 10_081, 7 * 24 * 60),
        ({**ACTIVE, "startTime": {}, "endTime": {"minutes": 2}}, [], 10_079, None),
    ],
)
def test_a_threshold_that_is_crossed_before_its_schedule(
    active: dict[str, Any], rows: list[Any], until: int, minute: int | None
) -> None:
    """A window that is over the threshold when the schedule begins fires at that minute."""
    spec = threshold(0, activeOn=active) if rows else threshold(1, how=LESS, activeOn=active)
    first = judged(spec, rows, until).first

    assert (first and first.minute) == (minute and FIRST + minute)


def test_a_silent_group_fires_when_its_schedule_begins() -> None:
    """A group without rows that may fire on silence does so long after its last row."""
    silent = {"undetectedValuesManagement": {"triggerUndetectedValues": True}}
    spec = threshold(1, how=LESS, groupByKeys=["a"], part=silent, activeOn=FROM_NINE)

    assert judged(spec, at("1m", text={"a": "x"}), until=600).fired == {("x",): 5}


def _lines(count: int, apart: int, text: Callable[[int], str]) -> list[LogRow]:
    return [LogRow(MONDAY + number * apart, text(number)) for number in range(count)]


@pytest.mark.parametrize("measure", ["count", "silent groups", "unique", "relative"])
def test_memory_does_not_grow_with_the_rows(measure: str) -> None:
    """The evaluation keeps minutes of a window and groups with rows in it, and no row."""
    spec, apart, text = {
        "count": (threshold(1), 1, lambda _: "x"),
        "silent groups": (
            {**threshold(1), "groupByKeys": ["a"]},
            600_000,
            lambda number: f'{{"a": "{number}"}}',
        ),
        "unique": (unique(1), 1, lambda _: '{"user": "a"}'),
        "relative": (relative(), 1, lambda _: "x"),
    }[measure]
    peaks = []
    for rows in (_lines(count, apart, text) for count in (200, 4_000)):
        tracemalloc.start()
        evaluate(read_alert(spec), rows, MONDAY)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < peaks[0] + 50_000


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


def unique(most: int, window: str = "MINUTES_5") -> dict[str, Any]:
    """Return the spec of an alert on more than so many users."""
    value = f"LOGS_UNIQUE_VALUE_TIME_WINDOW_VALUE_{window}"
    condition = {
        "maxUniqueCount": f"{most}",
        "timeWindow": {"logsUniqueValueTimeWindowSpecificValue": value},
    }
    return {"logsUniqueCount": {"uniqueCountKeypath": "user", "rules": [{"condition": condition}]}}


@pytest.mark.parametrize(
    ("spec", "users", "fired"),
    [
        (unique(1), {"1s": "a", "2s": "a"}, False),
        (unique(1), {"1s": "a", "9s": "b"}, True),
        (unique(1), {"1s": "a", "6m": "b"}, False),
        (unique(1, "MINUTE_1"), {"30s": "a", "90s": "b"}, False),
        (unique(2), {"1m": "a", "4m": "b", "7m": "c", "8m": "d"}, True),
        (unique(2), {"1m": "a", "3m": "b", "7m": "c", "8m": "d"}, False),
        (unique(2), {"1m": "a", "2m": "b", "5m": "a", "6m": "c"}, True),
    ],
)
def test_a_count_of_unique_values(spec: dict[str, Any], users: dict[str, str], fired: bool) -> None:
    """Values count once however often they come, and leave with their window."""
    rows = [row for time, user in users.items() for row in at(time, text={"user": user})]

    assert fires(spec, rows) is fired


def relative() -> dict[str, Any]:
    """Return the spec of an alert on more than twice the rows of the hour before."""
    condition = {
        "conditionType": "LOGS_TIME_RELATIVE_CONDITION_TYPE_MORE_THAN_OR_UNSPECIFIED",
        "threshold": 2,
        "comparedTo": "LOGS_TIME_RELATIVE_COMPARED_TO_PREVIOUS_HOUR_OR_UNSPECIFIED",
    }
    return {"logsTimeRelativeThreshold": {"rules": [{"condition": condition}]}}


def test_relative_to_the_hour_before() -> None:
    """Rows of this hour are compared with those of the hour before, once both are whole."""
    spec = relative()

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
        "subsystemName": [
            {"operation": f"{operation}ENDS_WITH", "value": "out"},
            {"operation": f"{operation}INCLUDES", "value": "eck"},
            {"value": "till"},
        ],
        "severities": ["LOG_SEVERITY_ERROR"],
    }
    row = {"application": "shop", "subsystem": "checkout", "severity": "error"}
    spec = immediate(**labels)

    assert fires(spec, at("1s", **row))
    assert fires(spec, at("1s", **{**row, "application": "payments"}))
    assert fires(spec, at("1s", **{**row, "subsystem": "till"}))
    assert fires(spec, at("1s", **{**row, "subsystem": "checks"}))
    for other in (
        {"application": "Shop"},
        {"subsystem": "tills"},
        {"subsystem": "cart"},
        {"severity": "critical"},
    ):
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


HOLE = Template(("service:", RefHole(Ref("SLO", "pay"))))
METRIC = "ALERT_DEF_TYPE_METRIC_THRESHOLD"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"type": METRIC}, "of type metric threshold are "),
        ({"type": f"{METRIC}_OR_UNSPECIFIED"}, "of type metric threshold are "),
        ({}, " unknown "),
        (threshold(1, activeOn={"startTime": {"hours": 24}}), " 24:00 "),
        (threshold(1, activeOn={"startTime": {"hours": -1, "minutes": 5}}), " -1:05 "),
        (threshold(1, activeOn={"startTime": {"hours": "noon"}}), "`hours`"),
        (threshold(1, activeOn={"endTime": {"minutes": "many"}}), "`minutes`"),
        ({"logsThreshold": {"rules": [{"condition": {"threshold": "many"}}]}}, "`threshold`"),
        ({"logsThreshold": {"rules": [{"condition": {"threshold": True}}]}}, "`threshold`"),
        (
            {
                "logsUniqueCount": {
                    "uniqueCountKeypath": "a",
                    "rules": [{"condition": {"maxUniqueCount": "many"}}],
                }
            },
            "`maxUniqueCount`",
        ),
        (
            {"logsRatioThreshold": {"groupByFor": "DENOMINATOR_ONLY", "rules": [{}]}},
            "DENOMINATOR_ONLY",
        ),
        (immediate(applicationName=[{"operation": "MATCHES", "value": "a"}]), "MATCHES"),
        (immediate(HOLE), " reference"),
        (immediate("a" + " AND (b" * 5_000 + ")" * 5_000), " deep"),
        (immediate("x:/a*b*c*d*/"), " expression"),
        (immediate("x:[-5 TO 3]"), "`-5`"),
    ],
)
def test_the_reason_names_what_is_not_evaluated(spec: dict[str, Any], words: str) -> None:
    """The reason for a refusal names the type, the field or the value that is not evaluated."""
    with pytest.raises(NotEvaluatedError) as error:
        read_alert(spec)

    assert words in str(error.value)


def test_a_reference_that_does_not_decide_when_the_alert_fires() -> None:
    """A reference in another field, such as the description, does not hinder the evaluation."""
    assert fires({**immediate(), "description": HOLE}, at("1s"))


@pytest.mark.parametrize(
    ("part", "rule"),
    [
        ({"logsThreshold": {"rules": [{}]}}, AlertRule(5, 5)),
        ({"logsRatioThreshold": {"rules": [{}]}}, AlertRule(5, 5)),
        ({"logsTimeRelativeThreshold": {"rules": [{}]}}, AlertRule(5, 60, before=60)),
        ({"logsUniqueCount": {"rules": [{}], "uniqueCountKeypath": "a"}}, AlertRule(5)),
        ({"logsNewValue": {"rules": [{"condition": {"keypathToTrack": "a"}}]}}, AlertRule(5, 720)),
    ],
)
def test_what_is_left_out_is_the_first_choice_of_the_service(
    part: dict[str, Any], rule: AlertRule
) -> None:
    """A rule that leaves all out is P5 and more than 0, in the first window of its type."""
    assert read_alert(part).rules == (rule,)


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
