"""A test of an alert: rows, and what the alert must do on them. Source: docs/alert-tests.md."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from reconciler.document import Json, Path
from reconciler.features.alert_tests.log_row import SEVERITIES, LogRow, text_of
from reconciler.syntax.diagnostic import Advice, Finding
from reconciler.syntax.suggestions import nearest

if TYPE_CHECKING:
    from reconciler.syntax.parsed_text import DocumentText

MALFORMED: Final = "M215"
KEY: Final = "tests"
REMEDY: Final = Advice("write `- {name: …, logs: […], expect: {fires: true}}`")
FIELDS: Final = ("name", "logs", "expect", "start", "until")
EXPECTED: Final = ("fires", "priority", "groups")
ROW_FIELDS: Final = ("at", "application", "subsystem", "severity", "text", "repeat")
REPEAT_FIELDS: Final = ("times", "every")
MONDAY: Final = 1_704_067_200_000
"""2024-01-01T00:00Z, in milliseconds: the start of a test that names no start."""

_FIRST_YEAR, _LAST_YEAR = 1971, 2199

MOST_REPEATED: Final = 1_000_000
MOST_ROWS: Final = 5_000_000
"""Limits of the rows of a `repeat`, and of a test."""

LONGEST_SPAN: Final = 400 * 24 * 3_600_000
"""Limit of the milliseconds from the start of a test to its last row."""

_DURATION = re.compile(
    r"(?:(\d{1,4})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?"
)
_UNITS: Final = (86_400_000, 3_600_000, 60_000, 1000, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The wanted result. Without `priority` or `groups`, any will do."""

    fires: bool
    priority: int | None = None
    groups: frozenset[tuple[tuple[str, str], ...]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertTest:
    """A test: `logs` are rows as written, or the name of a file next to the manifest.

    `place` is the file, line and column of the test.
    """

    name: str
    logs: list[Json] | str
    expect: Expectation
    start: int
    until: int | None
    place: tuple[str, int, int]


class RowError(Exception):
    """A row is malformed, at a path inside it."""

    def __init__(
        self, message: str, path: Path = (), near: str = "", *, at_key: bool = False
    ) -> None:
        super().__init__(message)
        self.path, self.near, self.at_key = path, near, at_key


def duration(text: str) -> int | None:
    """Return a duration, as 90s or 1h30m, in milliseconds; None for any other form."""
    found = _DURATION.fullmatch(text)
    if found is None or not text:
        return None
    return sum(int(part or 0) * unit for part, unit in zip(found.groups(), _UNITS, strict=True))


def moment(text: str) -> int | None:
    """Return a timestamp, as 2026-03-02T08:00:00Z, in milliseconds; UTC if it has no zone."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000) if _FIRST_YEAR <= read.year <= _LAST_YEAR else None


def time_at(value: Json, start: int) -> int | None:
    """Return the time that a value means: `start` plus a duration, or a timestamp."""
    if not isinstance(value, str):
        return None
    after = duration(value)
    return moment(value) if after is None else start + after


def read_tests(value: Json, here: DocumentText) -> tuple[list[Finding], Json]:
    """Return what is wrong with the tests of a manifest, and the tests that can be run, as JSON."""
    if not isinstance(value, list):
        return [
            Finding(MALFORMED, (KEY,), "`tests` must be a list of tests", suggestion=REMEDY)
        ], []
    findings: list[Finding] = []
    tests: list[Json] = []
    for index, written in enumerate(value):
        path: Path = (KEY, index)
        found = [*_findings(written, path)]
        findings += found
        if not found:
            complaint = here.complaint(Finding(MALFORMED, path, ""))
            tests.append([written, complaint.file, complaint.line, complaint.column])
    return findings, tests


def tests_of(added: Mapping[str, Json]) -> list[AlertTest]:
    """Return the tests of `Manifest.added`."""
    tests = []
    for written, *place in cast("list[Any]", added.get(KEY, [])):
        start = moment(written["start"]) if "start" in written else MONDAY
        tests.append(
            AlertTest(
                name=written["name"],
                logs=written["logs"],
                expect=_expectation(written["expect"]),
                start=start or 0,
                until=time_at(written.get("until"), start or 0),
                place=tuple(place),
            )
        )
    return tests


def _findings(value: Json, path: Path) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield Finding(MALFORMED, path, "a test is a mapping of name, logs and expect")
        return
    yield from _unknown(value, FIELDS, path, "a test")
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        yield Finding(MALFORMED, path, "a test needs a `name`: what must happen, in words")
    start = moment(str(value["start"])) if "start" in value else MONDAY
    if start is None:
        message = "`start` must be a time, as 2026-03-02T08:00:00Z"
        yield Finding(MALFORMED, (*path, "start"), message)
        return
    until = time_at(value["until"], start) if "until" in value else start
    if until is None or not start <= until <= start + LONGEST_SPAN:
        message = "`until` must be a duration from the start, as 15m, or a later time"
        yield Finding(MALFORMED, (*path, "until"), message)
    yield from _log_findings(value, start, path)
    if "expect" in value:
        yield from _expectation_findings(value["expect"], (*path, "expect"))
    else:
        yield Finding(MALFORMED, path, _FIRES)


def _log_findings(value: Mapping[str, Json], start: int, path: Path) -> Iterator[Finding]:
    logs = value.get("logs")
    if not isinstance(logs, list | str) or not logs:
        message = "`logs` must be a list of rows, or the name of a file with one row a line"
        yield Finding(MALFORMED, (*path, "logs") if "logs" in value else path, message)
    for number, row in enumerate(logs if isinstance(logs, list) else ()):
        try:
            row_of(row, start)
        except RowError as error:
            place = (*path, "logs", number, *error.path)
            message, near = str(error), error.near
            yield Finding(MALFORMED, place, message, suggestion=near, at_key=error.at_key)


_PRIORITY = re.compile(r"(?:ALERT_DEF_PRIORITY_)?P([1-5])(?:_OR_UNSPECIFIED)?", re.IGNORECASE)
_FIRES: Final = "a test needs `expect: {fires: true}` or `expect: {fires: false}`"


def _expectation_findings(expect: Json, path: Path) -> Iterator[Finding]:
    if not isinstance(expect, dict) or not isinstance(expect.get("fires"), bool):
        yield Finding(MALFORMED, path, _FIRES)
        return
    yield from _unknown(expect, EXPECTED, path, "`expect`")
    priority, groups = expect.get("priority"), expect.get("groups")
    if priority is not None and _PRIORITY.fullmatch(str(priority)) is None:
        message = f"`{text_of(priority)}` is no priority: write P1 to P5"
        yield Finding(MALFORMED, (*path, "priority"), message)
    if groups is not None and not (
        isinstance(groups, list) and all(isinstance(group, dict) for group in groups)
    ):
        message = "`groups` must be a list of mappings, as `[{service: checkout}]`"
        yield Finding(MALFORMED, (*path, "groups"), message)
    if not expect["fires"] and (priority is not None or groups):
        message = "an alert that does not fire has no priority and no groups"
        yield Finding(MALFORMED, path, message)


def _expectation(expect: Mapping[str, Any]) -> Expectation:
    written, groups = _PRIORITY.fullmatch(str(expect.get("priority"))), expect.get("groups")
    return Expectation(
        fires=expect["fires"],
        priority=None if written is None else int(written[1]),
        groups=None if groups is None else frozenset(map(group_of, groups)),
    )


def group_of(group: Json) -> tuple[tuple[str, str], ...]:
    """Return a group with its keys in a fixed order, so that groups can be compared."""
    items = group.items() if isinstance(group, dict) else ()
    return tuple(sorted((key, text_of(value)) for key, value in items))


def _unknown(
    value: Mapping[str, Json], known: tuple[str, ...], path: Path, what: str
) -> Iterator[Finding]:
    for key in value:
        if key not in known:
            message = f"unknown field `{key}` of {what} (known: {', '.join(known)})"
            near = nearest(key, known)
            yield Finding(MALFORMED, (*path, key), message, suggestion=near, at_key=True)


def row_of(value: Json, start: int) -> tuple[LogRow, int, int]:
    """Return a row, how many there are of it, and the milliseconds between two of them.

    Raises RowError.
    """
    if not isinstance(value, dict):
        message = f"a row is a mapping of {', '.join(ROW_FIELDS)}"
        raise RowError(message)
    for key in value:
        if key not in ROW_FIELDS:
            message = f"unknown field `{key}` of a row (known: {', '.join(ROW_FIELDS)})"
            raise RowError(message, (key,), nearest(key, ROW_FIELDS), at_key=True)
    at = time_at(value.get("at"), start)
    if at is None:
        message = "`at` must be a duration from the start, as 90s, or a time"
        raise RowError(message, ("at",) if "at" in value else ())
    if not start <= at <= start + LONGEST_SPAN:
        message = "this row is before the `start` of the test, or more than 400 days after it"
        raise RowError(message, ("at",))
    severity = str(value.get("severity", "info")).lower().removeprefix("log_severity_")
    severity = severity.removesuffix("_unspecified")
    if severity not in SEVERITIES:
        message = f"`{severity}` is no severity (known: {', '.join(SEVERITIES)})"
        raise RowError(message, ("severity",), nearest(severity, SEVERITIES))
    text = value.get("text", "")
    row = LogRow(
        at,
        text if isinstance(text, str) else json.dumps(text),
        text_of(value.get("application")),
        text_of(value.get("subsystem")),
        severity,
    )
    return row, *_repeated(value.get("repeat"))


def _repeated(repeat: Json) -> tuple[int, int]:
    if repeat is None:
        return 1, 0
    if not isinstance(repeat, dict) or repeat.keys() != set(REPEAT_FIELDS):
        message = "`repeat` is a mapping of times and every, as {times: 10, every: 30s}"
        raise RowError(message, ("repeat",))
    times, every = repeat["times"], duration(str(repeat["every"]))
    if not isinstance(times, int) or isinstance(times, bool) or not 1 <= times <= MOST_REPEATED:
        message = f"`times` must be a whole number from 1 to {MOST_REPEATED:,}: it counts all rows"
        raise RowError(message, ("repeat", "times"))
    if every is None:
        message = "`every` must be a duration, as 30s"
        raise RowError(message, ("repeat", "every"))
    if times * every > LONGEST_SPAN:
        message = "these rows last for more than 400 days"
        raise RowError(message, ("repeat",))
    return times, every


OnRowError = Callable[[int, RowError], None]


def rows_in_order(
    values: Iterable[Json], start: int, on_error: OnRowError, *, sort: bool
) -> Iterator[LogRow]:
    """Yield rows by time, repeated ones too. Calls `on_error` with the number of a wrong row.

    Rows that are not sorted must be in order: an earlier one is an error.
    """
    read = _limited(_valid(values, start, on_error), on_error)
    if sort:
        read = iter(sorted(read, key=lambda found: found[1].at))
    repeats: list[tuple[int, int, LogRow, int, int]] = []
    last = start
    for number, row, times, every in read:
        if row.at < last:
            message = "this row is earlier than the one before it: sort the file by time"
            on_error(number, RowError(message, ("at",)))
            continue
        last = row.at
        yield from _repeats(repeats, row.at)
        yield row
        if times > 1:
            heapq.heappush(repeats, (row.at + every, number, row, times - 1, every))
    yield from _repeats(repeats, None)


def _limited(
    rows: Iterator[tuple[int, LogRow, int, int]], on_error: OnRowError
) -> Iterator[tuple[int, LogRow, int, int]]:
    count = 0
    for number, row, times, every in rows:
        count += times
        if count > MOST_ROWS:
            on_error(number, RowError(f"a test has at most {MOST_ROWS:,} rows"))
            return
        yield number, row, times, every


def _valid(
    values: Iterable[Json], start: int, on_error: OnRowError
) -> Iterator[tuple[int, LogRow, int, int]]:
    for number, value in enumerate(values):
        try:
            row, times, every = row_of(value, start)
        except RowError as error:
            on_error(number, error)
        else:
            yield number, row, times, every


def _repeats(
    waiting: list[tuple[int, int, LogRow, int, int]], before: int | None
) -> Iterator[LogRow]:
    """Yield the repeated rows that are due, up to a time, or all."""
    while waiting and (before is None or waiting[0][0] <= before):
        at, number, row, times, every = heapq.heappop(waiting)
        yield LogRow(at, row.text, row.application, row.subsystem, row.severity, row.fields)
        if times > 1:
            heapq.heappush(waiting, (at + every, number, row, times - 1, every))
