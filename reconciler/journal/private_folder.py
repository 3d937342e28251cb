"""The folder that a machine's memory of a project stands in: private, no link, and out of git."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from reconciler.errors import JournalError

OURS = ".reconciler"
IGNORE = ".gitignore"
IGNORED = """\
# Written by reconciler. This folder is what one machine remembers, so git leaves it out:
# committed, it would be merged and reverted like a text. docs/journal.md says how machines
# share a journal. To commit the folder all the same, empty this file and keep it.
*
"""


def make_folder(folder: Path, below: Path | None = None) -> None:
    """Make the folder of a journal. Raises JournalError where that fails, or as `check_folder`."""
    _check_links(folder, below)
    with os_errors(folder):
        begin_folder(folder)
    check_folder(folder, below)


def begin_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the owner only.

    Git is told to leave ours out, which is called `.reconciler`, unless it is in use already.
    Raises OSError.
    """
    ours = next((one for one in (folder, *folder.parents) if one.name == OURS), None)
    is_new = ours is not None and _is_empty(ours)
    missing = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    for one in reversed(missing):
        with contextlib.suppress(FileExistsError):
            one.mkdir(mode=0o700)
        # Else a power cut takes the folder, and with it all that was synced inside.
        sync_folder(one.parent)
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
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(folder / IGNORE, flags, 0o600)
        try:
            os.write(descriptor, IGNORED.encode())
        finally:
            os.close(descriptor)


def check_folder(folder: Path, below: Path | None = None) -> None:
    """Raise JournalError where others can write to a folder, or a link leads to it.

    Only what stands below the project's own folder is looked at for links: what is above, no
    change of the repository can bring. A folder that is not there is as good as any.
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
    for one in (folder, *folder.parents):
        if below is None or one == below or not one.is_relative_to(below):
            return
        if os.path.islink(one):  # noqa: PTH114 - never raises
            raise JournalError(
                f"{one} is a symbolic link, so a journal there would be kept elsewhere: remove "
                "the link, or name the place that it leads to in `journal:`"
            )


def sync_folder(folder: Path) -> None:
    """Let the names in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def os_errors(path: Path) -> Iterator[None]:
    """Let what the system refuses be a JournalError that names the path."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from error
