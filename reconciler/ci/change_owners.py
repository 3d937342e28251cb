"""Owners of the manifests of a change, by the base branch, never by the change itself."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from reconciler.ci.checkout import FETCH_ALL, ProjectLocation, place_of, tips_of
from reconciler.ci.commits import Commits, Unreadable, is_regular
from reconciler.ci.forge.codeowners import LARGEST, PLACES, CodeOwners, read_owners
from reconciler.ci.forge.event import Event
from reconciler.ci.owner_lines import ChangeOwners
from reconciler.model import Change, Plan, Ref
from reconciler.project import Project
from reconciler.syntax.files import PROJECT_FILE


def with_owners(made: Plan, event: Event, project: Project) -> tuple[Plan, str]:
    """Return the plan with the owners of its manifests, and why they are unknown, "" otherwise.

    `project` is what may be used of the checkout. Its settings, which are those of the base branch,
    decide whether owners are mentioned.
    """
    place = place_of(project.file or project.root / PROJECT_FILE, os.environ)
    if place is None or not event.name:
        return made, ""
    try:
        found = _found(_commits_of(event, place), place.commits)
    except Unreadable as error:
        return made, f"the owners of the manifests are unknown ({error}): {FETCH_ALL}"
    if found is None:
        return made, ""
    owned = owners_by_ref(made.changes, found, place)
    mentioned = project.settings.mention_owners
    return made.with_section(ChangeOwners(owned, mentioned)), ""


def _commits_of(event: Event, place: ProjectLocation) -> list[str]:
    """Return the possible commits of the base, the most certain first."""
    if event.is_try:
        return [event.base] if event.base else []
    return tips_of(event, place)


def _found(tips: Sequence[str], commits: Commits) -> CodeOwners | None:
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


def owners_by_ref(
    changes: Sequence[Change], owners: CodeOwners, place: ProjectLocation
) -> Mapping[Ref, tuple[str, ...]]:
    """Return the owners of each resource of a plan, by its manifest file."""
    return {
        change.ref: owners.of(posixpath.normpath(f"{place.folder}/{source.file}"))
        for change in changes
        if (source := change.source) is not None
    }
