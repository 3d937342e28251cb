"""What an apply would do with each resource, what stands in its way, and what drifted. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeAlias

from reconciler.document import ABSENT, Difference, Json, Missing, Path
from reconciler.errors import ExitCode
from reconciler.model.guard_levels import GuardLevel, guard_key, level_of
from reconciler.model.manifest import Manifest, Ref, RemoteId, Selected, Source
from reconciler.model.observation import NOBODY, Absent, LastEdit, Observation, Unread
from reconciler.model.reason import Reason, RenamedFrom
from reconciler.model.remark import Remark
from reconciler.model.signals import NO_SIGNALS, Signals

ActionWord: TypeAlias = Literal["create", "update", "assert", "keep", "blocked"]
"""What actions are called in reports and JSON."""


class Action(Enum):
    """What a plan does with a resource; the value is its sign."""

    KEEP = "="
    CREATE = "+"
    UPDATE = "~"
    ASSERT = "!"
    BLOCKED = "x"

    @property
    def word(self) -> ActionWord:
        """The action's name in reports and JSON."""
        return _WORDS[self]

    @property
    def writes(self) -> bool:
        """Whether applying it sends anything."""
        return self in (Action.CREATE, Action.UPDATE, Action.ASSERT)


_WORDS: Final[Mapping[Action, ActionWord]] = {
    Action.KEEP: "keep",
    Action.CREATE: "create",
    Action.UPDATE: "update",
    Action.ASSERT: "assert",
    Action.BLOCKED: "blocked",
}


class Evidence(Enum):
    """What an action rests on."""

    LIVE = "live"
    JOURNAL = "journal"
    NONE = "none"
    BASE = "base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One resource in a plan, with exactly what would be sent.

    `declared` is what the journal will remember, `body` the whole `spec` after
    the merge: secrets sealed and references to what does not exist yet still
    open in both. `before` is what is live as it may be shown, and
    `lost` what is destroyed so: hidden wherever a secret belongs, or did.
    `destroys` names what the write removes for good. `protected` says that the
    last apply of it asked that nothing changes it. `alerts` are those that the service
    named when it was asked about the write.
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
    reasons: tuple[Reason, ...] = ()
    awaits: frozenset[Ref] = frozenset()
    request_id: str = ""
    protected: bool = False
    before: Json = None
    alerts: tuple[str, ...] = ()

    @property
    def ref(self) -> Ref:
        """The resource's name."""
        return self.manifest.ref

    @property
    def is_noted(self) -> bool:
        """Whether applying it tells the journal something, though it may send nothing."""
        renamed = any(isinstance(reason, RenamedFrom) for reason in self.reasons)
        return self.turns_protection or (renamed and self.action is not Action.BLOCKED)

    @property
    def turns_protection(self) -> bool:
        """Whether applying it begins or ends its protection."""
        return self.action is not Action.BLOCKED and self.manifest.protect is not self.protected

    @property
    def is_kept_unseen(self) -> bool:
        """Whether it is kept because the last write is as declared, and no read shows live."""
        return self.action is Action.KEEP and self.evidence in (Evidence.JOURNAL, Evidence.NONE)

    @property
    def remote_id(self) -> RemoteId | None:
        """What the service calls it, as far as that is known."""
        match self.observation:
            case Absent():
                return None
            case known:
                return known.remote_id


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardViolation:
    """What an apply would need consent for, and how to give it.

    `ref` is None where it is about many resources; else `said` goes on after its name. `said`
    names the figures and the limit. `until` is when it ends by itself, as an
    ISO 8601 time, "" where nobody knows. `code` names the guard for good: docs/guards.md.
    `destroys` are all that it says would be gone. `figures` is what has to be the same for a
    review to consent to it, where that is not `said`. `own_level` is its level where that
    is not the level of its code, and `is_met` whether consent was given.
    """

    ref: Ref | None = None
    said: str
    ways_out: tuple[str, ...]
    code: str
    destroys: tuple[str, ...] = ()
    until: str = ""
    figures: str = ""
    own_level: GuardLevel | None = None
    is_met: bool = False

    @property
    def level(self) -> GuardLevel:
        """Who may consent to it."""
        return self.own_level or level_of(self.code)

    @property
    def key(self) -> str:
        """The name of this very objection: the same code, resource and figures."""
        return guard_key(self.code, str(self.ref or ""), self.figures or self.said)

    @property
    def message(self) -> str:
        """The whole sentence."""
        return self.said if self.ref is None else f"{self.ref}{self.said}"


