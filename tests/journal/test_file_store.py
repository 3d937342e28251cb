from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.stores import journal_at
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from journals import VIEW, WRITE, entries, filled, read, refused, started

from reconciler.errors import InvalidInput, JournalError
from reconciler.journal.entries import Entry
from reconciler.journal.history import runs_of
from reconciler.model import Ref


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".reconciler" / "local.journal.jsonl"


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(entries, min_size=1, max_size=3), min_size=1, max_size=4))
def test_read_back(batches: list[list[Entry]]) -> None:
    """Whatever was appended is read back, in order, with the same history."""
    with tempfile.TemporaryDirectory() as folder:
        journal = filled(Path(folder) / "own" / "journal.jsonl", *batches)
        again = read(Path(journal.place))

    assert again.entries == [entry for batch in batches for entry in batch]
    assert again.history == journal.history


def test_no_file(file: Path) -> None:
    """Reading a journal that is not there makes none."""
    journal = read(file)

    assert journal.entries == []
    assert not file.parent.exists()


def test_every_cut(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut anywhere, a journal gives the entries of its whole lines, and takes more after them."""
    filled(file, WRITE, [started(Ref("SLO", "ü"))])
    content = file.read_bytes()
    whole = read(file).entries
    monkeypatch.setattr(os, "fsync", lambda _: None)

    for size in range(len(content)):
        file.write_bytes(content[:size])
        cut = journal_at(file)
        with cut.locked():
            lines = content[:size].count(b"\n")
            assert cut.entries == whole[: max(0, lines - 1)]
            assert cut.torn == (not content[:size].endswith(b"\n") and size > 0)
            cut.append([refused()])
        assert read(file).entries == [*whole[: max(0, lines - 1)], refused()]


def test_every_changed_byte(file: Path) -> None:
    """No byte of a whole line can change unseen, and the error names the line."""
    filled(file)
    content = file.read_bytes()

    for index in range(len(content)):
        changed = bytearray(content)
        changed[index] ^= 1
        if changed[index] in b"\r\n \t" or content[index] == ord("\n"):
            continue
        file.write_bytes(bytes(changed))
        number = content[:index].count(b"\n") + 1
        with pytest.raises(JournalError, match=f"line {number} |not a journal"):
            read(file)


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_lost_line(file: Path, lost: int) -> None:
    """A line that is missing in the middle is noticed at the next one."""
    filled(file, WRITE, WRITE)
    lines = file.read_bytes().splitlines(keepends=True)
    del lines[lost]
    file.write_bytes(b"".join(lines))

    with pytest.raises(JournalError, match=f"line {lost + 1} .*a line before it is missing"):
        read(file)


def test_doubled_and_swapped_lines(file: Path) -> None:
    """Lines that were doubled or swapped are noticed."""
    filled(file, WRITE, WRITE)
    lines = file.read_bytes().splitlines(keepends=True)

    for order in ([0, 1, 1, 2, 3, 4], [0, 2, 1, 3, 4], [0, 1, 2, 4, 3]):
        file.write_bytes(b"".join(lines[index] for index in order))
        with pytest.raises(JournalError, match="was changed"):
            read(file)


@pytest.mark.parametrize(
    "content", [b"hello", b"{}", b"\x00" * 40, b"hello\n", b"{}\n", b"[]\n", b"\xff\n", b"\n"]
)
def test_another_file(file: Path, content: bytes) -> None:
    """A file that is no journal is refused, and never written to."""
    file.parent.mkdir(mode=0o700)
    file.write_bytes(content)

    with pytest.raises(JournalError, match="journal"), journal_at(file).locked():
        pytest.fail("it was taken for a journal")
    assert file.read_bytes() == content


@pytest.mark.parametrize(("environment", "target"), [("other", "emulator"), ("local", "https://x")])
def test_another_target(file: Path, environment: str, target: str) -> None:
    """The journal of another environment or target is refused with both named, exit 4."""
    filled(file)

    with pytest.raises(InvalidInput, match=r"local.*emulator") as raised:
        journal_at(file, environment=environment, target=target).load()
    assert raised.value.exit_code == 4


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
def test_modes(tmp_path: Path) -> None:
    """Only the owner can read the journal or list its folders, whatever the umask."""
    file = tmp_path / "a" / "b" / "journal.jsonl"
    filled(file)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"a": 0o700, "b": 0o700, file.name: 0o600, f"{file.name}.lock": 0o600}


def test_mode_of_an_old_journal(file: Path) -> None:
    """A journal that others could read, as after a checkout, is closed by the next write."""
    filled(file)
    file.chmod(0o644)

    journal = journal_at(file)
    with journal.locked():
        journal.append(WRITE)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("linked", ["", ".lock"])
def test_symbolic_link(file: Path, tmp_path: Path, linked: str) -> None:
    """A journal or lock that is a symbolic link is not followed."""
    file.parent.mkdir(mode=0o700)
    (tmp_path / "victim").write_text("")
    file.with_name(file.name + linked).symlink_to(tmp_path / "victim")

    with pytest.raises(JournalError), journal_at(file).locked():
        pytest.fail("the link was followed")
    assert (tmp_path / "victim").read_text() == ""


@pytest.mark.parametrize("sticky", [0, stat.S_ISVTX])
def test_open_folder(file: Path, sticky: int) -> None:
    """A folder that others can write to proves nothing, so the journal in it is refused."""
    filled(file)
    file.parent.chmod(0o777 | sticky)

    with pytest.raises(JournalError, match="others can write"):
        read(file)
    with pytest.raises(JournalError, match="others can write"), journal_at(file).locked():
        pytest.fail("it was trusted")


def test_no_regular_file(file: Path) -> None:
    """A pipe in the journal's place is refused, and nobody waits for it."""
    file.parent.mkdir(mode=0o700)
    os.mkfifo(file)

    with pytest.raises(JournalError, match="not a regular file"):
        read(file)


def test_unreadable_file(file: Path) -> None:
    """A journal that cannot be opened is error 8, before any write."""
    file.parent.mkdir(mode=0o700)
    file.mkdir()

    with pytest.raises(JournalError) as raised:
        read(file)
    assert raised.value.exit_code == 8


def test_journal_of_the_version_before(file: Path) -> None:
    """A journal from before runs, protection and compacting were written down is read as it was."""
    file.parent.mkdir(mode=0o700)
    file.write_bytes((Path(__file__).parent / "golden" / "before-runs.jsonl").read_bytes())

    journal = read(file)

    memory = journal.history.of(VIEW)
    assert len(journal.entries) == 8
    assert memory.acknowledged is not None
    assert (memory.remote_id, memory.protected, memory.attempts) == (7, False, 2)
    assert [pair.got for pair in memory.acknowledged.rewritten] == ["errors"]
    assert [run.counts for run in runs_of(journal.entries)] == [
        {"written": 1},
        {"refused": 1, "settled": 1},
    ]
    assert not journal.is_old_copy
