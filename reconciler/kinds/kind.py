"""What the engine knows of a kind: a declaration of data and functions, no base class."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeAlias

from reconciler.advice import on_journal
from reconciler.document import ABSENT, Json, Missing, Shape
from reconciler.errors import AnotherRecord, ReconcilerError, ServiceRefused, UnreadableReply
from reconciler.journal.history import Memory
from reconciler.kinds.bearing import UNKNOWN_BEARING, Bearing
from reconciler.kinds.endpoints import Endpoint
from reconciler.kinds.fields import INT32_MAX, UUID_PATTERN, Part
from reconciler.kinds.shape import exact_shape_of, shape_of
from reconciler.queries import Query
from reconciler.resource import (
    Change,
    Manifest,
    Observation,
    Outcome,
    Ref,
    Refused,
    RemoteId,
    Unconfirmed,
)
from reconciler.source.diagnostic import Finding

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.assumptions import Assumptions
    from reconciler.kinds.practice import Practice

ANY_STEP: Final = "*"
"""In a path, every field of an object and every item of a list."""


@dataclass(frozen=True, slots=True)
class Essential:
    """A place worth a look before it is made.

    `name` is what it is called where the last step says too little, and `usual`
    the value of a flag that goes without saying.
    """

    path: tuple[str, ...]
    name: str = ""
    usual: bool | None = None

    @property
    def called(self) -> str:
        """The name in reports: that of the last field unless it is given."""
        return self.name or next(step for step in reversed(self.path) if step != ANY_STEP)


@dataclass(frozen=True, slots=True)
class Grid:
    """Sections of rows of widgets; `sections` leads to them."""

    sections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A list whose order is its meaning: the first item that matches decides.

    `items` leads to the list; inside an item, `name` leads to its name and
    `says` to what a reader wants to see beside it.
    """

    items: tuple[str, ...]
    name: tuple[str, ...]
    says: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Objective:
    """A share of what is good, in per cent, and the time it is kept over."""

    target: tuple[str, ...]
    window: tuple[str, ...]


Picture: TypeAlias = Grid | Ranking | Objective


def to_begin_anew(manifest: Manifest) -> tuple[str, ...]:
    """Give the ways out for what the API can create."""
    forget = f"`{on_journal('forget', str(manifest.ref))}`"
    drop = "" if manifest.remote_id is None else "take its id out of the manifest, "
    return (
        f"if it was deleted and is wanted: {drop}run {forget}, and the next plan creates it",
        f"if it was deleted for good: remove its manifest, and run {forget}",
        "if it is there under another id: declare that as `metadata.id`",
    )


def to_be_made_by_hand(manifest: Manifest) -> tuple[str, ...]:
    """Give the ways out for what only a person can create."""
    again = "make one in the web interface, and declare its id as `metadata.id`"
    forget = f"remove its manifest, and run `{on_journal('forget', str(manifest.ref))}`"
    return (
        f"if it was deleted and is wanted: {again}",
        f"if it was deleted for good: {forget}",
    )


MOST_DIGITS = len(str(INT32_MAX))


@dataclass(frozen=True, slots=True)
class IdForm:
    """How `metadata.id` of a kind is written. `parse` gives None for any other form.

    `counted` ids are given out in order, so that every service has the same ones.
    """

    parse: Callable[[Json], RemoteId | None]
    words: str
    schema: Mapping[str, Json]
    required: bool = False
    counted: bool = False

    def normal(self, remote_id: RemoteId) -> RemoteId:
        """Give an id in its one spelling; a service may write a uuid in capitals."""
        known = self.parse(remote_id)
        return remote_id if known is None else known

    def typed(self, text: str) -> RemoteId | None:
        """Read an id as somebody types it; None for any other form."""
        is_number = (
            self.counted and text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
        )
        return self.parse(int(text) if is_number else text)

    def check(self, asked: RemoteId, told: Json | Missing) -> None:
        """Raise AnotherRecord where an answer tells another id than was asked for.

        One that tells none is about what was asked for, as nothing says otherwise.
        """
        if told in (ABSENT, None, ""):
            return
        is_id = isinstance(told, str | int) and not isinstance(told, bool)
        if not is_id or self.normal(told) != self.normal(asked):  # type: ignore[arg-type]  # checked
            raise AnotherRecord(f"asked for {asked}, the service answered with {str(told)[:80]!r}")


