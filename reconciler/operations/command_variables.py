"""Variables for commands that run for an unreviewed change: no value leads into its checkout.

Many variables say where programs look for code: PATH, PYTHONPATH, BASH_ENV, GIT_CONFIG_GLOBAL,
JAVA_TOOL_OPTIONS. No list of their names is complete, so every variable is judged by its value.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

# Names of variables that hold lists of folders: PYTHONPATH, LD_LIBRARY_PATH, XDG_DATA_DIRS.
_LIST = re.compile(r"(PATHS?|LIB|DIRS)$", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s:;,=|\"'`@<>()\[\]{}&?#]+")


@dataclass(frozen=True, slots=True)
class Unreviewed:
    """Folders with content from a change. Relative paths are resolved from each of them."""

    folders: tuple[Path, ...]

    def holds(self, path: Path) -> bool:
        """Return whether a path leads into one of the folders, as written or through links."""
        places = Path(os.path.normpath(path)), Path(os.path.realpath(path))
        return any(place.is_relative_to(folder) for place in places for folder in self.folders)

    def without(self, environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """Return the variables without paths into the folders, and the names that changed.

        A list of folders loses single entries. It also loses relative and empty entries, as they
        mean the folder in which a program runs. Any other variable is removed whole.
        """
        remaining, lost = dict[str, str](), list[str]()
        for name, value in environ.items():
            left = self._left_of(name, value, environ)
            if left != value:
                lost.append(name)
            if left:
                remaining[name] = left
            elif left == value:
                remaining[name] = value
        return remaining, sorted(lost)

    def _left_of(self, name: str, value: str, environ: Mapping[str, str]) -> str:
        if _LIST.search(name):
            folders = value.split(os.pathsep) if value else []
            return os.pathsep.join(filter(self._may_be_searched, folders))
        return "" if any(map(self._leads_in, _paths_in(_expanded(value, environ)))) else value

    def _may_be_searched(self, path: str) -> bool:
        # From a parent folder, a program would find the unreviewed folder as a package.
        is_above = any(folder.is_relative_to(os.path.realpath(path)) for folder in self.folders)
        return path.startswith("/") and not is_above and not self.holds(Path(path))

    def _leads_in(self, path: str) -> bool:
        if path.startswith("/"):
            return self.holds(Path(path))
        return any(os.path.lexists(folder / path) for folder in self.folders)


def unreviewed(root: Path, environ: Mapping[str, str]) -> Unreviewed:
    """Return the folders that a change of the project at `root` decides: checkout and workspace."""
    real = Path(os.path.realpath(root))
    tops = [folder for folder in (real, *real.parents) if os.path.lexists(folder / ".git")]
    workspace = environ.get("GITHUB_WORKSPACE", "")
    places: Sequence[str | Path] = (tops[-1] if tops else real, *([workspace] if workspace else []))
    folders = (Path(way(place)) for place in places for way in (os.path.abspath, os.path.realpath))
    return Unreviewed(tuple(dict.fromkeys(folders)))


def _expanded(value: str, environ: Mapping[str, str]) -> str:
    """Return a value with its variables expanded, as a shell does with BASH_ENV."""
    return Template(value).safe_substitute(defaultdict(str, environ))


def _paths_in(value: str) -> Iterator[str]:
    """Yield possible paths in a value: the rest from the first slash on, and parts with a slash."""
    if "/" in value:
        yield value[value.index("/") :]
    for part in _BETWEEN.split(value):
        if "/" in part:
            yield part
            yield part[part.index("/") :]
