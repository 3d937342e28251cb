"""Files below a folder that are not manifests: installed, ignored by git, or in `exclude:`."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.runtime.git import GitStuck, ask

INSTALLED = frozenset(("node_modules", "venv"))
"""Folders that tools fill with other people's files."""

_MARK = "pyvenv.cfg"
_RULES = ".gitignore"


def is_installed(name: str) -> bool:
    """Return whether a folder is hidden or has files that a tool installed, by its name."""
    return name.startswith(".") or name in INSTALLED


def is_environment(names: Collection[str]) -> bool:
    """Return whether a folder with these names is a Python environment, whatever it is called."""
    return _MARK in names


def matches(path: str, pattern: str) -> bool:
    """Return whether a glob matches a path, or a folder around it.

    `*` stays within a folder, and `**` is any number of folders, or none.
    """
    steps = _steps(pattern)
    return bool(steps) and _leads(_steps(path), steps)


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[str, ...]:
    return tuple(step for step in path.split("/") if step not in ("", "."))


@lru_cache(maxsize=4096)
def _leads(parts: tuple[str, ...], steps: tuple[str, ...]) -> bool:
    if not steps:
        return True
    if steps[0] == "**":
        if len(steps) == 1:
            return bool(parts)
        return _leads(parts, steps[1:]) or (bool(parts) and _leads(parts[1:], steps))
    return bool(parts) and fnmatchcase(parts[0], steps[0]) and _leads(parts[1:], steps[1:])


@dataclass(slots=True)
class IgnoreRules:
    """The rules below a folder by which git ignores files.

    `homes` maps each folder to the repository inside it that the folder belongs to, if any. `odd`
    are rules that are no regular files: git would wait for data from a pipe.
    """

    top: Path
    seen: bool = False
    homes: dict[Path, Path | None] = field(default_factory=dict)
    odd: list[Path] = field(default_factory=list)

    def enter(self, place: Path, folders: Collection[str], names: Collection[str]) -> None:
        """Record a folder and its content; the folder around it was recorded before."""
        is_home = place != self.top and (_OWN in folders or _OWN in names)
        self.homes[place] = place if is_home else self.homes.get(place.parent)
        if _RULES in names:
            self.seen = True
            self._note(place / _RULES)

    def look_around(self) -> None:
        """Record the rules of the outer folders, up to the repository; call it before `ignored`."""
        real = self.top.resolve()
        around = _repository_around(real)
        for folder in real.parents:
            if around is not None and folder.is_relative_to(around):
                self._note(folder / _RULES)

    def _note(self, rules: Path) -> None:
        with suppress(OSError):
            mode = rules.stat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                self.odd.append(rules)

    def ignored(self, places: Sequence[Path]) -> set[Path]:
        """Return the files and folders that `.gitignore` ignores.

        A file that git tracks is never ignored. Nothing is ignored if the top folder itself would
        be, because the user asked for it. In a folder without a repository the rules apply as if it
        was one. Without git nothing is ignored, nor where git would wait for an odd file.
        """
        real = self.top.resolve()
        around = _repository_around(real)
        if self.odd or (not self.seen and not _has_rules(real, around)):
            return set()
        groups: dict[Path | None, list[Path]] = defaultdict(list)
        for place in places:
            groups[self.homes.get(place) or self.homes.get(place.parent)].append(place)
        found: set[Path] = set()
        with suppress(GitStuck):
            for home, group in groups.items():
                found |= _ignored(group, home or self.top, around if home is None else home)
        return found


def _repository_around(real: Path) -> Path | None:
    return next((parent for parent in (real, *real.parents) if (parent / _OWN).exists()), None)


def _has_rules(folder: Path, around: Path | None) -> bool:
    between = [
        parent for parent in folder.parents if around is not None and parent.is_relative_to(around)
    ]
    return any((path / _RULES).is_file() for path in (folder, *between))


def _ignored(places: Sequence[Path], top: Path, repository: Path | None) -> set[Path]:
    """Return the ignored places below a folder, as git reports them, with or without a repository.

    After a leading `./` git reads no special meaning into the name of a file.
    """
    whole = Path() if repository is None else top.resolve().relative_to(repository.resolve())
    by_path = {f"./{whole / place.relative_to(top)}": place for place in places}
    given = b"\0".join(os.fsencode(path) for path in (*by_path, f"./{whole}"))
    if repository is not None:
        answer = ask(repository, os.environ, *_ASKING, given=given)
    else:
        with TemporaryDirectory(prefix="reconciler-") as own:
            ask(top, os.environ, "init", "--quiet", "--bare", "--template=", own)
            answer = ask(
                top, os.environ, f"--git-dir={own}", "--work-tree=.", *_ASKING, given=given
            )
    answered = set(os.fsdecode(answer or b"").split("\0"))
    return (
        set() if f"./{whole}" in answered else {by_path[path] for path in answered & by_path.keys()}
    )


_OWN = ".git"
_ASKING = ("check-ignore", "-z", "--stdin")
