"""Waiting until a project file or manifest is saved, by checking the known files regularly."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.syntax.files import SUFFIXES, is_installed

EVERY = 0.4
"""Seconds between two checks: a plan begins within one second after a save."""

_Stamp = tuple[int, int, int]
_GONE: _Stamp = (0, 0, 0)


@dataclass(slots=True)
class Watch:
    """Files and folders as they were at the last check.

    `tops` are the files and folders that hold manifests. `more` are files elsewhere, such as the
    project file.
    """

    tops: Sequence[Path]
    more: Sequence[Path] = ()
    _files: dict[str, _Stamp] = field(default_factory=dict)
    _folders: dict[str, _Stamp] = field(default_factory=dict)

    def begin(self) -> int:
        """Record the files and folders, and return how many files there are."""
        self._files, self._folders = {}, {}
        for top in map(str, self.tops):
            if os.path.isdir(top):  # noqa: PTH112 - never raises
                self._walk(top)
            else:
                self._files[top] = _stamp(top)
        for file in map(str, self.more):
            self._files[file] = _stamp(file)
        return len(self._files)

    def _walk(self, top: str) -> None:
        for folder, folders, names in os.walk(top):
            folders[:] = [folder for folder in folders if not is_installed(folder)]
            self._folders[folder] = _stamp(folder)
            for name in names:
                if os.path.splitext(name)[1] in SUFFIXES:  # noqa: PTH122 - thousands of them
                    path = f"{folder}{os.path.sep}{name}"
                    self._files[path] = _stamp(path)

    @property
    def changed(self) -> bool:
        """Return whether a file was saved, added or removed since the last record.

        A change of other files in a folder only causes the folder to be read again.
        """
        if any(_stamp(path) != known for path, known in self._files.items()):
            return True
        if all(_stamp(path) == known for path, known in self._folders.items()):
            return False
        before = self._files
        self.begin()
        return self._files != before

    def wait(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Return once something has changed. A signal interrupts the wait."""
        while not self.changed:
            pause(EVERY)


def _stamp(path: str) -> _Stamp:
    try:
        about = os.stat(path)  # noqa: PTH116 - thousands of them, several times a second
    except (OSError, ValueError):
        return _GONE
    return about.st_mtime_ns, about.st_size, about.st_ino


def watched(watch: Callable[[], Watch], work: Callable[[], None]) -> Iterator[int]:
    """Run `work` now and after every change, and yield each time how many files are watched.

    Files saved during the work are not missed: they are recorded before it begins.
    """
    while True:
        seen = watch()
        count = seen.begin()
        work()
        yield count
        seen.wait()
