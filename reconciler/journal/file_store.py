"""A journal's lines in one file of a private folder: append, fsync, a lock of its process."""

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from reconciler.errors import JournalError, Locked
from reconciler.journal.store import Lease, LockRecord, Note, Store, parse_record, record_text
from reconciler.project.settings import InFile
from reconciler.runtime.failpoints import Point, reached

OURS = ".reconciler"
IGNORE = ".gitignore"
IGNORED = """\
# Written by reconciler. This folder is what one machine remembers, so git leaves it out:
# committed, it would be merged and reverted like a text. docs/journal.md says how machines
# share a journal. To commit the folder all the same, empty this file and keep it.
*
"""


def begin_folder(folder: Path) -> None:
    """Make a folder and its missing parents, for the owner only.

    A folder `.reconciler` that is not in use yet gets a `.gitignore`, so that git leaves it out.
    Raises OSError.
    """
    ours = next((parent for parent in (folder, *folder.parents) if parent.name == OURS), None)
    is_new = ours is not None and _is_empty(ours)
    missing = [parent for parent in (folder, *folder.parents) if not os.path.lexists(parent)]
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        # Otherwise a power cut could remove the folder, with all that was synced inside.
        sync_folder(path.parent)
    if ours is not None and is_new:
        _leave_out_of_git(ours)


def _is_empty(folder: Path) -> bool:
    try:
        with os.scandir(folder) as found:
            return next(found, None) is None
    except FileNotFoundError:
        return True


