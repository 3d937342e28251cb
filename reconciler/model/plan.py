"""Changes of a plan, outcomes of their writes, and drift since the last apply. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import ClassVar, Literal, Protocol, TypeAlias, TypeVar, cast

from reconciler.document import ABSENT, Difference, Json, Missing, Path
from reconciler.errors import ExitCode
from reconciler.model.guards import GuardViolation
from reconciler.model.manifest import Manifest, Ref, RemoteId, Selected, Source
from reconciler.model.observation import (
    NO_SERVER_INFO,
    NOBODY,
    Absent,
    LastEdit,
    Observation,
    ServerInfo,
    Unread,
)
from reconciler.model.reason import Reason, Remark, RenamedFrom


@dataclass(frozen=True, slots=True, kw_only=True)
class Watchers:
    """Alerts that watch what a plan changes: declared alerts, and ids of others."""

    refs: tuple[Ref, ...] = ()
    others: tuple[str, ...] = ()


def watchers_named(ids: Iterable[str], alerts: Mapping[str, Ref]) -> Watchers:
    """Return the alerts with these ids by name, if they are known, and the other ids."""
    lowered = dict.fromkeys(id_.lower() for id_ in ids)
    refs = sorted({alerts[text] for text in lowered if text in alerts})
    return Watchers(refs=tuple(refs), others=tuple(text for text in lowered if text not in alerts))


class PlanSection(Protocol):
    """Plain data of a feature about a plan.

    `formats` is the `module:name` of its `SectionFormats`, which is imported when a report is made.
    """

    formats: ClassVar[str]


ActionWord: TypeAlias = Literal["create", "update", "assert", "keep", "blocked"]
"""The names of actions in reports and JSON."""

ChangeWord: TypeAlias = ActionWord | Literal["orphan"]
"""The name of any action; JSON has a separate list of orphans, so it has no such word."""


class Action(Enum):
    """The action of a plan on a resource; the value is its sign."""

    KEEP = "="
    CREATE = "+"
    UPDATE = "~"
    ASSERT = "!"
    BLOCKED = "x"
    ORPHAN = "?"

    @property
    def word(self) -> ChangeWord:
        """The action's name."""
        return cast("ChangeWord", self.name.lower())

    @property
    def writes(self) -> bool:
        """Return whether applying it sends anything."""
        return self in (Action.CREATE, Action.UPDATE, Action.ASSERT)

    @property
    def is_to_do(self) -> bool:
        """Return whether the resource needs a write, even if the write is blocked."""
        return self.writes or self is Action.BLOCKED


class Evidence(Enum):
    """The basis of an action."""

    LIVE = "live"
    JOURNAL = "journal"
    NONE = "none"
    BASE = "base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One resource in a plan, with exactly what would be sent.

    An orphan has no `manifest`: it was written once and is no longer declared. The API has no
    delete, so an apply leaves it as it is.

    `declared` is what the journal will record, and `body` the whole `spec` after the merge. In
    both, secrets are sealed, and references to resources that do not exist yet are unresolved.
    `before` is the live document as it may be shown, and `lost` the destroyed parts as they may be
    shown: each value that is or was a secret is hidden. `destroys` names what the write removes
    permanently. `protected` says that its last apply set its protection. `alerts` are the alerts
    that the service named when it was asked about the write. `since_applied` is for guards: fields
    that are declared differently since the last apply, and that someone edited live since.
    """

    ref: Ref
    manifest: Manifest | None
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
    since_applied: tuple[Difference, ...] = ()

    @property
    def source(self) -> Source | None:
        """Where it is declared; None for an orphan."""
        return None if self.manifest is None else self.manifest.source

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that are declared; none for an orphan."""
        return {} if self.manifest is None else self.manifest.labels

    @property
    def references(self) -> frozenset[Ref]:
        """The resources that it refers to; none for an orphan."""
        return frozenset() if self.manifest is None else self.manifest.references

    @property
    def protect(self) -> bool:
        """Return whether it is protected after an apply, which leaves orphans as they are."""
        return self.protected if self.manifest is None else self.manifest.protect

    @property
    def is_noted(self) -> bool:
        """Return whether an apply records something of it that is not sent.

        This is an accepted edit, a new name or a change of protection, not an ordinary write.
        """
        renamed = any(isinstance(reason, RenamedFrom) for reason in self.reasons)
        news = self.accepts_edit or (renamed and self.action is not Action.BLOCKED)
        return self.turns_protection or news

    @property
    def accepts_edit(self) -> bool:
        """Return whether nothing is sent, as someone made the declared changes live already."""
        return self.action is Action.KEEP and bool(self.since_applied)

    @property
    def turns_protection(self) -> bool:
        """Return whether applying it begins or ends its protection."""
        return self.action is not Action.BLOCKED and self.protect is not self.protected

    @property
    def is_kept_unseen(self) -> bool:
        """Return whether it is kept although no read showed its live state."""
        return self.action is Action.KEEP and self.evidence in (Evidence.JOURNAL, Evidence.NONE)

    @property
    def remote_id(self) -> RemoteId | None:
        """Its id in the service, if it is known."""
        return None if isinstance(self.observation, Absent) else self.observation.remote_id


