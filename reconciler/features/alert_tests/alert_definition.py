"""The key `tests` of a manifest. Its value is never sent, and is in no digest."""

from __future__ import annotations

from typing import Any, Final

from reconciler.features.alert_tests.alert_test import MOST_REPEATED, read_tests
from reconciler.features.alert_tests.log_row import SEVERITIES
from reconciler.kinds.field_traits import ManifestKey

_TIME: Final = "A duration from the start, as 90s or 1h30m, or a time, as 2026-03-02T08:00:00Z."
_ROW: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["at"],
    "additionalProperties": False,
    "properties": {
        "at": {"type": "string", "description": _TIME},
        "application": {"type": "string"},
        "subsystem": {"type": "string"},
        "severity": {"enum": [*SEVERITIES]},
        "text": {
            "type": ["string", "object"],
            "description": "The log line. The fields of a JSON object are fields of the row.",
        },
        "repeat": {
            "type": "object",
            "required": ["times", "every"],
            "additionalProperties": False,
            "properties": {
                "times": {"type": "integer", "minimum": 1, "maximum": MOST_REPEATED},
                "every": {"type": "string"},
            },
            "description": "How many rows there are of this one in all, and how far apart.",
        },
    },
}
_EXPECT: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["fires"],
    "additionalProperties": False,
    "properties": {
        "fires": {"type": "boolean"},
        "priority": {"type": "string", "description": "The highest that fires: P1 to P5."},
        "groups": {
            "type": "array",
            "items": {"type": "object"},
            "description": "All groups that fire, each by the values of `groupByKeys`.",
        },
    },
}
TESTS: Final = ManifestKey(
    kinds=("AlertDefinition",),
    schema={
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "logs", "expect"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "logs": {
                    "anyOf": [{"type": "string"}, {"type": "array", "items": _ROW, "minItems": 1}],
                    "description": "Rows, or a file next to the manifest with one row a line.",
                },
                "expect": _EXPECT,
                "start": {"type": "string", "description": "A time. Else a Monday, 00:00 UTC."},
                "until": {"type": "string", "description": f"{_TIME} Else the last row."},
            },
        },
    },
    read=read_tests,
)
