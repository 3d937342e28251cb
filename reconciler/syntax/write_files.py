"""Atomic writes of files: readers find the complete new content or the old content.

A file with several names is overwritten in place, so that each name still leads to it.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

from reconciler.runtime.failpoints import Point, reached

SYNCED_AT_ONCE = 16
BEGINS, ENDS = ".reconciler-", ".new"
"""Beginning and end of the temporary name of a file; such files are never read."""
KEPT = ".before"
"""Suffix of the copy of a file with several names; a run that is killed leaves the copy."""


def replace_file(real: Path, content: bytes) -> None:
    """Replace a file that exists and is no link; its mode stays.

    A file with several names is overwritten in place. Raises OSError.
    """
    status = real.stat()
    if status.st_nlink > 1:
        _overwrite(real, content)
        return
    descriptor, name = _begun(real.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(stream.fileno(), status.st_uid, status.st_gid)
            os.fchmod(stream.fileno(), status.st_mode & 0o7777)
            _write(stream.fileno(), content)
            reached(Point.FILE_KEPT)
            os.replace(name, real)  # noqa: PTH105 - a name, not a path
    except BaseException:
        _remove(name)
        raise


def write_new_files(contents: Sequence[tuple[Path, bytes]]) -> None:
    """Write files that do not exist yet, in their order, with the default rights of new files.

    All are on the disk before the first gets its name, so no partial file is ever visible. Raises
    FileExistsError with the file name if something is already there, even a link, and OSError. The
    names are permanent once `sync_folder` has returned.
    """
    temporary_names: list[str] = []
    descriptors: list[int] = []
    rights = 0o666 & ~_mask()
    with ExitStack() as open_files:
        try:
            for real, content in contents:
                descriptor, name = _begun(real.parent)
                open_files.callback(os.close, descriptor)
                temporary_names.append(name)
                descriptors.append(descriptor)
                os.fchmod(descriptor, rights)
                _put(descriptor, content)
            reached(Point.FILES_BESIDE)
            _sync(descriptors)
            for name, (real, _) in zip(temporary_names, contents, strict=True):
                _name_once(name, real)
                reached(Point.FILE_NAMED)
        finally:
            for name in temporary_names:
                _remove(name)


def remove_left(folders: Iterable[Path]) -> int:
    """Remove the temporary files of dead runs from folders; return how many.

    The files of a live run are locked, and stay.
    """
    left: set[Path] = set()
    for folder in folders:
        with suppress(OSError):
            left.update(path for path in folder.glob(f"{BEGINS}*{ENDS}") if not path.is_symlink())
    return sum(map(_removed, left))


def _removed(file: Path) -> bool:
    with suppress(OSError):
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink()
            return True
        finally:
            os.close(descriptor)
    return False


def _begun(folder: Path) -> tuple[int, str]:
    """Create a file with a temporary name; it is locked as long as its descriptor is open."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=BEGINS, suffix=ENDS, dir=folder)
        try:
            # Some file systems have no locks; their files are never taken for those of dead runs.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Another run may have removed the file before it was locked.
            if os.path.exists(name):  # noqa: PTH110 - a name, not a path
                return descriptor, name
        except BaseException:
            os.close(descriptor)
            _remove(name)
            raise
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _name_once(name: str, real: Path) -> None:
    """Name a file only if the name is free: a rename would replace the existing file."""
    try:
        os.link(name, real)
    except FileExistsError as error:
        raise FileExistsError(error.errno, error.strerror, str(real)) from error
    except OSError:
        # Some file systems have no second names: then the name is reserved, and replaced.
        os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        os.replace(name, real)  # noqa: PTH105 - a name, not a path


def _sync(descriptors: Sequence[int]) -> None:
    """Wait until files are on the disk, in parallel: one after another would take much longer."""
    with ThreadPoolExecutor(SYNCED_AT_ONCE) as pool:
        # The results are what raises.
        list(pool.map(os.fsync, descriptors))


def _put(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write(descriptor: int, content: bytes) -> None:
    _put(descriptor, content)
    os.fsync(descriptor)


def _overwrite(real: Path, content: bytes) -> None:
    """Overwrite a file in place; a copy of the old content is next to it until that is done."""
    before = real.read_bytes()
    descriptor, copy = tempfile.mkstemp(prefix=f".{real.name}.", suffix=KEPT, dir=real.parent)
    try:
        try:
            _write(descriptor, before)
        except BaseException:
            _remove(copy)
            raise
    finally:
        os.close(descriptor)
    reached(Point.FILE_KEPT)
    try:
        _write_over(real, content)
    except BaseException:
        _write_over(real, before)
        _remove(copy)
        raise
    _remove(copy)


def _write_over(real: Path, content: bytes) -> None:
    descriptor = os.open(real, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _put(descriptor, content)
        os.ftruncate(descriptor, len(content))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mask() -> int:
    """Return the rights that the process removes from new files."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)  # noqa: PTH108 - a name, not a path
