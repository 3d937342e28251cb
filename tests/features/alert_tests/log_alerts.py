"""Alerts and rows for the tests of their evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reconciler.features.alert_tests.alert_test import MONDAY, rows_in_order
from reconciler.features.alert_tests.evaluate import AlertVerdict, evaluate
from reconciler.features.alert_tests.log_alert import read_alert

MORE, LESS = "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN"


def threshold(
    limit: float,
    *,
    how: str = MORE,
    window: str = "MINUTES_5_OR_UNSPECIFIED",
    query: str = "",
    labels: Any = None,
    **rest: Any,
) -> dict[str, Any]:
    """Return the spec of a log threshold."""
    condition = {
        "conditionType": f"LOGS_THRESHOLD_CONDITION_TYPE_{how}",
        "threshold": limit,
        "timeWindow": {"logsTimeWindowSpecificValue": f"LOGS_TIME_WINDOW_VALUE_{window}"},
    }
    simple = {"luceneQuery": query, "labelFilters": labels or {}}
    part = {
        "logsFilter": {"simpleFilter": simple},
        "rules": [{"condition": condition}],
        **rest.pop("part", {}),
    }
    return {"logsThreshold": part, **rest}


def immediate(query: str = "", **labels: Any) -> dict[str, Any]:
    """Return the spec of an alert on each line that matches."""
    simple = {"luceneQuery": query, "labelFilters": labels}
    return {"logsImmediate": {"logsFilter": {"simpleFilter": simple}}}


def at(*times: str, **row: Any) -> list[dict[str, Any]]:
    """Return a row for each time."""
    return [{"at": time, **row} for time in times]


def judged(
    spec: dict[str, Any], rows: Iterable[Any], until: int | None = None, start: int = MONDAY
) -> AlertVerdict:
    """Return what an alert does on rows; `until` is in minutes from the start."""

    def wrong(number: int, error: Exception) -> None:
        raise AssertionError((number, error))

    ordered = rows_in_order([*rows], start, wrong, sort=True)
    end = None if until is None else start + until * 60_000
    return evaluate(read_alert(spec), ordered, start, end)


def fires(
    spec: dict[str, Any], rows: Iterable[Any], until: int | None = None, start: int = MONDAY
) -> bool:
    """Return whether an alert fires on rows."""
    return bool(judged(spec, rows, until, start).fired)
