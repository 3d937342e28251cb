"""What was asked, and how it was answered: the oracle of many tests."""

from collections.abc import MutableSequence
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEALTH_PATH = "/healthz"
_BODY = "reconciler.emulator.body"


class Asked(NamedTuple):
    """One request; `body` is the parsed JSON, None when there was none to read."""

    method: str
    path: str
    status: int
    body: object


def remember_body(scope: Scope, body: object) -> None:
    """Leave the parsed body of a request where the log finds it."""
    scope[_BODY] = body


class RequestLog:
    """Notes each request once its answer begins; readiness probes are left out."""

    def __init__(self, app: ASGIApp, requests: MutableSequence[Asked]) -> None:
        self._app = app
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note what becomes of it."""
        if scope["type"] != "http" or scope["path"] == HEALTH_PATH:
            await self._app(scope, receive, send)
            return

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"])
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception:
            self._note(scope, 500)
            raise

    def _note(self, scope: Scope, status: int) -> None:
        asked = Asked(scope["method"], scope["path"], status, scope.get(_BODY))
        self._requests.append(asked)
