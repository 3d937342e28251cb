"""Rows of an export of logs, and the removal of what looks like a secret or personal data.

It searches for patterns only, so finding nothing does not prove that a row has no secret.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final

from reconciler.document import Json
from reconciler.errors import UsageError
from reconciler.features.alert_tests.alert_test import moment
from reconciler.features.alert_tests.log_row import SEVERITIES, text_of, values_in
from reconciler.kinds.checks import looks_like_key
from reconciler.report.words import plural

TIMES: Final = ("timestamp", "@timestamp", "time", "ts", "at")
TEXTS: Final = ("text", "message", "log", "body")
_SECRETS: Final = r"passw(?:or)?d|pwd|secret|token|api[-_]?key|authorization|cookie|session(?:id)?"
_SECRET_NAME = re.compile(_SECRETS, re.IGNORECASE)
_NAMED_SECRET = re.compile(
    rf"((?:{_SECRETS})[\w-]{{0,20}}[\"']?\s*[=:]\s*[\"']?(?:(?:bearer|basic)\s+)?)([^\s\"',;&}}]{{1,500}})"
    r"|((?:bearer|basic)\s+)([\w.+/=-]{8,2000})",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\S+")
_ADDRESS = re.compile(r"(?<![\w:.])[0-9a-fA-F:.]{3,45}(?![\w:])")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_NUMBER = re.compile(r"(?<![\w.-])\+?\d(?:[ .-]?\d){8,18}(?![\w-])")
KEYS, EMAILS, ADDRESSES, NUMBERS = (
    *("keys and passwords", "e-mail addresses"),
    *("IP addresses", "long numbers"),
)
LOOKED_FOR: Final = (KEYS, EMAILS, ADDRESSES, NUMBERS)
_FORMS: Final = {
    KEYS: "removed-{}",
    EMAILS: "person{}@example.com",
    ADDRESSES: "192.0.2.{}",
    NUMBERS: "number-{}",
}


@dataclass(slots=True)
class Scrubber:
    """Replaces what looks like a secret or personal data; equal values get equal replacements."""

    found: Counter[str] = field(default_factory=Counter)
    seen: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    def row(self, row: dict[str, Json]) -> dict[str, Json]:
        """Return a row without what looks like a secret or personal data."""
        return {key: self._scrubbed(value) for key, value in row.items()}

    def _scrubbed(self, value: Json, *, is_secret: bool = False) -> Json:
        if isinstance(value, dict):
            return {
                self._text(key): self._scrubbed(
                    inner, is_secret=is_secret or _SECRET_NAME.search(key) is not None
                )
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._scrubbed(inner, is_secret=is_secret) for inner in value]
        if value is None or isinstance(value, bool):
            return value
        text = text_of(value)
        if is_secret:
            return self._replaced(KEYS, text)
        scrubbed = self._text(text)
        return value if scrubbed == text else scrubbed

    def _text(self, text: str) -> str:
        text = _NAMED_SECRET.sub(self._named, text)
        text = _WORDS.sub(
            lambda word: self._replaced(KEYS, word[0]) if looks_like_key(word[0]) else word[0], text
        )
        text = _EMAIL.sub(lambda found: self._replaced(EMAILS, found[0]), text)
        text = _ADDRESS.sub(
            lambda found: (
                self._replaced(ADDRESSES, found[0]) if _is_address(found[0]) else found[0]
            ),
            text,
        )
        return _NUMBER.sub(lambda found: self._replaced(NUMBERS, found[0]), text)

    def _named(self, found: re.Match[str]) -> str:
        name, secret, scheme, value = found.groups()
        return f"{name or scheme}{self._replaced(KEYS, secret or value)}"

    def _replaced(self, kind: str, text: str) -> str:
        self.found[kind] += 1
        known = self.seen[kind]
        return known.setdefault(text, _FORMS[kind].format(len(known) + 1))


def _is_address(text: str) -> bool:
    try:
        ip_address(text.rstrip("."))
    except ValueError:
        return False
    return True


def recorded(lines: Iterable[str], scrubber: Scrubber | None) -> list[dict[str, Json]]:
    """Return the rows of an export in JSON Lines by time, from the minute of the first one.

    Raises UsageError for a line that is no mapping, has no time, or is too deep.
    """
    rows: list[tuple[int, dict[str, Json]]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _record(line, number)
            at = next((time for key in TIMES if (time := _time(record.get(key))) is not None), None)
            if at is None:
                raise UsageError(f"line {number} has no time: none of {', '.join(TIMES)} is one")
            row = {**_labels(record), "text": _text(record)}
            rows.append((at, row if scrubber is None else scrubber.row(row)))
        except RecursionError:
            raise UsageError(f"line {number} is too deep: leave it out") from None
    rows.sort(key=lambda found: found[0])
    start = rows[0][0] - rows[0][0] % 60_000 if rows else 0
    return [{"at": _duration(at - start), **row} for at, row in rows]


def _duration(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{milliseconds}ms" if rest else f"{seconds}s"


def _record(line: str, number: int) -> dict[str, Any]:
    try:
        # JSON has no NaN and no Infinity.
        record = json.loads(line, parse_constant=lambda _: None)
    except ValueError:
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
