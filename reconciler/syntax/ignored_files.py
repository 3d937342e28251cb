"""Which files below a folder are none of ours: what tools install, what git ignores, `exclude:`."""

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

from reconciler.git import GitStuck, ask

INSTALLED = frozenset(("node_modules", "venv"))
"""Folders that tools fill with files of others."""

_MARK = "pyvenv.cfg"
_RULES = ".gitignore"


def is_installed(name: str) -> bool:
    """Tell a folder that is hidden or holds what a tool installed there, by its name."""
    return name.startswith(".") or name in INSTALLED


def is_environment(names: Collection[str]) -> bool:
    """Tell by the names in it a folder that holds a Python environment, whatever it is called."""
    return _MARK in names


def matches(path: str, pattern: str) -> bool:
    """Tell whether a glob leads to a path, or to a folder around it.

    `*` stays within a folder, and `**` is any number of folders, none too.
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
    """What was met below a folder that decides which of its files git ignores.

    `homes` maps each folder to the repository inside it that it belongs to, where there is one.
    `odd` are rules in what is no file: git would wait for a pipe to be written to.
    """

    top: Path
    seen: bool = False
    homes: dict[Path, Path | None] = field(default_factory=dict)
    odd: list[Path] = field(default_factory=list)

    def enter(self, place: Path, folders: Collection[str], names: Collection[str]) -> None:
        """Note a folder and what is in it; that around it was noted before."""
        is_home = place != self.top and (_OWN in folders or _OWN in names)
        self.homes[place] = place if is_home else self.homes.get(place.parent)
        if _RULES in names:
            self.seen = True
            self._note(place / _RULES)

    def look_around(self) -> None:
        """Note the rules of the folders around, up to the repository; before `ignored`."""
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
        """Give those of some files and folders that `.gitignore` ignores.

        A file that git tracks is never ignored, and nothing is where the top
        itself would be: it was asked for. In a folder of no repository the rules
        hold as if it was one. Without git there are none, nor where it would wait for an odd file.
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
    """Ask git about places below a folder, which stands in a repository or in none.

    After `./` no name of a file has a meaning of its own.
    """
    whole = Path() if repository is None else top.resolve().relative_to(repository.resolve())
    asked = {f"./{whole / place.relative_to(top)}": place for place in places}
    given = b"\0".join(os.fsencode(path) for path in (*asked, f"./{whole}"))
    if repository is not None:
        answer = ask(repository, os.environ, *_ASKING, given=given)
    else:
        with TemporaryDirectory(prefix="reconciler-") as own:
            ask(top, os.environ, "init", "--quiet", "--bare", "--template=", own)
            answer = ask(
                top, os.environ, f"--git-dir={own}", "--work-tree=.", *_ASKING, given=given
            )
    said = set(os.fsdecode(answer or b"").split("\0"))
    return set() if f"./{whole}" in said else {asked[one] for one in said & asked.keys()}


_OWN = ".git"
_ASKING = ("check-ignore", "-z", "--stdin")
