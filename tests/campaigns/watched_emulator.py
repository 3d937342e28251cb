"""The emulator in a process of its own, over real HTTP, taking orders of a campaign.

Orders come to one path beside the API: begin a world, keep or restore its state,
follow faults, let somebody edit before the n-th request. Each answers with what a
checker needs: the request log, and all that the service holds.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import uvicorn
from pydantic import TypeAdapter
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reconciler.emulator import Faults, Profile, create_app, utc_now
from reconciler.emulator.database import Asked, Store
from reconciler.emulator.faults import FaultInjection
from reconciler.emulator.serving import ClosableConnection

ORDERS = "/orders"
API_ROOT = "/mgmt/openapi/latest"
EDITED = "EDIT"
TABLES = {
    "SLO": "SELECT id, record FROM slos",
    "Dashboard": "SELECT id, record FROM dashboards",
    "SavedView": "SELECT id, record FROM saved_views",
    "AlertDefinition": "SELECT id, record FROM alert_definitions",
    "LogPolicySet": "SELECT name, record FROM log_policies ORDER BY place",
}
PROFILE = TypeAdapter(Profile)

Request = tuple[str, str, Any]
"""Method, path below the API root, body."""


@dataclass(frozen=True)
class Seen:
    """What the service can witness: its log, what it holds, and where it saw the key."""

    log: tuple[Asked, ...]
    live: dict[str, dict[str, Any]]
    leaks: tuple[str, ...]
    sizes: tuple[tuple[str, str, int], ...] = ()
    """Method, path below the API root and bytes of the body of every answer, in order."""


@dataclass
class Watched:
    """An application around the emulator that notes, meddles and obeys."""

    key: str
    app: Any = None
    around: ASGIApp | None = None
    kept: dict[str, tuple[Any, Store]] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    sizes: list[tuple[str, str, int]] = field(default_factory=list)
    edit_before: dict[int, list[Request]] = field(default_factory=dict)
    arrived: int = 0
    running: set[asyncio.Task[Any]] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take an order, or answer a request as the service."""
        if scope["path"] == ORDERS:
            await _reply(send, await self._obey(json.loads(await _body(receive))))
            return
        body = await _body(receive)
        self._look_for_key(scope, body)
        self.arrived += 1
        for method, path, content in self.edit_before.pop(self.arrived, ()):
            await self._edit(method, path, content)
        task = asyncio.current_task()
        assert task is not None
        self.running.add(task)
        size = 0

        async def counting(message: Message) -> None:
            nonlocal size
            size += len(message.get("body", b""))
            await send(message)

        try:
            await (self.around or self.app)(scope, _replayed(body, receive), counting)
        finally:
            self.running.discard(task)
            self.sizes.append((scope["method"], scope["path"].removeprefix(API_ROOT), size))

    def _look_for_key(self, scope: Scope, body: bytes) -> None:
        places = {
            "path": scope["path"] + "?" + scope["query_string"].decode("latin-1"),
            "body": body.decode("utf-8", "replace"),
            **{
                f"header {name.decode()}": value.decode("latin-1")
                for name, value in scope["headers"]
                if name != b"authorization"
            },
        }
        self.leaks.extend(where for where, text in places.items() if self.key in text)

    async def _edit(self, method: str, path: str, content: Any) -> None:
        """Let somebody else change the service; the log says when, and leaves the request out."""
        if method == "DELETE":
            with self.app.state.store.writing():
                self.app.state.store.write("DELETE FROM dashboards WHERE id = ?", path)
        else:
            status = await self._ask(method, path, content)
            self.app.state.requests.pop()
            if status >= http.client.BAD_REQUEST:
                return  # ours was there first
        self.app.state.requests.append(Asked(EDITED, path, 200, content))

    async def _ask(self, method: str, path: str, content: Any) -> int:
        body = json.dumps(content).encode()
        token = (
            b"Bearer someone" if self.app.state.profile.authorization == "bearer" else b"someone"
        )
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": API_ROOT + path,
            "raw_path": (API_ROOT + path).encode(),
            "query_string": b"",
            "headers": [(b"authorization", token), (b"content-type", b"application/json")],
        }
        status = 0

        async def send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)

        async def nothing() -> Message:
            return {"type": "http.disconnect"}

        await self.app(scope, _replayed(body, nothing), send)
        return status

    async def _obey(self, order: dict[str, Any]) -> Any:
        while self.running:
            # A request of a process that died is still being carried out.
            await asyncio.wait(self.running)
        for name, argument in order.items():
            await getattr(self, f"_order_{name}")(argument)
        return self._seen() if order.get("look", True) else {}

    async def _order_look(self, _: Any) -> None:
        """Answer with all there is to see, or not."""

    async def _order_begin(self, argument: dict[str, Any]) -> None:
        profile = PROFILE.validate_json(json.dumps(argument["profile"]))
        self.app = create_app(alert_ids=argument["alertIds"], profile=profile)
        self._fresh()
        for request in argument["foreign"]:
            assert await self._ask(*request) < http.client.BAD_REQUEST, request
        self._fresh()

    async def _order_keep(self, name: str) -> None:
        self.kept[name] = (self.app.state.profile, self.app.state.store.copy())

    async def _order_restore(self, name: str) -> None:
        profile, store = self.kept[name]
        self.app = create_app(profile=profile)
        store._connection.backup(self.app.state.store._connection)
        self._fresh()

    def _fresh(self) -> None:
        self.around, self.arrived, self.edit_before = None, 0, {}
        self.app.state.requests.clear()
        self.leaks.clear()
        self.sizes.clear()

    async def _order_faults(self, rules: dict[str, Any] | None) -> None:
        if rules is None:
            self.around = None
            return
        faults = Faults.model_validate(rules)
        self.around = FaultInjection(self.app, faults, record=self.app.state.record, clock=utc_now)

    async def _order_edits(self, edits: list[tuple[int, list[Request]]]) -> None:
        self.arrived = 0
        self.edit_before = dict(edits)

    def _seen(self) -> dict[str, Any]:
        store = self.app.state.store
        return {
            "log": [list(request) for request in self.app.state.requests],
            "live": {
                kind: {str(key): json.loads(record) for key, record in store.rows(query)}
                for kind, query in TABLES.items()
            },
            "leaks": self.leaks,
            "sizes": self.sizes,
        }


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay


