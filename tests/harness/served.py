"""A service on a port of this machine, whose faults can be changed while it runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.doors import KEY
from harness.routes import API_ROOT, READING_POSTS
from harness.sites import ALERT_ID
from reconciler.emulator import Faults, Profile, Rule, create_app, utc_now
from reconciler.emulator.faults import FaultInjection


class Switch:
    """An application whose faults change while it runs."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.around: ASGIApp = app
        self.asked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as things are now."""
        self.asked += 1
        await self.around(scope, receive, send)

    def misbehave(self, *rules: dict[str, Any]) -> None:
        """Follow these rules from now on."""
        faults = Faults(rules=[Rule.model_validate(rule) for rule in rules])
        self.around = FaultInjection(self.app, faults, record=self.app.state.record, clock=utc_now)

    def behave(self) -> None:
        """Follow no rules any more."""
        self.around = self.app


@dataclass(frozen=True)
class Served:
    """A service on a port of this machine."""

    base_url: str
    switch: Switch

    @property
    def writes(self) -> list[str]:
        """Name the requests that may have changed something, refused ones too."""
        return [
            f"{request.method} {request.path.removeprefix(API_ROOT)}"
            for request in self.switch.app.state.requests
            if request.method != "GET" and request.path.removeprefix(API_ROOT) not in READING_POSTS
        ]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Look into what the service keeps."""
        rows: list[tuple[Any, ...]] = self.switch.app.state.store.rows(query)
        return rows


@cache
def _company(seed: str) -> Starlette:
    """Return an emulator with a company in it, to copy from: to make one takes a second."""
    return create_app(alert_ids=[ALERT_ID], seed=seed)


@contextmanager
def served(
    seed: str | None = None,
    profile: Profile | None = None,
    alert_ids: Sequence[str] = (ALERT_ID,),
) -> Iterator[Served]:
    """Serve on a free port until the end of the block, with a company in it where asked."""
    app = create_app(alert_ids=alert_ids, api_key=KEY, profile=profile)
    if seed:
        _company(seed).state.store._connection.backup(app.state.store._connection)
    switch = Switch(app)
    config = uvicorn.Config(
        switch, port=0, lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            threading.Event().wait(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Served(f"http://127.0.0.1:{port}", switch)
    finally:
        server.should_exit = True
        thread.join()
