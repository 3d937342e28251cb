"""Base of all records that are only read, and reading a listing to its last page."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Generic, Self, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from reconciler.api.replies import check_whole, items_of
from reconciler.document import ABSENT, Json, Missing, duration_of, value_at
from reconciler.errors import CutListing, UnreadableReply
from reconciler.model.assumptions import Assumptions

if TYPE_CHECKING:
    from reconciler.api.client import Api


class Record(BaseModel):
    """A record of the service; names of fields are those of the wire, in snake_case.

    Unknown fields, null, and unknown values of enumerations, which are text here, are no errors.
    `document` has the whole record.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel)

    _document: dict[str, Json] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, sent: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        record = read(sent)
        if isinstance(sent, dict):
            record._document = sent  # noqa: SLF001 - its own class
        return record

    @property
    def document(self) -> dict[str, Json]:
        """The record as it came, with its unknown fields."""
        return self._document


def _text(value: object) -> object:
    """Return null as an empty text, and numbers as text.

    Services write an enumeration value without a name as a number.
    """
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value) if isinstance(value, int | float) else value


def _list(value: object) -> object:
    if isinstance(value, list):
        return [item for item in value if item is not None]
    return [] if value is None else value


Text = Annotated[str, BeforeValidator(_text)]
Labels = Annotated[dict[str, Text], BeforeValidator(lambda value: {} if value is None else value)]
OrEmpty = BeforeValidator(_list)


class KeyValue(Record):
    """One label of a list."""

    key: Text = ""
    value: Text = ""


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The known values of an enumeration, without their prefix; a service may have more.

    Source: docs/assumptions.md.
    """

    prefix: str
    known: tuple[str, ...]


def moment(text: str) -> datetime | None:
    """Return the time of a timestamp or of epoch seconds, in UTC; None where it is no time."""
    try:
        if text.isascii() and text.replace(".", "", 1).isdigit():
            return datetime.fromtimestamp(float(text), UTC)
        return _in_utc(text)
    except (ValueError, OverflowError, OSError):
        return None


def read_moment(text: str, units: str, now: datetime) -> datetime:
    """Return the time of a duration before now, as 24h, or of an ISO 8601 text, by default in UTC.

    Raises ValueError or OverflowError for any other text.
    """
    ago = duration_of(text, units)
    return now - ago if ago is not None else _in_utc(text)


def _in_utc(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)


def stamp(at: datetime) -> str:
    """Return a time as the API writes it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Span:
    """A span from one moment up to, but without, another.

    It has both ends, as services may need them.
    """

    since: datetime
    until: datetime

    def holds(self, text: str) -> bool:
        """Return whether a timestamp is in the span; an unreadable one counts as inside."""
        at = moment(text)
        return at is None or self.since <= at < self.until


def range_filter(span: Span | None, assumptions: Assumptions) -> Json:
    """Return a range as the deployment expects it, empty for none."""
    return assumptions.range_filter(stamp(span.since), stamp(span.until)) if span else {}


PAGE_SIZE = 100
IDLE_PAGES = 50
PAGINATION = "pagination"

Fetch: TypeAlias = "Callable[[dict[str, Json]], Awaitable[Json | Missing]]"
Kind = TypeVar("Kind", bound=Record)


@dataclass(frozen=True, slots=True)
class PageShape(Generic[Kind]):
    """The form of a page: records of one kind in the list `member`.

    `required` has those of the list and `pagination` that the API document requires in every page.
    """

    member: str
    record: type[Kind]
    required: Collection[str] = ()


@dataclass(slots=True)
class Allowance:
    """Pages that may still be requested, and records that are wanted; None means any number.

    `cut` means that there was more than the pages had. `missing` is the number of announced records
    that a finished listing did not return.
    """

    left: int | None = None
    records: int | None = None
    cut: bool = False
    missing: int = 0

    def use_page(self) -> bool:
        """Use one page; return False, and record the cut, if no page is left."""
        if self.left is None:
            return True
        if self.left <= 0:
            self.cut = True
            return False
        self.left -= 1
        return True

    def note_end(self, read: int, announced: int, *, whole: bool) -> None:
        """Record how many of the announced records a listing lacks.

        With `whole`, raises CutListing for such a listing.
        """
        if announced > read and whole:
            raise CutListing(f"the listing ends after {read:,} of {announced:,}")
        if announced > read:
            self.cut, self.missing = True, announced - read


def paged(
    api: Api,
    ask: Callable[[Sequence[tuple[str, str]]], Awaitable[Json | Missing]],
    fixed: Sequence[tuple[str, str]] = (),
) -> Fetch:
    """Return a function that requests one page: the `fixed` parameters, then the pagination."""
    spell = api.assumptions.parameter
    return lambda pagination: ask([*fixed, *spell("pagination", pagination)])