@dataclass(frozen=True, slots=True)
class Against:
    """The commit whose manifests a plan was compared with, and how it was asked for."""

    asked: str
    commit: str

    def __str__(self) -> str:
        return f"{self.asked} {self.commit}"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
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
    guarded: tuple[GuardViolation, ...] = ()
    """What an apply would need consent for."""

    remarks: tuple[Remark, ...] = ()
    """What is to be said of it as a whole."""

    changed_since: str = ""
    """The revision that the plan of a part was compared with; "" for a whole one."""

    not_examined: int = 0
    """How many resources the plan of a part left out."""

    beside: tuple[Ref, ...] = ()
    """What the journal knows beside the changes of a rollback, or of a part of the manifests."""

    perhaps_beside: tuple[Ref, ...] = ()
    """What is declared beside a part with an id of its own, of which the journal knows nothing."""

    selected: Selected | None = None
    """What the plan was limited to; None for all that is declared."""

    paths: tuple[str, ...] = ()
    """The paths that it is of, as seen from the project's folder; none for all manifests."""

    against: Against | None = None
    """What stood for the service, which was not asked; None where it was."""

    signals: Signals = NO_SIGNALS
    """What the platform's own records say of it."""

    def count(self, action: Action) -> int:
        """Count the resources under one action."""
        return sum(change.action is action for change in self.changes)

    @property
    def keep_unseen(self) -> int:
        """How many of the kept resources cannot be read."""
        return sum(change.is_kept_unseen for change in self.changes)

    @property
    def has_changes(self) -> bool:
        """Whether applying it would send anything, or cannot do what is declared."""
        return any(change.action is not Action.KEEP for change in self.changes)

    @property
    def unread(self) -> tuple[Unread, ...]:
        """What was asked for and could not be read; it is blocked."""
        found = (change.observation for change in self.changes)
        return tuple(unread for unread in found if isinstance(unread, Unread))

    @property
    def turns_protection(self) -> bool:
        """Whether applying it begins or ends the protection of anything."""
        return any(change.turns_protection for change in self.changes)

    @property
    def is_noted(self) -> bool:
        """Whether applying it tells the journal something, though it may send nothing."""
        return any(change.is_noted for change in self.changes)


DriftState: TypeAlias = Literal["same", "drifted", "gone", "unread", "unseen", "unapplied"]


DriftCause: TypeAlias = Literal["edited", "rewritten", "gone", "unreadable"]
"""Why something is not as it was applied: who did it, or what became of it."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What can be done about drift: a command, and what is to be said before it or after."""

    way: Literal["put-back", "take-over"]
    command: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A difference that raises no alarm, as the project file says by a rule, and why."""

    difference: Difference
    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What became of one resource since it was applied.

    `unseen` is one that the API cannot show, `unapplied` one the journal has no
    write of. In `differences`, `before` is what was applied and `after` is live;
    `live` is the whole live document as it may be shown, and `applied` what was
    applied, by which what was removed has a name. `unread` is one that
    was asked for with an answer of no use; only then there is an `exit_code`.
    The fields in `unseen` are left out of the answer, and nobody knows them: they are
    not among the differences, whatever they are by now. Nor are those in `ignored`.
    `cause` is None where nothing drifted, and `edit` who edited last, where that is told.
    `is_new` is None where no drift was ever remembered; `since` is when this one first was.
    """

    ref: Ref
    source: Source
    state: DriftState
    differences: tuple[Difference, ...] = ()
    note: str = ""
    live: Json = None
    exit_code: int = ExitCode.DONE
    unseen: tuple[Path, ...] = ()
    cause: DriftCause | None = None
    edit: LastEdit = NOBODY
    ignored: tuple[Ignored, ...] = ()
    ways_out: tuple[Remedy, ...] = ()
    is_new: bool | None = None
    since: str = ""
    applied: Json | Missing = ABSENT

    @property
    def drifted(self) -> bool:
        """Whether live differs from what was applied."""
        return self.state in ("drifted", "gone")

    @property
    def is_told(self) -> bool:
        """Whether it is a finding: it drifted, or nobody knows."""
        return self.drifted or self.state == "unread"


@dataclass(frozen=True, slots=True)
class DriftReport:
    """One look at what was applied, all of it.

    `since` is when drift was last remembered, "" for never. `idle` are the rules of
    `driftIgnore` that silenced nothing, `aimless` those about nothing that is declared.
    `selected` is None for all that is declared.
    """

    found: Sequence[Drift]
    since: str = ""
    idle: tuple[str, ...] = ()
    aimless: tuple[str, ...] = ()
    selected: Selected | None = None

    @property
    def ignored(self) -> int:
        """How many differences raised no alarm."""
        return sum(len(drift.ignored) for drift in self.found)

    @property
    def new(self) -> int:
        """How many findings there were not when drift was last remembered."""
        return sum(drift.is_new is True for drift in self.found)
