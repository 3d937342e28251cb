"""Declarations of kinds for the engine: data and functions, no base class.

Also the forms of their ids, and the findings of checks of a `spec`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, Never, TypeAlias

from reconciler import model
from reconciler.document import ABSENT, Json, Missing, Path, Shape
from reconciler.errors import AnotherRecord, ReconcilerError, ServiceRefused, UnreadableReply
from reconciler.kinds.field_traits import INT32_MAX, UUID_PATTERN
from reconciler.kinds.shape import exact_shape_of, shape_of
from reconciler.redaction.templates import Template
from reconciler.runtime.advice import declared_id, on_journal

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.journal.history import Memory
    from reconciler.kinds.field_traits import Part
    from reconciler.model.assumptions import Assumptions
    from reconciler.queries import Query
    from reconciler.syntax.diagnostic import Finding


MOST_DIGITS = len(str(INT32_MAX))


@dataclass(frozen=True, slots=True)
class IdForm:
    """The form of `metadata.id` of a kind. `parse` returns None for any other form.

    `counted` ids are assigned in order, so that every service has the same ids.
    """

    parse: Callable[[Json], model.RemoteId | None]
    words: str
    schema: Mapping[str, Json]
    required: bool = False
    counted: bool = False

    def normal(self, remote_id: model.RemoteId) -> model.RemoteId:
        """Return an id in its normal spelling; a service may write a uuid in capitals."""
        known = self.parse(remote_id)
        return remote_id if known is None else known

    def typed(self, text: str) -> model.RemoteId | None:
        """Read an id as a person types it; None for any other form."""
        is_number = (
            self.counted and text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
        )
        return self.parse(int(text) if is_number else text)

    def check(self, requested: model.RemoteId, answered: Json | Missing) -> None:
        """Raise AnotherRecord if an answer has another id than was requested.

        An answer without an id is accepted.
        """
        if answered in (ABSENT, None, ""):
            return
        is_id = isinstance(answered, str | int) and not isinstance(answered, bool)
        if not is_id or self.normal(answered) != self.normal(requested):  # type: ignore[arg-type]  # checked
            raise AnotherRecord(
                f"asked for {requested}, the service answered with {str(answered)[:80]!r}"
            )


_UUID = re.compile(UUID_PATTERN)
_SHORT = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _int32(value: Json) -> model.RemoteId | None:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer and 1 <= value <= INT32_MAX else None  # type: ignore[operator,return-value]  # checked above


UUID = IdForm(
    lambda value: value.lower() if isinstance(value, str) and _UUID.fullmatch(value) else None,
    "a uuid",
    {"type": "string", "format": "uuid", "pattern": UUID_PATTERN},
)
REQUIRED_UUID = IdForm(UUID.parse, UUID.words, UUID.schema, required=True)
INT32 = IdForm(
    _int32,
    "an integer from 1 to 2147483647",
    {"type": "integer", "minimum": 1, "maximum": INT32_MAX},
    counted=True,
)
DASHBOARD_ID = IdForm(
    lambda value: value if isinstance(value, str) and _SHORT.fullmatch(value) else None,
    "1 to 64 of the characters A-Z, a-z, 0-9, _ and -",
    {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
)
NO_ID = IdForm(lambda _: None, "left out: there is only one", {})


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The service's answer before a write: objections, and ids of alerts that depend on it."""

    objections: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Watched:
    """A resource that another watches: one of a kind, by reference or by its id."""

    kind: str
    ref: model.Ref | None = None
    remote_id: str = ""


