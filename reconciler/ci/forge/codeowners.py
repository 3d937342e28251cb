r"""Owners of a file, as the forge reads CODEOWNERS: the last matching line decides. Pure.

The patterns are those of git's ignore files, without what the forge leaves out: no `!`, no `[...]`,
no `\\#`; and `docs/*` means the files directly in that folder. A malformed line is skipped, as the
forge skips it. Source: docs/ci.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

PLACES: Final = (
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab/CODEOWNERS",
)
"""Places where the file is looked for; the first file found is used."""

WITH_SECTIONS: Final = ".gitlab/CODEOWNERS"
LARGEST: Final = 3 << 20
"""The forge does not read a larger file."""

_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_OWNER = re.compile(r"@[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*|[^\s@]+@[^\s@]+\.[^\s@]+", re.ASCII)
_SECTION = re.compile(r"\^?\[([^\[\]]+)\](?:\[[0-9]+\])?(.*)")


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """One line: its pattern, and the owners of matching files; there may be none."""

    pattern: str
    owners: tuple[str, ...]
    section: str = ""

    def matches(self, path: str) -> bool:
        """Return whether a path, relative to the repository, matches."""
        return re.fullmatch(expression(self.pattern), path, re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class CodeOwners:
    """Rules of one file."""

    rules: Sequence[OwnerRule]

    def of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a path: by the last matching rule of each section."""
        last: dict[str, OwnerRule] = {}
        for rule in self.rules:
            if rule.matches(path):
                last[rule.section] = rule
        return tuple(dict.fromkeys(owner for rule in last.values() for owner in rule.owners))


def read_owners(text: str, place: str = PLACES[0]) -> CodeOwners:
    """Read a file. Sections count only in the place of the forge that has them."""
    return CodeOwners([*_rules(text, with_sections=place == WITH_SECTIONS)])


def _rules(text: str, *, with_sections: bool) -> Iterator[OwnerRule]:
    section, usual = "", tuple[str, ...]()
    for line in text.splitlines():
        begun = _SECTION.fullmatch(line.strip()) if with_sections else None
        if begun is not None:
            # Names of sections are compared without their case.
            section, usual = begun[1].strip().casefold(), _owners(begun[2].split()) or ()
            continue
        words = _WORD.findall(line)
        if not words or words[0].startswith("#"):
            continue
        owners = _owners(words[1:])
        if owners is not None and _is_pattern(words[0]):
            yield OwnerRule(words[0], owners or usual, section)


def _owners(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the owners up to a comment; None where a word is no owner."""
    found: list[str] = []
    for word in words:
        if word.startswith("#"):
            break
        if not _OWNER.fullmatch(word):
            return None
        found.append(word)
    return tuple(found)


def _is_pattern(word: str) -> bool:
    is_odd = word.startswith(("!", "\\#")) or "[" in word.replace("\\[", "")
    return not is_odd and "***" not in word and word.strip("/") != ""


def expression(pattern: str) -> str:
    """Return a pattern as a regular expression for whole paths.

    A pattern with a slash before its end begins at the top; any other matches in every folder.
    """
    body = pattern.rstrip("/")
    steps = body.lstrip("/").split("/")
    is_anchored = "/" in body
    first = "" if is_anchored else "(?:.*/)?"
    inner = "".join(_steps(steps))
    if pattern.endswith("/"):
        return f"{first}{inner}/.+"
    # Matches files directly in a folder, not deeper, as in the forge's own examples.
    is_flat = is_anchored and steps[-1] == "*"
    return f"{first}{inner}" if is_flat or steps[-1] == "**" else f"{first}{inner}(?:/.*)?"


def _steps(steps: Sequence[str]) -> Iterator[str]:
    last = len(steps) - 1
    for index, step in enumerate(steps):
        if step == "**":
            yield ".+" if index == last else "(?:.*/)?"
        else:
            yield _step(step) + ("/" if index < last else "")


def _step(step: str) -> str:
    found: list[str] = []
    for part in re.findall(r"\\.|\*+|\?|[^\\*?]+|\\", step):
        if part.startswith("*"):
            found.append("[^/]*")
        elif part == "?":
            found.append("[^/]")
        else:
            found.append(re.escape(part[1:] if part.startswith("\\") and len(part) > 1 else part))
    return "".join(found)
