"""Faults: a file of rules, each with one fault, and what they do between client and service.

    {"seed": 7, "rules": [
        {"method": "POST", "path": "/v1/slo/*", "nth": 2, "fault": {"drop": "after"}},
        {"probability": 0.3, "fault": {"status": 503, "retryAfter": "2"}}
    ]}

The first rule that strikes decides. The injection is outside everything else: the request log
notes what the service did, whatever the client saw of it. A request that was dropped before it was
carried out is noted with status 0. Source: docs/emulator.md.
"""

import asyncio
import random
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from fnmatch import fnmatchcase
from http import HTTPStatus
from time import monotonic
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reconciler.emulator.database import API_ROOT, BODY, FAULT, RequestRecord
from reconciler.emulator.profile import SETTINGS
from reconciler.emulator.wire import Clock, RefusalError, json_body

Seconds = Annotated[float, Field(ge=0, le=3600)]


class _Settings(BaseModel):
    """A part of the file: names in lower camelCase, and no other names."""

    model_config = SETTINGS | {"frozen": True}


class Drip(_Settings):
    """Send the body in pieces with a pause after each."""

    # Bytes of each piece.
    size: int = Field(default=1, ge=1)
    # Seconds of each pause.
    every: Seconds = 0.1


class PartialBulk(_Settings):
    """Results of the items of endpoints 1 and 10, by their index in the request.

    An item in several lists is in several lists of the answer. It is carried out if it is in
    `replaced`, or in no list.
    """

    # Carried out, and listed as such; an item in no list is too.
    replaced: list[int] = Field(default_factory=list)
    # In `failedToReplaceAlertDefs`.
    failed: list[int] = Field(default_factory=list)
    # In `notFoundIds`.
    not_found: list[int] = Field(default_factory=list)
    # In `skippedIds`.
    skipped: list[int] = Field(default_factory=list)
    # Left out of the answer.
    missing: list[int] = Field(default_factory=list)
    # Ids that the answer adds to `skippedIds`.
    unsent: list[str] = Field(default_factory=list)

    def carries_out(self, index: int) -> bool:
        """Return whether an item is written."""
        named = (*self.failed, *self.not_found, *self.skipped, *self.missing)
        return index in self.replaced or index not in named


class Fault(_Settings):
    """One thing that goes wrong, or several at once."""

    # Seconds to wait before anything else happens.
    delay: Seconds = 0.0
    # Close the connection before the request is carried out, or after.
    drop: Literal["before", "after"] | None = None
    # Answer this status instead of carrying the request out.
    status: Annotated[int | None, Field(ge=200, le=599)] = None
    # Carry the request out all the same before answering `status`.
    commit: bool = False
    # Retry-After as it is; a list is sent twice.
    retry_after: str | list[str] = Field(default_factory=list)
    # Retry-After as a date so many seconds from now, negative in the past.
    retry_after_date: int | None = None
    # Further headers: a Location.
    headers: dict[str, str] = Field(default_factory=dict)
    # The body is this text.
    body: str | None = None
    # The body is a page of HTML.
    html: bool = False
    # The Content-Type says this.
    content_type: str | None = None
    # Only so many bytes of the body are sent.
    truncate: Annotated[int | None, Field(ge=0)] = None
    # The Content-Length of a truncated body: that of the cut, or of the whole.
    declared: Literal["cut", "whole"] = "cut"
    # Send the body in pieces.
    drip: Drip | None = None
    # A bulk request (endpoints 1 and 10) that works in part.
    partial: PartialBulk | None = None


class Rule(_Settings):
    """Which requests a fault strikes; a rule without conditions strikes all."""

    # GET, POST, PUT, or `*` for any.
    method: Literal["GET", "POST", "PUT", "*"] = "*"
    # Below the API root; `*` matches anything.
    path: str = "*"
    # Only the n-th request the rule fits, from 1.
    nth: int | list[int] = Field(default_factory=list)
    # Only by this chance.
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    # At most so often.
    times: Annotated[int | None, Field(ge=0)] = None
    # Only requests after the first so many of a second; requests that it strikes are not counted.
    above: Annotated[int | None, Field(ge=1)] = None
    # What goes wrong.
    fault: Fault


class Faults(_Settings):
    """All rules, and the seed of their chance."""

    # With the same seed, chance strikes the same requests.
    seed: int = 0
    # The first rule that strikes a request decides.
    rules: list[Rule] = Field(default_factory=list)


