"""Sending of requests, and how far each came: connections, TLS, proxies, limits.

As many requests are open as the service can handle, never more than the maximum. Source:
docs/network.md.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import sys
import zlib
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Literal

import httpx

from reconciler import __version__
from reconciler.api import replies
from reconciler.api.retry import Call, Method, Phase, phase_of_status
from reconciler.api.secret import Redaction, Secret
from reconciler.errors import UsageError
from reconciler.model.assumptions import REQUESTS_AT_ONCE
from reconciler.runtime.connection import is_loopback
from reconciler.runtime.failpoints import Point, reached
from reconciler.runtime.progress import Answering, Waits

if TYPE_CHECKING:
    import aiohttp


SLOW_SECONDS = 1.0
"""Answers faster than this are never slow, even if others were much faster."""

SLOWER = 2.0
"""A round of answers that is slower than the fastest round by this factor shows an overload."""

_AFTER_SLOWNESS = 0.75
_AFTER_REFUSAL = 0.5


@dataclass(slots=True)
class _Round:
    """The answers to one method since its last evaluation, and its fastest round."""

    fastest: float = float("inf")
    seconds: float = 0.0
    answers: int = 0


@dataclass(slots=True)
class Pace:
    """A gate that learns how many requests may be open.

    A round has as many answers as there may be open requests. After a round that was not slow, the
    limit grows by one; after a slow round, it shrinks by a quarter. A 429, a lost answer and a
    status of `LOST_STATUSES` halve it, once for all requests that are open then. `closed` lets no
    request through.
    """

    most: int = REQUESTS_AT_ONCE
    _width: float = field(init=False)
    _open: int = 0
    _number: int = 0
    _narrowed_at: int = 0
    _closing: int = 0
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    _rounds: dict[Method, _Round] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the default width, or the maximum if it is less."""
        self._width = float(min(REQUESTS_AT_ONCE, self.most))

    @property
    def width(self) -> int:
        """Return how many requests may be open now."""
        return int(self._width)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait for a place among the open requests, first come, first served, and hold it.

        Yields the number of the request.
        """
        if not self._has_room or self._waiting:
            await self._turn()
        else:
            self._open += 1
        self._number += 1
        number = self._number
        try:
            yield number
        finally:
            self._open -= 1
            self._admit()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Hold back new requests meanwhile, as the service reported too many."""
        self._closing += 1
        try:
            yield
        finally:
            self._closing -= 1
            self._admit()

    def learn(self, number: int, method: Method, phase: Phase, seconds: float) -> None:
        """Learn from one attempt, by how far it came and how long that took."""
        if phase in (Phase.LIMITED, Phase.LOST):
            # Requests from before the last narrowing were sent at the old width.
            if number > self._narrowed_at:
                self._narrow(_AFTER_REFUSAL)
            return
        if phase is Phase.NOT_SENT:
            return
        found = self._rounds.setdefault(method, _Round())
        found.seconds += seconds
        found.answers += 1
        if found.answers >= self.width:
            self._judge(found)

    def _judge(self, found: _Round) -> None:
        mean = found.seconds / found.answers
        if mean > SLOW_SECONDS and mean > SLOWER * found.fastest:
            self._narrow(_AFTER_SLOWNESS)
        else:
            self._width = min(self._width + 1, float(self.most))
            self._admit()
        found.fastest = min(found.fastest, mean)
        found.seconds, found.answers = 0.0, 0

    def _narrow(self, part: float) -> None:
        self._width = max(self._width * part, 1.0)
        self._narrowed_at = self._number

    @property
    def _has_room(self) -> bool:
        return not self._closing and self._open < self.width

    async def _turn(self) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                # The place was assigned at the moment when the waiting task was cancelled.
                self._open -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        """Assign free places to waiting tasks; a place counts as taken from then on."""
        while self._waiting and self._has_room:
            place = self._waiting.popleft()
            if not place.done():
                self._open += 1
                place.set_result(None)


