"""The forms of ids that the service gives out. Source: api-facts.md, part 3."""

from __future__ import annotations

import re

from reconciler.document import Json
from reconciler.kinds.fields import INT32_MAX, UUID_PATTERN
from reconciler.kinds.kind import IdForm
from reconciler.resource import RemoteId

_UUID = re.compile(UUID_PATTERN)
_SHORT = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _uuid(value: Json) -> RemoteId | None:
    return value.lower() if isinstance(value, str) and _UUID.fullmatch(value) else None


def _int32(value: Json) -> RemoteId | None:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer and 1 <= value <= INT32_MAX else None  # type: ignore[operator,return-value]  # checked above


def _short(value: Json) -> RemoteId | None:
    return value if isinstance(value, str) and _SHORT.fullmatch(value) else None


def _none(_: Json) -> RemoteId | None:
    return None


UUID = IdForm(_uuid, "a uuid", {"type": "string", "format": "uuid", "pattern": UUID_PATTERN})
REQUIRED_UUID = IdForm(UUID.parse, UUID.words, UUID.schema, required=True)
INT32 = IdForm(
    _int32,
    "an integer from 1 to 2147483647",
    {"type": "integer", "minimum": 1, "maximum": INT32_MAX},
    counted=True,
)
DASHBOARD_ID = IdForm(
    _short,
    "21 of the characters A-Z, a-z, 0-9, _ and -",
    {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
)
NO_ID = IdForm(_none, "left out: there is only one", {})
