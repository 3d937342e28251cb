"""What the file of a journal refuses, told by example."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from harness.golden import Golden
from harness.stores import journal_at, lease
from journals import AT

from reconciler.errors import JournalError, Locked
from reconciler.journal import file_store
from reconciler.journal.content import header_document, line_of
from reconciler.journal.entries import Header
from reconciler.journal.file_store import FileStore
from reconciler.journal.store import LockRecord, Note, record_text
from reconciler.runtime.failpoints import Point

LEASE = lease(pid=7, run="run-1")
NOTE = Note("words", "someone")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def open_files() -> int:
    """Count what this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_second_holder(file: Path, golden: Golden) -> None:
    """Who comes second is told who holds the lock, and leaves nothing open."""
    first, second = FileStore(file), FileStore(file)
    first.lock(LEASE)
    before = open_files()

    with pytest.raises(Locked) as raised:
        second.lock(LEASE)
    golden(str(raised.value))
    assert open_files() == before
    first.release(LEASE, "0123")
    assert open_files() == before - 1
    second.lock(LEASE)
    second.release(LEASE, "0123")


def test_unsigned_lock(file: Path) -> None:
    """A lock that nobody signed yet is held by another process, whoever that is."""
    first = FileStore(file)
    first.lock(LEASE)
    file.with_name(f"{file.name}.lock").write_bytes(b"")

    with pytest.raises(Locked, match=r"is locked by another process$"):
        FileStore(file).lock(LEASE)


