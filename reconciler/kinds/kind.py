"""What the engine knows of a kind: a declaration of data and functions, no base class."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeAlias

from reconciler.document import Json, Shape
from reconciler.errors import ReconcilerError, ServiceRefused
from reconciler.finding import Finding
from reconciler.journal.history import Memory
from reconciler.kinds.essential import Essential
from reconciler.kinds.fields import Part
from reconciler.kinds.gone import to_begin_anew
from reconciler.kinds.picture import Picture
from reconciler.kinds.shape import exact_shape_of, shape_of
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

if TYPE_CHECKING:
    # Only its type is needed here, and it brings the whole HTTP client.
    from reconciler.api.door import Api


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


def _no_identities(_: Manifest) -> Mapping[str, str]:
    return {}


def _own_id(manifest: Manifest) -> RemoteId | None:
    return manifest.remote_id


def _as_declared(manifest: Manifest, _: Observation, __: Memory) -> dict[str, Json]:
    return manifest.spec


def _creatable(_: Manifest) -> str:
    return ""


async def _no_problems(_: Api, __: Sending) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of resource. Source: the table in design.md, part 1.

    `readable`: whether the live document can be asked for. `findable`: whether
    a create whose answer was lost can be looked up. `check` yields findings on
    `spec`, `identities` gives what no two manifests may share, `complete` adds
    to the declaration what the service needs and nobody writes (a slug, nested
    ids), `cannot_create` says why a resource that is not there stays so,
    `destroys` and `foreign` name what a change removes. `preflight` asks the
    service about a write and gives its objections.
    """

    name: str
    spec: type[Part]
    id_form: IdForm
    observe: Observe
    write: Write
    limits: str
    readable: bool = True
    findable: bool = False
    singleton: bool = False
    batch_size: int = 1
    check: Callable[[dict[str, Json]], Iterator[Finding]] = _nothing_to_find
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

    from_export: Callable[[dict[str, Json]], dict[str, Json]] | None = None
    """Turns the content of a `spec.file` into `spec`, where the kind has exports."""

    destroyable: tuple[str, ...] = ()
    """The keyed list whose removed members are gone for good."""

    picture: Picture | None = None
    """What reports draw of it."""

    essentials: tuple[Essential, ...] = ()
    """What a reviewer of a new one has to see first, in this order."""

    unsaid: frozenset[str] = frozenset()
    """Steps of a path that only wrap others and tell a reader nothing."""

    def normal_id(self, remote_id: RemoteId) -> RemoteId:
        """Give an id in its one spelling; a service may write a uuid in capitals."""
        known = self.id_form.parse(remote_id)
        return remote_id if known is None else known

    @property
    def shape(self) -> Shape:
        """How documents of this kind are merged and compared."""
        return shape_of(self.spec)

    @property
    def exact_shape(self) -> Shape:
        """How what is declared is compared with what was: a zero is not absent there."""
        return exact_shape_of(self.spec)
