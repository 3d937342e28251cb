"""What a journal asks of the place where its lines are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from reconciler.journal.lease import Lease


@dataclass(frozen=True, slots=True)
class Note:
    """What an append is about, for a store that keeps words beside the lines."""

    words: str
    actor: str


class Store(Protocol):
    """The lines of one journal, and its lock.

    A store rests each write on what it read or wrote last: where that is no
    longer what is kept, the write changes nothing and raises. Every method
    raises JournalError where the place cannot be used.
    """

    @property
    def place(self) -> str:
        """What messages call it."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether several machines may use it; its lock then outlives a process."""
        ...

    def read(self) -> bytes:
        """Give all lines; nothing where there is no journal. A last line may be torn."""
        ...

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Add lines after those read, and wait until they are kept.

        A renewed lease is recorded with them. Raises Locked where the lease is lost.
        """
        ...

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Put lines in the place of all those read, at once. Raises Locked as `append` does."""
        ...

    def lock(self, lease: Lease) -> None:
        """Take the lock. Raises Locked where another holds it."""
        ...

    def release(self, lease: Lease, ended: str) -> None:
        """Give the lock back, and remember how the journal ended.

        Raises Locked where it was lost meanwhile.
        """
        ...

    def holder(self) -> Lease | None:
        """Tell who holds the lock now, without taking it."""
        ...

    def ended(self) -> str:
        """Give the `ended` of the last release; "" where this store does not remember it."""
        ...

    def unlock(self, owner: str) -> Lease | None:
        """Take the lock from the holding with this id; give whose it was.

        None where nobody holds it. Raises Locked where another holding has it.
        """
        ...
