"""Owners of the manifests of a change, by the base branch, never by the change itself."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar, Final

from reconciler.ci.checkout import FETCH_ALL, place_of, tips_of
from reconciler.ci.commits import Commits, Unreadable, is_regular
from reconciler.ci.forge.event import Event
from reconciler.model import Change, Plan, Ref
from reconciler.project import Project
from reconciler.report.markdown import code
from reconciler.report.sections import SectionFormats
from reconciler.report.words import first_few

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


def owners_of(path: str, rules: Sequence[OwnerRule]) -> tuple[str, ...]:
    """Return the owners of a path: by the last matching rule of each section."""
    last = {rule.section: rule for rule in rules if rule.matches(path)}
    return tuple(dict.fromkeys(owner for rule in last.values() for owner in rule.owners))


def read_owners(text: str, place: str = PLACES[0]) -> list[OwnerRule]:
    """Read a file. Sections count only in the place of the forge that has them."""
    rules: list[OwnerRule] = []
    section, usual = "", tuple[str, ...]()
    for line in text.splitlines():
        begun = _SECTION.fullmatch(line.strip()) if place == WITH_SECTIONS else None
        if begun is not None:
            # Names of sections are compared without their case.
            section, usual = begun[1].strip().casefold(), _owners(begun[2].split()) or ()
            continue
        words = _WORD.findall(line)
        if not words or words[0].startswith("#"):
            continue
        owners = _owners(words[1:])
        if owners is not None and _is_pattern(words[0]):
            rules.append(OwnerRule(words[0], owners or usual, section))
    return rules


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


MOST_OWNERS = 10
MOST_NAMED = 3
LONGEST_NAME = 60
NOBODY = "nobody"
_MENTIONED = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ChangeOwners:
    """The owners of each manifest by the CODEOWNERS file of the base branch.

    A manifest with unknown owners is not in `by_ref`. Owners are notified if `mentioned`.
    """

    formats: ClassVar[str] = "reconciler.ci.change_owners:FORMATS"
    by_ref: Mapping[Ref, tuple[str, ...]]
    mentioned: bool = False


def _members(owned: ChangeOwners, change: Change) -> Mapping[str, object]:
    owners = owned.by_ref.get(change.ref)
    return {} if owners is None else {"owners": [*owners]}


def _owners_markdown(section: ChangeOwners, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a line for each owner of a change.

    A name is in a code span, so that no person is notified, unless mentions were requested.
    """
    owned: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        owners = section.by_ref.get(change.ref)
        if owners is not None:
            for owner in owners or (NOBODY,):
                owned[owner].append(str(change.ref))
    ordered = sorted(owned.items(), key=lambda owner_refs: (owner_refs[0] == NOBODY, owner_refs[0]))
    for owner, refs in ordered[:MOST_OWNERS]:
        named = NOBODY if owner == NOBODY else _shown(owner, mentioned=section.mentioned)
        yield f"- {named}: {_listed(refs)}"
    if len(ordered) > MOST_OWNERS:
        yield f"- and {len(ordered) - MOST_OWNERS:,} more owners"


def _shown(owner: str, *, mentioned: bool) -> str:
    return owner if mentioned and _MENTIONED.fullmatch(owner) else code(owner, LONGEST_NAME)


def _listed(refs: Sequence[str]) -> str:
    return first_few(refs, MOST_NAMED, lambda ref: code(ref, LONGEST_NAME))


FORMATS: Final[SectionFormats[ChangeOwners]] = SectionFormats(
    change_members=_members, owners_markdown=_owners_markdown
)


def with_owners(made: Plan, event: Event, project: Project) -> tuple[Plan, str]:
    """Return the plan with the owners of its manifests, and why they are unknown, "" otherwise.

    `project` is what may be used of the checkout. Its settings, which are those of the base branch,
    decide whether owners are mentioned.
    """
    place = place_of(project)
    if place is None or not event.name:
        return made, ""
    try:
        # The possible commits of the base, the most certain first.
        tips = [event.base] if event.is_try else tips_of(event, place)
        found = _found(tips, place.commits)
    except Unreadable as error:
        return made, f"the owners of the manifests are unknown ({error}): {FETCH_ALL}"
    if found is None:
        return made, ""
    owned = {
        change.ref: owners_of(posixpath.normpath(f"{place.folder}/{source.file}"), found)
        for change in made.changes
        if (source := change.source) is not None
    }
    return made.with_section(ChangeOwners(owned, project.settings.mention_owners)), ""


def _found(tips: Sequence[str], commits: Commits) -> list[OwnerRule] | None:
    """Read the first owners file of the first known commit; None without one. Raises Unreadable."""
    known = next((tip for tip in tips if commits.has(tip)), "")
    if not known:
        raise Unreadable("the base branch is not in this checkout")
    for path in PLACES:
        entry = commits.entry(known, PurePosixPath(path))
        if entry is not None and is_regular(entry):
            content = commits.content(entry)
            text = content.decode("utf-8", "replace") if len(content) <= LARGEST else ""
            return read_owners(text, path)
    return None
