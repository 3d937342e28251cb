"""Requests to the service: key, deadline, bounds, retries, status to error.

Nothing else in the program opens a connection to it. Source: failure-cases.md,
parts 3 and 6; api-facts.md, part 2.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Literal, Self

import httpx

from reconciler import __version__
from reconciler.api.replies import (
    NotFound,
    Reply,
    make_reply,
    meaning_of_404,
    message_of,
    phrase,
)
from reconciler.api.retrying import (
    LIMITED,
    LIMITED_RETRY_COST,
    LOST_STATUSES,
    RETRY_COST,
    GiveUp,
    RetryBudget,
    next_step,
    retry_after_seconds,
)
from reconciler.api.secret import Secret
from reconciler.api.transport import MOST_CONNECTIONS, describe, make_transport, was_never_sent
from reconciler.document import ABSENT, Json, Missing
from reconciler.errors import (
    NotAuthorised,
    OutcomeUnknown,
    Redirected,
    ServiceRefused,
    Unavailable,
    UnreadableReply,
    WrongRoute,
)

API_ROOT = "/mgmt/openapi/latest"
PROBE = "/dataplans/policies/v1"
DEADLINE_SECONDS = 30.0
LARGEST_REPLY = 16 << 20

Method = Literal["GET", "POST", "PUT"]
Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Patience:
    """Time and chance, handed in so that tests hold them."""

    deadline: float = DEADLINE_SECONDS
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Lost:
    """An attempt that gave no answer, or one that says nothing about the outcome."""

    why: str
    sent: bool
    limited: bool = False
    retry_after: str | None = None
    reply: Reply | None = None


@dataclass(slots=True)
class Api:
    """An open door. Use it with `async with`; it holds at most 16 requests at once."""

    base_url: str
    key: Secret
    authorization: Literal["raw", "bearer"] = "raw"
    transport: httpx.AsyncBaseTransport | None = None
    patience: Patience = field(default_factory=Patience)
    budget: RetryBudget = field(default_factory=RetryBudget)
    _client: httpx.AsyncClient | None = None
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_CONNECTIONS))
    _route_proof: asyncio.Task[bool] | None = None

    async def __aenter__(self) -> Self:
        """Open the connections lazily: nothing is sent yet."""
        prefix = "Bearer " if self.authorization == "bearer" else ""
        self._client = httpx.AsyncClient(
            transport=self.transport or make_transport(self.base_url),
            headers={
                "Authorization": prefix + self.key.reveal(),
                "User-Agent": f"reconciler/{__version__}",
                "Accept": "application/json",
            },
            follow_redirects=False,
            timeout=httpx.Timeout(self.patience.deadline, pool=None),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    def url(self, path: str) -> str:
        """Give the whole address of a path below `{api_root}`."""
        return self.base_url.rstrip("/") + API_ROOT + path

    async def read(self, path: str, params: Parameters = ()) -> Json | Missing:
        """GET a document; ABSENT where the service says it has none.

        Raises Unavailable, WrongRoute, NotAuthorised or ServiceRefused.
        """
        reply = await self._deliver("GET", path, params, None, repeatable=True)
        if reply.status == HTTPStatus.NOT_FOUND:
            await self._check_route(reply, path)
            return ABSENT
        return self._document(reply, "GET", path)

    async def ask(self, path: str, body: Json) -> Json:
        """POST a question that changes nothing (7, 8, 14, 18, 19), so it may be repeated."""
        return await self.send("POST", path, body, repeatable=True)

    async def send(
        self, method: Method, path: str, body: Json, *, repeatable: bool, may_be_empty: bool = False
    ) -> Json:
        """Send a write and give the answer's document, `{}` for an empty one where allowed.

        Raises OutcomeUnknown where a write that must not be repeated may have
        happened; ServiceRefused, NotAuthorised, Unavailable, Redirected or
        UnreadableReply else.
        """
        reply = await self._deliver(method, path, (), body, repeatable=repeatable)
        if reply.ok and may_be_empty and not reply.body.strip():
            return {}
        if reply.status == HTTPStatus.NOT_FOUND and meaning_of_404(reply) is NotFound.WRONG_ROUTE:
            raise self._wrong_route(path)
        if not reply.ok:
            raise ServiceRefused(message_of(reply) or phrase(reply.status), reply.status)
        if not reply.is_json and not repeatable:
            raise OutcomeUnknown(self._unreadable(reply, method, path))
        return self._document(reply, method, path)

    async def _check_route(self, reply: Reply, path: str) -> None:
        meaning = meaning_of_404(reply)
        if meaning is NotFound.UNCLEAR:
            if self._route_proof is None:
                self._route_proof = asyncio.ensure_future(self._prove_route())
            meaning = NotFound.ABSENT if await self._route_proof else NotFound.WRONG_ROUTE
        if meaning is NotFound.WRONG_ROUTE:
            raise self._wrong_route(path)

    async def _prove_route(self) -> bool:
        """Ask endpoint 15 once: any answer of the API itself proves the base URL."""
        try:
            reply = await self._deliver("GET", PROBE, (), None, repeatable=True)
        except NotAuthorised:
            return True
        return reply.ok

    def _wrong_route(self, path: str) -> WrongRoute:
        return WrongRoute(
            f"{self.url(path)} is not a path of the management API: check the base URL, "
            f"to which {API_ROOT} is added"
        )

    def _document(self, reply: Reply, method: str, path: str) -> Json:
        if not reply.ok:
            raise ServiceRefused(message_of(reply) or phrase(reply.status), reply.status)
        if not reply.is_json:
            raise UnreadableReply(self._unreadable(reply, method, path))
        return reply.document

    def _unreadable(self, reply: Reply, method: str, path: str) -> str:
        what = reply.content_type.partition(";")[0] or "no content type"
        size = f"{len(reply.body):,} bytes"
        return (
            f"{method} {self.url(path)} answered {phrase(reply.status)} with a body that is "
            f"not JSON ({what}, {size})"
        )

    async def _deliver(
        self, method: Method, path: str, params: Parameters, body: Json, *, repeatable: bool
    ) -> Reply:
        """Try until there is an answer that says something, or no attempt is left."""
        attempt, waited, spent = 1, 0.0, 0
        while True:
            result = await self._attempt(method, path, params, body)
            if isinstance(result, Reply):
                self.budget.succeed(spent)
                return self._checked(result, method, path)
            if result.sent and not result.limited and not repeatable:
                raise OutcomeUnknown(f"{method} {self.url(path)}: {result.why}")
            after = retry_after_seconds(result.retry_after, self.patience.now())
            step = next_step(
                attempt,
                limited=result.limited,
                retry_after=after,
                waited=waited,
                random=self.patience.random,
            )
            cost = LIMITED_RETRY_COST if result.limited else RETRY_COST
            if not isinstance(step, GiveUp) and not self.budget.take(cost):
                step = GiveUp("too many requests of this run failed to try this one again")
            if isinstance(step, GiveUp):
                raise self._failure(result, step, f"{method} {self.url(path)}")
            await self.patience.sleep(step.seconds)
            attempt, waited, spent = attempt + 1, waited + step.seconds, spent + cost

    def _failure(self, lost: _Lost, step: GiveUp, request: str) -> Unavailable:
        said = f"{request}: {lost.why} ({step.why})"
        if lost.reply is not None and lost.reply.ok:
            return UnreadableReply(said)
        return Unavailable(said)

    def _checked(self, reply: Reply, method: str, path: str) -> Reply:
        said = message_of(reply)
        words = phrase(reply.status) + (f": {said}" if said else "")
        if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
            where = reply.location or "nowhere"
            raise Redirected(
                f"{method} {self.url(path)} answered {phrase(reply.status)} to {where}; redirects "
                "are never followed, as the key would go along: correct the base URL"
            )
        if reply.status == HTTPStatus.UNAUTHORIZED:
            raise NotAuthorised(f"the service does not accept the API key ({words})")
        if reply.status == HTTPStatus.FORBIDDEN:
            raise NotAuthorised(f"the API key lacks a permission for {method} {path} ({words})")
        if reply.status == HTTPStatus.NOT_IMPLEMENTED:
            raise self._wrong_route(path)
        return reply

    async def _attempt(
        self, method: Method, path: str, params: Parameters, body: Json
    ) -> Reply | _Lost:
        try:
            async with self._gate, asyncio.timeout(self.patience.deadline):
                reply = await self._exchange(method, path, params, body)
        except TimeoutError:
            return _Lost(f"no answer within {self.patience.deadline:g} seconds", sent=True)
        except _TooLarge:
            return _Lost(f"the answer is larger than {LARGEST_REPLY >> 20} MB", sent=True)
        except _wire_errors() as error:
            return _Lost(describe(error), sent=not was_never_sent(error))
        return self._lost(reply, method, path) or reply

    def _lost(self, reply: Reply, method: str, path: str) -> _Lost | None:
        """Tell an answer that says nothing about the outcome; None for one that does."""
        said = message_of(reply) or phrase(reply.status)
        if reply.status == LIMITED:
            why = f"rate limited ({said})"
            return _Lost(why, sent=True, limited=True, retry_after=reply.retry_after)
        if reply.status in LOST_STATUSES:
            why = f"answered {phrase(reply.status)}: {said}"
            return _Lost(why, sent=True, retry_after=reply.retry_after, reply=reply)
        if reply.ok and reply.body.strip() and not reply.is_json:
            return _Lost(self._unreadable(reply, method, path), sent=True, reply=reply)
        return None

    async def _exchange(self, method: Method, path: str, params: Parameters, body: Json) -> Reply:
        if self._client is None:
            raise RuntimeError("the Api is not open: use `async with`")
        request = self._client.build_request(
            method,
            self.url(path),
            params=list(params) or None,
            json=None if method == "GET" else body,
        )
        response = await self._client.send(request, stream=True)
        try:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > LARGEST_REPLY:
                    raise _TooLarge
        finally:
            await response.aclose()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return make_reply(response.status_code, bytes(content), headers)


class _TooLarge(Exception):
    """More than a reply may hold, counted after decompression."""


def _wire_errors() -> tuple[type[Exception], ...]:
    """Give the errors that mean the wire failed; aiohttp lets some of its own through."""
    import sys  # noqa: PLC0415 - only to see whether aiohttp is loaded

    aiohttp = sys.modules.get("aiohttp")
    own = (aiohttp.ClientError,) if aiohttp is not None else ()
    return (httpx.HTTPError, OSError, *own)
