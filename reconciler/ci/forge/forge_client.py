"""Requests to the forge: token, deadline, limited retries, and errors by status.

A run needs them only for the reviewed digest, so they give up sooner than requests to the service.
Source: docs/ci.md.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Literal, Self

import httpx

from reconciler import __version__
from reconciler.errors import Unavailable
from reconciler.runtime.connection import is_loopback

MOST_ATTEMPTS = 4
DEADLINE_SECONDS = 20.0
BACKOFF_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
LONGEST_MESSAGE = 300
LARGEST_REPLY = 16 << 20

Method = Literal["GET", "POST", "PATCH"]

_LIMITED = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_LIMIT_WORDS = "rate limit"


class ForgeError(Unavailable):
    """The forge gave no usable answer. `status` is 0 where there was no answer at all.

    `is_lost` means that the request may have been carried out nevertheless.
    """

    def __init__(self, message: str, status: int = 0, *, is_lost: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.is_lost = is_lost

    @property
    def is_forbidden(self) -> bool:
        """Return whether the token lacks a permission, as a read-only token for a comment."""
        return self.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)


@dataclass(slots=True)
class Client:
    """An open connection to the forge; use it with `with`. `api` and `graphql` are whole URLs."""

    api: str
    graphql: str
    token: str = field(repr=False)
    transport: httpx.BaseTransport | None = None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _client: httpx.Client = field(init=False)

    def __enter__(self) -> Self:
        """Prepare the connection: nothing is sent yet."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": f"reconciler/{__version__}",
        }
        # Loading all certificates takes a while, and a plain connection needs none.
        plain = self.api.startswith("http:") and self.graphql.startswith("http:")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx.create_ssl_context()
        self._client = httpx.Client(
            headers=headers,
            verify=context,
            transport=self.transport,
            mounts=self._direct(context),
            timeout=DEADLINE_SECONDS,
            follow_redirects=False,
        )
        return self

    def _direct(self, context: ssl.SSLContext) -> dict[str, httpx.BaseTransport]:
        """Return transports without a proxy for a forge on this machine."""
        if self.transport is not None:
            return {}
        return {
            f"all://{f'[{host}]' if ':' in host else host}": httpx.HTTPTransport(verify=context)
            for host in {httpx.URL(url).host for url in (self.api, self.graphql)}
            if is_loopback(host)
        }

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._client.close()

    def get(self, path: str, **parameters: str | int) -> Any:
        """Read a document. Raises ForgeError."""
        return self._send("GET", self.api + path, parameters=parameters)

    def create(self, path: str, body: Mapping[str, Any]) -> Any:
        """Create an object, without a retry after a lost answer. Raises ForgeError."""
        return self._send("POST", self.api + path, body, repeatable=False)

    def edit(self, path: str, body: Mapping[str, Any]) -> Any:
        """Replace an object, which may be repeated. Raises ForgeError."""
        return self._send("PATCH", self.api + path, body)

    def ask(self, query: str, **variables: str) -> Any:
        """Send a GraphQL query that may be repeated, and return its data.

        Raises ForgeError, also for errors that come with status 200.
        """
        reply = self._send("POST", self.graphql, {"query": query, "variables": variables})
        if not isinstance(reply, dict) or reply.get("errors") or not reply.get("data"):
            raise ForgeError(f"the forge refused a query: {_message(reply)}", HTTPStatus.FORBIDDEN)
        return reply["data"]

    def _send(
        self,
        method: Method,
        url: str,
        body: Mapping[str, Any] | None = None,
        *,
        parameters: Mapping[str, str | int] | None = None,
        repeatable: bool = True,
    ) -> Any:
        """Send a request until there is an answer, or no attempt is left."""
        for attempt in range(1, MOST_ATTEMPTS + 1):
            try:
                response = self._exchange(
                    self._client.build_request(method, url, params=parameters or None, json=body)
                )
            except httpx.HTTPError as error:
                sent = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                failure = ForgeError(f"{method} {url}: {_describe(error)}", is_lost=sent)
                wait = BACKOFF_SECONDS * 2 ** (attempt - 1)
            else:
                if response.is_success:
                    return _document(response, f"{method} {url}")
                failure = _failure(response, f"{method} {url}")
                wait = _wait(response, attempt)
            if (failure.is_lost and not repeatable) or wait < 0 or attempt == MOST_ATTEMPTS:
                raise failure
            self.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, request: httpx.Request) -> httpx.Response:
        deadline = self.clock() + DEADLINE_SECONDS
        response = self._client.send(request, stream=True)
        try:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if self.clock() > deadline:
                    message = f"no whole answer within {DEADLINE_SECONDS:.0f} s"
                    raise httpx.ReadTimeout(message, request=request)
                if len(content) > LARGEST_REPLY:
                    raise httpx.DecodingError(
                        f"more than {LARGEST_REPLY >> 20} MB", request=request
                    )
        finally:
            response.close()
        headers = {
            name: text
            for name, text in response.headers.items()
            if name not in ("content-encoding", "content-length", "transfer-encoding")
        }
        return httpx.Response(response.status_code, headers=headers, content=bytes(content))


def _document(response: httpx.Response, request: str) -> Any:
    try:
        return json.loads(response.content) if response.content else None
    except (ValueError, RecursionError) as error:
        message = f"{request} answered {response.status_code} with a body that is not JSON"
        raise ForgeError(message, response.status_code, is_lost=True) from error


def _failure(response: httpx.Response, request: str) -> ForgeError:
    """Return the error for an answer that is not a success; redirects are never followed."""
    status = response.status_code
    try:
        message = _message(json.loads(response.content))
    except (ValueError, RecursionError):
        message = response.reason_phrase
    if 300 <= status < 400:  # noqa: PLR2004 - redirects
        message = f"a redirect to {response.headers.get('location', '')[:LONGEST_MESSAGE]}"
    is_lost = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    # A rate limit is not a missing permission, although it may have the same status.
    shown = HTTPStatus.TOO_MANY_REQUESTS if _is_limited(response) else status
    return ForgeError(f"{request} answered {status}: {message}", shown, is_lost=is_lost)


def _wait(response: httpx.Response, attempt: int) -> float:
    """Return the seconds to wait before the next attempt; below 0 where there must be none."""
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return BACKOFF_SECONDS * float(2 ** (attempt - 1))
    if not _is_limited(response):
        return -1.0
    header = response.headers.get("retry-after", "")
    seconds = float(header) if header.isascii() and header.isdigit() and len(header) < 10 else 0.0  # noqa: PLR2004 - digits of a sane wait
    wait = max(seconds, BACKOFF_SECONDS * float(2**attempt))
    return wait if wait <= LONGEST_WAIT_SECONDS else -1.0


def _is_limited(response: httpx.Response) -> bool:
    """Return whether a status means a rate limit and not a missing permission."""
    if response.status_code not in _LIMITED:
        return False
    headers = response.headers
    return (
        response.status_code == HTTPStatus.TOO_MANY_REQUESTS
        or "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or _LIMIT_WORDS in response.text.lower()
    )


def _message(document: object) -> str:
    """Return the forge's message, on one line and cut short."""
    if isinstance(document, dict):
        errors = document.get("errors")
        message = document.get("message") or (
            errors[0] if isinstance(errors, list) and errors else ""
        )
        message = message.get("message", "") if isinstance(message, dict) else message
        return " ".join(str(message).split())[:LONGEST_MESSAGE]
    return ""


def _describe(error: Exception) -> str:
    return " ".join(str(error).split())[:LONGEST_MESSAGE] or type(error).__name__