@dataclass(frozen=True, slots=True)
class Bearing:
    """How incidents of a kind's resources are found, other than by names and ids.

    `label_maps` are paths of maps in `spec`; an incident may have their pairs as labels.
    `takes_logs_of` returns whether a change may affect the logs of an application and a subsystem;
    "" is an unknown name.
    """

    label_maps: tuple[tuple[str, ...], ...] = ()
    takes_logs_of: Callable[[model.Change, str, str], bool] = lambda _, __, ___: False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One request of the API document, by its number there; `does` completes "it ...".

    `sends` is whether the request has what a manifest declares.
    """

    number: int
    method: str
    path: str
    does: str
    sends: bool = True
    tells: bool = True
    """Whether the answer has what the service stores."""

    @property
    def shown(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"


ANY_STEP: Final = "*"
"""In a path, every field of an object and every item of a list."""


@dataclass(frozen=True, slots=True)
class Essential:
    """A field that a reviewer should see before the resource is created.

    `name` is used if the last step of `path` says too little. A flag is not shown if it has its
    `usual` value.
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
    """A list with a meaningful order: the first item that matches decides.

    `items` leads to the list; inside an item, `name` leads to its name and `says` to what a reader
    wants to see next to it.
    """

    items: tuple[str, ...]
    name: tuple[str, ...]
    says: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Objective:
    """A target in per cent, and the time that it applies to."""

    target: tuple[str, ...]
    window: tuple[str, ...]


Picture: TypeAlias = Grid | Ranking | Objective


def gives_out_ids(manifest: model.Manifest, what: str, short: str) -> str:
    """Return why a resource with a declared id cannot be created; "" if it declares no id."""
    if manifest.remote_id is None:
        return ""
    return (
        f"the service has no {what} {manifest.remote_id} and gives out ids itself: "
        f"correct its id in `metadata`, or remove it to create the {short}"
    )


def to_begin_anew(manifest: model.Manifest) -> tuple[str, ...]:
    """Return the remedies for a resource that the API can create."""
    forget = f"`{on_journal('forget', str(manifest.ref))}`"
    drop = "" if manifest.remote_id is None else "take its id out of the manifest, "
    return (
        f"if it was deleted and is wanted: {drop}run {forget}, and the next plan creates it",
        f"if it was deleted permanently: remove its manifest, and run {forget}",
        f"if it is there under another id: write `{declared_id()}` into `metadata`",
    )


def to_be_made_by_hand(manifest: model.Manifest) -> tuple[str, ...]:
    """Return the remedies for a resource that only a person can create."""
    again = f"make one in the web interface, and write `{declared_id()}` into `metadata`"
    forget = f"remove its manifest, and run `{on_journal('forget', str(manifest.ref))}`"
    return (
        f"if it was deleted and is wanted: {again}",
        f"if it was deleted permanently: {forget}",
    )


@dataclass(frozen=True, slots=True, repr=False)
class Sending:
    """A change and the document that is really sent, including secrets: never print it.

    Raises ValueError for an orphan: nothing is sent for it.
    """

    change: model.Change
    document: dict[str, Json]

    def __post_init__(self) -> None:
        """Refuse what is not declared."""
        if self.change.manifest is None:
            raise ValueError(f"{self.ref} is no longer declared: nothing of it is sent")

    @property
    def ref(self) -> model.Ref:
        """The resource's name."""
        return self.change.ref

    @property
    def manifest(self) -> model.Manifest:
        """Return the manifest that is sent."""
        assert self.change.manifest is not None  # noqa: S101 - refused in the beginning
        return self.change.manifest


OnIdentified: TypeAlias = Callable[[model.Ref, model.RemoteId], None]
"""Called as soon as the service has returned an id, before anything else is sent."""

WriteResult: TypeAlias = model.Outcome | ReconcilerError
"""The result of one write: an outcome, or an error that stops the run.

An error is returned and not raised, so that no answer of other writes is lost.
"""

Observe: TypeAlias = "Callable[[Api, model.Manifest, Memory], Awaitable[model.Observation]]"
WriteFunction: TypeAlias = (
    "Callable[[Api, Sequence[Sending], OnIdentified], Awaitable[Sequence[WriteResult]]]"
)