@dataclass(frozen=True, slots=True, repr=False)
class Sending:
    """A change and the document that is really sent, secrets and all: never print it."""

    change: Change
    document: dict[str, Json]

    @property
    def ref(self) -> Ref:
        """The resource's name."""
        return self.change.ref


Identified: TypeAlias = Callable[[Ref, RemoteId], None]
"""Called as soon as the service has told an id, before anything else is sent."""

Answer: TypeAlias = Outcome | ReconcilerError
"""What became of one write: an outcome, or what stops the run."""

Observe: TypeAlias = "Callable[[Api, Manifest, Memory], Awaitable[Observation]]"
Write: TypeAlias = "Callable[[Api, Sequence[Sending], Identified], Awaitable[Sequence[Answer]]]"


async def side_by_side(
    sendings: Sequence[Sending], write_one: Callable[[Sending], Awaitable[Outcome]]
) -> list[Answer]:
    """Write several at once, and wait for all of them.

    What stops the run is given and not raised, so that no answer of the others is lost.
    """

    async def answer(sending: Sending) -> Answer:
        try:
            return await write_one(sending)
        except ReconcilerError as error:
            return error

    return list(await asyncio.gather(*map(answer, sendings)))


def refusal(sending: Sending, refused: ServiceRefused) -> Refused | Unconfirmed:
    """Give the service's no to one write as its outcome: after a lost answer it proves nothing.

    Of an update whose object is gone it tells what to do.
    """
    if refused.doubtful:
        return Unconfirmed(sending.ref, str(refused), refused.exit_code)
    gone = refused.status == HTTPStatus.NOT_FOUND and sending.change.remote_id is not None
    ways_out = to_begin_anew(sending.change.manifest) if gone else ()
    return Refused(sending.ref, str(refused), ways_out=ways_out)


class Consent(Enum):
    """When a weakening needs to be agreed to, beyond the limits that count it."""

    NEVER = "never"
    ALWAYS = "always"
    WITH_OPEN_INCIDENTS = "with open incidents"


@dataclass(frozen=True, slots=True)
class Weakening:
    """What a change takes away from what watches the service, or from who holds on to it.

    `code` names it for good (docs/guards.md), `said` tells it with its figures,
    and `counted` is the word under which the guards count the change, "" for
    none of its own. `incidents` are the names that its incidents may bear.
    """

    code: str
    said: str
    counted: str = ""
    consent: Consent = Consent.NEVER
    incidents: frozenset[str] = frozenset()


def _weakens_nothing(_: Change) -> Iterator[Weakening]:
    return iter(())


def _nothing_to_find(_: dict[str, Json]) -> Iterator[Finding]:
    return iter(())


def _no_queries(_: dict[str, Json]) -> Iterator[Query]:
    return iter(())


def _no_identities(_: Manifest) -> Mapping[str, str]:
    return {}


def _own_id(manifest: Manifest) -> RemoteId | None:
    return manifest.remote_id


def _as_declared(manifest: Manifest, _: Observation, __: Memory) -> dict[str, Json]:
    return manifest.spec


def _no_practices() -> Sequence[Practice]:
    return ()


def _creatable(_: Manifest) -> str:
    return ""


