"""The nouns of the API as a server sees them: resource, endpoint, call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import NAMESPACE_URL, uuid5

from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.models.wire import Empty, WireObject
from reconciler.emulator.rendering import Rendered
from reconciler.emulator.store import Store

API_ROOT = "/mgmt/openapi/latest"
API_KEY_NAME = "api-key"

NoBody = Empty
Body = TypeVar("Body", bound=WireObject)


@dataclass(frozen=True)
class Author:
    """Who calls: the key itself, or a person the demo names in `X-Emulator-User`."""

    name: str = API_KEY_NAME

    @property
    def id(self) -> str:
        """A stable id for the name."""
        return str(uuid5(NAMESPACE_URL, f"user:{self.name}"))

    @property
    def origin(self) -> str:
        """How the service calls the way this author came in."""
        return "TOKEN_ORIGIN_TYPE_API" if self.name == API_KEY_NAME else "TOKEN_ORIGIN_TYPE_USER"


@dataclass(frozen=True)
class Call:
    """Everything about a request but its body."""

    store: Store
    now: str
    author: Author
    path: Mapping[str, str]
    query: Mapping[str, str]

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
    """One row of the table in management-api.md, with what answers it."""

    number: int
    method: str
    path: str
    request: type[Body]
    reply: type[WireObject]
    answer: Callable[[Call, Body], WireObject | Rendered]


@dataclass(frozen=True)
class Resource:
    """What the emulator knows of one resource: its tables and its endpoints."""

    tables: tuple[str, ...]
    endpoints: tuple[Endpoint[Any], ...]
