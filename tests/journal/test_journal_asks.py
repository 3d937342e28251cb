"""What a journal asks of its store, told by example, and what its file keeps."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from harness.golden import Golden
from harness.stores import NO_TIME, journal_at, lease
from journals import AT, RUN, WRITE, filled, read, refused, started, written

from reconciler.errors import InvalidInput, JournalError, Locked
from reconciler.journal.entries import Header, RunEntry
from reconciler.journal.file_store import FileStore
from reconciler.journal.journal import Journal
from reconciler.journal.store import Ending, Lease, Note

LEASE = lease(pid=7, run="run-1")


@dataclass
class NotingStore:
    """A store in memory that notes what it is asked."""

    content: bytes = b""
    remembered: str = ""
    failure: Exception | None = None
    asked: list[tuple[str, bytes, Lease, Note | str]] = field(default_factory=list)
    place: str = "memory"
    is_shared: bool = True

    def read(self) -> bytes:
        """Give what is kept."""
        return self.content

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Keep more."""
        self._fail()
        self.asked.append(("append", lines, lease, note))
        self.content += lines

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Keep these instead."""
        self.asked.append(("replace", lines, lease, note))
        self.content = lines

    def lock(self, lease: Lease) -> None:
        """Note who holds it."""
        self.asked.append(("lock", b"", lease, ""))

    def release(self, lease: Lease, ended: str) -> None:
        """Note how it ended."""
        self._fail()
        self.asked.append(("release", b"", lease, ended))
        self.remembered = ended

    def holder(self) -> Lease | None:
        """Tell who holds it."""
        return self.asked[-1][2] if self.asked and self.asked[-1][0] != "release" else None

    def ended(self) -> str:
        """Tell how it ended."""
        return self.remembered

    def seen(self) -> Sequence[Ending]:
        """Know of nothing more."""
        return ()

    def note_seen(self) -> None:
        """Note nothing."""

    def unlock(self, owner: str) -> Lease | None:
        """Never asked for here."""
        raise NotImplementedError(owner)

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure


NAMED = RunEntry(run=RUN, at=AT, actor="someone", commit="abc", digest="sha256:1", command="apply")


@dataclass
class World:
    """A journal over a store in memory, with a clock that only a test moves."""

    store: NotingStore = field(default_factory=NotingStore)
    told: list[str] = field(default_factory=list)
    asked_who: int = 0
    seconds: float = 0

    def who(self) -> str:
        """Count how often it is asked."""
        self.asked_who += 1
        return "someone"

    def journal(self) -> Journal:
        """Give the journal, not read yet."""
        return Journal(
            store=self.store,
            environment="local",
            target="emulator",
            clock=lambda: NO_TIME + timedelta(seconds=self.seconds),
            who=self.who,
            tell=self.told.append,
            monotonic=lambda: self.seconds,
        )


@pytest.fixture
def world() -> World:
    return World()


def test_first_append(world: World) -> None:
    """The first append brings the header, and the run's name once, in the same lines."""
    journal = world.journal()
    with journal.locked("run-1"):
        journal.begin(NAMED)
        journal.append([started()])
        journal.append([written()])

    names = [json.loads(line).get("entry", "header") for line in world.store.content.splitlines()]
    assert names == ["header", "run", "started", "written"]
    assert [row[0] for row in world.store.asked] == ["lock", "append", "append", "release"]
    assert [row[3] for row in world.store.asked[1:3]] == [
        Note("apply by someone; started SavedView/errors", "someone"),
        Note("written SavedView/errors", "someone"),
    ]
    assert journal.entries == [NAMED, started(), written()]
    assert (journal.place, journal.actor, world.asked_who) == ("memory", "someone", 1)
    again = world.journal()
    again.load()
    assert (again.entries, again.header, again.content.sums) == (
        journal.entries,
        Header(environment="local", target="emulator", created=AT),
        journal.content.sums,
    )
    assert world.store.remembered == journal.content.sums[-1] == again.content.sums[-1]


def test_begun_and_nothing_written(world: World) -> None:
    """A run that writes nothing leaves no line, and the next one does not bear its name."""
    journal = world.journal()
    with journal.locked():
        journal.begin(NAMED)
    with journal.locked():
        journal.append([started()])

    assert journal.entries == [started()]
    assert world.store.asked[1][3] == ""


