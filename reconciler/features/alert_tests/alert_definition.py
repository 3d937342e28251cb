"""The key `tests` of a manifest. Its value is never sent, and is in no digest."""

from __future__ import annotations

from typing import Any, Final

from reconciler.features.alert_tests.alert_test import MOST_REPEATED, read_tests
from reconciler.features.alert_tests.log_row import SEVERITIES
from reconciler.kinds.field_traits import ManifestKey

_REPEATED: Final = {"times": 10, "every": "30s"}
_LOG: Final = {"event": "order_failed"}
_ROWS: Final = [{"at": "0s", "severity": "error", "text": _LOG, "repeat": _REPEATED}]
_EXPECTED: Final = {"fires": True}
_GROUPS: Final = [{"service": "checkout"}]
_NAMED: Final = "ten failed orders page the team"
_TIME: Final = "A duration from the start, as 90s or 1h30m, or a time, as 2026-03-02T08:00:00Z."


def _text(description: str, example: str) -> dict[str, Any]:
    return {"type": "string", "description": description, "examples": [example]}


def _mapping(
    description: str, example: Any, required: tuple[str, ...], **properties: Any
) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "examples": [example],
        "required": [*required],
        "additionalProperties": False,
        "properties": properties,
    }


_REPEAT: Final = _mapping(
    "How many rows there are of this one in all, and how far apart.",
    _REPEATED,
    ("times", "every"),
    times={
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_REPEATED,
        "description": "The number of rows in all.",
        "examples": [10],
    },
    every=_text("The time between two rows.", "30s"),
)
_ROW: Final = _mapping(
    "A log line.",
    _ROWS[0],
    ("at",),
    at=_text(_TIME, "90s"),
    application=_text("The label of the application.", "shop"),
    subsystem=_text("The label of the subsystem.", "checkout"),
    severity={
        "enum": [*SEVERITIES],
        "description": "The severity; info if left out.",
        "examples": ["error"],
    },
    text={
        "type": ["string", "object"],
        "description": "The log line. The fields of a JSON object are fields of the row.",
        "examples": [_LOG],
    },
    repeat=_REPEAT,
)
_EXPECT: Final = _mapping(
    "What the alert must do.",
    _EXPECTED,
    ("fires",),
    fires={
        "type": "boolean",
        "description": "Whether the alert fires at any time.",
        "examples": [True],
    },
    priority=_text("The highest priority that fires: P1 to P5.", "P2"),
    groups={
        "type": "array",
        "items": {"type": "object"},
        "description": "All groups that fire, each by the values of `groupByKeys`.",
        "examples": [_GROUPS],
    },
)
_TEST: Final = _mapping(
    "A test.",
    {"name": _NAMED, "logs": _ROWS, "expect": _EXPECTED},
    ("name", "logs", "expect"),
    name={**_text("What must happen, in words.", _NAMED), "minLength": 1},
    logs={
        "anyOf": [{"type": "string"}, {"type": "array", "items": _ROW, "minItems": 1}],
        "description": "Rows, or a file next to the manifest with one row a line.",
        "examples": [_ROWS],
    },
    expect=_EXPECT,
    start=_text("A time; a Monday, 00:00 UTC, if left out.", "2026-03-02T08:00:00Z"),
    until=_text(f"{_TIME} Else the last row.", "15m"),
)
TESTS: Final = ManifestKey(
    kinds=("AlertDefinition",),
    schema={
        "type": "array",
        "description": "Tests: log lines on which the alert must fire, or stay quiet.",
        "examples": [_TEST["examples"]],
        "items": _TEST,
    },
    read=read_tests,
)
