"""Faults between the client and the service.

The injection is outside everything else: the request log notes what the service did, whatever the
client saw of it. A request that was dropped before it was carried out is noted with status 0.
"""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email.utils import format_datetime
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reconciler.emulator.endpoint import API_ROOT, PARTIAL
from reconciler.emulator.fault_rules import Fault, FaultRules
from reconciler.emulator.http_errors import RefusalError
from reconciler.emulator.reading import json_body
from reconciler.emulator.request_log import RequestRecord, remember_body, remember_fault
from reconciler.emulator.wire_models import Clock

CLOSE_EXTENSION = "reconciler.emulator.close"  # in the scope: {"close": a function}


class DroppedConnectionError(ConnectionError):
    """The emulator dropped the connection on purpose; raised if there is no network between."""


async def drop(scope: Scope, receive: Receive) -> None:
    """Close the connection of a request; without one, raise DroppedConnectionError."""
    extension = scope.get("extensions", {}).get(CLOSE_EXTENSION)
    if extension is None:
        raise DroppedConnectionError("the emulator dropped the connection")
    extension["close"]()
    while (await receive())["type"] != "http.disconnect":
        pass


_HTML = "<!DOCTYPE html><html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"
_BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
_DROPPED = 0  # the status of a request without an answer
_LONGEST_BODY = 16 * 2**20


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: MutableHeaders = field(default_factory=MutableHeaders)
    body: bytes = b""


class FaultInjection:
    """An ASGI application around the service."""

    def __init__(
        self, app: ASGIApp, *, rules: FaultRules, record: RequestRecord, clock: Clock
    ) -> None:
        self._app = app
        self._rules = rules
        self._record = record
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or inject the fault of its rule."""
        fault = None
        if scope["type"] == "http" and scope["path"].startswith(API_ROOT + "/"):
            fault = self._rules.fault_for(scope["method"], scope["path"].removeprefix(API_ROOT))
        if fault is None:
            await self._app(scope, receive, send)
            return
        remember_fault(scope, fault.model_dump(mode="json", by_alias=True, exclude_defaults=True))
        await asyncio.sleep(fault.delay)
        answer = await self._answer(fault, scope, receive)
        if fault.drop:
            await drop(scope, receive)
        else:
            await _send(self._altered(answer, fault), fault, (scope, receive, send))

    async def _answer(self, fault: Fault, scope: Scope, receive: Receive) -> _Answer:
        if fault.answers_alone:
            await _read_body(scope, receive)
            self._record.note(scope, _DROPPED if fault.drop else fault.status or _DROPPED)
            return _Answer(_DROPPED)
        if fault.partial:
            scope[PARTIAL] = fault.partial
        return await _captured(self._app, scope, receive)

    def _altered(self, answer: _Answer, fault: Fault) -> _Answer:
        """Change status, body and headers; the length is that of the whole body."""
        headers, body = MutableHeaders(raw=list(answer.headers.raw)), answer.body
        status = answer.status if fault.status is None else fault.status
        if fault.status is not None:
            headers["content-type"] = "application/json"
            body = b'{"code":%d,"message":"injected fault"}' % status
        if fault.html:
            headers["content-type"] = "text/html; charset=utf-8"
            body = _HTML.format(f"{status} {_phrase(status)}").encode()
        if fault.body is not None:
            body = fault.body.encode()
        if fault.content_type is not None:
            headers["content-type"] = fault.content_type
        headers.update(fault.headers)
        for value in self._retry_after(fault):
            headers.append("retry-after", value)
        if status in _BODILESS:
            body = b""
            del headers["content-length"]
        else:
            headers["content-length"] = str(len(body))
        return replace(answer, status=status, headers=headers, body=body)

    def _retry_after(self, fault: Fault) -> list[str]:
        values = [fault.retry_after] if isinstance(fault.retry_after, str) else fault.retry_after
        if fault.retry_after_date is None:
            return list(values)
        moment = self._clock() + timedelta(seconds=fault.retry_after_date)
        return [*values, format_datetime(moment, usegmt=True)]


async def _captured(app: ASGIApp, scope: Scope, receive: Receive) -> _Answer:
    """Return the answer of the service without sending it."""
    status, headers, body = 0, MutableHeaders(), b""

    async def hold(message: Message) -> None:
        nonlocal status, headers, body
        if message["type"] == "http.response.start":
            status, headers = message["status"], MutableHeaders(raw=list(message["headers"]))
        else:
            body += message.get("body", b"")

    await app(scope, receive, hold)
    return _Answer(status, headers, body)


async def _send(answer: _Answer, fault: Fault, connection: tuple[Scope, Receive, Send]) -> None:
    """Send an answer whole, in drops, or cut short."""
    scope, receive, send = connection
    body = answer.body if fault.truncate is None else answer.body[: fault.truncate]
    breaks_off = len(body) < len(answer.body) and fault.declared == "whole"
    if not breaks_off and "content-length" in answer.headers:
        answer.headers["content-length"] = str(len(body))
    start: Message = {"type": "http.response.start", "status": answer.status}
    await send({**start, "headers": answer.headers.raw})
    size, pause = (fault.drip.size, fault.drip.every) if fault.drip else (len(body) or 1, 0.0)
    for place in range(0, len(body), size):
        piece = body[place : place + size]
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(pause)
    if breaks_off:
        await drop(scope, receive)
    else:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _read_body(scope: Scope, receive: Receive) -> None:
    """Read the body of a request that is not carried out, for the log."""
    body = bytearray()
    try:
        async for part in Request(scope, receive).stream():
            body += part[: _LONGEST_BODY - len(body)]
        remember_body(scope, json_body(bytes(body)))
    except (ClientDisconnect, RefusalError):
        return


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else "Error"
