"""What a journal says, entry by entry. Their JSON form is in `entry_documents`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from reconciler.document import Json, Missing, Path
from reconciler.resource import Ref, RemoteId


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: what the journal is of.

    A journal that was compacted or moved `continues` one that ended with that sum.
    The digests of its secrets are salted with the name of the target, or with
    `sealed_for` where it was taken along from another address.
    """

    environment: str
    target: str
    created: str
    continues: str = ""
    sealed_for: str = ""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run begins: who applies what, from which commit. First entry of all that it appends.

    `outcomes` are counts by entry, which compacting fills in for what it drops.
    """

    run: str
    at: str
    actor: str
    commit: str
    digest: str
    command: str
    outcomes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Started:
    """About to be sent. `declared` is what the next merge starts from, secrets sealed.

    `seen` is the digest of the observation that the write rests on.
    """

    run: str
    at: str
    ref: Ref
    operation: Literal["create", "replace"]
    declared: dict[str, Json]
    request_id: str
    remote_id: RemoteId | None
    seen: str
    protect: bool = False


@dataclass(frozen=True, slots=True)
class Identified:
    """The service has told the id, and the write is not finished yet, or not seen.

    `instead_of` is the id that was declared, where the service gave another.
    """

    run: str
    at: str
    ref: Ref
    remote_id: RemoteId
    instead_of: RemoteId | None = None


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A field that the service stored otherwise than it was sent (docs/plan.md)."""

    path: Path
    sent: Json | Missing
    got: Json | Missing


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """The service acknowledged the write.

    `adopted` says that nothing was sent, as live was already as declared, and
    `revision` is what a read shows until somebody writes again, where it was told.
    `instead_of` is the id that was declared, where the service gave another.
    """

    run: str
    at: str
    ref: Ref
    remote_id: RemoteId | None
    message: str = ""
    adopted: bool = False
    revision: str = ""
    instead_of: RemoteId | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What a read after the write showed: the fields that are not as they were sent."""

    run: str
    at: str
    ref: Ref
    rewritten: tuple[Rewritten, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """A manifest was made of what was seen live, or in an export: nothing was sent.

    `declared` is what the next merge starts from. `adopted` says that the manifest was there,
    and that it took over what is live.
    """

    run: str
    at: str
    ref: Ref
    remote_id: RemoteId | None
    declared: dict[str, Json]
    origin: Literal["live", "export"]
    revision: str = ""
    adopted: bool = False


@dataclass(frozen=True, slots=True)
class RefusedEntry:
    """The service said no, so nothing changed."""

    run: str
    at: str
    ref: Ref
    message: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A person said what became of a create; `remote_id` is None where it never happened."""

    at: str
    ref: Ref
    remote_id: RemoteId | None


@dataclass(frozen=True, slots=True)
class Override:
    """A person applied more than a guard allows, and why."""

    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What a compacted journal keeps of one resource, beside the writes in doubt before it.

    `declared` is None where no write was ever acknowledged; `written_as` and
    `written_at` belong to it.
    """

    at: str
    ref: Ref
    remote_id: RemoteId | None
    exists: bool
    attempts: int
    protected: bool = False
    declared: dict[str, Json] | None = None
    written_as: RemoteId | None = None
    written_at: str = ""
    rewritten: tuple[Rewritten, ...] = ()
    instead_of: RemoteId | None = None
    revision: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Renamed:
    """What was remembered as `was` is the memory of `ref` from here on.

    `run` is "" where a person said so, and not an apply.
    """

    at: str
    ref: Ref
    was: Ref
    run: str = ""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A person said that a resource is no concern of this journal any more."""

    at: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Moved:
    """The last line of a journal that goes on at another place; nothing uses this one again.

    `run` is that of the `Arrived` there.
    """

    at: str
    run: str
    to: str


@dataclass(frozen=True, slots=True)
class Arrived:
    """The lines before this one were carried here from the place `origin`.

    As the last line it counts only once the journal at `origin` ends in the
    `Moved` of the same `run`: until then that one is the journal.
    """

    at: str
    run: str
    origin: str


AboutWrites: TypeAlias = (
    Started | Identified | WrittenEntry | Stored | Imported | RefusedEntry | Settled | Kept
)
AboutResource: TypeAlias = AboutWrites | Renamed | Forgotten
AboutRun: TypeAlias = RunEntry | Override
AboutPlace: TypeAlias = Moved | Arrived
Entry: TypeAlias = AboutResource | AboutRun | AboutPlace
