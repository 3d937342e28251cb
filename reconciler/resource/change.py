"""What a plan does with one resource. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from reconciler.document import Difference, Json
from reconciler.resource.declared import Manifest
from reconciler.resource.naming import Ref, RemoteId
from reconciler.resource.observation import Absent, Observation
from reconciler.resource.reason import Reason, RenamedFrom


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


@dataclass(frozen=True, slots=True, kw_only=True)
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
    reasons: tuple[Reason, ...] = ()
    awaits: frozenset[Ref] = frozenset()
    request_id: str = ""
    protected: bool = False
    before: Json = None

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
    def remote_id(self) -> RemoteId | None:
        """What the service calls it, as far as that is known."""
        match self.observation:
            case Absent():
                return None
            case known:
                return known.remote_id
