"""Run the tests of an alert, and report what each expected and what was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from reconciler.document import Json
from reconciler.features.alert_tests.alert_test import AlertTest, group_of
from reconciler.features.alert_tests.evaluate import AlertVerdict, Judged, OnValue, evaluate
from reconciler.features.alert_tests.log_alert import LogAlert, Measure, read_alert
from reconciler.features.alert_tests.log_row import MINUTE, LogRow
from reconciler.features.alert_tests.query_match import NotEvaluatedError
from reconciler.report.words import plural

Rows = Callable[[AlertTest], Iterable[LogRow]]
"""Returns the rows of a test by time; it can be called again."""


@dataclass(frozen=True, slots=True)
class Held:
    """A test that holds."""

    test: AlertTest
    verdict: AlertVerdict


@dataclass(frozen=True, slots=True)
class Failed:
    """A test that does not hold: what was expected and what happened, and what was seen."""

    test: AlertTest
    verdict: AlertVerdict
    message: str


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A test that cannot be run without the service, and the reason."""

    test: AlertTest
    reason: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """A test with rows that cannot be used; the complaints say which."""

    test: AlertTest
    reason: str = "its rows cannot be used"


Result = Held | Failed | NotEvaluated | Unusable


def run_tests(spec: Mapping[str, Json], tests: Iterable[AlertTest], rows: Rows) -> Iterator[Result]:
    """Run the tests of an alert with this `spec`."""
    try:
        alert = read_alert(spec)
    except NotEvaluatedError as error:
        yield from (NotEvaluated(test, str(error)) for test in tests)
        return
    for test in tests:
        yield run_test(alert, test, rows(test))


def run_test(
    alert: LogAlert, test: AlertTest, rows: Iterable[LogRow], on_value: OnValue | None = None
) -> Held | Failed:
    """Run one test of an alert."""
    verdict = evaluate(alert, rows, test.start, test.until, on_value)
    wrong = _wrong(alert, test, verdict)
    return (
        Failed(test, verdict, f"{wrong}; {_seen(alert, test, verdict)}")
        if wrong
        else Held(test, verdict)
    )


def _wrong(alert: LogAlert, test: AlertTest, verdict: AlertVerdict) -> str:
    """Return what differs from what is expected; "" if nothing does."""
    expect, fires = test.expect, bool(verdict.fired)
    if fires != expect.fires:
        return "the alert does not fire" if expect.fires else "the alert fires"
    if expect.priority is not None and verdict.priority != expect.priority:
        return f"it fires as P{verdict.priority}, and not as P{expect.priority}"
    if expect.groups is not None:
        found = {group_of(dict(zip(alert.keys, group, strict=True))) for group in verdict.fired}
        if found != expect.groups:
            missing, more = expect.groups - found, found - expect.groups
            parts = [
                f"{words} {', '.join(sorted(map(named, groups)))}"
                for words, groups in (("does not fire for", missing), ("fires for", more))
                if groups
            ]
            return f"the alert {' and '.join(parts)}"
    return ""


def named(group: Iterable[tuple[str, str]]) -> str:
    """Return a group in one line."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in group) + "}"


def _seen(alert: LogAlert, test: AlertTest, verdict: AlertVerdict) -> str:
    counted = f"{plural(verdict.counted, 'row')} matched"
    if verdict.ungrouped:
        keys = ", ".join(f"`{key}`" for key in alert.keys)
        counted += f", {verdict.ungrouped:,} of them without {keys}, so in no group"
    if alert.measure in (Measure.EACH_ROW, Measure.NEW_VALUE):
        first = verdict.first
        return counted if first is None else f"{counted}, and it fired {_when(first, alert, test)}"
    parts = [counted]
    for rule, nearest in zip(alert.rules, verdict.nearest, strict=True):
        if nearest is None:
            parts.append("no window was whole")
            continue
        extreme = "highest" if rule.more else "lowest"
        side = f"{'more' if rule.more else 'less'} than{' or equal to' if rule.or_equal else ''}"
        parts.append(
            f"the {extreme} {alert.measure.value} in {plural(rule.window, 'minute')} was "
            f"{nearest.value:g}, {_when(nearest, alert, test)}; {side} {rule.threshold:g} fires"
        )
    return ", ".join(parts)


def _when(judged: Judged, alert: LogAlert, test: AlertTest) -> str:
    group = named(zip(alert.keys, judged.group, strict=True)) if alert.keys else ""
    return f"at {shown_time(judged.minute, test)}{f' for {group}' if group else ''}"


def shown_time(minute: int, test: AlertTest) -> str:
    """Return a minute as a time in UTC, and as the minutes from the start of the test."""
    at = datetime.fromtimestamp(minute * MINUTE / 1000, UTC)
    after = minute - test.start // MINUTE
    return f"{at:%a %H:%M} ({after}m)"
