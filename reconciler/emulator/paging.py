"""Listings: how models read a query string, and how sorted records are divided into pages.

The reader of requests makes a tree with lists of texts as leaves (see `wire`). The model of a
query is an ordinary model with fields that accept such leaves. Bounds of a page are the emulator's
own, as the API document shows none.

A page token holds the position of the last record of a page, not a number. So no record comes twice
if records are added or removed between two pages. A token is valid only for the same listing with
the same filters and order.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from reconciler.emulator import wire

LARGEST_PAGE = 1000


def only(sent: object) -> object:
    """Return the text of a parameter that came once."""
    return sent[0] if isinstance(sent, list) and len(sent) == 1 else sent


def _flag(sent: object) -> object:
    text = only(sent)
    return text == "true" if text in ("true", "false") else text


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
    """Return rows made of columns: the n-th value of each field belongs to the n-th object."""
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
        return wire.timestamp(moment.replace(tzinfo=moment.tzinfo or UTC))
    except (ValueError, OverflowError):
        raise PydanticCustomError("timestamp", "not a timestamp") from None


Text = Annotated[str, BeforeValidator(only)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Moment = Annotated[
    str,
    BeforeValidator(_moment),
    Field(json_schema_extra={"format": "date-time"}),
]
PageSize = Annotated[wire.Int32, BeforeValidator(_integer), wire.bounds(1, LARGEST_PAGE)]
TextMap = Annotated[dict[str, list[str]], BeforeValidator(_map)]
Objects = BeforeValidator(_objects)


class TimeRange(wire.WireObject):
    """A span from one moment on, and before another."""

    from_: Annotated[Moment | None, Field(alias="from")] = None
    to: Moment | None = None

    def holds(self, moment: str) -> bool:
        """Return whether a timestamp is inside; the end is outside."""
        return (self.from_ or "") <= moment and (self.to is None or moment < self.to)


class PageRequest(wire.WireObject):
    """The size and token of a page; the size is required (docs/assumptions.md)."""

    skip: ClassVar[int] = 0

    page_size: PageSize
    page_token: Text = ""


class OptionalPageRequest(PageRequest):
    """The size and token of a page, both optional."""

    page_size: PageSize = 100


class FieldOrder(wire.WireObject):
    """One criterion of a sort order."""

    field_name: Text = ""
    direction: Text = ""


OrderBys = Annotated[list[FieldOrder], Objects, Field(alias="order_bys", default_factory=list)]


class PageInfo(wire.WireObject):
    """The number of records in all, and the token of the next page; the last page has none."""

    next_page_token: str = ""
    total_size: wire.Int32 = 0


def any_of(wanted: list[Any], value: object) -> bool:
    """Return whether a value is wanted; an empty list wants any value."""
    return not wanted or value in wanted


def has_labels(labels: wire.JsonObject, wanted: dict[str, list[str]]) -> bool:
    """Return whether labels have a wanted value for each wanted key."""
    return all(labels.get(key) in values for key, values in wanted.items())


_SEVERITIES = ("UNSPECIFIED", "LOW", "INFO", "WARNING", "ERROR", "CRITICAL")

Position = list[list[bool | int | str]]


@dataclass(frozen=True)
class Listing:
    """A listing: the name of its list in the answer, and the fields to sort by.

    The first of the `fields` is the usual one, and `identity` a field with unique values.
    """

    name: str
    fields: tuple[str, ...]
    identity: str

    def page(
        self, records: Sequence[wire.JsonObject], asked: Any, *orders: tuple[str, str]
    ) -> wire.JsonObject:
        """Return the page that a request asks for: of its token, or the first without one.

        Each of the `orders` is a field and a direction.
        """
        criteria = [self._criterion(*order) for order in orders or [("", "")]]
        # The identity has the direction of the last field.
        criteria.append((self.identity, criteria[-1][1]))

        def compare(first: Position, second: Position) -> int:
            for left, right, (_, descending) in zip(first, second, criteria, strict=True):
                if left != right:
                    return 1 if (left > right) != descending else -1
            return 0

        def position(record: wire.JsonObject) -> Position:
            return [_sort_key(field, record) for field, _ in criteria]

        ordered = list(records)
        for field, descending in reversed(criteria):
            ordered.sort(key=partial(_sort_key, field), reverse=descending)
        wanted, fingerprint = asked.pagination, _fingerprint(asked)
        start = wanted.skip
        if wanted.page_token:
            end = _end_in(wanted.page_token, fingerprint, len(criteria))
            start += sum(compare(position(record), end) <= 0 for record in ordered)
        shown = ordered[start : start + (wanted.page_size or _USUAL_SIZE)]
        token = ""
        if shown and shown[-1] is not ordered[-1]:
            content = json.dumps([fingerprint, position(shown[-1])])
            token = base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")
        info = {"nextPageToken": token, "totalSize": len(ordered)}
        return {self.name: shown, "pagination": info}

    def _criterion(self, field: str, direction: str) -> tuple[str, bool]:
        """Return a field and whether it descends; empty or `..._UNSPECIFIED` means the usual.

        Only the last word of a direction is used, as its prefix is not documented.
        """
        name = field or self.fields[0]
        if name not in self.fields:
            raise wire.InvalidRequestError(f"the order: {name} is not a field to sort by")
        descends = _DIRECTIONS.get(direction.rpartition("_")[2].upper())
        if descends is None:
            raise wire.InvalidRequestError(f"the order: {direction} is not a direction")
        return name, descends


_USUAL_SIZE = 50
_DIRECTIONS = {
    "ASC": False,
    "ASCENDING": False,
    "DESC": True,
    "DESCENDING": True,
    "UNSPECIFIED": True,
    "": True,
}


def _fingerprint(asked: wire.WireObject) -> str:
    content = asked.model_dump(mode="json", exclude={"pagination"})
    return hashlib.sha256(wire.canonical(content).encode()).hexdigest()[:16]


def _end_in(token: str, fingerprint: str, parts: int) -> Position:
    """Return the position in a token. Raises InvalidRequestError if it is of another listing."""
    position: object = None
    with suppress(ValueError, TypeError, RecursionError):
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        sent, position = json.loads(base64.urlsafe_b64decode(padded))
        position = position if sent == fingerprint else None
    match position:
        case list() if len(position) == parts and all(
            isinstance(part, list) and [type(value) for value in part] == [bool, int, str]
            for part in position
        ):
            return position
        case _:
            raise wire.InvalidRequestError("pagination.pageToken: not a token of this listing")


def _sort_key(field: str, record: wire.JsonObject) -> list[bool | int | str]:
    """Return a sort key for any value: absent values first, severities by their rank."""
    value = record.get(field)
    text = "" if value is None else str(value)
    word = text.rpartition("_")[2]
    rank = _SEVERITIES.index(word) if text.isupper() and word in _SEVERITIES else 0
    return [value is not None, rank, text]