# The first match is used, so particular hints come before general ones.
_HINTS: tuple[tuple[str, str], ...] = (
    ("certificate has expired", "the certificate, or the clock of this machine, is out of date"),
    ("not yet valid", "the certificate, or the clock of this machine, is out of date"),
    ("is not valid for", "the certificate is for another host than the base URL names"),
    ("hostname mismatch", "the certificate is for another host than the base URL names"),
    ("certificate", "for a private CA, set SSL_CERT_FILE"),
    ("name or service not known", "is the host name right?"),
    ("nodename", "is the host name right?"),
    ("temporary failure in name resolution", "does this machine reach a name server?"),
    ("ssl:", "does the other side speak TLS 1.2 or newer on this port?"),
    ("hung up", "does the other side speak TLS 1.2 or newer on this port?"),
    ("connect call failed", "does anything listen there?"),
    ("connection refused", "does anything listen there?"),
    ("unreachable", "is it reachable from here? HTTPS_PROXY names a proxy"),
    ("connection timeout", "is it reachable from here? HTTPS_PROXY names a proxy"),
)
# After the reason, the client quotes the text that it could not read.
_NO_HTTP = re.compile(r"400, message=['\"]([^:\\'\"]+)")
_CANNOT_CONNECT = re.compile(r"Cannot connect to host (\S+) ssl:\S+ \[(.*)\]")


def describe(error: Exception) -> str:
    """Return an error of the HTTP client in words for the person who must act.

    The received content is left out: it may be a whole document of the service.
    """
    if no_http := _NO_HTTP.match(str(error)):
        return f"what came is no HTTP: {no_http[1].lower()}"
    message = _CANNOT_CONNECT.sub(_plainly, str(error).strip()) or type(error).__name__
    lowered = message.lower()
    hint = next((hint for words, hint in _HINTS if words in lowered), "")
    return f"{message} ({hint})" if hint else message


def _plainly(found: re.Match[str]) -> str:
    """Return a message of the client without its own notation."""
    host, why = found.groups()
    return f"cannot connect to {host}: {'it hung up' if why == 'None' else why}"


# When a server closes an idle connection, the outcome of the next request on it is unknown. Servers
# wait five seconds or more, so ours close first.
IDLE_SECONDS = 3.0


def make_transport(base_url: str, most: int = REQUESTS_AT_ONCE) -> httpx.AsyncBaseTransport | None:
    """Return the transport for a target; None means httpx's own, which supports proxies.

    aiohttp's connections cost a third of the CPU time of httpx's own under load
    (docs/performance.md), and httpx keeps the interface.
    """
    if proxy_for(base_url):
        return None
    from httpx_aiohttp import AiohttpTransport  # noqa: PLC0415 - heavy, and not for the emulator

    # httpx reads SSL_CERT_FILE and SSL_CERT_DIR, so a company's own CA works.
    plain = base_url.startswith("http:")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx.create_ssl_context()
    return AiohttpTransport(verify=context, client=lambda: _session(context, most))


def _session(context: ssl.SSLContext, most: int) -> aiohttp.ClientSession:
    import aiohttp  # noqa: PLC0415 - see make_transport

    connector = aiohttp.TCPConnector(limit=most, ssl=context, keepalive_timeout=IDLE_SECONDS)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def proxy_for(base_url: str) -> str:
    """Return the proxy URL of the environment for a target, with credentials; "" for none.

    A target on this machine has none: over `http://` a proxy would receive the key in clear text.
    """
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - imports a whole client

    url = httpx.URL(base_url)
    if is_loopback(url.host):
        return ""
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all") or ""
    return "" if proxy_bypass(url.host) else proxy


def cannot_open(error: Exception) -> str:
    """Return why no connection can be prepared; proxies are not shown, as they hold passwords."""
    if isinstance(error, OSError):
        why = error.strerror or str(error)
        return f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR name cannot be read: {why}"
    return "the proxy that the environment names cannot be used: it must be http://HOST:PORT"


