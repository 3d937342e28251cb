"""A service that answers what a test tells it to, and notes what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import httpx

from reconciler.api.client import Api, Patience
from reconciler.api.secret import Secret
from reconciler.assumptions import Assumptions
from reconciler.document import Json
from reconciler.signals.record import Listing, Record, follow

Item = TypeVar("Item", bound=Record)
Given = TypeVar("Given")


class Scripted(httpx.AsyncBaseTransport):
    """Gives the next of its replies to each request, the last one again and again."""

    def __init__(self, *replies: Json) -> None:
        self._replies = list(replies)
        self.queries: list[list[tuple[str, str]]] = []
        self.bodies: list[Any] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Note the request and answer."""
        self.queries.append(list(request.url.params.multi_items()))
        body = await request.aread()
        self.bodies.append(json.loads(body) if body else None)
        replies = self._replies
        return httpx.Response(200, json=replies.pop(0) if len(replies) > 1 else replies[0])


def ask(
    transport: httpx.AsyncBaseTransport,
    call: Callable[[Api], Awaitable[Given]],
    **settings: Any,
) -> Given:
    """Open a door under the given `api:` settings, use it, close it; nobody waits."""

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    async def opened() -> Given:
        api = Api(
            "http://emulator",
            Secret("any"),
            transport=transport,
            assumptions=Assumptions(**settings),
            patience=Patience(sleep=sleep, random=lambda: 0.0),
        )
        async with api:
            return await call(api)

    return asyncio.run(opened())


async def collected(records: AsyncIterator[Item]) -> list[Item]:
    """Give all records."""
    return [record async for record in records]


def followed(
    pages: Sequence[Json],
    limit: int | None = None,
    holds: Callable[[Record], bool] | None = None,
    required: Sequence[str] = (),
) -> tuple[list[Json], list[dict[str, Json]]]:
    """Follow pages of plain records; gives their documents and what was asked for."""
    asked: list[dict[str, Json]] = []
    left = list(pages)

    async def fetch(pagination: dict[str, Json]) -> Json:
        asked.append(pagination)
        return left.pop(0)

    async def run() -> list[Record]:
        return await collected(
            follow(fetch, Listing("items", Record, required), limit, holds or (lambda _: True))
        )

    return [dict(one.document) for one in asyncio.run(run())], asked
