"""Waiting until a file of a project is saved: by looking at what is known, some times a second."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.syntax.files import SUFFIXES
from reconciler.syntax.ignored_files import is_installed

EVERY = 0.4
"""Seconds between two looks: a plan begins within one after a save."""

_Stamp = tuple[int, int, int]
_GONE: _Stamp = (0, 0, 0)


@dataclass(slots=True)
class Watch:
    """What was there at the last look. `tops` are the files and folders that manifests are in.

    `more` are files that lie elsewhere, as the project file.
    """

    tops: Sequence[Path]
    more: Sequence[Path] = ()
    _files: dict[str, _Stamp] = field(default_factory=dict)
    _folders: dict[str, _Stamp] = field(default_factory=dict)

    def begin(self) -> int:
        """Note what is there, and give how many files that is."""
        self._files, self._folders = {}, {}
        for top in map(str, self.tops):
            if os.path.isdir(top):  # noqa: PTH112 - never raises
                self._walk(top)
            else:
                self._files[top] = _stamp(top)
        for one in map(str, self.more):
            self._files[one] = _stamp(one)
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
        """Whether a file was saved, made or taken away since it was noted.

        A folder that changed by other files than ours is only looked at again.
        """
        if any(_stamp(path) != known for path, known in self._files.items()):
            return True
        if all(_stamp(path) == known for path, known in self._folders.items()):
            return False
        before = self._files
        self.begin()
        return self._files != before

    def wait(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Come back once something has changed. A signal ends it as it ends everything."""
        while not self.changed:
            pause(EVERY)


def _stamp(path: str) -> _Stamp:
    try:
        about = os.stat(path)  # noqa: PTH116 - thousands of them, several times a second
    except (OSError, ValueError):
        return _GONE
    return about.st_mtime_ns, about.st_size, about.st_ino


def watched(watch: Callable[[], Watch], work: Callable[[], None]) -> Iterator[int]:
    """Do some work now and after every change, and yield each time how many files are watched.

    What is saved while it works is not missed: the files are noted before it begins.
    """
    while True:
        seen = watch()
        count = seen.begin()
        work()
        yield count
        seen.wait()