async def _no_problems(_: Api, __: Sending) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of resource. Source: docs/manifests.md.

    `noun` is what a command line calls one. `readable`: whether the API document has a read
    of it. `findable`: whether
    a create whose answer was lost can be looked up. `check` yields findings on
    `spec`, `identities` gives what no two manifests may share, `complete` adds
    to the declaration what the service needs and nobody writes (a slug, nested
    ids), `cannot_create` says why a resource that is not there stays so.
    `preflight` asks the service about a write and gives its objections.
    `weakens` yields what a change takes away from people, `bearing` is how incidents tell of it.
    """

    name: str
    spec: type[Part]
    id_form: IdForm
    observe: Observe
    write: Write
    limits: str
    noun: str
    readable: bool = True
    findable: bool = False
    singleton: bool = False
    batch_size: int = 1
    check: Callable[[dict[str, Json]], Iterator[Finding]] = _nothing_to_find
    queries: Callable[[dict[str, Json]], Iterator[Query]] = _no_queries
    """Yields the queries in `spec` whose language is known; others are nobody's here."""

    identities: Callable[[Manifest], Mapping[str, str]] = _no_identities
    declared_id: Callable[[Manifest], RemoteId | None] = _own_id
    title: tuple[str, ...] = ("name",)
    """Where its own name for people stands in `spec`."""

    complete: Callable[[Manifest, Observation, Memory], dict[str, Json]] = _as_declared
    cannot_create: Callable[[Manifest], str] = _creatable
    preflight: Callable[[Api, Sending], Awaitable[Sequence[str]]] = _no_problems
    weakens: Callable[[Change], Iterator[Weakening]] = _weakens_nothing
    consents: tuple[str, ...] = ()
    """The codes of `weakens` that need consent, so that a project file can give it."""

    bearing: Bearing = UNKNOWN_BEARING
    from_export: Callable[[dict[str, Json]], dict[str, Json]] | None = None
    """Turns the content of a `spec.file` into `spec`, where the kind has exports."""

    inner_id: tuple[str, ...] = ()
    """Where an export holds the id inside `spec`, where that is no part of what is compared."""

    destroyable: tuple[str, ...] = ()
    """The keyed list whose removed members are gone for good."""

    practices: Callable[[], Sequence[Practice]] = _no_practices
    """The checks of practice of the kind, which are loaded once one is declared."""

    picture: Picture | None = None
    """What reports draw of it."""

    essentials: tuple[Essential, ...] = ()
    """What a reviewer of a new one has to see first, in this order."""

    endpoints: tuple[Endpoint, ...] = ()
    """The requests that carry its fields."""

    example: Callable[[], dict[str, Json]] = dict
    """A small `spec` that says something."""

    unsaid: frozenset[str] = frozenset()
    """Steps of a path that only wrap others and tell a reader nothing."""

    def normal_id(self, remote_id: RemoteId) -> RemoteId:
        """Give an id in its one spelling."""
        return self.id_form.normal(remote_id)

    def readable_by(self, assumptions: Assumptions) -> bool:
        """Tell whether live can be asked for: by the API document, or where a deployment says."""
        return self.readable or self.name in assumptions.reads.of_kinds

    @property
    def shape(self) -> Shape:
        """How documents of this kind are merged and compared."""
        return shape_of(self.spec)

    @property
    def exact_shape(self) -> Shape:
        """How what is declared is compared with what was: a zero is not absent there."""
        return exact_shape_of(self.spec)


_UUID = re.compile(UUID_PATTERN)
_SHORT = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _uuid(value: Json) -> RemoteId | None:
    return value.lower() if isinstance(value, str) and _UUID.fullmatch(value) else None


def _int32(value: Json) -> RemoteId | None:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer and 1 <= value <= INT32_MAX else None  # type: ignore[operator,return-value]  # checked above


def _short(value: Json) -> RemoteId | None:
    return value if isinstance(value, str) and _SHORT.fullmatch(value) else None


def _none(_: Json) -> RemoteId | None:
    return None


UUID = IdForm(_uuid, "a uuid", {"type": "string", "format": "uuid", "pattern": UUID_PATTERN})
REQUIRED_UUID = IdForm(UUID.parse, UUID.words, UUID.schema, required=True)
INT32 = IdForm(
    _int32,
    "an integer from 1 to 2147483647",
    {"type": "integer", "minimum": 1, "maximum": INT32_MAX},
    counted=True,
)
DASHBOARD_ID = IdForm(
    _short,
    "1 to 64 of the characters A-Z, a-z, 0-9, _ and -",
    {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
)
NO_ID = IdForm(_none, "left out: there is only one", {})


async def observe(
    kind: Kind, api: Api, manifest: Manifest, memory: Memory
) -> Observation | ReconcilerError:
    """Give what is known of the live side, or the error that is about this one resource.

    Raises what is about the service as a whole: it is not there, or the key is refused.
    """
    try:
        return await kind.observe(api, manifest, memory)
    except (UnreadableReply, ServiceRefused) as error:
        return error
