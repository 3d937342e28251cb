"""Doors to a service that a test holds in its hand, with time that only passes when it is slept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import httpx

from reconciler.api.client import Api, Patience
from reconciler.api.retrying import Request
from reconciler.api.secret import Secret

KEY = "canary-key-3f9a1c"
SERVICE = "https://service.test"
API_ROOT = "/mgmt/openapi/latest"

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

    def patience(self, deadline: float = 5.0) -> Patience:
        """Give this time to a door."""
        return Patience(deadline, self.sleep, lambda: self.chance, lambda: self.now, self.clock)


def asked(
    call: Callable[[Api], Awaitable[Answer]],
    *,
    base_url: str = SERVICE,
    transport: httpx.AsyncBaseTransport | None = None,
    time: FakeTime | None = None,
    deadline: float = 5.0,
) -> Answer:
    """Open a door, ask one thing, close it. Without a transport, over the real wire."""

    async def ask() -> Answer:
        patience = (time or FakeTime()).patience(deadline)
        api = Api(base_url, Secret(KEY), transport=transport, patience=patience)
        async with api:
            return await call(api)

    return asyncio.run(ask())


def answering(*responses: httpx.Response | Exception) -> tuple[httpx.MockTransport, list[str]]:
    """Give a service that answers in this order, the last one for ever, and what it was asked."""
    requests: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(f"{request.method} {request.url.path.removeprefix(API_ROOT)}")
        chosen = responses[min(len(requests), len(responses)) - 1]
        if isinstance(chosen, Exception):
            raise chosen
        return httpx.Response(chosen.status_code, headers=chosen.headers, content=chosen.content)

    return httpx.MockTransport(answer), requests


def find(api: Api) -> Awaitable[object]:
    """Send a write that must not be repeated, and whose outcome can be looked up."""
    return api.send("POST", "/v1/dashboards/dashboards", {"a": 1}, request=Request.FINDABLE)


def read(api: Api) -> Awaitable[object]:
    """Ask for one dashboard."""
    return api.read("/v1/dashboards/dashboards/abc")


def create(api: Api) -> Awaitable[object]:
    """Send a write that must not be repeated."""
    return api.send("POST", "/v1/slo/slos", {"name": "a"}, request=Request.BLIND)


def replace(api: Api) -> Awaitable[object]:
    """Send a write that may be repeated."""
    return api.send("PUT", "/v1/slo/slos", {"name": "a"}, request=Request.REPLACE)
