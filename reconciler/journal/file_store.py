"""A journal's lines in one file: append, fsync, mode 0600, a lock that dies with its process.

It is safe for the runs of one machine; two machines must not share it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reconciler.errors import JournalError, Locked
from reconciler.journal.lease import Lease, LockRecord, parse_record, record_text
from reconciler.journal.store import Note
from reconciler.points import Point, reached

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_RECORD = 4096


class FileStore:
    """The lines of a journal in one file, and beside it the file of its lock."""

    is_shared = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock_path = path.with_name(path.name + ".lock")
        self._size = 0
        self._end: int | None = 0  # a torn line included; None where a write of ours failed
        self._lock: int | None = None

    @property
    def place(self) -> str:
        """The path."""
        return str(self.path)

    def read(self) -> bytes:
        """Give what is in the file, a torn last line too."""
        content = _read(self.path)
        self._size, self._end = content.rfind(b"\n") + 1, len(content)
        return content

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Write after the last whole line, and wait until the disk has it."""
        del lease, note
        with self._writing():
            self._write(lines)
        self._size += len(lines)
        self._end = self._size

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Put another file in this one's place; at every moment one of the two is whole."""
        del lease, note
        with self._writing():
            self._check_end(self.path.stat().st_size)
            descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(lines)
                    stream.flush()
                    os.fsync(descriptor)
                os.replace(name, self.path)  # noqa: PTH105 - a name, not a path
            except OSError:
                os.unlink(name)  # noqa: PTH108 - a name, not a path
                raise
            _sync_folder(self.path.parent)
        self._size = self._end = len(lines)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno != errno.ESTALE:
                self._end = None
            raise JournalError(f"{self.path} cannot be written: {error.strerror}") from error

    def _check_end(self, size: int) -> None:
        if self._end not in (None, size):
            raise OSError(errno.ESTALE, "another program wrote to it meanwhile")

    def _write(self, content: bytes) -> None:
        new = not self.path.exists()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | _FLAGS, 0o600)
        try:
            self._check_end(os.fstat(descriptor).st_size)
            reached(Point.JOURNAL_OPENED)
            os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, self._size)
            os.lseek(descriptor, self._size, os.SEEK_SET)
            _write_all(descriptor, content)
            reached(Point.JOURNAL_WRITTEN)
            os.fsync(descriptor)
            reached(Point.JOURNAL_SYNCED)
        finally:
            os.close(descriptor)
        if new:
            _sync_folder(self.path.parent)

    def lock(self, lease: Lease) -> None:
        """Take the lock, which ends with this process at the latest."""
        _make_folder(self.path.parent)
        with _os_errors(self._lock_path):
            descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with _os_errors(self._lock_path):
                _sign(descriptor, LockRecord(lease, _signed(descriptor).ended))
        except BlockingIOError:
            holder = _holder(descriptor)
            os.close(descriptor)
            raise Locked(f"{self.path} is locked by {holder}") from None
        except BaseException:
            os.close(descriptor)
            raise
        self._lock = descriptor

    def release(self, lease: Lease, ended: str) -> None:
        """Give the lock back."""
        del lease
        if self._lock is None:
            return
        try:
            with _os_errors(self._lock_path):
                _sign(self._lock, LockRecord(None, ended))
        finally:
            os.close(self._lock)
            self._lock = None

    def holder(self) -> Lease | None:
        """Tell who holds the lock: nobody where its process is gone."""
        return self._record().lease

    def ended(self) -> str:
        """Give what the lock's file says of the last release."""
        return self._record().ended

    def _record(self) -> LockRecord:
        try:
            descriptor = os.open(self._lock_path, os.O_RDONLY | _FLAGS)
        except FileNotFoundError:
            return LockRecord()
        except OSError as error:
            raise JournalError(f"{self._lock_path}: {error.strerror}") from error
        try:
            found = _signed(descriptor)
            free = _is_free(descriptor)
        finally:
            os.close(descriptor)
        return LockRecord(None, found.ended) if free else found

    def unlock(self, owner: str) -> Lease | None:
        """Refuse where a process holds it: the lock of a file dies with its process."""
        del owner
        held = self.holder()
        if held is not None:
            raise Locked(
                f"{self.path} is locked by {held.words}: the lock of a file ends with its process"
            )
        return None


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _FLAGS)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise JournalError(f"{path} cannot be opened: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise JournalError(f"{path} is not a regular file")
        _check_folder(path.parent)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _make_folder(folder: Path) -> None:
    """Make the folder, and those above it that are missing, for the owner only."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    with _os_errors(folder):
        for one in reversed(missing):
            with contextlib.suppress(FileExistsError):
                one.mkdir(mode=0o700)
            # Else a power cut takes the folder, and with it all that was synced inside.
            _sync_folder(one.parent)
    _check_folder(folder)


def _check_folder(folder: Path) -> None:
    with _os_errors(folder):
        mode = folder.stat().st_mode
    if mode & stat.S_IWOTH:
        raise JournalError(f"others can write to {folder}, so a journal there proves nothing")


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def _os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from error


def _signed(descriptor: int) -> LockRecord:
    return parse_record(os.pread(descriptor, _LONGEST_RECORD, 0))


def _sign(descriptor: int, record: LockRecord) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, record_text(record), 0)


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(descriptor: int) -> str:
    try:
        lease = _signed(descriptor).lease
    except OSError:
        lease = None
    return lease.words if lease is not None else "another process"
