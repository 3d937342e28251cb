"""Rows of an export of logs, and the removal of what looks like a secret or personal data.

What it looks for are patterns: that nothing was found is no proof that nothing is there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from reconciler.document import Json
from reconciler.errors import UsageError
from reconciler.features.alert_tests.alert_test import moment
from reconciler.features.alert_tests.log_row import SEVERITIES, text_of, values_in
from reconciler.kinds.checks import looks_like_key
from reconciler.report.words import plural

TIMES: Final = ("timestamp", "@timestamp", "time", "ts", "at")
TEXTS: Final = ("text", "message", "log", "body")
_SECRET_NAME = re.compile(r"passw|secret|token|api[-_]?key|authorization|cookie", re.IGNORECASE)
_PATTERNS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "e-mail addresses": (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "person{}@example.com"),
    "IP addresses": (
        re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{1,4}(?![\w:])"),
        "192.0.2.{}",
    ),
    "long numbers": (re.compile(r"(?<![\w.-])\+?\d(?:[ -]?\d){10,18}(?![\w.-])"), "number-{}"),
}  # fmt: skip
_WORDS = re.compile(r"\S+")
_KEY: Final = "keys and passwords"


@dataclass(slots=True)
class Scrubber:
    """Replaces what looks like a secret or personal data; equal values get equal replacements."""

    found: Counter[str] = field(default_factory=Counter)
    seen: dict[tuple[str, str], str] = field(default_factory=dict)

    def row(self, row: dict[str, Json]) -> dict[str, Json]:
        """Return a row without what looks like a secret or personal data."""
        return {key: self.scrub(value) for key, value in row.items()}

    def scrub(self, value: Json) -> Json:
        """Return a value without what looks like a secret or personal data."""
        if isinstance(value, dict):
            return {
                key: self._replaced(_KEY, text_of(inner), "removed-{}")
                if _SECRET_NAME.search(key) and not isinstance(inner, dict | list)
                else self.scrub(inner)
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [*map(self.scrub, value)]
        if isinstance(value, int) and not isinstance(value, bool):
            text = self._text(str(value))
            return value if text == str(value) else text
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        text = _WORDS.sub(
            lambda word: (
                self._replaced(_KEY, word[0], "removed-{}") if looks_like_key(word[0]) else word[0]
            ),
            text,
        )
        for name, (pattern, form) in _PATTERNS.items():
            text = pattern.sub(self._replacing(name, form), text)
        return text

    def _replacing(self, name: str, form: str) -> Callable[[re.Match[str]], str]:
        return lambda found: self._replaced(name, found[0], form)

    def _replaced(self, name: str, text: str, form: str) -> str:
        self.found[name] += 1
        number = 1 + sum(kind == name for kind, _ in self.seen)
        return self.seen.setdefault((name, text), form.format(number))


LOOKED_FOR: Final = (_KEY, *_PATTERNS)


def recorded(lines: Iterable[str], scrubber: Scrubber | None) -> Iterator[dict[str, Json]]:
    """Yield the rows of an export in JSON Lines, timed from the minute of the first one.

    Raises UsageError for a line that is no mapping, or has no time.
    """
    start: int | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _record(line, number)
        at = next((time for key in TIMES if (time := _time(record.get(key))) is not None), None)
        if at is None:
            raise UsageError(f"line {number} has no time: none of {', '.join(TIMES)} is one")
        start = at - at % 60_000 if start is None else start
        row = {**_labels(record), "text": _text(record)}
        yield {"at": f"{at - start}ms", **(row if scrubber is None else scrubber.row(row))}


def _record(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise UsageError(f"line {number} is no mapping in JSON: export the logs as JSON Lines")
    return record


_EARLIEST, _LATEST = 1e11, 1e13
"""Milliseconds since 1970: a number outside of them has another unit."""


def _time(value: Json) -> int | None:
    """Return a time in milliseconds: a timestamp, or seconds, milliseconds, … since 1970."""
    if isinstance(value, str):
        return moment(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    for unit in (1000.0, 1.0, 1e-3, 1e-6):
        if _EARLIEST <= value * unit <= _LATEST:
            return round(value * unit)
    return None


def _labels(record: Mapping[str, Json]) -> dict[str, Json]:
    application = _first(record, "application", "applicationName", "metadata.applicationName")
    subsystem = _first(record, "subsystem", "subsystemName", "metadata.subsystemName")
    severity = _first(record, "severity", "level", "metadata.severity").lower()
    severity = {"warn": "warning", "err": "error", "fatal": "critical", "trace": "verbose"}.get(
        severity, severity
    )
    labels: dict[str, Json] = {"application": application, "subsystem": subsystem}
    labels["severity"] = severity if severity in SEVERITIES else "info"
    return {key: value for key, value in labels.items() if value}


def _first(record: Mapping[str, Json], *names: str) -> str:
    found = (text_of(value) for name in names for value in values_in(dict(record), name))
    return next(filter(None, found), "")


def _text(record: Mapping[str, Json]) -> Json:
    """Return the log line from the field that has it, else all fields; an object is JSON."""
    for key in TEXTS:
        value = record.get(key)
        if isinstance(value, dict):
            return value
        if isinstance(value, str):
            try:
                read = json.loads(value) if value.startswith("{") else None
            except (ValueError, RecursionError):
                read = None
            return read if isinstance(read, dict) else value
    return {key: value for key, value in record.items() if key not in TIMES}


def describe_recorded(count: int, scrubber: Scrubber | None) -> str:
    """Return how many rows were printed, and what was replaced in them."""
    rows = f"{plural(count, 'row')} recorded"
    if scrubber is None:
        return f"{rows} as they are: read them before they go into git"
    parts = ", ".join(f"{name} {scrubber.found[name]}" for name in LOOKED_FOR)
    return (
        f"{rows}; replaced: {parts}. Only patterns were looked for, which is no proof that nothing "
        "is left: read the rows before they go into git"
    )
