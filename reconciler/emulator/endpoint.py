"""The nouns of the API as a server sees them, and the way from a request to its answer.

The order is method, key, body, endpoint. The path comes before the key, so that 401 and 403 prove
that the route exists (docs/assumptions.md).
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, Literal, TypeVar
from uuid import NAMESPACE_URL, uuid5

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from reconciler.emulator import wire
from reconciler.emulator.database import BODY, StaleReads, Store
from reconciler.emulator.faults import PARTIAL, PartialBulk
from reconciler.emulator.profile import Profile

API_KEY_NAME = "api-key"
BODY_LIMIT = 16 * 2**20  # bytes; docs/emulator.md
USER_HEADER = "x-emulator-user"

NoBody = wire.Empty
Body = TypeVar("Body", bound=wire.WireObject)
_AnswerOf = Callable[["Call", Body], wire.WireObject | wire.JsonObject]


@dataclass(frozen=True)
class Author:
    """The caller: the key itself, or a person that the demo names in `X-Emulator-User`."""

    name: str = API_KEY_NAME

    @property
    def id(self) -> str:
        """A stable id for the name."""
        return str(uuid5(NAMESPACE_URL, f"user:{self.name}"))

    @property
    def origin(self) -> str:
        """The service's word for how the author signed in: with an API key, or as a user."""
        return "TOKEN_ORIGIN_TYPE_API" if self.name == API_KEY_NAME else "TOKEN_ORIGIN_TYPE_USER"


@dataclass(frozen=True)
class Call:
    """Everything about a request but its body."""

    store: Store
    now: str
    author: Author
    path: Mapping[str, str]
    profile: Profile
    partial: PartialBulk


@dataclass(frozen=True)
class Endpoint(Generic[Body]):
    """One row of the table in docs/endpoints.md, with what answers it.

    `request` is the body, or the query if `in_query`; `flags` are boolean query parameters next to
    a body. A POST that `only_reads` takes no lock; a POST that `creates` may be answered with 201.
    An endpoint that only a profile adds has the number 0. `named` and `schema` are its name and
    schema in the OpenAPI document. `shaped` changes its answer last.
    """

    number: int
    method: str
    path: str
    request: type[Body]
    reply: type[wire.WireObject]
    answer: _AnswerOf[Body]
    _: KW_ONLY
    in_query: bool = False
    flags: tuple[str, ...] = ()
    only_reads: bool = False
    creates: bool = False
    permission: str = ""
    named: tuple[str, str] = ("", "")
    schema: wire.JsonObject | None = None
    shaped: Callable[[Any], Any] = lambda content: content

    @property
    def has_body(self) -> bool:
        """Return whether a request has a body."""
        return not self.in_query and self.request is not NoBody


@dataclass(frozen=True)
class Records:
    """Stored records of one sort: their word, their table, and where name and id are."""

    called: str
    table: str
    name: str
    id: str = "id"

    def read(self, store: Store, own: str, column: str = "id") -> wire.JsonObject:
        """Return a record. Raises MissingObjectError."""
        record = store.find(self.table, own, column)
        if record is None:
            raise wire.MissingObjectError(self.called, own)
        return record

    def refuse_taken_name(self, call: Call, name: str, own: object) -> None:
        """Raise TakenError if another record has the name.

        A profile may allow that two objects have the same name.
        """
        if call.profile.duplicate_names == "conflict" and call.store.row(
            f"SELECT 1 FROM {self.table} WHERE json_extract(record, ?) = ? AND id <> ?",  # noqa: S608 - a table of ours
            f"$.{self.name}",
            name,
            own,
        ):
            raise wire.TakenError(f"{self.called} with name {name}")


class Resource:
    """A resource of the emulator: its tables and its endpoints."""

    def __init__(self, *tables: str) -> None:
        self.tables = tables
        self.endpoints: list[Endpoint[Any]] = []

    def answers(
        self,
        number: int,
        method: str,
        path: str,
        request: type[Body],
        reply: type[wire.WireObject],
        **rest: Any,
    ) -> Callable[[_AnswerOf[Body]], _AnswerOf[Body]]:
        """Return a decorator that adds an endpoint with the function that answers it."""

        def add(answer: _AnswerOf[Body]) -> _AnswerOf[Body]:
            self.endpoints.append(Endpoint(number, method, path, request, reply, answer, **rest))
            return answer

        return add