@dataclass(frozen=True, slots=True)
class UnsettledCreate:
    """A create without an answer, of a kind that cannot be looked up."""

    ref: Ref
    since: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Against:
    """The commit that a plan was compared with, and how it was requested."""

    asked: str
    commit: str

    def __str__(self) -> str:
        return f"{self.asked} {self.commit}"


_Section = TypeVar("_Section")


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Plan:
    """All resources with their changes. Plain data.

    `changes` are the declared resources in the order of the kinds, then the orphans. `guarded` are
    violations that an apply would need consent for, and `remarks` are about the plan as a whole.

    For a plan of what changed, `changed_since` is the revision that it was compared with, and
    `not_examined` is the number of resources that it left out; "" and 0 for a whole plan. `beside`
    are resources in the journal that the plan does not cover: outside a rollback, or outside a part
    of the manifests. `perhaps_beside` are declared resources outside a part, with their own id,
    that the journal does not have. `selected` is None if all resources were selected. `paths` are
    relative to the project's folder; none for all manifests. `against` is the commit that was used
    instead of the service; None if the service was read.

    `watchers` are the known watchers of each SLO that the plan changes, and `alerts` the known
    alerts, by their ids in lower case. `sections` has the data that features add, at most one of
    each class. No write depends on these.
    """

    environment: str
    target: str
    digest: str
    changes: tuple[Change, ...]
    unsettled: tuple[UnsettledCreate, ...] = ()
    guarded: tuple[GuardViolation, ...] = ()
    remarks: tuple[Remark, ...] = ()
    changed_since: str = ""
    not_examined: int = 0
    beside: tuple[Ref, ...] = ()
    perhaps_beside: tuple[Ref, ...] = ()
    selected: Selected | None = None
    paths: tuple[str, ...] = ()
    against: Against | None = None
    watchers: Mapping[Ref, Watchers] = field(default_factory=dict)
    alerts: Mapping[str, Ref] = field(default_factory=dict)
    sections: tuple[PlanSection, ...] = ()

    def __repr__(self) -> str:
        # asyncio asks for the text of what a run returned, and all fields of 1,000 resources
        # take longer than a plan without changes.
        return f"Plan({self.environment!r}, {len(self.changes)} changes, {self.digest})"

    def section(self, sort: type[_Section]) -> _Section | None:
        """Return the section of a class; None if the plan has none."""
        return next((found for found in self.sections if isinstance(found, sort)), None)

    def with_section(self, section: PlanSection) -> Plan:
        """Return the plan with a section, which replaces the section of its class."""
        known = {type(found): found for found in self.sections}
        return replace(self, sections=tuple({**known, type(section): section}.values()))

    @property
    def declared(self) -> tuple[Change, ...]:
        """The changes of what is declared."""
        return tuple(change for change in self.changes if change.manifest is not None)

    @property
    def orphans(self) -> tuple[Change, ...]:
        """The resources that are no longer declared."""
        return tuple(change for change in self.changes if change.manifest is None)

    def count(self, action: Action) -> int:
        """Return the number of resources with an action."""
        return sum(change.action is action for change in self.changes)

    @property
    def keep_unseen(self) -> int:
        """The number of kept resources that cannot be read."""
        return sum(change.is_kept_unseen for change in self.changes)

    @property
    def has_changes(self) -> bool:
        """Return whether applying it would send anything, or a change is blocked."""
        return any(change.action.is_to_do for change in self.changes)

    @property
    def unread(self) -> tuple[Unread, ...]:
        """The resources that were requested and could not be read; they are blocked."""
        found = (change.observation for change in self.changes)
        return tuple(unread for unread in found if isinstance(unread, Unread))

    @property
    def turns_protection(self) -> bool:
        """Return whether applying it begins or ends the protection of a resource."""
        return any(change.turns_protection for change in self.changes)

    @property
    def is_noted(self) -> bool:
        """Return whether an apply records what it does not send: see `Change.is_noted`."""
        return any(change.is_noted for change in self.changes)


