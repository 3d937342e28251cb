"""A log line, and the values of its fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from reconciler.document import Json

MINUTE: Final = 60_000
"""Milliseconds."""

SEVERITIES: Final = ("debug", "verbose", "info", "warning", "error", "critical")

_LABELS: Final = {
    "applicationName": "application",
    "application": "application",
    "subsystemName": "subsystem",
    "subsystem": "subsystem",
    "severity": "severity",
}
_METADATA: Final = "metadata."


@dataclass(slots=True)
class LogRow:
    """A log line. `at` is in milliseconds since 1970 in UTC; `fields` is the text read as JSON."""

    at: int
    text: str
    application: str = ""
    subsystem: str = ""
    severity: str = "info"
    fields: dict[str, Json] | None = None

    def __post_init__(self) -> None:
        """Read the text as JSON if it is an object."""
        if self.fields is None and self.text.startswith("{"):
            with suppress(ValueError, RecursionError):
                self.fields = json.loads(self.text)


Values = Callable[[LogRow], list[Json]]


def values_of(name: str) -> Values:
    """Return a function that lists a row's values of a field, from its text, else from a label.

    A name means a label if it ends with `metadata.applicationName`, `metadata.subsystemName` or
    `metadata.severity`, whatever is before that.
    """
    last = name.rpartition(".")[2]
    label = (
        _LABELS.get(last) if name == last or f".{name}".endswith(f".{_METADATA}{last}") else None
    )
    steps = tuple(name.split("."))

    def of_row(row: LogRow) -> list[Json]:
        if row.fields is not None:
            found = [*_leaves(row.fields, steps)]
            if found:
                return found
        elif name == "text":
            return [row.text]
        value = getattr(row, label) if label else ""
        return [value] if value else []

    return of_row


def _leaves(value: Json, steps: tuple[str, ...]) -> Iterator[Json]:
    """Yield the values at a path. A key may itself have dots; each item of a list counts."""
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item, steps)
    elif not steps:
        if value is not None:
            yield value
    elif isinstance(value, dict):
        for length in range(1, len(steps) + 1):
            key = ".".join(steps[:length])
            if key in value:
                yield from _leaves(value[key], steps[length:])


def values_in(document: Json, name: str) -> list[Json]:
    """Return the values of a field in a document."""
    return [*_leaves(document, tuple(name.split(".")))]


def all_values(row: LogRow) -> Iterator[Json]:
    """Yield every value of the text; a text that is no JSON is one value."""
    waiting: list[Json] = [row.text if row.fields is None else row.fields]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif value is not None:
            yield value


def text_of(value: Json) -> str:
    """Return a value as a query writes it: `true`, `12`, `1.5`; "" for a mapping."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return "" if isinstance(value, dict | list) or value is None else str(value)
