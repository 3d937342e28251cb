from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from pathlib import Path

import pytest
from journals import RUN, VIEW, WRITE, filled, read, refused, started, written

from reconciler.errors import JournalError
from reconciler.model import Ref


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".reconciler" / "local.journal.jsonl"


def full_disk(monkeypatch: pytest.MonkeyPatch, *, after: int = 0, code: int = errno.ENOSPC) -> None:
    """Let writes of journal lines fail after so many bytes; the rescue file is elsewhere."""
    real = os.write

    def write(descriptor: int, content: bytes) -> int:
        if bytes(content)[:1] == b"{" and b'"sum"' in bytes(content):
            if after:
                real(descriptor, bytes(content)[:after])
            raise OSError(code, os.strerror(code))
        return real(descriptor, content)

    monkeypatch.setattr(os, "write", write)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("after", [0, 1, 60])
def test_full_disk(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, after: int
) -> None:
    """What the disk cannot take is saved in a private file that the error names, exit 8."""
    journal = filled(file)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with monkeypatch.context() as context:
        full_disk(context, after=after, code=code)
        with journal.locked(), pytest.raises(JournalError, match="saved in") as raised:
            journal.append([written(remote_id=42)])

    (rescue,) = tmp_path.glob("reconciler-journal-*.jsonl")
    assert str(rescue) in str(raised.value)
    assert json.loads(rescue.read_text())["remoteId"] == 42
    assert stat.S_IMODE(rescue.stat().st_mode) == 0o600
    assert raised.value.exit_code == 8
    assert read(file).entries == WRITE


def test_space_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a line of a failed write is gone with the next append, which goes well."""
    journal = filled(file)
    with journal.locked():
        with monkeypatch.context() as context:
            full_disk(context, after=30)
            with pytest.raises(JournalError):
                journal.append([written(remote_id=42)])
        journal.append([refused()])

    assert read(file).entries == [*WRITE, refused()]


def test_nowhere_to_save(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be saved at all, the error itself holds the entries."""
    journal = filled(file)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    full_disk(monkeypatch)

    with journal.locked(), pytest.raises(JournalError, match='"remoteId": 42'):
        journal.append([written(remote_id=42)])


def test_failed_sync(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that the disk did not confirm is an error, and is not remembered."""
    journal = filled(file)

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with journal.locked(), pytest.raises(JournalError):
        journal.append([refused()])

    assert journal.entries == WRITE


def test_synced_before_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An append returns only after its lines are on disk, and new names of file and folder too."""
    calls: list[str] = []
    real_write, real_sync = os.write, os.fsync

    def write(descriptor: int, content: bytes) -> int:
        calls.append("write")
        return real_write(descriptor, content)

    def sync(descriptor: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_sync(descriptor)

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(os, "fsync", sync)
    journal = filled(file)
    assert journal.entries == WRITE

    # What git is told comes first, and may be lost.
    assert calls == ["folder", "write", "write", "file", "folder"]


def test_written_in_pieces(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes one byte at a time gets every byte."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: real(descriptor, content[:1]))

    filled(file)

    assert read(file).entries == WRITE


@pytest.mark.parametrize("harm", ["more", "less", "gone"])
def test_changed_underneath(file: Path, harm: str) -> None:
    """A journal that another program changed meanwhile is not written over."""
    journal = filled(file)
    with journal.locked():
        content = file.read_bytes()
        match harm:
            case "more":
                file.write_bytes(content + b"another line\n")
            case "less":
                file.write_bytes(content[:-5])
            case _:
                file.unlink()
        changed = file.read_bytes() if file.exists() else b""
        for _ in range(2):
            with pytest.raises(
                JournalError, match="another program" if harm != "gone" else "removed"
            ):
                journal.append([refused()])

    assert (file.read_bytes() if file.exists() else b"") == changed
    assert RUN not in changed.decode()[len(content) :]


def test_batch_in_one_write(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is one append: no crash of the program leaves half of it."""
    journal = filled(file)
    sizes: list[int] = []
    real = os.write

    def write(descriptor: int, content: bytes) -> int:
        sizes.append(bytes(content).count(b"\n"))
        return real(descriptor, content)

    monkeypatch.setattr(os, "write", write)
    with journal.locked():
        journal.append([started(VIEW), started(Ref("SLO", "a")), started(Ref("SLO", "b"))])

    assert sizes[-1] == 3
