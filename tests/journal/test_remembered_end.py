"""What a lock remembers of the end of its journal, and who may change that."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.stores import journal_at
from journals import WRITE, filled, read, refused

from reconciler.errors import InvalidInput, JournalError
from reconciler.journal.store import Ending, remember, remembered


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a journal of two runs."""
    file = tmp_path / "kept" / "journal.jsonl"
    filled(file, WRITE, [refused()])
    return file


def old_copy(file: Path) -> bytes:
    """Give the lines of the journal but its last."""
    return b"".join(file.read_bytes().splitlines(keepends=True)[:-1])


def test_a_run_that_cannot_read(file: Path) -> None:
    """A run that cannot read a damaged journal forgets nothing: an old copy is still known."""
    old = old_copy(file)
    file.write_bytes(file.read_bytes().replace(b'"Errors"', b'"Forged"', 1))
    with pytest.raises(JournalError), journal_at(file).locked():
        pass

    file.write_bytes(old)

    assert read(file).is_old_copy


def test_a_run_that_finds_another_journal(file: Path, tmp_path: Path) -> None:
    """A run that meets the journal of another target there forgets nothing either."""
    old, other = old_copy(file), tmp_path / "other" / "journal.jsonl"
    elsewhere = journal_at(other, target="https://other.example")
    with elsewhere.locked():
        elsewhere.append(WRITE)
    file.write_bytes(other.read_bytes())
    with pytest.raises(InvalidInput), journal_at(file).locked():
        pass

    file.write_bytes(old)

    assert read(file).is_old_copy


@pytest.mark.parametrize("lost", [False, True])
def test_a_run_that_writes_nothing(file: Path, *, lost: bool) -> None:
    """A lost journal is replaced by a run that writes; an old copy stays one until accepted."""
    old = b"" if lost else old_copy(file)
    file.write_bytes(old)
    with journal_at(file).locked():
        pass
    assert read(file).is_old_copy

    journal = journal_at(file)
    with journal.locked():
        journal.append(WRITE)
    assert read(file).is_old_copy is not lost

    journal.is_accepted = True
    with journal.locked():
        journal.append([refused()])

    assert not read(file).is_old_copy


def test_a_run_that_reads_what_was_written(file: Path) -> None:
    """The end of a run that was killed before it gave the lock back is remembered by the next."""
    longer, record = file.read_bytes(), file.with_name(f"{file.name}.lock")
    file.write_bytes(old_copy(file))
    journal = journal_at(file)
    record.unlink()
    with journal.locked():
        journal.append([refused(), refused()])
    remembered = record.read_bytes()
    file.write_bytes(longer)
    record.unlink()
    with journal_at(file).locked():
        pass

    file.write_bytes(old_copy(file))

    assert record.read_bytes() != remembered
    assert read(file).is_old_copy


def test_an_end_in_a_file(tmp_path: Path) -> None:
    """A file has the end that was written last, and none before, or once it is damaged."""
    file = tmp_path / "ends" / "own"
    assert remembered(file) == Ending()
    for ending in (Ending("e1", "r1", "h1"), Ending("e2", "r2", "h2")):
        remember(file, ending)
        assert remembered(file) == ending

    file.write_text("{")
    assert remembered(file) == Ending()