@dataclass(frozen=True)
class Keys:
    """The accepted keys, each with its permissions; None means all permissions.

    Without any key, every key that is not empty is accepted and has all permissions.
    """

    permissions: Mapping[str, frozenset[str] | None]
    scheme: Literal["either", "bare", "bearer"] = "either"

    def check(self, request: Request, permission: str = "") -> None:
        """Refuse a missing or unknown key with 401, one without the permission with 403."""
        sent = self._sent_in(request).encode()
        held = [
            permissions
            for key, permissions in self.permissions.items()
            if hmac.compare_digest(sent, key.encode())
        ]
        if self.permissions and not held:
            raise wire.RefusalError(401, "the API key is not valid")
        if permission and held and not any(have is None or permission in have for have in held):
            raise wire.RefusalError(403, f"the API key lacks the permission {permission}")

    def _sent_in(self, request: Request) -> str:
        header = request.headers.get("authorization")
        if header is None:
            raise wire.RefusalError(401, "the Authorization header is missing")
        text = header.strip()
        first, _, rest = text.partition(" ")
        is_bearer = first.lower() == "bearer"
        key = rest.strip() if is_bearer else text
        if not key:
            raise wire.RefusalError(401, "the Authorization header is empty")
        if self.scheme == ("bare" if is_bearer else "bearer"):
            raise wire.RefusalError(
                401, f"the Authorization header is not in the {self.scheme} form"
            )
        return key


@dataclass(frozen=True)
class Deployment:
    """The state that all endpoints of one service share."""

    store: Store
    keys: Keys
    clock: wire.Clock
    profile: Profile
    stale_reads: StaleReads


@dataclass(frozen=True)
class Answers:
    """An ASGI application for one path; refusals are raised, not answered."""

    endpoints: Mapping[str, Endpoint[Any]]
    deployment: Deployment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, all writes of it or none."""
        request, deployment = Request(scope, receive), self.deployment
        endpoint = self.endpoints.get(request.method)
        if endpoint is None:
            raise wire.RefusalError(405, "Method Not Allowed", allowed=self.endpoints)
        deployment.keys.check(request, endpoint.permission)
        sent = await _sent_content(request, endpoint, deployment.profile)
        stale = deployment.stale_reads
        only_reads = request.method == "GET" or endpoint.only_reads
        address = f"{request.url.path}?{request.url.query}"
        with nullcontext(stale.store_for(address)) if only_reads else stale.writing() as store:
            call = Call(
                store=store,
                now=wire.timestamp(deployment.clock()),
                author=Author(request.headers.get(USER_HEADER, "").strip() or API_KEY_NAME),
                path=request.path_params,
                profile=deployment.profile,
                partial=scope.get(PARTIAL) or PartialBulk(),
            )
            for name in endpoint.flags:
                if request.query_params.get(name, "false") not in ("true", "false"):
                    raise wire.InvalidRequestError(f"{name}: not a boolean")
            answer = endpoint.answer(call, sent)
        response = _response(endpoint, answer, deployment.profile)
        if request.method == "GET":
            response = _tagged(response, request, deployment.profile)
        await response(scope, receive, send)


async def _sent_content(
    request: Request, endpoint: Endpoint[Any], profile: Profile
) -> wire.WireObject:
    model: type[wire.WireObject] = endpoint.request
    if endpoint.in_query:
        return wire.query_of(model, request.query_params.multi_items(), profile)
    if not endpoint.has_body:
        return NoBody()
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            # Whatever length the header declares.
            if len(body) > BODY_LIMIT:
                raise wire.RefusalError(413, f"the body is larger than {BODY_LIMIT} bytes")
    except ClientDisconnect:
        raise wire.InvalidRequestError("the body was cut off") from None
    parsed = wire.json_body(bytes(body))
    request.scope[BODY] = parsed
    return wire.body_of(model, parsed, profile)


def _response(
    endpoint: Endpoint[Any], answer: wire.WireObject | wire.JsonObject, profile: Profile
) -> Response:
    if endpoint.reply is wire.Empty and profile.empty_reply != "object":
        return Response(status_code=200 if profile.empty_reply == "nothing" else 204)
    content = endpoint.shaped(wire.in_form(wire.as_json(answer), endpoint.reply, profile))
    return Response(
        wire.as_text(content),
        status_code=profile.created_status if endpoint.creates else 200,
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
        return Response(status_code=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return response