DriftState: TypeAlias = Literal["same", "drifted", "gone", "unread", "unseen", "unapplied"]


DriftCause: TypeAlias = Literal["edited", "rewritten", "gone", "unreadable"]
"""The way in which a resource differs from its last applied state."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A remedy for drift: a command, and notes before and after it."""

    way: Literal["put-back", "take-over"]
    command: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A difference that raises no alarm by a rule of the project file, and why."""

    difference: Difference
    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The state of one resource since it was applied.

    The state `unseen` means that the API cannot show it, `unapplied` that the journal has no write
    of it, and `unread` that the answer could not be used; only then there is an `exit_code`. In
    `differences`, `before` is what was applied and `after` is live. `live` is the whole live
    document as it may be shown, and `applied` the applied one, which has the names of removed
    items. The fields in `unseen` are not in the answer and are unknown, so they are not among the
    differences. Nor are those in `ignored`. `cause` is None if nothing drifted, and `edit` is the
    last edit, if it is reported. `is_new` is None if no drift was ever recorded; `since` is when
    this drift was first recorded.
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
    remedies: tuple[Remedy, ...] = ()
    is_new: bool | None = None
    since: str = ""
    applied: Json | Missing = ABSENT

    @property
    def drifted(self) -> bool:
        """Return whether live differs from what was applied."""
        return self.state in ("drifted", "gone")

    @property
    def is_finding(self) -> bool:
        """Return whether it is a finding: it drifted, or could not be read."""
        return self.drifted or self.state == "unread"


@dataclass(frozen=True, slots=True)
class DriftReport:
    """The drift of all that was applied, at one time.

    `since` is when drift was last recorded, "" for never. `idle` are the rules of `driftIgnore`
    that silenced no difference, `aimless` those about resources that are not declared. `selected`
    is None if all declared resources were. `has_journal` is False where nothing was applied from
    here, or the journal is lost: then no drift can be seen. `is_blind` is True where, in addition,
    a declared resource has an id, so that it may have been applied.
    """

    found: Sequence[Drift]
    since: str = ""
    idle: tuple[str, ...] = ()
    aimless: tuple[str, ...] = ()
    selected: Selected | None = None
    has_journal: bool = True
    is_blind: bool = False

    @property
    def ignored(self) -> int:
        """The number of differences that raised no alarm."""
        return sum(len(drift.ignored) for drift in self.found)

    @property
    def new(self) -> int:
        """The number of findings that did not exist when drift was last recorded."""
        return sum(drift.is_new is True for drift in self.found)


CommentState: TypeAlias = Literal[
    "planned",
    "no-changes",
    "offline",
    "failed",
    "applying",
    "applied",
    "partial",
    "in-doubt",
    "not-applied",
    "superseded",
]
"""The state of a comment on a pull request."""


@dataclass(frozen=True, slots=True)
class Written:
    """The service acknowledged the write.

    `stored` is the document that it returns as the new one. `revision` is the revision that a read
    shows until the next write, if the answer has it.
    """

    ref: Ref
    remote_id: RemoteId | None
    message: str = ""
    stored: dict[str, Json] | None = None
    revision: str = ""
    told: ServerInfo = NO_SERVER_INFO
    """Further facts in the answer that are needed later."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The service saw nothing to change."""

    ref: Ref
    remote_id: RemoteId | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The service, or this program for it, refused this one resource: nothing changed.

    `reasons` are the reasons why the plan blocked it; then `message` is empty. `remedies` may be
    empty.
    """

    ref: Ref
    message: str
    exit_code: int = ExitCode.PARTIAL
    reasons: tuple[Reason, ...] = ()
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """The write was sent and may have happened; the next plan will show it."""

    ref: Ref
    message: str
    exit_code: int = ExitCode.PARTIAL


@dataclass(frozen=True, slots=True)
class Skipped:
    """The write was not sent, for a reason that is not in this resource."""

    ref: Ref
    message: str


@dataclass(frozen=True, slots=True)
class InDoubt:
    """A create was sent and may have happened, and it cannot be looked up."""

    ref: Ref
    message: str


Outcome: TypeAlias = Written | Unchanged | Refused | Unconfirmed | Skipped | InDoubt


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Another writer changed a resource between our write and our read of it.

    In `differences`, `before` is what was sent and `after` what is live.
    """

    edit: LastEdit
    differences: tuple[Difference, ...]
