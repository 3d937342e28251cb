"""From a request to its answer: method, key, body, endpoint, in this order.

The path comes before the key, so that 401 and 403 prove that the route exists
(docs/assumptions.md).
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from reconciler.emulator.database import StaleReads, Store
from reconciler.emulator.endpoint import API_KEY_NAME, PARTIAL, Author, Call, Endpoint, NoBody
from reconciler.emulator.http_errors import (
    ForbiddenError,
    InvalidRequestError,
    OversizedBodyError,
    UnauthorisedError,
    WrongMethodError,
)
from reconciler.emulator.profile import Profile
from reconciler.emulator.reading import (
    as_json_objects,
    body_of,
    dotted,
    in_usual_form,
    json_body,
    received,
)
from reconciler.emulator.rendering import Rendered, as_text, in_form
from reconciler.emulator.request_log import remember_body
from reconciler.emulator.wire_models import Clock, Empty, WireObject, timestamp


@dataclass(frozen=True)
class Keys:
    """The accepted keys, each with its permissions; None is all permissions.

    Without any key, every key that is not empty is accepted and may do all.
    """

    permissions: Mapping[str, frozenset[str] | None]
    scheme: Literal["either", "bare", "bearer"] = "either"

    def check(self, header: str | None, permission: str) -> None:
        """Refuse a missing or unknown key with 401, one without the permission with 403."""
        sent = _sent_key(header, self.scheme)
        if not self.permissions:
            return
        held = [
            permissions
            for key, permissions in self.permissions.items()
            if hmac.compare_digest(sent.encode(), key.encode())
        ]
        if not held:
            raise UnauthorisedError("the API key is not valid")
        if permission and not any(
            permissions is None or permission in permissions for permissions in held
        ):
            raise ForbiddenError(f"the API key lacks the permission {permission}")


def _sent_key(header: str | None, scheme: str) -> str:
    if header is None:
        raise UnauthorisedError("the Authorization header is missing")
    text = header.strip()
    first, _, rest = text.partition(" ")
    is_bearer = first.lower() == "bearer"
    key = rest.strip() if is_bearer else text
    if not key:
        raise UnauthorisedError("the Authorization header is empty")
    if (scheme == "bare" and is_bearer) or (scheme == "bearer" and not is_bearer):
        raise UnauthorisedError(f"the Authorization header is not in the {scheme} form")
    return key


@dataclass(frozen=True)
class Deployment:
    """The state that all endpoints of one service share."""

    store: Store
    keys: Keys
    clock: Clock
    profile: Profile
    stale_reads: StaleReads


BODY_LIMIT = 16 * 2**20  # bytes; docs/emulator.md
USER_HEADER = "x-emulator-user"


class Answers:
    """An ASGI application for one path; refusals are raised, not answered."""

    def __init__(self, endpoints: Mapping[str, Endpoint[Any]], deployment: Deployment) -> None:
        self._endpoints = endpoints
        self._deployment = deployment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, all writes of it or none."""
        request = Request(scope, receive)
        endpoint = self._endpoints.get(request.method)
        if endpoint is None:
            raise WrongMethodError(self._endpoints)
        header = request.headers.get("authorization")
        self._deployment.keys.check(header, endpoint.permission)
        sent = await _sent_content(request, endpoint, self._deployment.profile)
        response = _response(endpoint, self._answer(endpoint, request, sent), self._deployment)
        if request.method == "GET":
            response = _tagged(response, request, self._deployment.profile)
        await response(scope, receive, send)

    def _answer(self, endpoint: Endpoint[Any], request: Request, sent: WireObject) -> Rendered:
        deployment = self._deployment
        if endpoint.is_read:
            address = f"{request.url.path}?{request.url.query}"
            call = self._call(request, deployment.stale_reads.store_for(address))
            return _rendered(endpoint.answer(call, sent))
        deployment.stale_reads.before_write()
        with deployment.store.writing():
            return _rendered(endpoint.answer(self._call(request, deployment.store), sent))

    def _call(self, request: Request, store: Store) -> Call:
        return Call(
            store=store,
            now=timestamp(self._deployment.clock()),
            author=Author(request.headers.get(USER_HEADER, "").strip() or API_KEY_NAME),
            path=request.path_params,
            query=request.query_params,
            profile=self._deployment.profile,
            partial=request.scope.get(PARTIAL),
        )


def _rendered(answer: WireObject | Rendered) -> Rendered:
    return answer if isinstance(answer, Rendered) else as_text(answer)


def _response(endpoint: Endpoint[Any], answer: Rendered, deployment: Deployment) -> Response:
    profile = deployment.profile
    if endpoint.reply is Empty and profile.empty_reply != "object":
        is_bare = profile.empty_reply == "nothing"
        return Response(status_code=int(HTTPStatus.OK if is_bare else HTTPStatus.NO_CONTENT))
    content = in_form(answer, endpoint.reply, profile)
    if endpoint.shaped is not None:
        content = as_text(endpoint.shaped(json.loads(content)))
    return Response(
        content,
        status_code=profile.created_status if endpoint.creates else int(HTTPStatus.OK),
        media_type="application/json",
    )


def _tagged(response: Response, request: Request, profile: Profile) -> Response:
    """Add the ETag to an answer, or answer 304 if the client has it already."""
    if profile.etags == "none":
        return response
    sum_of_bytes = hashlib.sha256(bytes(response.body)).hexdigest()[:32]
    tag = '"1"' if profile.etags == "stuck" else f'"{sum_of_bytes}"'
    tag = f"W/{tag}" if profile.etags == "weak" else tag
    known = request.headers.get("if-none-match", "")
    # Weak and strong are compared alike here (RFC 9110, section 13.1.2).
    if tag.removeprefix("W/") in (part.strip().removeprefix("W/") for part in known.split(",")):
        return Response(status_code=int(HTTPStatus.NOT_MODIFIED), headers={"ETag": tag})
    response.headers["ETag"] = tag
    return response


async def _sent_content(request: Request, endpoint: Endpoint[Any], profile: Profile) -> WireObject:
    """Read the input of the endpoint: its query, its body, or nothing."""
    model: type[WireObject] = endpoint.request
    if endpoint.in_query:
        spell = as_json_objects if profile.query_objects == "json" else dotted
        sent = spell(request.query_params.multi_items())
        return received(model, in_usual_form(sent, profile), profile)
    if model is NoBody:
        return NoBody()
    parsed = json_body(await _bytes_of(request))
    remember_body(request.scope, parsed)
    return body_of(model, parsed, profile)


async def _bytes_of(request: Request) -> bytes:
    """Read the body up to the limit, whatever length its header declares."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > BODY_LIMIT:
                raise OversizedBodyError(f"the body is larger than {BODY_LIMIT} bytes")
    except ClientDisconnect:
        raise InvalidRequestError("the body was cut off") from None
    return bytes(body)
