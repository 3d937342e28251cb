"""Requests to the service: key, deadline, bounds, retries, status to error.

Nothing else in the program opens a connection to it. Source: failure-cases.md,
parts 3 and 6; api-facts.md, part 2.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Literal, Self, TypeVar

import httpx

from reconciler import __version__
from reconciler.api.replies import (
    LONGEST_MESSAGE,
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
from reconciler.api.secret import Redaction, Secret
from reconciler.api.transport import (
    MOST_CONNECTIONS,
    cannot_open,
    describe,
    make_transport,
    was_never_sent,
)
from reconciler.api.unpacking import ACCEPTED, UnusableBodyError, unpacked
from reconciler.assumptions import Assumptions
from reconciler.document import ABSENT, Json, Missing
from reconciler.errors import (
    NotAuthorised,
    OutcomeUnknown,
    ReconcilerError,
    Redirected,
    ServiceRefused,
    Unavailable,
    UnreadableReply,
    UsageError,
    WrongRoute,
)
from reconciler.points import Point, reached

PROBE = "/dataplans/policies/v1"
DEADLINE_SECONDS = 30.0
CONNECT_SECONDS = 10.0
LARGEST_REPLY = 16 << 20

Method = Literal["GET", "POST", "PUT"]
Parameters = Sequence[tuple[str, str]]
Failure = TypeVar("Failure", bound=ReconcilerError)


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
    """An open door. Use it with `async with`; it holds at most 16 requests at once.

    `redaction` covers secrets in whatever the service says in an error; the key
    is added to it.
    """

    base_url: str
    key: Secret
    authorization: Literal["raw", "bearer"] = "raw"
    transport: httpx.AsyncBaseTransport | None = None
    assumptions: Assumptions = field(default_factory=Assumptions)
    patience: Patience = field(default_factory=Patience)
    budget: RetryBudget = field(default_factory=RetryBudget)
    redaction: Redaction = field(default_factory=Redaction)
    _client: httpx.AsyncClient | None = None
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_CONNECTIONS))
    _route_proof: asyncio.Task[bool] | None = None

    async def __aenter__(self) -> Self:
        """Open the connections lazily: nothing is sent yet.

        Raises UsageError where the environment names a proxy or certificates
        that cannot be used.
        """
        self.redaction.add(self.key.reveal())
        prefix = "Bearer " if self.authorization == "bearer" else ""
        headers = {
            "Authorization": prefix + self.key.reveal(),
            "User-Agent": f"reconciler/{__version__}",
            "Accept": "application/json",
            "Accept-Encoding": ACCEPTED,
        }
        timeout = httpx.Timeout(
            self.patience.deadline,
            # Shorter, so that a host that does not answer is known not to have heard us.
            connect=min(CONNECT_SECONDS, self.patience.deadline / 2),
            pool=None,
        )
        try:
            self._client = httpx.AsyncClient(
                transport=self.transport or make_transport(self.base_url),
                headers=headers,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                follow_redirects=False,
                timeout=timeout,
            )
        except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
            raise UsageError(cannot_open(error)) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    def url(self, path: str) -> str:
        """Give the whole address of a path below `{api_root}`."""
        return self.base_url.rstrip("/") + self.assumptions.base_path + path

    async def read(self, path: str, params: Parameters = ()) -> Json | Missing:
        """GET a document; ABSENT where the service says it has none.

        Raises Unavailable, WrongRoute, NotAuthorised or ServiceRefused.
        """
        reply = await self._deliver("GET", path, params, None, repeatable=True)
        if reply.status == HTTPStatus.NOT_FOUND:
            await self._check_route(reply, path)
            return ABSENT
        return self._document(reply, "GET", path)

    async def ask(self, path: str, body: Json, params: Parameters = ()) -> Json:
        """POST a question that changes nothing (7, 8, 14, 18, 19), so it may be repeated."""
        return await self.send("POST", path, body, params=params, repeatable=True)

    async def probe(self, method: Method, path: str, params: Parameters, body: Json) -> Reply:
        """Ask once what changes nothing, and give the answer whatever it says.

        Raises Unavailable where there is none.
        """
        result = await self._attempt(method, path, params, body)
        if isinstance(result, Reply):
            return result
        if result.reply is not None:
            return result.reply
        raise Unavailable(f"{method} {self.url(path)}: {result.why}")

    async def send(
        self,
        method: Method,
        path: str,
        body: Json,
        *,
        repeatable: bool,
        params: Parameters = (),
        may_be_empty: bool = False,
    ) -> Json:
        """Send a write and give the answer's document, `{}` for an empty one where allowed.

        Raises OutcomeUnknown where a write that must not be repeated may have
        happened; ServiceRefused, NotAuthorised, Unavailable, Redirected or
        UnreadableReply else.
        """
        reply = await self._deliver(method, path, params, body, repeatable=repeatable)
        if reply.ok and may_be_empty and not reply.body.strip():
            return {}
        if reply.status == HTTPStatus.NOT_FOUND and meaning_of_404(reply) is NotFound.WRONG_ROUTE:
            raise _marked(self._wrong_route(path), doubtful=reply.doubtful)
        if reply.ok and not reply.is_json and not repeatable:
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
            f"to which {self.assumptions.base_path} is added"
        )

    def _document(self, reply: Reply, method: str, path: str) -> Json:
        if not reply.ok:
            said = self._said(reply) or phrase(reply.status)
            raise _marked(ServiceRefused(said, reply.status), doubtful=reply.doubtful)
        if not reply.is_json:
            raise UnreadableReply(self._unreadable(reply, method, path))
        return reply.document

    def _unreadable(self, reply: Reply, method: str, path: str) -> str:
        what = self.redaction(reply.content_type.partition(";")[0][:80]) or "no content type"
        size = f"{len(reply.body):,} bytes"
        return (
            f"{method} {self.url(path)} answered {phrase(reply.status)} with a body that is "
            f"not JSON ({what}, {size})"
        )

    async def _deliver(
        self, method: Method, path: str, params: Parameters, body: Json, *, repeatable: bool
    ) -> Reply:
        """Try until there is an answer that says something, or no attempt is left."""
        attempt, waited, spent, doubtful = 1, 0.0, 0, False
        while True:
            result = await self._attempt(method, path, params, body)
            if isinstance(result, Reply):
                self.budget.succeed(spent)
                return self._checked(replace(result, doubtful=doubtful), method, path)
            doubtful |= result.sent and not result.limited
            if doubtful and not repeatable:
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
                failure = self._failure(result, step, f"{method} {self.url(path)}")
                raise _marked(failure, doubtful=doubtful)
            await self.patience.sleep(step.seconds)
            attempt, waited, spent = attempt + 1, waited + step.seconds, spent + cost

    def _failure(self, lost: _Lost, step: GiveUp, request: str) -> Unavailable:
        said = f"{request}: {lost.why} ({step.why})"
        if lost.reply is not None and lost.reply.ok:
            return UnreadableReply(said)
        return Unavailable(said)

    def _checked(self, reply: Reply, method: str, path: str) -> Reply:
        if reply.ok:
            return reply
        said = self._said(reply)
        words = phrase(reply.status) + (f": {said}" if said else "")
        if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
            where = self.redaction(reply.location)[:LONGEST_MESSAGE] or "nowhere"
            said = (
                f"{method} {self.url(path)} answered {phrase(reply.status)} to {where}; redirects "
                "are never followed, as the key would go along: correct the base URL"
            )
            raise _marked(Redirected(said), doubtful=reply.doubtful)
        if reply.status == HTTPStatus.UNAUTHORIZED:
            said = f"the service does not accept the API key ({words})"
            raise _marked(NotAuthorised(said), doubtful=reply.doubtful)
        if reply.status == HTTPStatus.FORBIDDEN:
            said = f"the API key lacks a permission for {method} {path} ({words})"
            raise _marked(NotAuthorised(said), doubtful=reply.doubtful)
        if reply.status == HTTPStatus.NOT_IMPLEMENTED:
            raise _marked(self._wrong_route(path), doubtful=reply.doubtful)
        return reply

    async def _attempt(
        self, method: Method, path: str, params: Parameters, body: Json
    ) -> Reply | _Lost:
        try:
            async with self._gate, asyncio.timeout(self.patience.deadline):
                reply = await self._exchange(method, path, params, body)
        except TimeoutError:
            return _Lost(f"no answer within {self.patience.deadline:g} seconds", sent=True)
        except UnusableBodyError as error:
            return _Lost(str(error), sent=True)
        except _wire_errors() as error:
            said = self.redaction(describe(error))
            return _Lost(said, sent=not was_never_sent(error))
        return self._lost(reply, method, path) or reply

    def _said(self, reply: Reply) -> str:
        """Give what the service said; without the key, should it repeat that."""
        return message_of(reply, self.redaction)

    def _lost(self, reply: Reply, method: str, path: str) -> _Lost | None:
        """Tell an answer that says nothing about the outcome; None for one that does."""
        if reply.ok and reply.is_json:
            return None
        said = self._said(reply) or phrase(reply.status)
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
        reached(Point.BEFORE_SEND)
        response = await self._client.send(request, stream=True)
        reached(Point.SENT_NO_REPLY)
        try:
            assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - asked for one
            encoding = response.headers.get("content-encoding", "")
            content = await unpacked(response.stream, encoding, LARGEST_REPLY)
        finally:
            await response.aclose()
        reached(Point.REPLY_READ)
        return make_reply(response.status_code, content, response.headers)


def _marked(error: Failure, *, doubtful: bool) -> Failure:
    """Note on an error whether an earlier attempt may have been carried out."""
    error.doubtful |= doubtful
    return error


def _wire_errors() -> tuple[type[Exception], ...]:
    """Give the errors that mean the wire failed; aiohttp lets some of its own through."""
    import sys  # noqa: PLC0415 - only to see whether aiohttp is loaded

    aiohttp = sys.modules.get("aiohttp")
    own = (aiohttp.ClientError,) if aiohttp is not None else ()
    return (httpx.HTTPError, OSError, *own)