# A proxy error happens while the tunnel is built, so the service was not reached.
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


def was_never_sent(error: Exception) -> bool:
    """Return whether a failed request certainly sent no byte to the service.

    The aiohttp transport also reports a connection that broke after the request as a connect
    timeout. So its own error, the cause, decides.
    """
    cause = error.__cause__
    if cause is None or not type(cause).__module__.startswith("aiohttp"):
        return isinstance(error, _NEVER_SENT)
    import aiohttp  # noqa: PLC0415 - loaded already, as its error shows

    return isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)


ACCEPTED = "gzip"
_GZIP = zlib.MAX_WBITS | 16
_PLAIN = ("", "identity")


class UnusableBodyError(Exception):
    """The body is too large, or compressed in a way that was not asked for."""


async def unpacked(chunks: AsyncIterable[bytes], encoding: str, most: int) -> bytes:
    """Return the whole body. Raises UnusableBodyError for more than `most` bytes."""
    name = encoding.strip().lower()
    if name not in (*_PLAIN, ACCEPTED, f"x-{ACCEPTED}"):
        raise UnusableBodyError(f"the answer is packed as `{name[:40]}`, which was not asked for")
    unpacking = None if name in _PLAIN else zlib.decompressobj(_GZIP)
    content, received = bytearray(), 0
    try:
        async for chunk in chunks:
            received += len(chunk)
            room = most + 1 - len(content)
            content += chunk if unpacking is None else unpacking.decompress(chunk, room)
            if len(content) > most:
                raise UnusableBodyError(f"the answer is larger than {most >> 20} MB")
            if unpacking is not None and unpacking.unused_data:
                raise UnusableBodyError("the answer goes on after the end of its gzip data")
    except zlib.error as error:
        raise UnusableBodyError("the answer says that it is gzip, and is not") from error
    if unpacking is not None and received and not unpacking.eof:
        raise UnusableBodyError("the answer ends in the middle of its gzip data")
    return bytes(content)


Authorization = Literal["raw", "bearer"]
CONNECT_SECONDS = 10.0


class KeyForOneOrigin(httpx.Auth):
    """Adds the key to a request as it leaves, and only if it goes to the key's origin.

    The client's own headers never hold the key, so printing them does not print it.
    """

    def __init__(self, key: Secret, authorization: Authorization, base_url: str) -> None:
        self._key = key
        self._prefix = "Bearer " if authorization == "bearer" else ""
        self._origin = origin_of(httpx.URL(base_url))

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the key. Raises RuntimeError, which is a bug of ours, for another origin."""
        if origin_of(request.url) != self._origin:
            raise RuntimeError("a request would leave for an origin that the key is not for")
        request.headers["Authorization"] = self._prefix + self._key.reveal()
        yield request


def origin_of(url: httpx.URL) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL; the default port is None."""
    return (url.scheme, url.host, url.port)