def each(
    write_one: Callable[[Api, Sending, OnIdentified], Awaitable[model.Outcome]],
) -> WriteFunction:
    """Return what writes several resources concurrently, and waits for all of them.

    `write_one` may raise: a refusal is an outcome, and any other error stops the run.
    """

    async def write(
        api: Api, sendings: Sequence[Sending], identified: OnIdentified
    ) -> list[WriteResult]:
        import asyncio  # noqa: PLC0415 - most runs of a manifest send nothing

        async def answer(sending: Sending) -> WriteResult:
            try:
                return await write_one(api, sending, identified)
            except ServiceRefused as refused:
                return refusal(sending, refused)
            except ReconcilerError as error:
                return error

        return await asyncio.gather(*map(answer, sendings))

    return write


def refusal(sending: Sending, refused: ServiceRefused) -> model.Refused | model.Unconfirmed:
    """Return the service's refusal of one write as its outcome.

    After a lost answer a refusal proves nothing. If the object of an update is gone, the outcome
    has remedies.
    """
    if refused.doubtful:
        return model.Unconfirmed(sending.ref, str(refused), refused.exit_code)
    gone = refused.status == HTTPStatus.NOT_FOUND and sending.change.remote_id is not None
    remedies = to_begin_anew(sending.manifest) if gone else ()
    return model.Refused(sending.ref, str(refused), remedies=remedies)


async def _nothing_foreseen(_: Api, __: Sending) -> Foreseen:
    return Foreseen()


@dataclass(frozen=True, slots=True)
class Remote:
    """The functions of a kind that use the service: `REMOTE` in the module `remote` of the kind.

    `preflight` asks the service about a write: its objections, and what depends on the resource.
    `complete` adds to the declaration what the service needs and no manifest has (a slug, nested
    ids).
    """

    observe: Observe
    write: WriteFunction
    preflight: Callable[[Api, Sending], Awaitable[Foreseen]] = _nothing_foreseen
    complete: Callable[[model.Manifest, model.Observation, Memory], dict[str, Json]] = (
        lambda manifest, _, __: manifest.spec
    )


class ConsentRule(Enum):
    """The need for consent to a risky change, in addition to limits on their number."""

    NEVER = "never"
    ALWAYS = "always"
    WITH_OPEN_INCIDENTS = "with open incidents"


@dataclass(frozen=True, slots=True)
class RiskyChange:
    """A change that reduces the monitoring of the service, or breaks what depends on it.

    `code` is its permanent name (docs/guards.md), `said` is its text with the figures, and
    `counted` is the word under which the guards count the change, "" for none. `incidents` are the
    names that its incidents may have.
    """

    code: str
    said: str
    counted: str = ""
    consent: ConsentRule = ConsentRule.NEVER
    incidents: frozenset[str] = frozenset()


