"""Journals that are moved between stores, and what stops a move."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from harness.stores import STORES, Opening, opening
from journals import AT, WRITE, started

from reconciler.errors import ReconcilerError
from reconciler.journal.entries import Entry, RunEntry
from reconciler.journal.file_store import FileStore
from reconciler.journal.history import History
from reconciler.journal.journal import Became, Journal, JournalMove, move
from reconciler.journal.store import Lease, LockTimeout, Store
from reconciler.model import Ref

OLD, NEW = "https://old.example.com", "https://new.example.com"
LOST = Ref("SLO", "lost")
LEASE = Lease(owner="owner-1", host="host", pid=1, since=AT, expires=AT, actor="someone")
PAIRS = [*permutations(STORES, 2), *((store, store) for store in STORES)]


def run_entry(name: str) -> RunEntry:
    return RunEntry(run=name, at=AT, actor="someone", commit="", digest="", command="move")


@dataclass
class Places:
    """Named places that journals are kept in, and a journal at each."""

    openings: dict[str, Opening]
    runs: int = 0

    def journal(self, name: str, store: Store | None = None, target: str = OLD) -> Journal:
        """Give the journal at a place, not read yet."""
        return Journal(
            store=store or self.openings[name](),
            environment="local",
            target=target,
            clock=lambda: datetime.now(UTC),
            who=lambda: "someone",
            look=lambda origin: self.openings[origin](),
        )

    def read(self, name: str, target: str = OLD) -> Journal:
        """Read the journal at a place, as a command would."""
        journal = self.journal(name, target=target)
        journal.load()
        return journal

    def fill(self, name: str, *batches: list[Entry]) -> History:
        """Write entries at a place, and give what they add up to."""
        journal = self.journal(name)
        with journal.locked():
            for batch in batches or (WRITE, [started(LOST, create=True)]):
                journal.append(batch)
        return journal.history

    def move(
        self, origin: str = "a", to: str = "b", wrap: Callable[[Store], Store] = lambda one: one
    ) -> Became:
        """Move the journal from one place to another, its stores wrapped."""
        self.runs += 1
        here, there = (self.journal(one, wrap(self.openings[one]())) for one in (origin, to))
        return move(
            here, there, JournalMove(origin, to, OLD), run_entry(f"run-{self.runs}"), LockTimeout()
        )

    def counting(self) -> list[str]:
        """Name the places whose journal takes entries."""
        return [name for name in self.openings if self.takes(name)]

    def takes(self, name: str) -> bool:
        """Tell whether there is a journal that a run could go on with."""
        journal = self.journal(name)
        with suppress(ReconcilerError), journal.locked():
            return journal.header is not None
        return False


def made(request: pytest.FixtureRequest, folder: Path, kinds: tuple[str, str]) -> Places:
    if "s3" in kinds:
        request.getfixturevalue("in_s3")
    openings = {}
    for name, kind in zip("ab", kinds, strict=True):
        (folder / name).mkdir()
        openings[name] = opening(kind, folder / name)
    return Places(openings)


def in_files(folder: Path) -> Places:
    """Give two places in files."""
    return Places({name: partial(FileStore, folder / name) for name in "abc"})


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Death:
    """Lets a process die before one of the writes to its stores; then nothing is done any more."""

    at: int
    steps: int = 0
    stores: list[Store] = field(default_factory=list)

    def step(self) -> None:
        """Take one step, or die."""
        if self.steps >= self.at:
            raise Killed
        self.steps += 1

    def around(self, store: Store) -> Store:
        """Give a store that dies with the process."""
        self.stores.append(store)
        return Mortal(store, self)

    def bury(self) -> None:
        """Let go of the locks, as the system does of files, and a person of shared stores."""
        for store in self.stores:
            if isinstance(store, FileStore):
                store.release(LEASE, store.ended())
            elif (held := store.holder()) is not None:
                store.unlock(held.owner)


class Mortal:
    """A store whose process may die before each of its writes."""

    def __init__(self, store: Store, death: Death) -> None:
        self._store, self._death = store, death

    def __getattr__(self, name: str) -> Any:
        if name in ("append", "replace", "lock", "release"):
            self._death.step()
        return getattr(self._store, name)


STEPS = 7
"""The writes of a move: two locks, copy, last line, first line, and two releases."""


def die(places: Places, at: int) -> bool:
    """Let a move die before one of its writes, counted from 0; tell whether it came so far."""
    death = Death(at)
    try:
        places.move(wrap=death.around)
    except Killed:
        death.bury()
        return True
    return False


def the_one_that_counts(places: Places, held: list[Entry]) -> Journal:
    """Give the one journal that takes entries; it holds all of these, in order."""
    (counting,) = places.counting()
    journal = places.read(counting)
    assert [entry for entry in journal.entries if entry in held] == held
    return journal


def write(journal: Journal, held: list[Entry]) -> None:
    """Let a run write in between."""
    held.append(started(Ref("SLO", f"later-{len(held)}")))
    with journal.locked():
        journal.append(held[-1:])