def _leave_out_of_git(folder: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(FileExistsError), _open(folder / IGNORE, flags) as descriptor:
        os.write(descriptor, IGNORED.encode())


def check_folder(folder: Path, below: Path | None = None) -> None:
    """Raise JournalError where others can write to a folder, or a link leads to it.

    Links are searched for only below the project's own folder: no change of the repository can make
    a link above it. A folder that does not exist is accepted.
    """
    _check_links(folder, below)
    with os_errors(folder):
        try:
            mode = folder.stat().st_mode
        except FileNotFoundError:
            return
    if mode & stat.S_IWOTH:
        raise JournalError(f"others can write to {folder}, so a journal there proves nothing")


def _check_links(folder: Path, below: Path | None) -> None:
    for parent in (folder, *folder.parents):
        if below is None or parent == below or not parent.is_relative_to(below):
            return
        if os.path.islink(parent):  # noqa: PTH114 - never raises
            raise JournalError(
                f"{parent} is a symbolic link, so a journal there would be kept elsewhere: remove "
                "the link, or name the place that it leads to in `journal:`"
            )


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that the names in it last."""
    with _open(folder, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
        os.fsync(descriptor)


@contextlib.contextmanager
def _open(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def os_errors(path: Path) -> Iterator[None]:
    """Turn errors of the system into a JournalError that names the path."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from error


_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK_FLAGS = _FLAGS | os.O_NONBLOCK
"""With these flags a pipe in the place of a lock is reported, and not waited for."""
_LONGEST_RECORD = 4096
_CHANGED = "another program wrote to it meanwhile"
_REPLACED = (
    "it was moved, removed or replaced during this run, as by `git clean`, and another run may "
    "have begun a journal of its own: see docs/journal.md"
)

_Inode: TypeAlias = tuple[int, int]


class FileStore(Store):
    """The lines of a journal in one file, and the file of its lock next to it.

    Below the folder `below`, the project's own, the path of the file must not contain a link.
    """

    is_shared = False

    def __init__(self, path: Path, below: Path | None = None) -> None:
        self.path = path
        self.place = str(path)
        self._below = below
        self._lock_path = path.with_name(path.name + ".lock")
        self._size = 0
        self._end: int | None = 0  # with a torn line; None after a failed write
        self._inode: _Inode | None = None  # of the file that was read or written last
        self._lock: int | None = None

    def read(self) -> bytes:
        """Return the content of the file, with a torn last line."""
        content, self._inode = self._read()
        self._size, self._end = content.rfind(b"\n") + 1, len(content)
        return content

    def _read(self) -> tuple[bytes, _Inode | None]:
        # A link that leads nowhere would look like no journal.
        check_folder(self.path.parent, self._below)
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | _FLAGS)
        except FileNotFoundError:
            return b"", None
        except OSError as error:
            raise JournalError(f"{self.path} cannot be opened: {error.strerror}") from error
        try:
            _check_regular(descriptor, self.path)
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                return stream.read(), _inode(descriptor)
        except OSError as error:
            raise JournalError(f"{self.path} cannot be read: {error.strerror}") from error
        finally:
            os.close(descriptor)

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Write after the last whole line, and wait until the disk has it."""
        del lease, note
        with self._writing():
            self._write(lines)
        self._size += len(lines)
        self._end = self._size

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Replace the file by another; at every moment one of the two is whole."""
        del lease, note
        with self._writing():
            self._check_file(_inode_at(self.path))
            self._check_end(self.path.stat().st_size if self._inode is not None else 0)
            descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(lines)
                    stream.flush()
                    os.fsync(descriptor)
                    written = _inode(descriptor)
                os.replace(name, self.path)  # noqa: PTH105 - a name, not a path
            except OSError:
                os.unlink(name)  # noqa: PTH108 - a name, not a path
                raise
            self._inode = written
            sync_folder(self.path.parent)
        self._size = self._end = len(lines)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            self._check_lock()
            yield
        except FileNotFoundError as error:
            raise JournalError(f"{self.path} cannot be written: {_REPLACED}") from error
        except FileExistsError:
            # Another program made it meanwhile.
            raise JournalError(f"{self.path} cannot be written: {_CHANGED}") from None
        except OSError as error:
            if error.errno != errno.ESTALE:
                self._end = None
            raise JournalError(f"{self.path} cannot be written: {error.strerror}") from error

    def _check_lock(self) -> None:
        if self._lock is not None and _inode_at(self._lock_path) != _inode(self._lock):
            raise OSError(errno.ESTALE, _REPLACED)

    def _check_file(self, found: _Inode | None) -> None:
        if found != self._inode:
            raise OSError(errno.ESTALE, _CHANGED if self._inode is None else _REPLACED)

    def _check_end(self, size: int) -> None:
        if self._end not in (None, size):
            raise OSError(errno.ESTALE, _CHANGED)

    def _write(self, content: bytes) -> None:
        is_new = self._inode is None
        making = os.O_CREAT | os.O_EXCL if is_new else 0
        with _open(self.path, os.O_WRONLY | making | _FLAGS) as descriptor:
            if is_new:
                self._inode = _inode(descriptor)
            self._check_file(_inode(descriptor))
            self._check_end(os.fstat(descriptor).st_size)
            reached(Point.JOURNAL_OPENED)
            os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, self._size)
            os.lseek(descriptor, self._size, os.SEEK_SET)
            _write_all(descriptor, content)
            reached(Point.JOURNAL_WRITTEN)
            os.fsync(descriptor)
            reached(Point.JOURNAL_SYNCED)
        if is_new:
            sync_folder(self.path.parent)
        # A file that was removed meanwhile does not keep what was written.
        self._check_file(_inode_at(self.path))

    def lock(self, lease: Lease) -> None:
        """Lock the journal; the lock ends with this process at the latest."""
        folder = self.path.parent
        _check_links(folder, self._below)
        with os_errors(folder):
            begin_folder(folder)
        check_folder(folder, self._below)
        while True:
            with os_errors(self._lock_path):
                descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | _LOCK_FLAGS, 0o600)
            try:
                _check_regular(descriptor, self._lock_path)
                self._take(descriptor, lease)
                if _inode_at(self._lock_path) == _inode(descriptor):
                    break
            except BaseException:
                os.close(descriptor)
                raise
            # Another program removed the file before we had the lock.
            os.close(descriptor)
        self._lock = descriptor

    def _take(self, descriptor: int, lease: Lease) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Locked(f"{self.path} is locked by {_holder(descriptor)}") from None
        with os_errors(self._lock_path):
            _sign(descriptor, LockRecord(lease, _signed(descriptor).ended))

    def release(self, lease: Lease, ended: str) -> None:
        """Release the lock."""
        del lease
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        try:
            if _inode_at(self._lock_path) != _inode(lock):
                raise Locked(f"{self._lock_path} was moved, removed or replaced during this run")
            with os_errors(self._lock_path):
                _sign(lock, LockRecord(None, ended))
        finally:
            os.close(lock)

    def holder(self) -> Lease | None:
        """Return who holds the lock; None where the process is gone."""
        return self._record().lease

    def ended(self) -> str:
        """Return the end of the journal at the last release, from the file of the lock."""
        return self._record().ended

    def _record(self) -> LockRecord:
        with os_errors(self._lock_path):
            try:
                with _open(self._lock_path, os.O_RDONLY | _LOCK_FLAGS) as descriptor:
                    _check_regular(descriptor, self._lock_path)
                    found = _signed(descriptor)
                    return LockRecord(None, found.ended) if _is_free(descriptor) else found
            except FileNotFoundError:
                return LockRecord()

    def unlock(self, owner: str) -> Lease | None:
        """Raise Locked where a process holds the lock: the lock of a file ends with its process."""
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


def _inode(descriptor: int) -> _Inode:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _inode_at(path: Path) -> _Inode | None:
    """Return the inode at a path, without following links; None where there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


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


def _check_regular(descriptor: int, path: Path) -> None:
    """Raise JournalError for a pipe, a device, or anything else that is no file."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise JournalError(f"{path} is not a regular file")


def opened(place: InFile, root: Path) -> FileStore:
    """Return the store of a file of the project in this folder."""
    return FileStore(place.path, root)
