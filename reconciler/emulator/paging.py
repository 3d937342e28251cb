"""Sorted lists in pages.

A page token holds where the last page ended, not a number: what is added or
taken away between two pages makes nothing come twice. It is for one listing
only, with the same filters and order.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.models.wire import JsonObject, WireObject
from reconciler.emulator.rendering import canonical

_RANKS = {
    word: rank for rank, word in enumerate(("UNSPECIFIED", "LOW", "INFO", "WARNING", "ERROR"))
} | {"CRITICAL": 5}

Position = list[list[bool | int | str]]


@dataclass(frozen=True)
class Criterion:
    """One field to sort by."""

    field: str
    descending: bool = True


@dataclass(frozen=True)
class Page:
    """Some of the records, and how to go on."""

    records: list[JsonObject]
    total: int
    next_token: str

    @property
    def info(self) -> JsonObject:
        """Say it as the service does; every listing has the same object."""
        return {"nextPageToken": self.next_token, "totalSize": self.total}


@dataclass(frozen=True)
class Listing:
    """Records in an order; `asked` is the request, and `identity` a field no two share."""

    records: Sequence[JsonObject]
    criteria: tuple[Criterion, ...]
    identity: str
    asked: WireObject

    def page(self, size: int, token: str, *, skip: int = 0) -> Page:
        """Give the page that a token stands for, the first without one."""
        placed = [(self._position(record), record) for record in self.records]
        for place, descending in reversed(list(enumerate(self._directions))):
            placed.sort(key=lambda pair, place=place: pair[0][place], reverse=descending)  # type: ignore[misc]  # a default binds the loop's own value
        ordered = [record for _, record in placed]
        start = 0
        if token:
            end = self._end_in(token)
            start = sum(self._compare(position, end) <= 0 for position, _ in placed)
        start += skip
        records = ordered[start : start + size]
        has_more = start + size < len(ordered) and bool(records)
        next_token = self._token(records[-1]) if has_more else ""
        return Page(records, len(ordered), next_token)

    def _position(self, record: JsonObject) -> Position:
        fields = (*(criterion.field for criterion in self.criteria), self.identity)
        return [_comparable(record.get(field)) for field in fields]

    @property
    def _directions(self) -> list[bool]:
        """Whether each part of a position descends; the identity goes with the last field."""
        directions = [criterion.descending for criterion in self.criteria]
        return [*directions, directions[-1]]

    def _compare(self, one: Position, other: Position) -> int:
        for left, right, descending in zip(one, other, self._directions, strict=True):
            if left != right:
                return 1 if (left > right) != descending else -1
        return 0

    def _fingerprint(self) -> str:
        asked = self.asked.model_dump(mode="json", exclude={"pagination"})
        return hashlib.sha256(canonical(asked).encode()).hexdigest()[:16]

    def _token(self, last: JsonObject) -> str:
        content = json.dumps([self._fingerprint(), self._position(last)])
        return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")

    def _end_in(self, token: str) -> Position:
        refusal = InvalidRequestError("pagination.pageToken: not a token of this listing")
        try:
            padded = token.encode("ascii") + b"=" * (-len(token) % 4)
            fingerprint, position = json.loads(base64.urlsafe_b64decode(padded))
        except (ValueError, TypeError, RecursionError):
            raise refusal from None
        if fingerprint != self._fingerprint() or not self._is_position(position):
            raise refusal
        checked: Position = position
        return checked

    def _is_position(self, position: object) -> bool:
        if not isinstance(position, list) or len(position) != len(self.criteria) + 1:
            return False
        return all(
            isinstance(part, list) and [type(value) for value in part] == [bool, int, str]
            for part in position
        )


def criterion(field: str, direction: str, *, known: Sequence[str], default: str) -> Criterion:
    """Read what a client wants to sort by; nothing or `..._UNSPECIFIED` is the default.

    A direction is known by its last word, as its prefix is not shown anywhere.
    """
    name = field or default
    if name not in known:
        raise InvalidRequestError(f"the order: {name} is not a field to sort by")
    match direction.rpartition("_")[2].upper():
        case "ASC" | "ASCENDING":
            return Criterion(name, descending=False)
        case "DESC" | "DESCENDING" | "UNSPECIFIED" | "":
            return Criterion(name, descending=True)
        case _:
            raise InvalidRequestError(f"the order: {direction} is not a direction")


def _comparable(value: object) -> list[bool | int | str]:
    """Make any two values comparable: absent ones first, severities by their rank."""
    text = "" if value is None else str(value)
    rank = _RANKS.get(text.rpartition("_")[2], 0) if text.isupper() else 0
    return [value is not None, rank, text]
