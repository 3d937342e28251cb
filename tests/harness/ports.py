"""Listeners on a port of this machine, for what has to leave the process to be seen.

Answers alone are given by `wire`, without a port. The very bytes are chosen in
`tests/api/raw_server.py`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Mapping[str, str], Any]
"""Status, headers, and a document that goes out as JSON."""


@dataclass(frozen=True)
class Asked:
    """One request: its path with the query, the key or token, and the document that it sent."""

    method: str
    path: str
    authorization: str
    body: Any


@contextmanager
def listening(answer: Callable[[Asked], Answer]) -> Iterator[str]:
    """Answer on a free port until the end of the block; gives the base URL."""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            key = self.headers.get("Authorization", "")
            asked = Asked(self.command, self.path, key, json.loads(sent) if sent else None)
            status, headers, document = answer(asked)
            content = json.dumps(document).encode()
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = _answer  # noqa: N815 - names of the standard library

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Stranger:
    """A service that gives one answer to everything, and notes what it was asked."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        """What was shown as a key, request by request."""
        return [one.authorization for one in self.asked]


@contextmanager
def stranger(status: int, document: Any) -> Iterator[Stranger]:
    """Answer everything alike until the end of the block."""
    made = Stranger()

    def answer(asked: Asked) -> Answer:
        made.asked.append(asked)
        return status, {}, document

    with listening(answer) as made.url:
        yield made
