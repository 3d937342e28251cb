"""One attempt of a request, and how far it came."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field
from http import HTTPStatus

import httpx

from reconciler.api.call import Call
from reconciler.api.replies import (
    NotFound,
    Reply,
    make_reply,
    meaning_of_404,
    message_of,
    phrase,
    unreadable,
)
from reconciler.api.rules import Phase, phase_of_status
from reconciler.api.secret import Redaction
from reconciler.api.transport import MOST_CONNECTIONS, was_never_sent
from reconciler.api.unpacking import UnusableBodyError, unpacked
from reconciler.api.wire_words import describe
from reconciler.points import Point, reached
from reconciler.waits import Answering, Waits

LARGEST_REPLY = 16 << 20


@dataclass(frozen=True, slots=True)
class Attempt:
    """How far a request came: the answer, if there is one, and why it says nothing, if so."""

    phase: Phase
    reply: Reply | None = None
    why: str = ""

    @property
    def retry_after(self) -> str | None:
        """What the answer says of when to come again."""
        return self.reply.retry_after if self.reply is not None else None


@dataclass(slots=True)
class Exchange:
    """Open connections, at most 16 requests at once, each with a deadline of its own."""

    client: httpx.AsyncClient
    deadline: float
    redaction: Redaction
    waits: Waits = field(default_factory=Waits)
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_CONNECTIONS))

    async def attempt(self, call: Call) -> Attempt:
        """Send once, and read the answer to its end. Never raises for what the wire does."""
        try:
            async with self._gate, asyncio.timeout(self.deadline):
                with self.waits.on(Answering(call.method, call.path)):
                    reply = await self._exchange(call)
        except TimeoutError:
            return Attempt(Phase.LOST, why=f"no answer within {self.deadline:g} seconds")
        except UnusableBodyError as error:
            return Attempt(Phase.LOST, why=str(error))
        except httpx.InvalidURL:
            # The client reads where a redirect leads though it is not to follow it.
            why = "the answer is a redirect to something that is no address"
            return Attempt(Phase.LOST, why=why)
        except _wire_errors() as error:
            phase = Phase.NOT_SENT if was_never_sent(error) else Phase.LOST
            return Attempt(phase, why=self.redaction(describe(error)))
        return self._judged(reply, call)

    def _judged(self, reply: Reply, call: Call) -> Attempt:
        phase = _phase_of(reply)
        if phase is Phase.ANSWERED:
            return Attempt(phase, reply)
        if reply.ok:
            return Attempt(phase, reply, unreadable(reply, str(call), self.redaction))
        said = message_of(reply, self.redaction) or phrase(reply.status)
        why = f"answered {phrase(reply.status)}: {said}"
        return Attempt(phase, reply, f"rate limited ({said})" if phase is Phase.LIMITED else why)

    async def _exchange(self, call: Call) -> Reply:
        request = self.client.build_request(
            call.method,
            call.url,
            params=list(call.params) or None,
            json=None if call.method == "GET" else call.body,
        )
        reached(Point.BEFORE_SEND)
        response = await self.client.send(request, stream=True)
        reached(Point.SENT_NO_REPLY)
        try:
            assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - asked for one
            encoding = response.headers.get("content-encoding", "")
            content = await unpacked(response.stream, encoding, LARGEST_REPLY)
        finally:
            await response.aclose()
        reached(Point.REPLY_READ)
        return make_reply(response.status_code, content, response.headers)


def _phase_of(reply: Reply) -> Phase:
    phase = phase_of_status(reply.status)
    if phase is Phase.ANSWERED and reply.body.strip() and not reply.is_json:
        return Phase.LOST
    if reply.status == HTTPStatus.NOT_FOUND and meaning_of_404(reply) is NotFound.WRONG_ROUTE:
        return Phase.MISLED
    return phase


def _wire_errors() -> tuple[type[Exception], ...]:
    """Give the errors that mean the wire failed; aiohttp lets some of its own through."""
    aiohttp = sys.modules.get("aiohttp")
    own = (aiohttp.ClientError,) if aiohttp is not None else ()
    return (httpx.HTTPError, OSError, *own)