def test_taken_lock(world: World) -> None:
    """The lease names process, machine, run and its term, and each holding is another one."""
    journal = world.journal()
    with journal.locked("run-1"):
        assert journal.holder() == world.store.asked[0][2].words
    with journal.locked("run-2"):
        pass

    first, second = (row[2] for row in world.store.asked if row[0] == "lock")
    assert (first.since, first.expires, first.actor) == (AT, "2025-01-31T09:15:00Z", "someone")
    assert (first.run, second.run) == ("run-1", "run-2")
    assert (first.host, first.pid) == (socket.gethostname(), os.getpid())
    assert first.owner != second.owner
    assert len(first.owner) == 12
    assert journal.holder() == ""


def test_renewed(world: World) -> None:
    """A lease is renewed by the first append after a third of its term, and not before."""
    journal = world.journal()
    with journal.locked():
        for seconds in (0, 300, 301, 601, 602):
            world.seconds = seconds
            journal.append([refused()])

    expires = [row[2].expires[-9:-1] for row in world.store.asked if row[0] == "append"]
    assert expires == ["09:15:00", "09:15:00", "09:20:01", "09:20:01", "09:25:02"]
    assert world.store.asked[-1][2].expires == "2025-01-31T09:25:02Z"


def test_not_locked(world: World) -> None:
    """Nothing is written without the lock, nor after it was given back."""
    journal = world.journal()
    with journal.locked():
        pass

    with pytest.raises(Locked, match=r"^memory is not locked by this run, so nothing is"):
        journal.append([refused()])
    with pytest.raises(Locked, match=r"^memory is not locked by this run, so nothing is"):
        journal.compact(NAMED)
    assert world.store.content == b""


def test_lost_at_the_end(world: World) -> None:
    """A lock that was lost or cannot be given back is told, and the run ends as it was."""
    journal = world.journal()
    with journal.locked():
        world.store.failure = Locked("gone")
    assert world.told == ["the lock of memory was lost before the end of the run"]

    world.store.failure = None
    with journal.locked():
        world.store.failure = JournalError("no network")
    owner = world.store.asked[-1][2].owner
    said = "the lock of memory could not be given back (no network)"
    assert world.told[1:] == [f"{said}: run `reconciler journal unlock {owner}`"]


@pytest.mark.parametrize("failure", [JournalError("no space"), Locked("lost")])
def test_failed_append(world: World, failure: Exception) -> None:
    """An append that failed is not remembered, keeps its kind, and begins the run anew."""
    journal = world.journal()
    with journal.locked():
        journal.begin(NAMED)
        world.store.failure = failure
        with pytest.raises(type(failure), match=f"^{failure}$"):
            journal.append([started()])
        assert (journal.entries, journal.content.sums, journal.header) == ([], [], None)
        world.store.failure = None
        journal.append([started()])

    assert journal.entries == [NAMED, started()]


def test_compacted(world: World) -> None:
    """A compacted journal is one header that continues the old end, what is kept, and the run."""
    journal = world.journal()
    with journal.locked():
        journal.append(WRITE)
        journal.append([started(), refused()])
        ended = journal.content.sums[-1]
        memories = journal.history.memories
        journal.compact(replace(NAMED, command="compact"))

    assert world.store.asked[-2][0] == "replace"
    assert world.store.asked[-2][3] == Note("compact by someone", "someone")
    assert journal.header == Header(
        environment="local", target="emulator", created=AT, continues=ended
    )
    assert journal.history.memories == memories
    assert len(journal.entries) == len(journal.content.sums) - 1 == 3
    assert not journal.torn
    assert journal.entries[-1] == replace(NAMED, command="compact")
    again = world.journal()
    again.load()
    assert (again.entries, again.header, again.content.sums) == (
        journal.entries,
        journal.header,
        journal.content.sums,
    )


