"""A connection of the real server that the application can close."""

import asyncio
from typing import Any, cast

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from reconciler.emulator.closing import CLOSE_EXTENSION


class ClosableConnection(H11Protocol):
    """HTTP as uvicorn speaks it, with one more extension in the scope."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Offer `close` of this connection to each of its requests."""
        super().connection_made(transport)
        app = self.app

        async def closable(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("extensions", {})[CLOSE_EXTENSION] = {"close": transport.close}
            await cast("Any", app)(scope, receive, send)

        self.app = cast("Any", closable)
