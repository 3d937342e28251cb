"""Following page tokens to the end. Source: api-facts.md, part 1."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from pydantic import ValidationError

from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.errors import UnreadableReply
from reconciler.signals.record import Record

PAGE_SIZE = 100
PAGINATION = "pagination"

Fetch: TypeAlias = "Callable[[dict[str, Json]], Awaitable[Json | Missing]]"
Kind = TypeVar("Kind", bound=Record)


@dataclass(frozen=True, slots=True)
class Listing(Generic[Kind]):
    """What a page holds: records of one kind in the list `member`.

    `required` names what the API document requires in every page, of the list
    and `pagination`.
    """

    member: str
    record: type[Kind]
    required: Collection[str] = ()


def _all(_: Record) -> bool:
    return True


async def follow(
    fetch: Fetch,
    listing: Listing[Kind],
    limit: int | None = None,
    holds: Callable[[Kind], bool] = _all,
) -> AsyncIterator[Kind]:
    """Yield the records that hold, of every page, until the token is empty or `limit` is reached.

    `fetch` takes `{pageSize, pageToken?}`. Raises UnreadableReply for a token
    that comes again, which would never end, and for a page of another form.
    """
    tokens: set[str] = set()
    pagination: dict[str, Json] = {"pageSize": PAGE_SIZE}
    count = 0
    while True:
        reply = await fetch(pagination)
        for item in _page(reply, listing):
            found = read_record(item, listing.record)
            if holds(found):
                yield found
                count += 1
                if count == limit:
                    return
        token = _next_token(reply)
        if not token:
            return
        if token in tokens:
            raise UnreadableReply(f"the page token `{token[:40]}` came twice")
        tokens.add(token)
        pagination = {**pagination, "pageToken": token}


def _next_token(reply: Json | Missing) -> str:
    token = value_at(reply, (PAGINATION, "nextPageToken"))
    if isinstance(token, str):
        return token
    if isinstance(token, bool | int | float | list | dict):
        raise UnreadableReply("the page token of the answer is not text")
    return ""


def items_of(reply: Json | Missing, member: str) -> list[Json]:
    """Give a list that an answer has to hold.

    Raises UnreadableReply where there is none: `{}` is no empty listing.
    """
    items = value_at(reply, (member,))
    if not isinstance(items, list):
        raise UnreadableReply(f"the answer has no list `{member}`")
    return items


def _page(reply: Json | Missing, listing: Listing[Kind]) -> list[Json]:
    """Give the list of one page.

    Where the document does not require it, an empty one may be left out by a page that
    says so: it has `pagination`, and that tells of nothing more.
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
        said = f"a {record.__name__} of the answer cannot be read: {place}: {first['msg']}"
        raise UnreadableReply(said) from invalid