def open_client(
    base_url: str,
    key: Secret,
    authorization: Authorization,
    transport: httpx.AsyncBaseTransport | None,
    deadline: float,
    *,
    most: int = REQUESTS_AT_ONCE,
) -> httpx.AsyncClient:
    """Prepare the connections to one service; nothing is sent yet.

    Redirects are not followed, cookies not kept, `.netrc` not read. Raises UsageError where the
    environment names a proxy or certificates that cannot be used.
    """
    timeout = httpx.Timeout(
        deadline,
        # Shorter than the deadline, so that a host without an answer certainly received nothing.
        connect=min(CONNECT_SECONDS, deadline / 2),
        pool=None,
    )
    try:
        return httpx.AsyncClient(
            transport=transport or make_transport(base_url, most),
            auth=KeyForOneOrigin(key, authorization, base_url),
            headers={
                "User-Agent": f"reconciler/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": ACCEPTED,
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            follow_redirects=False,
            timeout=timeout,
        )
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
        raise UsageError(cannot_open(error)) from error


LARGEST_REPLY = 16 << 20


@dataclass(frozen=True, slots=True)
class Attempt:
    """How far a request came: its answer, if any, and the reason why that is not usable, or ""."""

    phase: Phase
    reply: replies.Reply | None = None
    why: str = ""


@dataclass(slots=True)
class Exchange:
    """Open connections; the pace limits concurrent requests, and each has a deadline."""

    client: httpx.AsyncClient
    deadline: float
    redaction: Redaction
    waits: Waits
    pace: Pace
    clock: Callable[[], float]

    async def attempt(self, call: Call) -> Attempt:
        """Send once, and read the answer to its end. Never raises for network errors."""
        async with self.pace.slot() as number:
            since = self.clock()
            attempt = await self._tried(call)
            self.pace.learn(number, call.method, attempt.phase, self.clock() - since)
        return attempt

    async def _tried(self, call: Call) -> Attempt:
        try:
            async with asyncio.timeout(self.deadline):
                with self.waits.on(Answering(call.method, call.path)):
                    reply = await self._exchange(call)
        except TimeoutError:
            return Attempt(Phase.LOST, why=f"no answer within {self.deadline:g} seconds")
        except UnusableBodyError as error:
            return Attempt(Phase.LOST, why=str(error))
        except httpx.InvalidURL:
            # The client parses the target of a redirect although it must not follow it.
            why = "the answer is a redirect to something that is no address"
            return Attempt(Phase.LOST, why=why)
        except _wire_errors() as error:
            phase = Phase.NOT_SENT if was_never_sent(error) else Phase.LOST
            return Attempt(phase, why=self.redaction(describe(error)))
        return self._judged(reply, call)

    def _judged(self, reply: replies.Reply, call: Call) -> Attempt:
        phase = _phase_of(reply, call)
        if phase is Phase.ANSWERED:
            return Attempt(phase, reply)
        if reply.ok:
            return Attempt(phase, reply, replies.unreadable(reply, str(call), self.redaction))
        message = replies.message_of(reply, self.redaction) or replies.phrase(reply.status)
        why = f"answered {replies.phrase(reply.status)}: {message}"
        return Attempt(phase, reply, f"rate limited ({message})" if phase is Phase.LIMITED else why)

    async def _exchange(self, call: Call) -> replies.Reply:
        request = self.client.build_request(
            call.method,
            call.url,
            params=list(call.params) or None,
            headers={"If-None-Match": call.etag} if call.etag else None,
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
        return _reply_of(response, content, call)


def _reply_of(response: httpx.Response, content: bytes, call: Call) -> replies.Reply:
    """Return a reply. An answer that is known by its digest or ETag is not parsed."""
    status, headers = response.status_code, response.headers
    if status == HTTPStatus.NOT_MODIFIED:
        same = call.etag != "" and headers.get("etag", call.etag) == call.etag
    else:
        whole = status == HTTPStatus.OK and "content-range" not in headers
        same = call.known != "" and whole and replies.digest_of(content) == call.known
    if same:
        date = headers.get("date", "")
        return replies.Reply(status=status, body=content, is_json=True, date=date, same=True)
    return replies.make_reply(status, content, headers)


def _phase_of(reply: replies.Reply, call: Call) -> Phase:
    if reply.same or (call.etag and reply.status == HTTPStatus.NOT_MODIFIED):
        return Phase.ANSWERED
    phase = phase_of_status(reply.status)
    if phase is Phase.ANSWERED and reply.body.strip() and not reply.is_json:
        return Phase.LOST
    if (
        reply.status == HTTPStatus.NOT_FOUND
        and replies.meaning_of_404(reply) is replies.NotFound.WRONG_ROUTE
    ):
        return Phase.MISLED
    return phase


def _wire_errors() -> tuple[type[Exception], ...]:
    """Return the errors that mean a network failure; aiohttp lets some of its own through."""
    aiohttp = sys.modules.get("aiohttp")
    own = (aiohttp.ClientError,) if aiohttp is not None else ()
    return (httpx.HTTPError, OSError, *own)
