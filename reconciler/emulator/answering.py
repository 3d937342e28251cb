"""From a request to its answer: method, key, body, endpoint, in this order.

The path comes before the key, so that 401 and 403 prove the route exists
(api-facts.md part 2).
"""

from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from reconciler.emulator.authorisation import check_key
from reconciler.emulator.clock import Clock, timestamp
from reconciler.emulator.endpoint import API_KEY_NAME, Author, Call, Endpoint, NoBody
from reconciler.emulator.errors import InvalidRequestError, OversizedBodyError, WrongMethodError
from reconciler.emulator.models.wire import WireObject
from reconciler.emulator.reading import json_body, read
from reconciler.emulator.rendering import Rendered, as_text
from reconciler.emulator.request_log import remember_body
from reconciler.emulator.store import Store

BODY_LIMIT = 16 * 2**20  # bytes; failure-cases.md, N10
USER_HEADER = "x-emulator-user"


class Answers:
    """An ASGI application for one path; refusals are raised, not answered."""

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint[Any]],
        *,
        store: Store,
        api_key: str | None,
        clock: Clock,
    ) -> None:
        self._endpoints = endpoints
        self._store = store
        self._api_key = api_key
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, all writes of it or none."""
        request = Request(scope, receive)
        endpoint = self._endpoints.get(request.method)
        if endpoint is None:
            raise WrongMethodError(self._endpoints)
        check_key(request.headers.get("authorization"), self._api_key)
        body = await _body_of(request, endpoint)
        response = Response(self._answer(endpoint, request, body), media_type="application/json")
        await response(scope, receive, send)

    def _answer(self, endpoint: Endpoint[Any], request: Request, body: WireObject) -> str:
        call = Call(
            store=self._store,
            now=timestamp(self._clock()),
            author=Author(request.headers.get(USER_HEADER, "").strip() or API_KEY_NAME),
            path=request.path_params,
            query=request.query_params,
        )
        if endpoint.method == "GET":
            return _text(endpoint.answer(call, body))
        with self._store.writing():
            return _text(endpoint.answer(call, body))


def _text(answer: WireObject | Rendered) -> str:
    return answer if isinstance(answer, Rendered) else as_text(answer)


async def _body_of(request: Request, endpoint: Endpoint[Any]) -> WireObject:
    if endpoint.request is NoBody:
        return NoBody()
    parsed = json_body(await _bytes_of(request))
    remember_body(request.scope, parsed)
    model: type[WireObject] = endpoint.request
    return read(model, parsed)


async def _bytes_of(request: Request) -> bytes:
    """Read the body, and no more of it than the limit, whatever it says of its length."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > BODY_LIMIT:
                raise OversizedBodyError(f"the body is larger than {BODY_LIMIT} bytes")
    except ClientDisconnect:
        raise InvalidRequestError("the body was cut off") from None
    return bytes(body)
