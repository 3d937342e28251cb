"""What an apply would do, and what stands in its way. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.resource.change import Action, Change
from reconciler.resource.naming import Ref, RemoteId
from reconciler.resource.observation import Unread
from reconciler.resource.reason import Remark


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
    and the limit. `code` names the guard for good: docs/guards.md.
    """

    ref: Ref | None
    message: str
    ways_out: tuple[str, ...]
    code: str


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

    remarks: tuple[Remark, ...] = ()
    """What is to be said of it as a whole."""

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
    def unread(self) -> tuple[Unread, ...]:
        """What was asked for and could not be read; it is blocked."""
        found = (change.observation for change in self.changes)
        return tuple(one for one in found if isinstance(one, Unread))

    @property
    def turns_protection(self) -> bool:
        """Whether applying it begins or ends the protection of anything."""
        return any(change.turns_protection for change in self.changes)

    @property
    def is_noted(self) -> bool:
        """Whether applying it tells the journal something, though it may send nothing."""
        return any(change.is_noted for change in self.changes)
