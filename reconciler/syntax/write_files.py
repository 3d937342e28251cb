"""Files written at once: whoever reads one finds all of it or what was there before.

A file of several names is written in its place, as each of them must go on to name it.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

from reconciler.failpoints import Point, reached

SYNCED_AT_ONCE = 16
BEGINS, ENDS = ".reconciler-", ".new"
"""What a file is called before it has its name; nobody reads one."""
KEPT = ".before"
"""How the copy of a file of several names ends; a run that is killed meanwhile leaves it there."""


def replace_file(real: Path, content: bytes) -> None:
    """Write a file in the place of one that is there, which holds no link; its mode stays.

    One that has several names is written where it stands. Raises OSError.
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
    """Write files where there are none, in their order, with the rights that any new file gets.

    All are on the disk before the first has its name, so none is ever seen half. Raises
    FileExistsError, naming the file, where something is there by now, be it a link, and
    OSError. The names themselves are kept once `sync_folder` has returned.
    """
    beside: list[str] = []
    descriptors: list[int] = []
    rights = 0o666 & ~_mask()
    with ExitStack() as open_files:
        try:
            for real, content in contents:
                descriptor, name = _begun(real.parent)
                open_files.callback(os.close, descriptor)
                beside.append(name)
                descriptors.append(descriptor)
                os.fchmod(descriptor, rights)
                _put(descriptor, content)
            reached(Point.FILES_BESIDE)
            _sync(descriptors)
            for name, (real, _) in zip(beside, contents, strict=True):
                _name_once(name, real)
                reached(Point.FILE_NAMED)
        finally:
            for name in beside:
                _remove(name)


def remove_left(folders: Iterable[Path]) -> int:
    """Remove what runs that died left in folders before it had its name; give how many.

    What a run that lives has begun is locked, and stays.
    """
    return sum(map(_removed, {path for folder in folders for path in _left_in(folder)}))


def _left_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in folder.glob(f"{BEGINS}*{ENDS}") if not path.is_symlink()]
    return []


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
    """Begin a file of no name that counts; it is locked as long as its descriptor is open."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=BEGINS, suffix=ENDS, dir=folder)
        try:
            # Some file systems have no locks; none of their files is taken for a dead run's.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Who looked for such files just then has taken it for one that is left.
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
    """Give a file its name unless something has it: a rename would take that away."""
    try:
        os.link(name, real)
    except FileExistsError as error:
        raise FileExistsError(error.errno, error.strerror, str(real)) from error
    except OSError:
        # Some file systems have no second names; then the first one is reserved, and replaced.
        os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        os.replace(name, real)  # noqa: PTH105 - a name, not a path


def _sync(descriptors: Sequence[int]) -> None:
    """Wait until files are on the disk, at once: in turn they would wait as often as they are."""
    some = [descriptors[start::SYNCED_AT_ONCE] for start in range(SYNCED_AT_ONCE)]
    with ThreadPoolExecutor(SYNCED_AT_ONCE) as pool:
        for done in [pool.submit(_sync_in_turn, each) for each in some if each]:
            done.result()


def _sync_in_turn(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.fsync(descriptor)


def _put(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write(descriptor: int, content: bytes) -> None:
    _put(descriptor, content)
    os.fsync(descriptor)


def _overwrite(real: Path, content: bytes) -> None:
    """Write a file in its place; what it held is in a file next to it until that is done."""
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
    """Give what the process takes away from the rights of new files."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)  # noqa: PTH108 - a name, not a path