async def _reply(send: Send, document: Any) -> None:
    start: Message = {"type": "http.response.start", "status": 200, "headers": []}
    await send(start)
    await send({"type": "http.response.body", "body": json.dumps(document).encode()})


@dataclass
class Emulator:
    """The other end: starts the process, gives orders, ends it."""

    key: str
    port: int = 0
    _process: int = 0
    _connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        """Serve on a free port of loopback, in a child of this process."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self._process = os.fork()
        if not self._process:
            _serve(Watched(self.key), listener)
        listener.close()
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)

    @property
    def base_url(self) -> str:
        """Where the service is."""
        return f"http://127.0.0.1:{self.port}"

    def order(self, **orders: Any) -> Seen:
        """Give orders, in this sequence, and take what is to be seen after them."""
        connection = self._connection
        assert connection is not None
        connection.request("POST", ORDERS, json.dumps(orders))
        answer = json.loads(connection.getresponse().read())
        return _seen(answer) if answer else Seen((), {}, ())

    def look(self) -> Seen:
        """See what there is, once nothing is in flight."""
        return self.order(look=True)


def _seen(answer: dict[str, Any]) -> Seen:
    log: Sequence[list[Any]] = answer["log"]
    sizes = tuple((method, path, size) for method, path, size in answer["sizes"])
    return Seen(
        tuple(Asked(*element) for element in log), answer["live"], tuple(answer["leaks"]), sizes
    )


def _serve(watched: Watched, listener: socket.socket) -> None:
    """Answer until killed; never returns."""
    try:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(
            watched,
            lifespan="off",
            ws="none",
            log_config=None,
            http=ClosableConnection,
            timeout_keep_alive=3600,
        )
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        os._exit(0)
