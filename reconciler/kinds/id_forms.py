"""Forms of `metadata.id` of each kind, and the check that an answer is about the requested id."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reconciler.document import ABSENT, Json, Missing
from reconciler.errors import AnotherRecord
from reconciler.kinds.field_traits import INT32_MAX, UUID_PATTERN
from reconciler.model import RemoteId

MOST_DIGITS = len(str(INT32_MAX))


@dataclass(frozen=True, slots=True)
class IdForm:
    """The form of `metadata.id` of a kind. `parse` returns None for any other form.

    `counted` ids are assigned in order, so that every service has the same ids.
    """

    parse: Callable[[Json], RemoteId | None]
    words: str
    schema: Mapping[str, Json]
    required: bool = False
    counted: bool = False

    def normal(self, remote_id: RemoteId) -> RemoteId:
        """Return an id in its normal spelling; a service may write a uuid in capitals."""
        known = self.parse(remote_id)
        return remote_id if known is None else known

    def typed(self, text: str) -> RemoteId | None:
        """Read an id as a person types it; None for any other form."""
        is_number = (
            self.counted and text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
        )
        return self.parse(int(text) if is_number else text)

    def check(self, requested: RemoteId, answered: Json | Missing) -> None:
        """Raise AnotherRecord if an answer has another id than was requested.

        An answer without an id is about the requested one, as nothing says otherwise.
        """
        if answered in (ABSENT, None, ""):
            return
        is_id = isinstance(answered, str | int) and not isinstance(answered, bool)
        if not is_id or self.normal(answered) != self.normal(requested):  # type: ignore[arg-type]  # checked
            raise AnotherRecord(
                f"asked for {requested}, the service answered with {str(answered)[:80]!r}"
            )


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
    "1 to 64 of the characters A-Z, a-z, 0-9, _ and -",
    {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
)
NO_ID = IdForm(_none, "left out: there is only one", {})
