"""Whether the last apply of a resource asked that nothing changes it. Pure.

The journal decides and not the manifest, so that no merge can lift a protection
and use that at once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.resource import Action, Change, Ref, RemoteId

BEGINS = "it is protected from this apply on"
ENDS = "its protection ends with this apply; from the next one on it may be changed"


@dataclass(frozen=True, slots=True)
class Protections:
    """The remote ids of what is protected, by kind, so that a new name is no way around it."""

    history: History
    ids: Collection[tuple[str, RemoteId | None]]

    @classmethod
    def of(cls, history: History) -> Protections:
        """Collect what a journal knows to be protected."""
        protected = {
            (ref.kind, memory.remote_id)
            for ref, memory in history.memories.items()
            if memory.protected
        }
        return cls(history, protected)

    def cover(self, ref: Ref, remote_id: RemoteId | None) -> bool:
        """Tell whether a resource is protected, by its own last write or else by its id."""
        own = self.history.of(ref)
        if own.last is not None:
            return own.protected
        known = remote_id is not None or BY_NAME[ref.kind].singleton
        return known and (ref.kind, remote_id) in self.ids


def with_protection(change: Change, protected: bool) -> Change:
    """Note on a change whether it is protected, and whether that ends or begins with it."""
    change = replace(change, protected=protected)
    if not change.turns_protection or change.action is Action.BLOCKED:
        return change
    note = BEGINS if change.manifest.protect else ENDS
    return replace(change, notes=(*change.notes, note))
