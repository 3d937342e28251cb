"""The client at the wire's edges: routed answers, and time that only passes when it is slept.

The answers are `respx`'s. A real port is for what they cannot show: bytes that are cut or odd,
TLS and resets (`tests/api/raw_server.py`), and where a key really went (`ports`).
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import httpx
import respx

from harness.routes import DASHBOARDS, SLOS
from reconciler.api.client import Api, Timing
from reconciler.api.retry import Request
from reconciler.api.secret import Secret
from reconciler.document import Json
from reconciler.model.assumptions import Assumptions

KEY = "canary-key-3f9a1c"
SERVICE = "https://service.test"
NEARBY = "http://127.0.0.1:9"
"""Where nothing listens: an address of this machine for a service that `standing_in` is."""

Answer = TypeVar("Answer")
Call = Callable[[Api], Awaitable[object]]


@dataclass
class FakeTime:
    """A clock that moves by sleeping, and a die that always shows the same."""

    chance: float = 1.0
    slept: list[float] = field(default_factory=list)
    now: datetime = datetime(2025, 1, 31, 9, 0, tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def clock(self) -> float:
        """Give the time as seconds that never go back."""
        return self.now.timestamp()

    def patience(self, deadline: float = 5.0) -> Timing:
        """Give this time to a door."""
        return Timing(deadline, self.sleep, lambda: self.chance, lambda: self.now, self.clock)


def asked(
    service: respx.MockRouter | httpx.AsyncBaseTransport | None,
    call: Callable[[Api], Awaitable[Answer]],
    *,
    base_url: str = SERVICE,
    time: FakeTime | None = None,
    deadline: float = 5.0,
    **settings: Any,
) -> Answer:
    """Open a door under the given `api:` settings, ask one thing, close it.

    Without a service, over the real wire.
    """
    if isinstance(service, respx.MockRouter):
        service = httpx.MockTransport(service.async_handler)

    async def ask() -> Answer:
        api = Api(
            base_url,
            Secret(KEY),
            transport=service,
            assumptions=Assumptions(**settings),
            patience=(time or FakeTime()).patience(deadline),
        )
        async with api:
            return await call(api)

    return asyncio.run(ask())


def answering(*answers: httpx.Response | Exception) -> respx.MockRouter:
    """Give a service that answers in this order, the last one for ever; it notes its `calls`."""
    service = respx.MockRouter(assert_all_called=False)
    service.route().mock(side_effect=itertools.chain(answers, itertools.repeat(answers[-1])))
    return service


def replying(*replies: Json) -> respx.MockRouter:
    """Give a service that replies with these documents in this order, the last one for ever."""
    return answering(*(httpx.Response(200, json=reply) for reply in replies))


def queries(service: respx.MockRouter) -> list[list[tuple[str, str]]]:
    """Give the query of each request, in order."""
    return [list(call.request.url.params.multi_items()) for call in service.calls]


def bodies(service: respx.MockRouter) -> list[Any]:
    """Give the document that each request sent, None for none."""
    return [json.loads(call.request.content or b"null") for call in service.calls]


@contextmanager
def standing_in() -> Iterator[respx.Route]:
    """Answer every request of this process, wherever it goes, with `{}` or as the route is told."""
    with respx.mock(using="httpx", assert_all_called=False) as service:
        yield service.route().respond(json={})


def keys(service: respx.Route) -> list[str]:
    """Give the key that each request showed, in order."""
    return [call.request.headers.get("Authorization", "") for call in service.calls]


async def collected(records: AsyncIterator[Answer]) -> list[Answer]:
    """Give all records."""
    return [record async for record in records]


def find(api: Api) -> Awaitable[object]:
    """Send a write that must not be repeated, and whose outcome can be looked up."""
    return api.send("POST", DASHBOARDS, {"a": 1}, request=Request.FINDABLE)


def read(api: Api) -> Awaitable[object]:
    """Ask for one dashboard."""
    return api.read(f"{DASHBOARDS}/abc")


def create(api: Api) -> Awaitable[object]:
    """Send a write that must not be repeated."""
    return api.send("POST", SLOS, {"name": "a"}, request=Request.BLIND)


def replace(api: Api) -> Awaitable[object]:
    """Send a write that may be repeated."""
    return api.send("PUT", SLOS, {"name": "a"}, request=Request.REPLACE)
