"""The nouns: what is declared, what is known of the live side, what would be done. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from reconciler.document import Difference, Json, Path

RemoteId: TypeAlias = str | int
"""What the service calls a resource: a uuid, 21 characters, or an int32."""


class Ref(NamedTuple):
    """The name of a resource in the workspace, `Kind/name`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> Ref | None:
        """Read `Kind/name`; None where the text has another form."""
        kind, slash, name = text.partition("/")
        return cls(kind, name) if slash and kind and name else None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a manifest stands: `file` relative to the project, lines and columns from 1."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One declared resource: variables filled in, secrets sealed, references still open.

    `protect` asks that nothing changes it from its next apply on.
    """

    ref: Ref
    spec: dict[str, Json]
    source: Source
    remote_id: RemoteId | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    references: frozenset[Ref] = frozenset()
    protect: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """Asked, and answered.

    `document` has the shape of `spec`; `version` is what moves with every edit
    (`updatedAt`, the SLO's revision) and `recalled` the paths the API does not
    return. `attribution` says who edited last and when, where the service tells,
    and `by_hand` that it was a person in the web interface. `revision` is told
    by the answer to a write too.
    """

    remote_id: RemoteId | None
    document: dict[str, Json]
    version: str = ""
    recalled: tuple[Path, ...] = ()
    attribution: str = ""
    by_hand: bool = False
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Absent:
    """Asked, and the service has none. `why` is said on the plan's line."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Cannot be asked: the last write the service acknowledged."""

    remote_id: RemoteId
    document: dict[str, Json]
    written_at: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Cannot be asked, and no write was ever acknowledged.

    With an `exit_code` the service was asked, and its answer about this one
    resource is of no use.
    """

    remote_id: RemoteId | None
    why: str
    exit_code: int = 0


Observation: TypeAlias = Seen | Absent | Remembered | Unknown


class Action(Enum):
    """What a plan does with a resource; the value is its sign."""

    KEEP = "="
    CREATE = "+"
    UPDATE = "~"
    ASSERT = "!"
    BLOCKED = "x"

    @property
    def word(self) -> str:
        """The action's name in reports and JSON."""
        return self.name.lower()

    @property
    def writes(self) -> bool:
        """Whether applying it sends anything."""
        return self in (Action.CREATE, Action.UPDATE, Action.ASSERT)


class Evidence(Enum):
    """What an action rests on."""

    LIVE = "live"
    JOURNAL = "journal"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Change:
    """One resource in a plan, with exactly what would be sent.

    `declared` is what the journal will remember, `body` the whole `spec` after
    the merge: secrets sealed and references to what does not exist yet still
    open in both. `before` is what is live as it may be shown, and
    `lost` what is destroyed so: `***` wherever a secret belongs, or did.
    `destroys` names what the write removes for good. `protected` says that the
    last apply of it asked that nothing changes it.
    """

    manifest: Manifest
    action: Action
    evidence: Evidence
    observation: Observation
    declared: dict[str, Json]
    body: dict[str, Json]
    differences: tuple[Difference, ...] = ()
    destroys: tuple[str, ...] = ()
    lost: tuple[Json, ...] = ()
    foreign: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    awaits: frozenset[Ref] = frozenset()
    request_id: str = ""
    protected: bool = False
    before: Json = None

    @property
    def ref(self) -> Ref:
        """The resource's name."""
        return self.manifest.ref

    @property
    def turns_protection(self) -> bool:
        """Whether applying it begins or ends its protection."""
        return self.action is not Action.BLOCKED and self.manifest.protect is not self.protected

    @property
    def remote_id(self) -> RemoteId | None:
        """What the service calls it, as far as that is known."""
        match self.observation:
            case Seen(remote_id=known) | Remembered(remote_id=known) | Unknown(remote_id=known):
                return known
            case Absent():
                return None


@dataclass(frozen=True, slots=True)
class Orphan:
    """Written once, no longer declared; the API has no delete."""

    ref: Ref
    remote_id: RemoteId | None


@dataclass(frozen=True, slots=True)
class UnsettledCreate:
    """A create whose answer was lost, on a kind that cannot be looked up."""

    ref: Ref
    since: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Objection:
    """What an apply would need consent for, and how to give it.

    `ref` is None where it is about many resources. `message` names the figures
    and the limit; `way_out` holds the ways out, one on each line. `code` names
    the guard for good: docs/guards.md.
    """

    ref: Ref | None
    message: str
    way_out: str
    code: str = ""

    @property
    def ways_out(self) -> tuple[str, ...]:
        """The ways out, one by one."""
        return tuple(self.way_out.splitlines())


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """Every declared resource and what would become of it. Plain data."""

    def __repr__(self) -> str:
        # asyncio asks for the text of what a run returned, and all fields of 1,000 resources
        # take longer than a plan without changes.
        return f"Plan({self.environment!r}, {len(self.changes)} changes, {self.digest})"

    environment: str
    target: str
    digest: str
    changes: tuple[Change, ...]
    orphans: tuple[Orphan, ...] = ()
    unsettled: tuple[UnsettledCreate, ...] = ()
    guarded: tuple[Objection, ...] = ()
    """What an apply would need consent for."""

    changed_since: str = ""
    """The revision that the plan of a part was compared with; "" for a whole one."""

    not_examined: int = 0
    """How many resources the plan of a part left out."""

    def count(self, action: Action) -> int:
        """Count the resources under one action."""
        return sum(change.action is action for change in self.changes)

    @property
    def has_changes(self) -> bool:
        """Whether applying it would send anything, or cannot do what is declared."""
        return any(change.action is not Action.KEEP for change in self.changes)

    @property
    def unread(self) -> tuple[Unknown, ...]:
        """What was asked for and could not be read; it is blocked."""
        found = (change.observation for change in self.changes)
        return tuple(one for one in found if isinstance(one, Unknown) and one.exit_code)

    @property
    def turns_protection(self) -> bool:
        """Whether applying it begins or ends the protection of anything."""
        return any(change.turns_protection for change in self.changes)


@dataclass(frozen=True, slots=True)
class Written:
    """The service acknowledged the write.

    `stored` is the document it says it has now, and `revision` the one that a
    read shows until somebody writes again, where the answer tells it.
    """

    ref: Ref
    remote_id: RemoteId | None
    message: str = ""
    stored: dict[str, Json] | None = None
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The service saw nothing to change."""

    ref: Ref
    remote_id: RemoteId | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The service, or this program on its behalf, said no to this one resource.

    `sure` says that nothing changed; else the write may have happened all the same.
    """

    ref: Ref
    message: str
    exit_code: int = 3
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Skipped:
    """Not sent, because of something else."""

    ref: Ref
    message: str


@dataclass(frozen=True, slots=True)
class InDoubt:
    """A create that may have happened, and cannot be looked up."""

    ref: Ref
    message: str


Outcome: TypeAlias = Written | Unchanged | Refused | Skipped | InDoubt


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Another writer changed a resource between our write and our read of it.

    In `differences`, `before` is what was sent and `after` what is live.
    """

    attribution: str
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of one resource since it was applied.

    `unseen` is one that the API cannot show, `unapplied` one the journal has no
    write of. In `differences`, `before` is what was applied and `after` is live;
    `live` is the whole live document as it may be shown. An `exit_code` says that it was asked for
    and the answer was of no use.
    """

    ref: Ref
    source: Source
    state: Literal["same", "drifted", "gone", "unseen", "unapplied"]
    differences: tuple[Difference, ...] = ()
    note: str = ""
    live: Json = None
    exit_code: int = 0

    @property
    def drifted(self) -> bool:
        """Whether live differs from what was applied."""
        return self.state in ("drifted", "gone")
