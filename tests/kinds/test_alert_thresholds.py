"""Thresholds that are never or always crossed, against counts that are tried one by one."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.features.lint.alert_definition import (
    ALWAYS,
    NEVER,
    crossings,
    minutes_of,
    short_windows,
)

COMPARED: dict[str, Callable[[float, float], bool]] = {
    "MORE_THAN": operator.gt,
    "MORE_THAN_OR_UNSPECIFIED": operator.gt,
    "MORE_THAN_OR_EQUALS": operator.ge,
    "LESS_THAN": operator.lt,
    "LESS_THAN_OR_EQUALS": operator.le,
}
THRESHOLDS = st.sampled_from([-100, -1, -0.5, 0, 0.5, 1, 99, 100, 100.4, 101, 150, "-1", "0", "7"])
SEVERITIES = ["LOG_SEVERITY_INFO", "LOG_SEVERITY_ERROR"]


def condition(how: str, kind: str, threshold: Json) -> dict[str, Json]:
    """Give one rule of a part on logs."""
    return {
        "condition": {
            "conditionType": f"LOGS_{kind}_CONDITION_TYPE_{how}",
            "threshold": threshold,
        }
    }


@given(how=st.sampled_from(sorted(COMPARED)), threshold=THRESHOLDS)
def test_a_count_that_never_or_always_crosses(how: str, threshold: float | str) -> None:
    """A threshold of counts is told of just where no count of lines crosses it, or each does."""
    spec: dict[str, Json] = {"logsThreshold": {"rules": [condition(how, "THRESHOLD", threshold)]}}
    crossed = [COMPARED[how](count, float(threshold)) for count in range(1000)]

    assert bool([*crossings(spec, NEVER)]) == (not any(crossed))
    assert bool([*crossings(spec, ALWAYS)]) == all(crossed)


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "simpleFilter": st.fixed_dictionaries(
            {},
            optional={
                "luceneQuery": st.sampled_from(["", "a:1", "b:2"]),
                "labelFilters": st.fixed_dictionaries(
                    {},
                    optional={
                        "severities": st.lists(st.sampled_from(SEVERITIES), unique=True),
                        "applicationName": st.just([{"operation": "IS", "value": "shop"}]),
                    },
                ),
            },
        ),
        "other": st.just("a filter of another form"),
    },
)


def counted(filters: dict[str, dict[str, object]]) -> set[tuple[str, str, str]]:
    """Give the lines that a filter counts, of all that differ in what filters here look at."""
    simple = filters.get("simpleFilter", {})
    labels = simple.get("labelFilters", {})
    assert isinstance(labels, dict)
    return {
        (query, severity, application)
        for query in ("a:1", "b:2", "neither")
        for severity in (*SEVERITIES, "LOG_SEVERITY_DEBUG")
        for application in ("shop", "search")
        if simple.get("luceneQuery") in (None, "", query)
        and (not labels.get("severities") or severity in labels["severities"])
        and (not labels.get("applicationName") or application == "shop")
    }


@given(how=st.sampled_from(sorted(COMPARED)), threshold=THRESHOLDS, upper=FILTERS, lower=FILTERS)
def test_what_is_told_of_a_ratio_is_certain(
    how: str,
    threshold: float | str,
    upper: dict[str, dict[str, object]],
    lower: dict[str, dict[str, object]],
) -> None:
    """A ratio is told of only where no ratio that its two counts can have proves it wrong."""
    part: dict[str, Any] = {
        "numerator": upper,
        "denominator": lower,
        "rules": [condition(how, "RATIO", threshold)],
    }
    spec: dict[str, Json] = {"logsRatioThreshold": part}
    # Told as a share of 1 or in per cent: what is certain holds for both.
    most = 100.0 if counted(upper) <= counted(lower) and "other" not in upper | lower else 1e6
    crossed = [COMPARED[how](ratio, float(threshold)) for ratio in (0, 0.5, 1, 50, 99.9, most)]

    never, always = ([*crossings(spec, outcome)] for outcome in (NEVER, ALWAYS))

    assert not (never and any(crossed))
    assert not (always and not all(crossed))


@pytest.mark.parametrize(
    ("written", "minutes"),
    [
        ("LOGS_TIME_WINDOW_VALUE_MINUTES_5_OR_UNSPECIFIED", 5),
        ("METRIC_TIME_WINDOW_VALUE_MINUTES_10", 10),
        ("LOGS_RATIO_TIME_WINDOW_VALUE_HOURS_2", 120),
        ("LOGS_TIME_WINDOW_VALUE_HOUR_1", 60),
        ("1h15m", 75),
        ("90s", 1.5),
        ("", None),
        ("0m", None),
        ("15 minutes", None),
        ("SOME_TIME_WINDOW_VALUE_MINUTES_5", None),
        (5, None),
    ],
)
def test_a_window_in_minutes(written: Json, minutes: float | None) -> None:
    """A window is read in the forms that the API and its users have, and guessed in no other."""
    assert minutes_of(written) == minutes


@given(minutes=st.integers(1, 120), delay=st.integers(0, 10_800_000))
def test_a_delay_beyond_the_window(minutes: int, delay: int) -> None:
    """A delay is told of just where it is longer than the shortest window of the alert."""
    windows = [
        {"metricTimeWindowDynamicDuration": f"{number}m"} for number in (minutes, minutes + 60)
    ]
    rules: list[Json] = [{"condition": {"ofTheLast": {**window}}} for window in windows]
    spec: dict[str, Json] = {"metricThreshold": {"rules": rules, "evaluationDelayMs": delay}}

    assert bool([*short_windows(spec)]) == (delay > minutes * 60_000)