@dataclass
class _CountedRule:
    rule: Rule
    chance: random.Random
    struck: int = 0
    fitting: int = 0
    passed: deque[float] = field(default_factory=deque)

    def strikes(self, method: str, path: str) -> bool:
        rule = self.rule
        if rule.method not in ("*", method) or not fnmatchcase(path, rule.path):
            return False
        self.fitting += 1
        is_chosen = self.chance.random() < rule.probability
        nth = [rule.nth] if isinstance(rule.nth, int) else rule.nth
        is_counted = not nth or self.fitting in nth
        is_left = rule.times is None or self.struck < rule.times
        return is_chosen and is_counted and is_left and not self._is_allowed()

    def _is_allowed(self) -> bool:
        """Return whether a second may have one more request, and count the request then."""
        if self.rule.above is None:
            return False
        now = monotonic()
        while self.passed and self.passed[0] <= now - 1:
            self.passed.popleft()
        if len(self.passed) >= self.rule.above:
            return False
        self.passed.append(now)
        return True


CLOSE_EXTENSION = "reconciler.emulator.close"  # in the scope: {"close": a function}
PARTIAL = "reconciler.emulator.partial"  # in the scope: the PartialBulk of a fault, if any


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
_LONGEST_BODY = 16 * 2**20


@dataclass
class _Answer:
    status: int = 0  # of a request without an answer
    headers: MutableHeaders = field(default_factory=MutableHeaders)
    body: bytes = b""

    async def hold(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = MutableHeaders(raw=list(message["headers"]))
        else:
            self.body += message.get("body", b"")


class FaultInjection:
    """An ASGI application around the service; the same requests meet the same faults."""

    def __init__(
        self, app: ASGIApp, faults: Faults, *, record: RequestRecord, clock: Clock
    ) -> None:
        self._app = app
        self._rules = [
            _CountedRule(rule, random.Random(f"{faults.seed}:{number}"))  # noqa: S311 - faults, not secrets
            for number, rule in enumerate(faults.rules)
        ]
        self._record = record
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or inject the fault of its rule."""
        struck: list[_CountedRule] = []
        if scope["type"] == "http" and scope["path"].startswith(API_ROOT + "/"):
            path = scope["path"].removeprefix(API_ROOT)
            # All matching rules count the request.
            struck = [rule for rule in self._rules if rule.strikes(scope["method"], path)]
        if not struck:
            await self._app(scope, receive, send)
            return
        struck[0].struck += 1
        fault = struck[0].rule.fault
        scope[FAULT] = fault.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        await asyncio.sleep(fault.delay)
        answer = await self._answer(fault, scope, receive)
        if fault.drop:
            await drop(scope, receive)
        else:
            self._alter(answer, fault)
            await _send(answer, fault, (scope, receive, send))

    async def _answer(self, fault: Fault, scope: Scope, receive: Receive) -> _Answer:
        """Return the answer of the service without sending it; an empty one if it is not asked."""
        answer = _Answer()
        if fault.drop == "before" or (fault.status is not None and not fault.commit):
            await _read_body(scope, receive)
            self._record.note(scope, 0 if fault.drop else fault.status or 0)
        else:
            scope[PARTIAL] = fault.partial
            await self._app(scope, receive, answer.hold)
        return answer

    def _alter(self, answer: _Answer, fault: Fault) -> None:
        """Change status, body and headers; the length is that of the whole body."""
        headers = answer.headers
        if fault.status is not None:
            answer.status = fault.status
            headers["content-type"] = "application/json"
            answer.body = b'{"code":%d,"message":"injected fault"}' % fault.status
        if fault.html:
            known = answer.status in set(HTTPStatus)
            phrase = HTTPStatus(answer.status).phrase if known else "Error"
            headers["content-type"] = "text/html; charset=utf-8"
            answer.body = _HTML.format(f"{answer.status} {phrase}").encode()
        if fault.body is not None:
            answer.body = fault.body.encode()
        if fault.content_type is not None:
            headers["content-type"] = fault.content_type
        headers.update(fault.headers)
        for value in self._retry_after(fault):
            headers.append("retry-after", value)
        headers["content-length"] = str(len(answer.body))
        if answer.status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED):
            answer.body = b""
            del headers["content-length"]

    def _retry_after(self, fault: Fault) -> Iterator[str]:
        sent = fault.retry_after
        yield from [sent] if isinstance(sent, str) else sent
        if fault.retry_after_date is not None:
            moment = self._clock() + timedelta(seconds=fault.retry_after_date)
            yield format_datetime(moment, usegmt=True)


async def _send(answer: _Answer, fault: Fault, connection: tuple[Scope, Receive, Send]) -> None:
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
    with suppress(ClientDisconnect, RefusalError):
        async for part in Request(scope, receive).stream():
            body += part[: _LONGEST_BODY - len(body)]
        scope[BODY] = json_body(bytes(body))