def _nothing(_: object) -> Iterator[Never]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of resource. Source: docs/manifests.md.

    `noun` is its name on the command line. `readable`: whether the API document has a read of it.
    `findable`: whether a create with a lost answer can be looked up. `check` yields findings on
    `spec`, `identities` returns what no two manifests may share, `cannot_create` says why an absent
    resource cannot be created. `destroyable` is the keyed list with members that a write deletes
    permanently. `weakens` yields risky changes, `bearing` is how incidents are matched to it.
    """

    name: str
    spec: type[Part]
    id_form: IdForm
    limits: str
    noun: str
    readable: bool = True
    findable: bool = False
    singleton: bool = False
    batch_size: int = 1
    check: Callable[[dict[str, Json]], Iterator[Finding]] = _nothing
    queries: Callable[[dict[str, Json]], Iterator[Query]] = _nothing
    """Yields the queries in `spec` in a known language; others are ignored."""

    identities: Callable[[model.Manifest], Mapping[str, str]] = lambda _: {}
    declared_id: Callable[[model.Manifest], model.RemoteId | None] = lambda manifest: (
        manifest.remote_id
    )
    title: tuple[str, ...] = ("name",)
    """The path of its name for people in `spec`."""

    cannot_create: Callable[[model.Manifest], str] = lambda _: ""
    weakens: Callable[[model.Change], Iterator[RiskyChange]] = _nothing
    risky: tuple[Path, ...] = ()
    """The fields that `weakens` also compares with what was applied last."""

    fires: bool = False
    """Whether it triggers events, incidents and cases: its track record."""

    watches: Callable[[model.Manifest], Iterator[Watched]] = _nothing
    """Yields the resources that it watches, so that their changes are shown for it."""

    consents: tuple[str, ...] = ()
    """The codes of `weakens` that need consent, so that a project file can give it."""

    bearing: Bearing = Bearing()
    from_export: Callable[[dict[str, Json]], dict[str, Json]] | None = None
    """Turns the content of a `spec.file` into `spec`, if the kind has exports."""

    inner_id: tuple[str, ...] = ()
    """The path of the id inside the `spec` of an export, if it is not compared."""

    destroyable: tuple[str, ...] = ()
    needed: tuple[tuple[str, ...], ...] = ()
    """Fields of each member of `destroyable` without which services refuse a write."""

    picture: Picture | None = None
    """The drawing of it in reports."""

    essentials: tuple[Essential, ...] = ()
    """The places that a reviewer of a new resource has to see first, in this order."""

    endpoints: tuple[Endpoint, ...] = ()
    """The requests that contain its fields."""

    example: Mapping[str, Json] = field(default_factory=dict, compare=False)
    """A small, useful `spec`."""

    sampled: bool = False
    """Whether it decides about logs, so that samples of logs show what a change does."""
    unsaid: frozenset[str] = frozenset()
    """Steps of a path that only wrap others and mean nothing to a reader."""

    @property
    def remote(self) -> Remote:
        """The functions that use the service, loaded at the first use: `validate` needs none."""
        found = import_module(f"{self.spec.__module__}.remote").REMOTE
        assert isinstance(found, Remote)  # noqa: S101 - each kind has one
        return found

    def readable_by(self, assumptions: Assumptions) -> bool:
        """Return whether live can be read: by the API document, or as the project file declares."""
        return self.readable or self.name in assumptions.reads.of_kinds

    @property
    def shape(self) -> Shape:
        """The shape by which documents of this kind are merged and compared."""
        return shape_of(self.spec)

    @property
    def exact_shape(self) -> Shape:
        """The shape for comparing a declaration with an earlier one: a zero is not absent there."""
        return exact_shape_of(self.spec)


async def observe(
    kind: Kind, api: Api, manifest: model.Manifest, memory: Memory
) -> model.Observation | ReconcilerError:
    """Return an observation of live, or an error that is about this one resource.

    Raises errors about the service as a whole: it is unreachable, or the key is refused.
    """
    try:
        return await kind.remote.observe(api, manifest, memory)
    except (UnreadableReply, ServiceRefused) as error:
        return error


class SpecFinding(NamedTuple):
    """One place in a `spec` that a check is about, and its message."""

    path: Path
    message: str
    suggestion: str = ""
    at_key: bool = False


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The manifests of a workspace: `own` are of one kind, `elsewhere` of other environments."""

    own: Sequence[model.Manifest]
    every: Sequence[model.Manifest]
    elsewhere: Collection[model.Ref]


def text_of(value: object) -> str | None:
    """Return a known text; None for any other value, or a text that is filled in late."""
    return value if isinstance(value, str) and not isinstance(value, Template) else None


def is_blank(value: Json) -> bool:
    """Return whether it is null or absent, or a text of nothing but space."""
    return value is None or (isinstance(value, str) and not value.strip())


_WHOLE = re.compile(r"-?[0-9]{1,18}")


def number_of(value: Json | Missing) -> float | None:
    """Return a number, also if it is written as text; None for any other value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    text = text_of(value)
    return float(text) if text is not None and _WHOLE.fullmatch(text) else None


def lists_in(document: Mapping[str, Json], key: str) -> Sequence[Json]:
    """Return a list of a mapping, empty if there is none."""
    value = document.get(key)
    return value if isinstance(value, list) else ()
