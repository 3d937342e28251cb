"""Listings: how models read a query string, and how sorted records are divided into pages.

The reader of requests makes a tree with lists of texts as leaves (see `reading`). The model of a
query is an ordinary model with fields that accept such leaves. Bounds of a page are the emulator's
own, as the API document shows none.

A page token holds the position of the last record of a page, not a number: records that are added
or removed between two pages make no record come twice. A token is valid only for the same listing
with the same filters and order.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from reconciler.emulator.http_errors import InvalidRequestError
from reconciler.emulator.rendering import canonical
from reconciler.emulator.wire_models import Int32, JsonObject, WireObject, bounds, timestamp

LARGEST_PAGE = 1000


def only(sent: object) -> object:
    """Return the text of a parameter that came once."""
    return sent[0] if isinstance(sent, list) and len(sent) == 1 else sent


def _flag(sent: object) -> object:
    match only(sent):
        case "true":
            return True
        case "false":
            return False
        case other:
            return other


def _integer(sent: object) -> object:
    text = only(sent)
    if isinstance(text, str) and text.isascii() and text.removeprefix("-").isdigit():
        return int(text[:20])
    return text


def _several(sent: object) -> list[object]:
    return sent if isinstance(sent, list) else [sent]


def _map(sent: object) -> object:
    """Return a map with joined keys, which dots have split: `k8s.pod` is one key."""
    if not isinstance(sent, dict):
        return sent
    flat: dict[str, object] = {}
    for key, value in sent.items():
        if isinstance(value, dict):
            joined = _map(value)
            flat |= {f"{key}.{rest}": inner for rest, inner in joined.items()}  # type: ignore[attr-defined]  # a dict gives a dict
        else:
            flat[key] = _several(value)
    return flat


def _objects(sent: object) -> object:
    """Return rows made of columns: the n-th value of each field is of the n-th object."""
    if not isinstance(sent, dict):
        return sent
    columns = {name: _several(values) for name, values in sent.items()}
    longest = max((len(values) for values in columns.values()), default=0)
    return [
        {name: values[row] for name, values in columns.items() if row < len(values)}
        for row in range(longest)
    ]


def _moment(sent: object) -> object:
    """Return a timestamp in the only form that sorts as time does."""
    text = only(sent)
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text)
        return timestamp(moment.replace(tzinfo=moment.tzinfo or UTC))
    except (ValueError, OverflowError):
        raise PydanticCustomError("timestamp", "not a timestamp") from None


Text = Annotated[str, BeforeValidator(only)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Moment = Annotated[
    str,
    BeforeValidator(_moment),
    Field(json_schema_extra={"format": "date-time"}),
]
PageSize = Annotated[Int32, BeforeValidator(_integer), bounds(1, LARGEST_PAGE)]
TextMap = Annotated[dict[str, list[str]], BeforeValidator(_map)]
Objects = BeforeValidator(_objects)


class TimeRange(WireObject):
    """From one moment on, and before another."""

    from_: Annotated[Moment | None, Field(alias="from")] = None
    to: Moment | None = None

    def holds(self, moment: str) -> bool:
        """Return whether a timestamp is inside; the end is outside."""
        return (self.from_ or "") <= moment and (self.to is None or moment < self.to)


class PageRequest(WireObject):
    """The size and token of a page; the size is required (docs/assumptions.md)."""

    page_size: PageSize
    page_token: Text = ""


class OptionalPageRequest(WireObject):
    """The size and token of a page, both optional."""

    page_size: PageSize = 100
    page_token: Text = ""


class FieldOrder(WireObject):
    """One criterion of a sort order."""

    field_name: Text = ""
    direction: Text = ""


class PageInfo(WireObject):
    """The number of records in all, and the token of the next page; the last page has none."""

    next_page_token: str = ""
    total_size: Int32 = 0


def any_of(wanted: list[Any], value: object) -> bool:
    """Return whether a value is wanted; an empty list wants any value."""
    return not wanted or value in wanted


def has_labels(labels: JsonObject, wanted: dict[str, list[str]]) -> bool:
    """Return whether labels have a wanted value for each wanted key."""
    return all(labels.get(key) in values for key, values in wanted.items())


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
    """Some of the records, and the token of the next page."""

    records: list[JsonObject]
    total: int
    next_token: str

    @property
    def info(self) -> JsonObject:
        """The object of the service, which is the same in every listing."""
        return {"nextPageToken": self.next_token, "totalSize": self.total}


@dataclass(frozen=True)
class Listing:
    """Sorted records; `asked` is the request, and `identity` a field with unique values."""

    records: Sequence[JsonObject]
    criteria: tuple[Criterion, ...]
    identity: str
    asked: WireObject

    def page(self, size: int, token: str, *, skip: int = 0) -> Page:
        """Return the page of a token, or the first page without a token."""
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
        """The directions of the parts of a position; the identity has that of the last field."""
        directions = [criterion.descending for criterion in self.criteria]
        return [*directions, directions[-1]]

    def _compare(self, first: Position, second: Position) -> int:
        for left, right, descending in zip(first, second, self._directions, strict=True):
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
    """Return the criterion of a request; an empty field or `..._UNSPECIFIED` is the default.

    Only the last word of a direction counts, as its prefix is not documented.
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
    """Return a sort key for any value: absent values first, severities by their rank."""
    text = "" if value is None else str(value)
    rank = _RANKS.get(text.rpartition("_")[2], 0) if text.isupper() else 0
    return [value is not None, rank, text]
