"""The tests of the alerts that a plan changes: lines below a change, and a picture on the page.

A plan runs them without the service. They are in no digest, and block nothing: `ci` fails for them
by its own check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

from reconciler.features.alert_tests.alert_test import AlertTest, tests_of
from reconciler.features.alert_tests.evaluate import Judged
from reconciler.features.alert_tests.log_alert import LogAlert, read_alert
from reconciler.features.alert_tests.log_row import MINUTE
from reconciler.features.alert_tests.query_match import NotEvaluatedError
from reconciler.features.alert_tests.row_files import RowReader
from reconciler.features.alert_tests.run_tests import Failed, run_test
from reconciler.model import Action, Change, Plan, PlanSection, Ref
from reconciler.operations.plan_and_drift import SectionRequest
from reconciler.report.html.page import Markup, figure, joined, of_class, strip
from reconciler.report.sections import SectionFormats
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import plural

MOST_BARS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTest:
    """A test: `wrong` says what does not hold, "" if all holds.

    `values` has, by minute of the test, the highest value of all groups, for the first rule.
    `limit` is the threshold of that rule.
    """

    name: str
    wrong: str
    values: tuple[tuple[int, float], ...] = ()
    limit: float = 0


@dataclass(frozen=True, slots=True)
class TestedChanges(PlanSection):
    """The tests of each changed alert that has some."""

    by_ref: Mapping[Ref, tuple[DrawnTest, ...]]
    formats: ClassVar[str] = "reconciler.features.alert_tests.tested_changes:FORMATS"


async def with_tested_changes(request: SectionRequest) -> Plan:
    """Return the plan with the results of the tests of the alerts that it changes."""
    root = request.session.project.root
    found = {
        change.ref: tuple(_drawn(change, tests, root))
        for change in request.plan.changes
        if change.manifest is not None and change.action is not Action.KEEP
        if (tests := tests_of(change.manifest.added))
    }
    return request.plan.with_section(TestedChanges(found)) if found else request.plan


def _drawn(change: Change, tests: list[AlertTest], root: Path) -> Iterator[DrawnTest]:
    assert change.manifest is not None  # noqa: S101 - as its only caller has it
    try:
        alert = read_alert(change.manifest.spec)
    except NotEvaluatedError as error:
        yield from (DrawnTest(name=test.name, wrong=f"not evaluated: {error}") for test in tests)
        return
    for test in tests:
        yield _run(alert, test, RowReader(root))


def _run(alert: LogAlert, test: AlertTest, reader: RowReader) -> DrawnTest:
    values: dict[int, float] = {}

    def note(number: int, judged: Judged) -> None:
        minute = judged.minute - test.start // MINUTE
        if number == 0 and judged.value > values.get(minute, -1):
            values[minute] = judged.value

    result = run_test(alert, test, reader.rows(test), note)
    wrong = result.message if isinstance(result, Failed) else ""
    if reader.complaints:
        wrong = reader.complaints[-1].message
    drawn = DrawnTest(name=test.name, wrong=wrong, values=tuple(sorted(values.items())))
    return replace(drawn, limit=alert.rules[0].threshold)


def _lines(tested: TestedChanges, change: Change, style: Style) -> Iterator[str]:
    tests = tested.by_ref.get(change.ref, ())
    wrong = [test for test in tests if test.wrong]
    if tests and not wrong:
        yield from wrapped(f"{plural(len(tests), 'test')}: all hold", style, Colour.CYAN)
    for test in wrong:
        yield from wrapped(f"test `{test.name}`: {test.wrong}", style, Colour.YELLOW)


def _card(tested: TestedChanges, change: Change) -> Markup:
    return joined(_figure(test) for test in tested.by_ref.get(change.ref, ()))


def _figure(test: DrawnTest) -> Markup:
    said = f"Test “{test.name}”: {test.wrong or 'holds'}"
    return figure(said, _curve(test)) if test.values else of_class("p", "track", said)


def _curve(test: DrawnTest) -> Markup:
    """Return a bar for each span of minutes, with the highest value of it, against the limit."""
    last = max(test.values[-1][0], 1)
    span = -(-(last + 1) // MOST_BARS)
    count = last // span + 1
    highest: list[float] = [0.0] * count
    value, at = 0.0, 0
    for minute, next_value in (*test.values, (last + 1, 0.0)):
        for bar in range(at // span, min(minute - 1, last) // span + 1):
            highest[bar] = max(highest[bar], value)
        value, at = next_value, minute
    each = "minute" if span == 1 else f"{span} minutes"
    label = f"Highest value in each {each}: {', '.join(f'{value:g}' for value in highest)}"
    most = f"at most {max(highest):g}; the threshold is {test.limit:g}"
    return strip(label, highest, ("start", most, f"{last} minutes"), limit=test.limit)


FORMATS: Final[SectionFormats[TestedChanges]] = SectionFormats(
    change_lines=_lines, change_html=_card
)