def test_old_copy(world: World) -> None:
    """A journal without the end that the last release remembers is an old copy."""
    journal = world.journal()
    assert not journal.is_old_copy
    with journal.locked():
        journal.append(WRITE)
    old = world.store.content
    with journal.locked():
        journal.append([refused()])
        assert not journal.is_old_copy
    ended = journal.content.sums[-1]

    world.store.content = old
    journal.load()
    assert journal.is_old_copy
    with journal.locked():
        journal.compact(NAMED)
    world.store.remembered = ended
    journal.load()
    assert journal.is_old_copy
    assert journal.header is not None
    world.store.remembered = journal.header.continues
    journal.load()
    assert not journal.is_old_copy


def test_torn(world: World) -> None:
    """A cut last line is told and left out, and a cut header is an empty journal."""
    journal = world.journal()
    with journal.locked():
        journal.append(WRITE)
    whole = world.store.content

    world.store.content = whole + b'{"entry":'
    journal.load()
    assert (journal.torn, journal.entries) == (True, WRITE)
    with journal.locked():
        journal.append([refused()])
        assert not journal.torn
    world.store.content = whole[:20]
    journal.load()
    assert (journal.torn, journal.entries, journal.header) == (True, [], None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"other", "^memory is not a journal$"),
        (b"\xff\n", "^memory is not UTF-8$"),
        (b"{}\n", "^memory: line 1 of the journal was changed"),
    ],
)
def test_no_journal(world: World, content: bytes, said: str) -> None:
    """What is no journal is refused by the name of its place."""
    world.store.content = content

    with pytest.raises(JournalError, match=said):
        world.journal().load()


def test_line_numbers(world: World) -> None:
    """Lines are counted from 1 with the header, as an editor counts them."""
    journal = world.journal()
    with journal.locked():
        journal.append(WRITE)
    world.store.content = world.store.content.replace(b'"remoteId":7', b'"remoteId":8')

    with pytest.raises(JournalError, match=r"^memory: line 3 of the journal was changed"):
        journal.load()


def test_another_place(world: World, golden: Golden) -> None:
    """The journal of another environment or target is refused in words that name both."""
    journal = world.journal()
    with journal.locked():
        journal.append(WRITE)

    with pytest.raises(InvalidInput) as raised:
        replace(world.journal(), environment="other", target="elsewhere").load()

    golden(str(raised.value))


def test_replaced_file(tmp_path: Path) -> None:
    """A file that is put in the journal's place is private, whole and the only one."""
    file = tmp_path / "own" / "journal.jsonl"
    journal = filled(file)
    with journal.locked():
        journal.compact(NAMED)
        journal.append([refused()])

    assert read(file).entries == journal.entries
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, f"{file.name}.lock"]


def test_holder_of_a_file(tmp_path: Path, golden: Golden) -> None:
    """Who holds a file is known while it is held; its end is remembered, and nobody unlocks it."""
    file = tmp_path / "journal.jsonl"
    looking = FileStore(file)
    assert (looking.holder(), looking.ended(), looking.unlock("any")) == (None, "", None)

    store = FileStore(file)
    store.lock(LEASE)
    assert looking.holder() == LEASE
    with pytest.raises(Locked) as raised:
        looking.unlock("owner-1")
    store.release(LEASE, "0123")

    golden(str(raised.value))
    assert (looking.holder(), looking.ended(), looking.unlock("any")) == (None, "0123", None)
    store.release(LEASE, "other")
    assert looking.ended() == "0123"
    assert (looking.place, looking.is_shared) == (str(file), False)


def test_end_outlives_a_holder(tmp_path: Path) -> None:
    """What the last release remembered stays while another holds the lock."""
    file = tmp_path / "journal.jsonl"
    store = FileStore(file)
    store.lock(LEASE)
    store.release(LEASE, "0123")

    store.lock(LEASE)
    assert FileStore(file).ended() == "0123"
    store.release(LEASE, "0123")


def test_empty_journal(tmp_path: Path) -> None:
    """A journal that was never written has no lines, no holder and no end."""
    journal = journal_at(tmp_path / "none" / "journal.jsonl")
    journal.load()

    assert (journal.entries, journal.content.sums, journal.header, journal.torn) == (
        [],
        [],
        None,
        False,
    )
    assert (journal.holder(), journal.is_old_copy, journal.now()) == ("", False, AT)
    assert not (tmp_path / "none").exists()
