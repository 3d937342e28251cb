"""Only requests meant for this server are answered.

A web page could otherwise reach the emulator through a name that resolves to
the loopback address. Source: docs/emulator.md.
"""

import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from reconciler.emulator.errors import MisdirectedError
from reconciler.emulator.refusing import refusal

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(?P<name>\[[^\]]*\]|[^:]*)(:[0-9]+)?")


class HostCheck:
    """Refuses a Host header that is neither loopback nor one of `names`; any port will do."""

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in (*_LOOPBACK, *names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 421."""
        parts = _HOST.fullmatch(Headers(scope=scope).get("host", ""))
        if parts and parts["name"].lower() in self._names:
            await self._app(scope, receive, send)
        else:
            await refusal(MisdirectedError("the Host header names another server"))(
                scope, receive, send
            )
