"""Following page tokens to the end. Source: api-facts.md, part 1."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias, TypeVar

from pydantic import ValidationError

from reconciler.document import Json, Missing, value_at
from reconciler.errors import UnreadableReply
from reconciler.signals.record import Record

PAGE_SIZE = 100

Fetch: TypeAlias = "Callable[[dict[str, Json]], Awaitable[Json | Missing]]"
Kind = TypeVar("Kind", bound=Record)


def _all(_: Record) -> bool:
    return True


async def follow(
    fetch: Fetch,
    member: str,
    record: type[Kind],
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
        for item in items_of(reply, member):
            found = read_record(item, record)
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
    token = value_at(reply, ("pagination", "nextPageToken"))
    if isinstance(token, str):
        return token
    if isinstance(token, bool | int | float | list | dict):
        raise UnreadableReply("the page token of the answer is not text")
    return ""


def items_of(reply: Json | Missing, member: str) -> list[Json]:
    """Give a list of an answer; an empty one may be left out (api-facts.md, 6.3).

    Raises UnreadableReply where it is something else.
    """
    items = reply.get(member) if isinstance(reply, dict) else reply
    if isinstance(reply, dict) and items is None:
        return []
    if not isinstance(items, list) or not isinstance(reply, dict):
        raise UnreadableReply(f"the answer has no list `{member}`")
    return items


def read_record(item: Json, record: type[Kind]) -> Kind:
    """Read one record; unknown fields and values are kept. Raises UnreadableReply."""
    try:
        return record.model_validate(item)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the record"
        said = f"a {record.__name__} of the answer cannot be read: {place}: {first['msg']}"
        raise UnreadableReply(said) from invalid
