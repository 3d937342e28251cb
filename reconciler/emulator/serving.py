"""The emulator as a server of its own, on a port.

Only requests meant for this server are answered: a web page could otherwise reach the emulator
through a name that resolves to the loopback address. Source: docs/emulator.md.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from reconciler.emulator.faults import CLOSE_EXTENSION
from reconciler.emulator.life import keep_living
from reconciler.emulator.wire import RefusalError, refusal, utc_now


class ClosableConnection(H11Protocol):
    """The HTTP protocol of uvicorn, with an extension in the scope to close the connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Offer `close` of this connection to each of its requests."""
        super().connection_made(transport)
        app = self.app

        async def closable(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("extensions", {})[CLOSE_EXTENSION] = {"close": transport.close}
            await cast("Any", app)(scope, receive, send)

        self.app = cast("Any", closable)


_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(?P<name>\[[^\]]*\]|[^:]*)(:[0-9]+)?")


class HostCheck:
    """Refuses a Host header that is neither loopback nor one of `names`; any port will do."""

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in (*_LOOPBACK, *names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 421."""
        host = Headers(scope=scope).get("host", "") if scope["type"] == "http" else "localhost"
        parts = _HOST.fullmatch(host)
        if parts and parts["name"].lower() in self._names:
            await self._app(scope, receive, send)
        else:
            refused = RefusalError(421, "the Host header names another server")
            await refusal(refused)(scope, receive, send)


_GRACE = 5  # seconds that requests in flight have to end after a signal


def serve(
    app: Starlette,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    live: bool = False,
    hosts: Iterable[str] = (),
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Answer requests until SIGINT or SIGTERM, then let those in flight end, and close the data.

    `app` is the result of `create_app`. `announce` gets one line once the port is bound, also when
    `port` is 0. `hosts` are further names that the Host header may have. With `live` time passes:
    alerts trigger, incidents open and close. The signal is raised again at the end: SIGINT arrives
    as KeyboardInterrupt. Raises OSError when the port is taken.
    """
    store = app.state.store

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        """Simulate time meanwhile, and close the data after the last answer."""
        living = asyncio.create_task(keep_living(store, utc_now)) if live else None
        yield
        if living is not None:
            living.cancel()
        # SIGTERM, raised again after this, ends the process: nothing later runs.
        store.close()

    app.router.lifespan_context = running
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    name = f"[{host}]" if ":" in host else host
    try:
        with socket.create_server((host, port), family=family) as listener:
            # Else a kept connection waits 40 ms for an acknowledgement at each answer.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            url = f"http://{name}:{listener.getsockname()[1]}"
            config = uvicorn.Config(
                HostCheck(app, {name, *hosts}),
                access_log=False,
                http=ClosableConnection,
                lifespan="on",
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=_GRACE,
                ws="none",
            )
            announce(f"emulator ready: {url}")
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        store.close()