async def follow(
    fetch: Fetch,
    listing: PageShape[Kind],
    limit: int | Allowance | None = None,
    holds: Callable[[Kind], bool] = lambda _: True,
    *,
    whole: bool = False,
) -> AsyncIterator[Kind]:
    """Yield the records that match, of every page, until the token is empty or `limit` is reached.

    `limit` is a number of records, or an allowance of pages. What is cut is recorded in the
    allowance: records for which there are no pages left, and announced records that the service
    does not return. `fetch` takes `{pageSize, pageToken?}`. A record with an id that comes again
    unchanged, as where pages move during the reading, is yielded once. Raises UnreadableReply for a
    listing that would never end (a token that comes again, or `IDLE_PAGES` pages in a row without a
    new record), and for a page of another form. With `whole` it also raises where the last page
    announces more than all pages had, and where more than `limit` are listed, matching or not.
    """
    tokens: set[str] = set()
    pagination: dict[str, Json] = {"pageSize": PAGE_SIZE}
    allowance = limit if isinstance(limit, Allowance) else Allowance(records=limit)
    most = allowance.records
    count = read = announced = idle = 0
    known: set[int] = set()
    while allowance.use_page():
        reply = await fetch(pagination)
        items, idle = _news(_page(reply, listing), known, idle)
        read += len(items)
        if whole and most is not None and read > most:
            raise UnreadableReply(f"more than {most:,} are listed, and the rest is not read")
        for item in items:
            found = read_record(item, listing.record)
            if holds(found):
                yield found
                count += 1
                if count == most and not whole:
                    return
        token = _next_token(reply)
        announced = max(announced, _announced(reply))
        if not token:
            allowance.note_end(read, announced, whole=whole)
            return
        if token in tokens:
            raise UnreadableReply(f"the page token `{token[:40]}` came twice")
        tokens.add(token)
        pagination = {**pagination, "pageToken": token}


def _news(items: list[Json], known: set[int], idle: int) -> tuple[list[Json], int]:
    """Return the new records of a page, and the number of pages in a row without any.

    Adds to `known`. Raises UnreadableReply where these pages are too many.
    """
    before = len(known)
    news = []
    for item in items:
        sign = hash(json.dumps(item, sort_keys=True))
        if sign not in known or not (isinstance(item, dict) and item.get("id")):
            news.append(item)
        known.add(sign)
    idle = idle + 1 if len(known) == before else 0
    if idle == IDLE_PAGES:
        raise UnreadableReply(f"{idle} pages in a row held nothing that no page before them held")
    return news, idle


async def follow_whole(
    fetch: Fetch, listing: PageShape[Kind], most_pages: int
) -> tuple[list[Kind], bool]:
    """Return the records of a listing, and whether these are all.

    They are not where there are more pages than `most_pages`. Raises UnreadableReply where an
    answer announces more than all of them have, and as `follow` does.
    """
    pages, announced = Allowance(most_pages), 0

    async def counted(pagination: dict[str, Json]) -> Json | Missing:
        nonlocal announced
        reply = await fetch(pagination)
        announced = max(announced, _announced(reply))
        _check_beside(reply, listing.member)
        return reply

    found = [record async for record in follow(counted, listing, pages)]
    if pages.cut and not pages.missing:
        return found, False
    # A page that comes again has nothing new.
    held = len({getattr(record, "id", "") or number for number, record in enumerate(found)})
    if announced > held:
        raise CutListing(f"the answers announce {announced} of `{listing.member}` and hold {held}")
    return found, True


def _check_beside(reply: Json | Missing, member: str) -> None:
    """Raise UnreadableReply where a page announces more in other fields than `pagination`."""
    if not isinstance(reply, dict):
        return
    inside = reply.get(PAGINATION)
    known = inside if isinstance(inside, dict) else {}
    others = {
        key: value for key, value in known.items() if key not in ("nextPageToken", "totalSize")
    }
    beside = {key: value for key, value in reply.items() if key != PAGINATION}
    check_whole({**beside, PAGINATION: others}, member)


def _announced(reply: Json | Missing) -> int:
    """Return how many records an answer announces, 0 where it does not."""
    total = value_at(reply, (PAGINATION, "totalSize"))
    if isinstance(total, bool):
        return 0
    # A service may write a whole number as text.
    if isinstance(total, str) and total.isascii() and total.isdecimal():
        return int(total[:18])
    return math.ceil(total) if isinstance(total, int | float) and math.isfinite(total) else 0


def _next_token(reply: Json | Missing) -> str:
    token = value_at(reply, (PAGINATION, "nextPageToken"))
    if isinstance(token, str):
        return token
    if isinstance(token, bool | int | float | list | dict):
        raise UnreadableReply("the page token of the answer is not text")
    return ""


def all_items_of(reply: Json | Missing, member: str) -> list[Json]:
    """Return a list that has no pages.

    Raises UnreadableReply where the answer announces more than it has, and as `items_of` does.
    """
    items = items_of(reply, member)
    check_whole(reply, member)
    return items


def _page(reply: Json | Missing, listing: PageShape[Kind]) -> list[Json]:
    """Return the list of one page.

    Where the document does not require the list, a page may leave an empty list out if its
    `pagination` announces nothing more.
    """
    pagination = value_at(reply, (PAGINATION,))
    if PAGINATION in listing.required and not isinstance(pagination, dict):
        raise UnreadableReply(f"the answer has no object `{PAGINATION}`")
    tells_of_none = isinstance(pagination, dict) and not (
        pagination.get("totalSize") or pagination.get("nextPageToken")
    )
    left_out = value_at(reply, (listing.member,)) in (ABSENT, None)
    if left_out and tells_of_none and listing.member not in listing.required:
        return []
    return items_of(reply, listing.member)


def read_record(item: Json, record: type[Kind]) -> Kind:
    """Read one record; unknown fields and values are kept. Raises UnreadableReply."""
    try:
        return record.model_validate(item)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the record"
        message = f"a {record.__name__} of the answer cannot be read: {place}: {first['msg']}"
        raise UnreadableReply(message) from invalid
