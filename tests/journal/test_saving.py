"""What happened and could not be journaled is saved elsewhere, and a lock is waited for."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from harness.stores import journal_at
from journals import WRITE, filled, read, refused, started, written
from moves import LEASE, OLD, Places, in_files, run_entry

from reconciler.errors import InvalidInput, Locked
from reconciler.journal.content import entry_document, rescued
from reconciler.journal.entries import Entry, MovedIn
from reconciler.journal.journal import Became, Journal, JournalMove, move, readdress, stay
from reconciler.journal.store import LockTimeout, Store, taken_in_time
from reconciler.runtime.progress import Keeping, Locking, Waits

HALF = "caf\u00e9 \ud83d"


def test_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is saved has a line an entry, each readable by people and by programs."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    entries: list[Entry] = [replace(refused(), message=HALF), written()]

    said = rescued(entries)

    (file,) = tmp_path.iterdir()
    assert str(file) in said
    lines = file.read_bytes().decode().splitlines()
    assert [json.loads(line) for line in lines] == [entry_document(entry) for entry in entries]
    assert "caf\u00e9" in lines[0]


def test_saved_in_any_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is saved is UTF-8 whatever the machine writes else."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened: list[Any] = []
    real = os.fdopen

    def fdopen(*given: Any, **more: Any) -> Any:
        opened.append(real(*given, **more))
        return opened[-1]

    monkeypatch.setattr("os.fdopen", fdopen)
    rescued([refused()])

    assert opened[0].encoding.lower() == "utf-8"


@pytest.mark.parametrize("there", [True, False])
def test_no_room(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be saved, the error holds the entries, and no half a file stays."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path if there else tmp_path / "gone"))

    def full(_: int) -> None:
        if not there:
            raise AssertionError
        for file in tmp_path.iterdir():
            file.unlink()
        raise OSError

    monkeypatch.setattr("os.fsync", full)
    said = rescued([refused(), written()])

    lines = said.strip().splitlines()[-2:]
    assert [json.loads(line) for line in lines] == [
        entry_document(entry) for entry in (refused(), written())
    ]
    assert not list(tmp_path.iterdir())


class Waiting:
    """A clock that only sleeping moves, on which a lock is held by one after another."""

    def __init__(self, *until: float) -> None:
        self.now, self.until = 100.0, [100.0 + number for number in until]
        self.slept: list[float] = []
        self.noted: list[object] = []
        self.told: list[str] = []
        self.waits = Waits()

    def sleep(self, seconds: float) -> None:
        """Move on."""
        self.slept.append(round(seconds, 3))
        self.noted.append([wait.wait for wait in self.waits.now().waits])
        self.now += seconds

    def take(self) -> None:
        """Take the lock, or say who holds it."""
        for number, until in enumerate(self.until):
            if self.now < until:
                raise Locked(f"held by {number}")

    def run(self, seconds: float, *, noting: bool = True) -> None:
        """Wait for the lock."""
        patience = LockTimeout(seconds, lambda: self.now, self.sleep)
        waits = self.waits if noting else None
        taken_in_time(self.take, patience, self.told.append, waits)


def test_pauses_grow() -> None:
    """A lock is asked for at once more often than later, and never less than every 5 s."""
    waiting = Waiting(15)
    waiting.run(60, noting=False)

    assert waiting.slept == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


def test_the_last_pause_is_short() -> None:
    """The last pause ends with the patience, after which the lock is asked for once more."""
    waiting = Waiting(100)
    with pytest.raises(Locked):
        waiting.run(1)

    assert waiting.slept == [0.2, 0.4, 0.4]


def test_each_holder_is_told_once() -> None:
    """Each holder is told once, with what is left of the patience, and noted while it holds."""
    waiting = Waiting(2, 8)
    waiting.run(60)

    assert [said.partition(";")[0] for said in waiting.told] == ["held by 0", "held by 1"]
    assert ["60 s" in said for said in waiting.told] == [True, False]
    assert waiting.noted[0] == [Locking("held by 0")]
    assert waiting.noted[-1] == [Locking("held by 1")]
    assert not waiting.waits.now().waits


class Seen:
    """A store that notes what a lock, an append and a release of it are done under."""

    def __init__(self, store: Store, waits: Waits) -> None:
        self._store, self._waits = store, waits
        self.runs: list[str] = []
        self.waited: list[object] = []

    def __getattr__(self, name: str) -> Any:
        if name in ("lock", "append", "release"):
            self.waited.extend(wait.wait for wait in self._waits.now().waits)
        return getattr(self._store, name)

    def lock(self, lease: Any) -> None:
        """Take it, and note for which run."""
        self.runs.append(lease.run)
        self._store.lock(lease)


def test_who_keeps_is_noted(tmp_path: Path) -> None:
    """While what keeps a journal works, its place is noted."""
    waits = Waits()
    journal = journal_at(tmp_path / "j")
    journal.waits = waits
    seen: Any = Seen(journal.store, waits)
    journal.store = seen
    with journal.locked():
        journal.append(WRITE)

    assert set(seen.waited) == {Keeping(journal.place)}
    assert len(seen.waited) >= 2


def wrapped(places: Places, name: str, store: Any = None) -> tuple[Journal, Any]:
    """Give the journal at a place, and what sees how it is locked."""
    seen: Any = Seen(places.openings[name]() if store is None else store, Waits())
    return places.journal(name, seen), seen


def does(what: str, places: Places, patience: LockTimeout) -> list[str]:
    """Move, keep or readdress a journal; give the runs that locked it."""
    if what == "move":
        (here, seen), (there, other) = wrapped(places, "a"), wrapped(places, "b")
        move(here, there, JournalMove("a", "b", OLD), run_entry("mine"), patience)
        return [*seen.runs, *other.runs]
    here, seen = wrapped(places, "a")
    if what == "stay":
        stay(here, run_entry("mine"), patience)
    else:
        readdress(here, "https://other.example", run_entry("mine"), patience)
    return list(seen.runs)


@pytest.mark.parametrize(
    ("what", "held"), [("move", "a"), ("move", "b"), ("stay", "a"), ("readdress", "a")]
)
def test_waited_for(what: str, held: str, tmp_path: Path) -> None:
    """Whatever moves a journal waits for its locks as long as asked, and they name its run."""
    places = in_files(tmp_path)
    places.fill("a")
    holder = places.openings[held]()
    holder.lock(LEASE)
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        holder.release(LEASE, holder.ended())

    runs = does(what, places, LockTimeout(60, lambda: now[0], sleep))

    assert now[0] > 0
    assert set(runs) == {"mine"}


def test_finished_by_another_run(tmp_path: Path) -> None:
    """A move that stopped before its last line is finished by the next, whose line ends it."""
    places = in_files(tmp_path)
    places.fill("a")
    places.move()
    there = places.openings["b"]()
    lines = there.read().splitlines(keepends=True)
    (tmp_path / "b").write_bytes(b"".join(lines[:-1]))
    (tmp_path / "b.lock").unlink(missing_ok=True)

    assert places.move() is Became.FINISHED
    assert places.read("b").entries[-1] == run_entry("run-2")
    assert places.move() is Became.ALREADY
    assert places.read("b").entries[-1] == run_entry("run-2")


def test_nothing_to_readdress(tmp_path: Path) -> None:
    """A journal that was moved, or is a copy in the middle of a move, gets no other address."""
    places = in_files(tmp_path)
    places.fill("a")
    places.move()
    with pytest.raises(InvalidInput, match="was moved to b"):
        readdress(places.journal("a"), "https://x.example", run_entry("mine"), LockTimeout())
    lines = (tmp_path / "b").read_bytes().splitlines(keepends=True)
    (tmp_path / "b").write_bytes(b"".join(lines[:-1]))
    (tmp_path / "b.lock").unlink(missing_ok=True)
    copy = places.journal("b")
    assert readdress(copy, "https://x.example", run_entry("mine"), LockTimeout()) is Became.MOVED


def test_the_copy_of_another_move_stays(tmp_path: Path) -> None:
    """A copy does not count by a word where its origin went on, or went elsewhere."""
    places = in_files(tmp_path)
    places.fill("a")
    places.move()
    there = places.read("b")
    arrived = next(entry for entry in there.entries if isinstance(entry, MovedIn))
    with there.locked():
        there.append([replace(arrived, run="another")])

    with pytest.raises(InvalidInput, match="not finished"):
        stay(places.journal("b"), run_entry("mine"), LockTimeout())


def test_compacted_header(tmp_path: Path) -> None:
    """A compacted journal says since when it is, and goes on being written to and read."""
    journal = filled(tmp_path / "j")
    journal.clock = lambda: datetime(2031, 1, 1, tzinfo=UTC)
    with journal.locked():
        seed = journal.history.seed
        journal.compact(run_entry("short"))
        assert journal.history.begun
        assert journal.history.seed == seed
        journal.append([started()])
    assert journal.header is not None
    assert journal.header.created.startswith("2031")
    assert read(tmp_path / "j").history.memories == journal.history.memories


@pytest.mark.parametrize("command", ["", "reconciler apply"])
def test_who_began_it(tmp_path: Path, command: str) -> None:
    """A journal names the command that began it unasked, and no command else, compacted too."""
    journal = journal_at(tmp_path / "j")
    journal.begun_by = command
    with journal.locked():
        journal.append([started()])
    assert journal.history.begun_unasked == read(tmp_path / "j").history.begun_unasked == command
    with journal.locked():
        journal.compact(run_entry("short"))

    assert journal.history.begun_unasked == read(tmp_path / "j").history.begun_unasked == command


def test_where_none_is(tmp_path: Path) -> None:
    """A new journal has a seed of its own, and no run says what it was not told."""
    one, other = (journal_at(tmp_path / name) for name in "ab")
    for journal in (one, other):
        journal.read()
    entry = one.run_entry("mine", "apply")

    assert one.history.seed
    assert one.history.seed != other.history.seed
    assert (entry.commit, entry.digest) == ("", "")


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("30s", 30), ("5m", 300), (" 2h ", 7200), ("24h", 86400)]
)
def test_time_to_wait(text: str, seconds: int) -> None:
    """The time to wait for a lock is a number of seconds, minutes or hours, up to a day."""
    assert LockTimeout.of(text).seconds == seconds


@pytest.mark.parametrize("text", ["", "m", "1d", "-1", "25h", "86401"])
def test_no_time_to_wait(text: str) -> None:
    """Any other text, and more than a day, is no time to wait for a lock."""
    with pytest.raises(ValueError, match="duration"):
        LockTimeout.of(text)
