"""A million log rows through one alert with ten groups, against reading the same rows alone."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

from benchmarks.measuring import cpu_of, medians
from reconciler.features.alert_tests.alert_test import MONDAY, rows_in_order
from reconciler.features.alert_tests.evaluate import evaluate
from reconciler.features.alert_tests.log_alert import read_alert
from reconciler.features.alert_tests.log_row import LogRow

ROWS, ROUNDS = 1_000_000, 3
TARGET = 3.0
SPEC: dict[str, Any] = {
    "groupByKeys": ["service"],
    "logsThreshold": {
        "logsFilter": {
            "simpleFilter": {
                "luceneQuery": "event:declined AND NOT card:test",
                "labelFilters": {"severities": ["LOG_SEVERITY_ERROR"]},
            }
        },
        "rules": [{"condition": {"threshold": 1_000}}],
    },
}


def run() -> None:
    """Print the figures."""
    took = medians(
        ROUNDS,
        {
            "read": lambda: cpu_of(lambda: sum(1 for _ in _rows(ROWS))),
            "evaluate": lambda: cpu_of(lambda: _evaluated(ROWS)),
        },
    )
    share = took["evaluate"] / took["read"]
    print(f"{ROWS:,} rows through an alert with ten groups")
    print(f"  reading and parsing the rows   {took['read'] / ROWS * 1e6:5.2f} µs a row")
    print(
        f"  with the alert                 {took['evaluate'] / ROWS * 1e6:5.2f} µs a row   "
        f"{share:.2f} x (target {TARGET:g}: {'met' if share <= TARGET else 'MISSED'})"
    )
    peaks = [_peak(count) for count in (20_000, 200_000)]
    print(f"  memory of 20,000 and of 200,000 rows: {peaks[0]:,.0f} and {peaks[1]:,.0f} KB")


def _rows(count: int) -> Iterator[LogRow]:
    lines = (_line(number) for number in range(count))
    return rows_in_order(map(json.loads, lines), MONDAY, lambda *_: None, sort=False)


def _line(number: int) -> str:
    event = "declined" if number % 3 else "paid"
    severity = "error" if number % 2 else "info"
    text = f'{{"event": "{event}", "service": "s{number % 10}", "card": "real", "ms": {number}}}'
    return f'{{"at": "{number * 20}ms", "severity": "{severity}", "text": {text}}}'


def _evaluated(count: int) -> int:
    return evaluate(read_alert(SPEC), _rows(count), MONDAY).counted


def _peak(count: int) -> float:
    tracemalloc.start()
    _evaluated(count)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1024
