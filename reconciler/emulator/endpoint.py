"""The nouns of the API as a server sees them: resource, endpoint, call."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, TypeVar
from uuid import NAMESPACE_URL, uuid5

from reconciler.emulator.database import Store
from reconciler.emulator.fault_rules import PartialBulk
from reconciler.emulator.http_errors import ConflictError, InvalidRequestError
from reconciler.emulator.profile import Profile
from reconciler.emulator.rendering import Rendered
from reconciler.emulator.wire_models import Empty, JsonObject, WireObject

API_ROOT = "/mgmt/openapi/latest"
API_KEY_NAME = "api-key"
PARTIAL = "reconciler.emulator.partial"  # where a fault leaves a PartialBulk in the scope

NoBody = Empty
Body = TypeVar("Body", bound=WireObject)


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
        """The name that the service has for the way of this author."""
        return "TOKEN_ORIGIN_TYPE_API" if self.name == API_KEY_NAME else "TOKEN_ORIGIN_TYPE_USER"


@dataclass(frozen=True)
class Call:
    """Everything about a request but its body."""

    store: Store
    now: str
    author: Author
    path: Mapping[str, str]
    query: Mapping[str, str]
    profile: Profile
    partial: PartialBulk | None = None

    def flag(self, name: str) -> bool:
        """Read a boolean query parameter; absent is false."""
        match self.query.get(name):
            case "true":
                return True
            case "false" | None:
                return False
            case _:
                raise InvalidRequestError(f"{name}: not a boolean")


@dataclass(frozen=True)
class Endpoint(Generic[Body]):
    """One row of the table in docs/endpoints.md, with what answers it.

    `request` is the body, or the query if `in_query`; `flags` are boolean query parameters next
    to a body. A POST that `only_reads` takes no lock; a POST that `creates` may be answered with
    201. An endpoint that only a profile adds has the number 0, is `named` for the OpenAPI document
    with its `schema`, and its answer is `shaped` last of all.
    """

    number: int
    method: str
    path: str
    request: type[Body]
    reply: type[WireObject]
    answer: Callable[[Call, Body], WireObject | Rendered]
    _: KW_ONLY
    in_query: bool = False
    flags: tuple[str, ...] = ()
    only_reads: bool = False
    creates: bool = False
    permission: str = ""
    named: tuple[str, str] = ("", "")
    schema: JsonObject | None = None
    shaped: Callable[[Any], Any] | None = None

    @property
    def is_read(self) -> bool:
        """Return whether nothing is written."""
        return self.method == "GET" or self.only_reads


@dataclass(frozen=True)
class Resource:
    """A resource of the emulator: its tables and its endpoints."""

    tables: tuple[str, ...]
    endpoints: tuple[Endpoint[Any], ...]


def refuse_taken_name(call: Call, kind: str, name: str, query: str, own: object) -> None:
    """Raise ConflictError if `query` finds a row for the name and the id of the record.

    A profile may allow that two objects have the same name.
    """
    if call.profile.duplicate_names == "conflict" and call.store.row(query, name, own):
        raise ConflictError(f"Already Exists: {kind} with name {name}")
