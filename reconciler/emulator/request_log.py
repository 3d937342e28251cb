"""Requests and their statuses, which many tests read, and the same as a file.

The file has one JSON object a line, and never a key in it.
"""

import errno
import json
import os
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reconciler.emulator.wire_models import JsonObject, timestamp, utc_now

API_ROOT = "/mgmt/openapi/latest"
HEALTH_PATH = "/healthz"
OPENAPI_PATH = "/openapi.json"
PAGE_PATH = "/"
_UNNOTED = (HEALTH_PATH, OPENAPI_PATH, PAGE_PATH)
BODY = "reconciler.emulator.body"  # in the scope: the parsed body
FAULT = "reconciler.emulator.fault"  # in the scope: the fault that strikes the request


class Asked(NamedTuple):
    """One request; `body` is the parsed JSON, None when there was none to read.

    `status` is that of the service, also when the client saw something else;
    0 when the request was dropped before it was carried out.
    """

    method: str
    path: str
    status: int
    body: object


class RequestRecord:
    """The last requests, the newest last; `write` gets each of them too.

    `times` are of the clock of this machine, not of the clock of the service.
    """

    def __init__(self, kept: int, write: Callable[[JsonObject, Scope], None] | None = None) -> None:
        self.requests: deque[Asked] = deque(maxlen=kept)
        self.times: deque[str] = deque(maxlen=kept)
        self._write = write

    def note(self, scope: Scope, status: int) -> None:
        """Note a request with its status."""
        asked = Asked(scope["method"], scope["path"], status, scope.get(BODY))
        now = timestamp(utc_now())
        self.requests.append(asked)
        self.times.append(now)
        if self._write:
            query = scope["query_string"].decode("latin-1")
            line = {"at": now, "query": query, "fault": scope.get(FAULT), **asked._asdict()}
            self._write(line, scope)


@dataclass
class RequestLog:
    """Notes each request once its answer begins; paths outside the API are left out."""

    app: ASGIApp
    record: RequestRecord

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note its status."""
        if scope["type"] != "http" or scope["path"] in _UNNOTED:
            await self.app(scope, receive, send)
            return

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.record.note(scope, message["status"])
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception:
            self.record.note(scope, 500)
            raise


_BEGINS = b'{"at":"'


def _is_foreign(path: Path) -> bool:
    """Return whether a file begins as no log does: nothing is added to it."""
    with suppress(OSError):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as stream:
                return stream.read(len(_BEGINS)) not in (b"", _BEGINS)
    return False


class LogFile:
    """A file for the owner only, added to at its end; each request is one write."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        # A pipe that replaces the file in between must not make us wait.
        flags |= os.O_NONBLOCK
        if path.is_fifo():
            raise OSError(errno.EINVAL, "it is a pipe: name a file", str(path))
        if _is_foreign(path):
            message = "it is there, and not such a log: remove it first, or name another file"
            raise OSError(errno.EEXIST, message, str(path))
        self._descriptor = os.open(path, flags, 0o600)
        weakref.finalize(self, os.close, self._descriptor)

    def write(self, line: JsonObject, scope: Scope) -> None:
        """Add a request; its key is masked wherever it occurs."""
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        key = Headers(scope=scope).get("authorization", "").strip()
        for secret in {key, key.partition(" ")[2].strip()} - {""}:
            # As it is inside JSON text, without the quotes around it.
            text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], "***")
        os.write(self._descriptor, text.encode("utf-8", "backslashreplace") + b"\n")
