"""What every store promises, whatever keeps it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from harness.stores import STORES, Opening, journal_on, lease
from journals import WRITE, refused, started, written

from reconciler import journal as package
from reconciler.errors import JournalError, Locked
from reconciler.journal.entries import Entry, RunEntry, Started
from reconciler.journal.journal import Journal
from reconciler.journal.store import LockTimeout, Note
from reconciler.model import Ref

LEASE = lease()
OTHER = replace(LEASE, owner="owner-2", pid=2)
NOTE = Note("a test", "someone")
RUN = RunEntry(
    run="run-1",
    at="2025-01-31T09:00:00Z",
    actor="someone",
    commit="abc",
    digest="sha256:0",
    command="compact",
)


def read(place: Opening) -> Journal:
    """Read the journal as another machine would."""
    journal = journal_on(place())
    journal.load()
    return journal


def test_nothing_yet(place: Opening) -> None:
    """Where nothing was written there is nothing to read, and nobody holds it."""
    for _ in range(2):
        store = place()
        assert store.read() == b""
        assert store.holder() is None


def test_read_back(place: Opening) -> None:
    """What was appended is read by another, byte by byte, in order."""
    store = place()
    store.lock(LEASE)
    store.read()
    for lines in (b"one\n", b"two\nthree\n", "vier \u00fc\n".encode()):
        store.append(lines, LEASE, NOTE)

    assert place().read() == "one\ntwo\nthree\nvier ü\n".encode()


def test_entries(place: Opening) -> None:
    """A journal over any store gives back its entries and what they add up to."""
    journal = journal_on(place())
    with journal.locked():
        journal.append(WRITE)
        journal.append([refused()])

    again = read(place)
    assert again.entries == [*WRITE, refused()]
    assert again.history == journal.history
    assert not again.torn


def test_lock_excludes(place: Opening) -> None:
    """Only one can hold the lock, and the other is told who, exit 5, until it is given back."""
    first, second = place(), place()
    first.lock(LEASE)

    with pytest.raises(Locked, match=f"locked by someone, process 1 on host since {LEASE.since}"):
        second.lock(OTHER)
    assert second.holder() == LEASE
    first.release(LEASE, "sum")

    assert second.holder() is None
    second.lock(OTHER)
    assert first.holder() == OTHER
    second.release(OTHER, "sum")


def test_append_needs_the_lock(place: Opening) -> None:
    """Nothing is written to a journal that its run has not locked."""
    journal = journal_on(place())
    journal.load()

    with pytest.raises(Locked, match="not locked by this run"):
        journal.append([refused()])
    assert place().read() == b""


def test_lost_race(place: Opening) -> None:
    """Of two who read the same, the second to append writes nothing and is told."""
    first, second = place(), place()
    first.lock(LEASE)
    first.read()
    second.read()
    first.append(b"one\n", LEASE, NOTE)

    with pytest.raises((JournalError, Locked)):
        second.append(b"other\n", OTHER, NOTE)
    with pytest.raises((JournalError, Locked)):
        second.replace(b"other\n", OTHER, NOTE)
    assert place().read() == b"one\n"
    first.append(b"two\n", LEASE, NOTE)
    assert place().read() == b"one\ntwo\n"
    first.release(LEASE, "")


def test_compacted(place: Opening) -> None:
    """A compacted journal adds up to the same, continues the sum, and takes more."""
    journal = journal_on(place())
    with journal.locked():
        for _ in range(3):
            journal.append(WRITE)
        journal.append([started(Ref("SLO", "lost"), create=True)])
    before, last = read(place), journal.content.sums[-1]
    with journal.locked():
        journal.compact(RUN)
        journal.append([refused()])

    again = read(place)
    assert again.header is not None
    assert again.header.continues == last
    assert again.history.of(Ref("SLO", "lost")) == before.history.of(Ref("SLO", "lost"))
    assert len(again.entries) < len(before.entries)
    assert not again.is_old_copy
    with again.locked():
        again.compact(RUN)
    assert read(place).history == again.history


def test_compacted_journal_is_not_written_over(place: Opening) -> None:
    """Who read a journal before it was compacted cannot append to it."""
    journal, late = journal_on(place()), place()
    with journal.locked():
        journal.append(WRITE)
        late.read()
        journal.compact(RUN)
        kept = place().read()

        with pytest.raises((JournalError, Locked)):
            late.append(b"late\n", OTHER, NOTE)
    assert place().read() == kept


def test_release_on_the_way_out(place: Opening) -> None:
    """A run that ends with an error gives its lock back."""
    journal = journal_on(place())
    with pytest.raises(ZeroDivisionError), journal.locked():
        raise ZeroDivisionError

    assert place().holder() is None


def at_once(run: Callable[[str], None], names: Sequence[str]) -> None:
    """Let a run of each name go, wait for all of them, and raise all that they raised.

    What the runs wait for has to end by itself.
    """
    with ThreadPoolExecutor(len(names)) as pool:
        ended = [pool.submit(run, name) for name in names]
    raised = [error for one in ended if (error := one.exception()) is not None]
    if raised:
        raise BaseExceptionGroup("runs failed", raised)


def test_one_winner(place: Opening) -> None:
    """Of many who lock at once exactly one wins, and the losers write nothing."""
    won: list[str] = []
    losers: list[str] = []
    together = threading.Barrier(5, timeout=60)
    finished = threading.Event()

    def race(name: str) -> None:
        journal = journal_on(place(), name)
        journal.load()
        together.wait()
        try:
            with journal.locked():
                journal.append([started(Ref("SLO", name))])
                won.append(name)
                assert finished.wait(60), f"not all others have lost: {losers}"
        except Locked as lost:
            losers.append(str(lost))
            if len(losers) == together.parties - 1:
                finished.set()

    at_once(race, [f"racer-{n}" for n in range(together.parties)])

    assert len(won) == 1, losers
    refs = [entry.ref.name for entry in read(place).entries if isinstance(entry, Started)]
    assert refs == won
    assert place().holder() is None


def test_all_get_their_turn(place: Opening) -> None:
    """Runs that wait for the lock lose no entry and break no sum."""

    def run(name: str) -> None:
        journal = journal_on(place(), name)
        with journal.locked(patience=LockTimeout(120)):
            journal.append([started(Ref("SLO", name)), written(Ref("SLO", name), name)])

    at_once(run, [f"racer-{n}" for n in range(3)])

    entries: list[Entry] = read(place).entries
    assert sorted(e.ref.name for e in entries if isinstance(e, Started)) == [
        "racer-0",
        "racer-1",
        "racer-2",
    ]


def test_unlock_of_a_shared_store(shared_place: Opening) -> None:
    """A lock is taken away by its own id only; the words say whose it was."""
    holder, person = shared_place(), shared_place()
    holder.lock(LEASE)

    for wrong in ("", "owner", "owner-2"):
        with pytest.raises(Locked, match=f"journal unlock {LEASE.owner}"):
            person.unlock(wrong)
    assert shared_place().holder() == LEASE
    assert person.unlock(LEASE.owner) == LEASE
    assert person.unlock(LEASE.owner) is None


def test_lost_lease(shared_place: Opening) -> None:
    """Who lost the lock writes nothing any more, whether another has it or nobody."""
    journal, journal_text = journal_on(shared_place()), b""
    lost: list[str] = []
    journal.tell = lost.append
    with journal.locked():
        journal.append(WRITE)
        held = shared_place().holder()
        assert held is not None
        shared_place().unlock(held.owner)
        journal_text = shared_place().read()
        with pytest.raises(Locked, match=r"no run|unlocked"):
            journal.append([started()])
        second = journal_on(shared_place(), "second")
        with second.locked():
            with pytest.raises(Locked, match="second"):
                journal.append([started()])
            assert shared_place().read() == journal_text
            second.append([refused()])
            with pytest.raises(Locked):
                journal.append([started()])
            with pytest.raises(Locked):
                journal.compact(RUN)

    assert read(shared_place).entries == [*WRITE, refused()]
    assert lost == [f"the lock of {journal.place} was lost before the end of the run"]


def test_taken_lock_is_not_given_back(shared_place: Opening) -> None:
    """Who lost the lock does not free that of its next holder."""
    first, second = shared_place(), shared_place()
    first.lock(LEASE)
    second.unlock(LEASE.owner)
    second.lock(OTHER)

    with pytest.raises(Locked):
        first.release(LEASE, "")
    assert shared_place().holder() == OTHER


def test_renewal(shared_place: Opening) -> None:
    """A lease is renewed by a write once a third of it has passed by the monotonic clock."""
    clock = [0.0]
    journal = journal_on(shared_place())
    journal.monotonic = lambda: clock[0]
    with journal.locked():
        at_first = shared_place().holder()
        journal.append(WRITE)
        soon = shared_place().holder()
        clock[0] = 301.0
        journal.clock = lambda: datetime(2099, 1, 1, tzinfo=UTC)
        journal.append([refused()])
        late = shared_place().holder()

    assert at_first == soon
    assert late is not None
    assert soon is not None
    assert late.expires.startswith("2099")
    assert late.owner == soon.owner


@pytest.mark.usefixtures("in_s3")
def test_every_store_is_held_to_this(tmp_path: Path) -> None:
    """Each store that the package has is among those that these laws run on."""
    modules = {file.stem for file in Path(package.__file__).parent.glob("*_store.py")}

    held = {type(opened(tmp_path)()).__module__.rpartition(".")[2] for opened in STORES.values()}
    assert held == modules