def test_unreadable_lock(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that cannot be read is held by another process, whoever that is."""

    def refuse(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    FileStore(file).lock(LEASE)
    monkeypatch.setattr(os, "pread", refuse)

    with pytest.raises(Locked, match=r"is locked by another process$"):
        FileStore(file).lock(LEASE)


def test_folder_made_by_two(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that another program makes at the same moment serves as well as our own."""
    real = Path.mkdir

    def made_twice(folder: Path, mode: int) -> None:
        real(folder, mode)
        real(folder, mode)

    store = FileStore(file.parent / "own" / file.name)
    with monkeypatch.context() as context:
        context.setattr(Path, "mkdir", made_twice)
        store.lock(LEASE)

    assert FileStore(store.path).holder() == LEASE


def test_unknown_entry(file: Path) -> None:
    """An entry of no known kind is refused with its line, counted from 1 with the header."""
    header, total = line_of(
        header_document(Header(environment="local", target="emulator", created=AT)), ""
    )
    file.write_text(header + line_of({"entry": "unheard-of"}, total)[0])

    with pytest.raises(JournalError, match=r": line 2 of the journal cannot be understood$"):
        journal_at(file).load()


def test_lock_that_cannot_be_signed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that the disk has no place for is not held, and the error names its file."""

    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    store, before = FileStore(file), open_files()
    with monkeypatch.context() as context:
        context.setattr(os, "pwrite", refuse)
        with pytest.raises(JournalError) as raised:
            store.lock(LEASE)

    said = f"{file}.lock: No space left on device"
    assert (str(raised.value), open_files()) == (said, before)
    store.lock(LEASE)
    with monkeypatch.context() as context:
        context.setattr(os, "pwrite", refuse)
        with pytest.raises(JournalError) as raised:
            store.release(LEASE, "0123")
    assert (str(raised.value), open_files()) == (said, before)


def test_holder_that_died(file: Path) -> None:
    """A lock that is signed and that nobody holds has no holder any more, but its end is known."""
    file.with_name(f"{file.name}.lock").write_bytes(record_text(LockRecord(LEASE, "0123")))
    store = FileStore(file)

    assert (store.holder(), store.ended(), store.unlock("owner-1")) == (None, "0123", None)


def test_points(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An append can be killed when the file is open, written and synced; it is private at once."""
    passed: list[tuple[Point, bytes, int]] = []

    def note(point: Point) -> None:
        passed.append((point, file.read_bytes(), file.stat().st_mode & 0o777))

    monkeypatch.setattr(file_store, "reached", note)
    before = os.umask(0)
    try:
        FileStore(file).append(b"one\n", LEASE, NOTE)
    finally:
        os.umask(before)

    assert passed == [
        (Point.JOURNAL_OPENED, b"", 0o600),
        (Point.JOURNAL_WRITTEN, b"one\n", 0o600),
        (Point.JOURNAL_SYNCED, b"one\n", 0o600),
    ]


def test_unread_file(file: Path) -> None:
    """A file that was not read is not written over, nor put away."""
    file.write_bytes(b"lines\n")
    store = FileStore(file)

    with pytest.raises(JournalError) as appending:
        store.append(b"more\n", LEASE, NOTE)
    with pytest.raises(JournalError) as replacing:
        store.replace(b"more\n", LEASE, NOTE)

    said = f"{file} cannot be written: another program wrote to it meanwhile"
    assert [str(one.value) for one in (appending, replacing)] == [said, said]
    assert file.read_bytes() == b"lines\n"


@pytest.mark.parametrize("act", ["lock", "holder"])
def test_lock_that_is_no_file(file: Path, act: str, golden: Golden) -> None:
    """A lock that cannot be opened is an error that names its file."""
    lock = file.with_name(f"{file.name}.lock")
    lock.symlink_to(file)
    store = FileStore(file)

    with pytest.raises(JournalError) as raised:
        store.lock(LEASE) if act == "lock" else store.holder()

    golden(str(raised.value))


def test_what_was_read(file: Path) -> None:
    """What is appended stands after the last whole line, and what is put in its place is all."""
    file.write_bytes(b"whole\ntorn")
    store = FileStore(file)

    assert store.read() == b"whole\ntorn"
    store.append(b"one\n", LEASE, NOTE)
    store.append(b"two\n", LEASE, NOTE)
    assert file.read_bytes() == b"whole\none\ntwo\n"
    store.replace(b"short\n", LEASE, NOTE)
    store.append(b"more\n", LEASE, NOTE)
    assert file.read_bytes() == b"short\nmore\n"


def test_changed_after_an_append(file: Path) -> None:
    """What another program appends after us is not written over."""
    store = FileStore(file)
    store.append(b"one\n", LEASE, NOTE)
    file.write_bytes(b"one\ntheirs\n")

    with pytest.raises(JournalError, match="another program wrote to it meanwhile"):
        store.append(b"two\n", LEASE, NOTE)
    assert file.read_bytes() == b"one\ntheirs\n"


def test_failed_replacement(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot take the journal's place stood beside it, is gone, and changed nothing."""
    made: list[Path] = []

    def refuse(name: str, _: Path) -> None:
        made.append(Path(name))
        raise OSError(errno.EIO, "Input/output error")

    store = FileStore(file)
    store.append(b"one\n", LEASE, NOTE)
    with monkeypatch.context() as context:
        context.setattr(os, "replace", refuse)
        with pytest.raises(JournalError, match="cannot be written: Input/output error"):
            store.replace(b"short\n", LEASE, NOTE)

    (one,) = made
    assert (one.parent, one.name.startswith(f".{file.name}.")) == (file.parent, True)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == b"one\n"


def test_no_place_for_a_folder(file: Path, golden: Golden) -> None:
    """A folder that cannot be made is an error that names it."""
    file.write_bytes(b"")
    folder = file / "own"

    with pytest.raises(JournalError) as raised:
        FileStore(folder / "journal.jsonl").lock(LEASE)

    golden(str(raised.value))


def test_folder_that_cannot_be_looked_at(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder whose rights cannot be read is an error that names it."""

    def refuse(_: Path) -> os.stat_result:
        raise OSError(errno.EIO, "Input/output error")

    file.write_bytes(b"")
    with monkeypatch.context() as context:
        context.setattr(Path, "stat", refuse)
        with pytest.raises(JournalError) as raised:
            FileStore(file).read()

    assert str(raised.value) == f"{file.parent}: Input/output error"


def test_first_line(file: Path) -> None:
    """What is appended to no file at all is all that is in it."""
    FileStore(file).append(b"one\n", LEASE, NOTE)

    assert file.read_bytes() == b"one\n"


def test_no_lock_to_give_back(file: Path) -> None:
    """To give back what was never taken, or twice, does nothing."""
    store = FileStore(file)
    store.release(LEASE, "0123")
    assert not file.with_name(f"{file.name}.lock").exists()

    store.lock(LEASE)
    store.release(LEASE, "0123")
    store.release(LEASE, "4567")
    assert store.ended() == "0123"
