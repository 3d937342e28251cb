"""Closing a connection without an answer, which ASGI itself does not offer."""

from starlette.types import Receive, Scope

CLOSE_EXTENSION = "reconciler.emulator.close"  # in the scope: {"close": a function}


class DroppedConnectionError(ConnectionError):
    """The emulator dropped the connection on purpose; seen where there is no network between."""


async def drop(scope: Scope, receive: Receive) -> None:
    """Close the connection of a request; without one, raise DroppedConnectionError."""
    extension = scope.get("extensions", {}).get(CLOSE_EXTENSION)
    if extension is None:
        raise DroppedConnectionError("the emulator dropped the connection")
    extension["close"]()
    while (await receive())["type"] != "http.disconnect":
        pass
