"""Requests to the service: key, deadline, limits, retries, and the error of each status.

An answer that ends a run is reported with the setting that may be wrong. Source: docs/network.md.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Self, TypeVar

import httpx

from reconciler import errors
from reconciler.api import replies, retry
from reconciler.api.secret import Redaction, Secret
from reconciler.api.wire import Attempt, Authorization, Exchange, Pace, open_client
from reconciler.document import ABSENT, Json, Missing
from reconciler.model.assumptions import POLICIES, Assumptions
from reconciler.runtime.connection import steps_in
from reconciler.runtime.progress import AskedAgain, Waits

_Failure = TypeVar("_Failure", bound=errors.ReconcilerError)
USUAL_PATH = Assumptions().base_path


def leads_elsewhere(reply: replies.Reply) -> bool:
    """Return whether an answer does not come from the API: a redirect, a page, an unknown route."""
    if reply.ok:
        return not reply.is_json and replies.is_page(reply)
    if reply.status == HTTPStatus.NOT_FOUND:
        return replies.meaning_of_404(reply) is replies.NotFound.WRONG_ROUTE
    redirect = HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST
    return redirect or reply.status == HTTPStatus.NOT_IMPLEMENTED


def marked(error: _Failure, *, doubtful: bool) -> _Failure:
    """Mark an error if an earlier attempt may have been carried out, and return it."""
    error.doubtful |= doubtful
    return error


DEADLINE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Timing:
    """Time and randomness, passed in so that tests control them. `clock` never goes back."""

    deadline: float = DEADLINE_SECONDS
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class Api:
    """A client of the API. Use it with `async with`; `assumptions` limits its concurrent requests.

    The key is bound to the base URL: no request to another origin carries it. `redaction` covers
    secrets in error messages of the service; the key is added to it. `waits` records what the
    client waits for, and `sent` counts its requests.
    """

    base_url: str
    key: Secret
    authorization: Authorization = "raw"
    transport: httpx.AsyncBaseTransport | None = None
    assumptions: Assumptions = field(default_factory=Assumptions)
    patience: Timing = field(default_factory=Timing)
    budget: retry.RetryBudget = field(default_factory=retry.RetryBudget)
    redaction: Redaction = field(default_factory=Redaction)
    waits: Waits = field(default_factory=Waits)
    sent: int = 0
    _exchange: Exchange | None = None
    _route_proof: asyncio.Task[bool] | None = None
    _reported: tuple[str, datetime] | None = None

    async def __aenter__(self) -> Self:
        """Prepare the connections: nothing is sent yet.

        Raises UsageError where the environment names a proxy or certificates that cannot be used.
        """
        self.redaction.add(self.key.reveal())
        deadline, most = self.patience.deadline, self.assumptions.requests_at_once
        client = open_client(
            self.base_url, self.key, self.authorization, self.transport, deadline, most=most
        )
        self._exchange = Exchange(
            client, deadline, self.redaction, self.waits, Pace(most), self.patience.clock
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        if self._exchange is not None:
            await self._exchange.client.aclose()

    def url(self, path: str) -> str:
        """Return the whole URL of a path below `{api_root}`.

        Raises InvalidInput for a path that would lead to another place than it names.
        """
        for part in steps_in(path):
            raise errors.InvalidInput(
                f"{path}: `{part}` cannot be a part of an address, so nothing is asked"
            )
        return self.base_url.rstrip("/") + self.assumptions.base_path + path

    def hint(self, reply: replies.Reply) -> str:
        """Return what to change for an answer that a setting may cause; "" for any other."""
        if reply.status == HTTPStatus.UNAUTHORIZED:
            return self._key_hint
        return self.path_hint if leads_elsewhere(reply) else ""

    @property
    def path_hint(self) -> str:
        """Return what to check where an address is not that of the API."""
        if self.assumptions.base_path != USUAL_PATH:
            added = self.assumptions.base_path or "nothing"
            return f"check the base URL, to which {added} is added, as `api.basePath` says"
        return (
            f"check the base URL, to which {USUAL_PATH} is added, and `api.basePath`: "
            "some services have this API under a version number, as /mgmt/openapi/3"
        )

    @property
    def _key_hint(self) -> str:
        sent, wanted, other = "as it is", "`Bearer KEY`", "bearer"
        if self.authorization == "bearer":
            sent, wanted, other = "as `Bearer KEY`", "it as it is", "raw"
        return (
            f"the key went {sent}; where the service wants {wanted}, "
            f"set `authorization: {other}` in reconciler.yaml"
        )

    async def read(
        self, path: str, params: retry.Parameters = (), *, assumed: bool = False
    ) -> Json | Missing:
        """Read a document with GET; return ABSENT where the service says it has none.

        For a path that is only `assumed` from the project file, a working API does not prove that
        a 404 means absence. Raises Unavailable, WrongRoute, UnclearAbsence, NotAuthorised or
        ServiceRefused.
        """
        call = retry.Call(retry.Request.READ, "GET", self.url(path), path, params)
        reads = replies.READS.get()
        reply = None if reads is None or params else reads.fetched.pop(path, None)
        if reply is None:
            reply = await self._deliver(call)
        if reads is not None:
            reads.note(path, reply, plain=not (params or assumed))
        if reply.status == HTTPStatus.NOT_FOUND:
            if assumed and replies.meaning_of_404(reply) is replies.NotFound.UNCLEAR:
                raise errors.UnclearAbsence(
                    f"{call} answered {replies.phrase(reply.status)} and does not say why"
                )
            await self._check_route(reply, call)
            return ABSENT
        return self._document(reply, call)

    async def is_unchanged(self, made: Iterable[tuple[str, str, str]]) -> bool:
        """Repeat the reads of an earlier run, and return whether all answers are the same.

        An answer that differs is kept for the next read of its path. Raises as `read` does where an
        answer is not usable.
        """
        for path, known, etag in made:
            named = etag if self.assumptions.conditional_reads else ""
            call = retry.Call(
                retry.Request.READ, "GET", self.url(path), path, known=known, etag=named
            )
            reply = await self._deliver(call)
            if reply.status == HTTPStatus.NOT_MODIFIED and not reply.same:
                # The reply names another document than the one asked about, so it proves nothing.
                reply = await self._deliver(replace(call, etag=""))
            if not reply.same:
                reads = replies.READS.get()
                if reads is not None:
                    reads.fetched[path] = reply
                return False
        return True

    async def ask(self, path: str, body: Json, params: retry.Parameters = ()) -> Json:
        """Send a POST that changes nothing, so it may be repeated (endpoints 7, 8, 14, 18, 19)."""
        return await self.send("POST", path, body, request=retry.Request.READ, params=params)

    async def probe(
        self, method: retry.Method, path: str, params: retry.Parameters, body: Json
    ) -> replies.Reply:
        """Send a request that changes nothing once, and return any answer.

        Raises Unavailable where there is none.
        """
        call = retry.Call(retry.Request.READ, method, self.url(path), path, params, body)
        attempt = await self._attempt(call)
        if attempt.reply is None or attempt.phase is retry.Phase.LIMITED:
            raise errors.Unavailable(f"{call}: {attempt.why}")
        return attempt.reply

    async def send(
        self,
        method: retry.Method,
        path: str,
        body: Json,
        *,
        request: retry.Request,
        params: retry.Parameters = (),
        may_be_empty: bool = False,
    ) -> Json:
        """Send a write and return the answer's document, `{}` for an empty answer where allowed.

        Raises OutcomeUnknown where a write that must not be repeated may have been carried out;
        otherwise ServiceRefused, NotAuthorised, Unavailable, Redirected or UnreadableReply.
        """
        call = retry.Call(request, method, self.url(path), path, params, body)
        reply = await self._deliver(call)
        if request is retry.Request.READ and reply.status == HTTPStatus.NOT_FOUND:
            await self._check_route(reply, call)
        if reply.ok and reply.is_whole and may_be_empty and not reply.body.strip():
            return {}
        if reply.ok and not reply.is_readable and not call.may_be_repeated:
            raise errors.OutcomeUnknown(replies.unreadable(reply, str(call), self.redaction))
        return self._document(reply, call)

    async def prove(self) -> str:
        """Check with one cheap read (endpoint 15) that the target answers and accepts the key.

        Return "", or the service's message where the key may not list policies. Raises Unavailable,
        WrongRoute, UnreadableReply or NotAuthorised.
        """
        call = self._proof()
        try:
            reply = await self._deliver(call)
            if reply.status == HTTPStatus.NOT_FOUND:
                raise self._wrong_route(call)
            self._document(reply, call)
        except errors.NotAuthorised as refused:
            if not refused.known:
                raise
            return str(refused)
        except errors.ServiceRefused as refused:
            return str(refused)
        return ""

    def _proof(self) -> retry.Call:
        """Return the cheap read that proves the target: the list that every deployment has."""
        params = self.assumptions.parameter("sourceType", "SOURCE_TYPE_LOGS")
        return retry.Call(retry.Request.READ, "GET", self.url(POLICIES), POLICIES, params)

    async def _check_route(self, reply: replies.Reply, call: retry.Call) -> None:
        """Raise WrongRoute where a 404 without a message does not come from the API."""
        if replies.meaning_of_404(reply) is replies.NotFound.UNCLEAR:
            if self._route_proof is None:
                self._route_proof = asyncio.ensure_future(self._prove_route())
            if not await self._route_proof:
                raise self._wrong_route(call)

    async def _prove_route(self) -> bool:
        """Read endpoint 15 once: any answer of the API itself proves the base URL."""
        try:
            reply = await self._deliver(self._proof())
        except errors.NotAuthorised:
            return True
        except errors.WrongRoute:
            return False
        # A refusal in JSON comes from the API; a 404 of that list comes from a wrong path.
        return reply.ok or (reply.is_json and reply.status != HTTPStatus.NOT_FOUND)

    def _document(self, reply: replies.Reply, call: retry.Call) -> Json:
        if not reply.ok:
            message = replies.message_of(reply, self.redaction) or replies.phrase(reply.status)
            raise marked(errors.ServiceRefused(message, reply.status), doubtful=reply.doubtful)
        if not reply.is_readable:
            raise errors.UnreadableReply(replies.unreadable(reply, str(call), self.redaction))
        return reply.document

    async def _deliver(self, call: retry.Call) -> replies.Reply:
        """Send a request as the retry rules say, until there is a usable answer."""
        number, spent, doubtful = 1, 0, False
        while True:
            attempt = await self._attempt(call)
            doubtful |= attempt.phase is retry.Phase.LOST
            match call.after(attempt.phase):
                case retry.NextStep.TAKE | retry.NextStep.REFUSE:
                    self.budget.succeed(spent)
                    return replace(_answer(attempt), doubtful=doubtful)
                case retry.NextStep.STOP:
                    self.budget.succeed(spent)
                    error = self._stopping(call, _answer(attempt))
                    raise marked(error, doubtful=doubtful)
                case retry.NextStep.RESOLVE | retry.NextStep.LEAVE:
                    raise errors.OutcomeUnknown(f"{call}: {attempt.why}")
                case retry.NextStep.RETRY:
                    spent += await self._waited(call, attempt, number, doubtful=doubtful)
                    number += 1

    async def _waited(
        self, call: retry.Call, attempt: Attempt, number: int, *, doubtful: bool
    ) -> int:
        """Pay for the next attempt and wait for it; return its cost.

        Raises Unavailable where no attempt is left.
        """
        reply, limited = attempt.reply, attempt.phase is retry.Phase.LIMITED
        cost = retry.LIMITED_RETRY_COST if limited else retry.RETRY_COST
        header = reply.retry_after if reply is not None else None
        seconds = retry.next_step(
            number,
            limited=limited,
            retry_after=retry.retry_after_seconds(header, self.patience.now()),
            random=self.patience.random,
        )
        if not isinstance(seconds, retry.GiveUp):
            seconds = self.budget.pay(seconds, cost, self.patience.clock())
        if isinstance(seconds, retry.GiveUp):
            raise marked(self._gave_up(call, attempt, seconds), doubtful=doubtful)
        until = self.waits.clock() + seconds
        status = reply.status if reply is not None else None
        asked_again = AskedAgain(call.method, call.path, until, status, attempt.why)
        # A rate limit holds back new requests too.
        held_back = self._opened.pace.closed() if limited else nullcontext()
        with self.waits.on(asked_again), held_back:
            await self.patience.sleep(seconds)
        return cost

    @property
    def _opened(self) -> Exchange:
        if self._exchange is None:
            raise RuntimeError("the Api is not open: use `async with`")
        return self._exchange

    async def _attempt(self, call: retry.Call) -> Attempt:
        opened = self._opened
        self.sent += 1
        attempt = await opened.attempt(call)
        if attempt.reply is not None and attempt.reply.date:
            self._reported = attempt.reply.date, self.patience.now()
        return attempt

    def _gave_up(
        self, call: retry.Call, attempt: Attempt, step: retry.GiveUp
    ) -> errors.Unavailable:
        """Return the error for a last attempt that failed, with the reason."""
        message = f"{call}: {attempt.why} ({step.why})"
        if attempt.reply is None or not attempt.reply.ok:
            return errors.Unavailable(message)
        hint = self.hint(attempt.reply)
        return errors.UnreadableReply(message + (f"; {hint}" if hint else ""))

    def _stopping(self, call: retry.Call, reply: replies.Reply) -> errors.ReconcilerError:
        """Return the error for an answer that ends the run: a refused key, or another service."""
        message = replies.message_of(reply, self.redaction)
        words = replies.phrase(reply.status) + (f": {message}" if message else "")
        if reply.status == HTTPStatus.UNAUTHORIZED:
            message = f"the service does not accept the API key ({words}); {self.hint(reply)}"
            return errors.NotAuthorised(message)
        if reply.status == HTTPStatus.FORBIDDEN:
            message = f"the API key lacks a permission for {call.method} {call.path} ({words})"
            return errors.NotAuthorised(message, known=True)
        if reply.status == HTTPStatus.NOT_MODIFIED:
            return errors.Redirected(
                f"{call} answered {words}, and nothing was asked that this answers: look for a "
                "cache between here and the service"
            )
        if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
            where = self.redaction(reply.location)[: replies.LONGEST_MESSAGE] or "nowhere"
            return errors.Redirected(
                f"{call} answered {replies.phrase(reply.status)} to {where}; redirects are never "
                f"followed, as the key would go along: {self.path_hint}"
            )
        return self._wrong_route(call)

    def _wrong_route(self, call: retry.Call) -> errors.WrongRoute:
        """Return the error for an address that answers, and is not the API."""
        message = f"{call.url} is not a path of the management API: {self.path_hint}"
        return errors.WrongRoute(message)

    @property
    def clock_difference(self) -> float | None:
        """Return by how many seconds the service's clock is ahead, None where it sent no time."""
        return None if self._reported is None else retry.seconds_between(*self._reported)


def _answer(attempt: Attempt) -> replies.Reply:
    assert attempt.reply is not None  # noqa: S101 - the caller has judged this answer
    return attempt.reply
