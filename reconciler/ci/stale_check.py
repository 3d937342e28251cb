"""Stale check: whether the branch still declares the changes that a job will write.

A job that runs again has its old commit, and the review of an old plan. Without this check, a
reverted change would come back. Source: docs/ci.md.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path

from reconciler.ci.checkout import ProjectLocation, place_of
from reconciler.ci.forge.event import Event
from reconciler.ci.forge.forge_client import ForgeError
from reconciler.ci.forge.pull_requests import Repository
from reconciler.errors import Stale
from reconciler.model import Plan
from reconciler.project import Project
from reconciler.syntax.files import PROJECT_FILE

MOST_NAMED = 3
SHORT = 12


def check_not_moved_on(
    made: Plan, read: tuple[Path, ...], project: Project, event: Event, repository: Repository
) -> str:
    """Compare the files that a plan relies on with the newest commit of the job's branch.

    `read` are all files that the manifests came from. Return why the comparison failed, "" where it
    did not. Raises Stale where the branch has changed one of the files since, or lost the commit.
    """
    commit = event.head or event.commit
    place = place_of(project.file or project.root / PROJECT_FILE, os.environ)
    if not (commit and event.branch) or place is None:
        return ""
    try:
        later = repository.later_than(commit, event.branch)
    except ForgeError as error:
        return f"it is unknown whether `{event.branch}` has moved on since: {error}"
    if later is None:
        return ""
    if not later.contains:
        raise Stale(
            f"`{event.branch}` does not have commit {commit[:SHORT]} any more, so what it declares "
            "is not what was merged: run this on the newest commit"
        )
    rests_on = set(_rests_on(made, read, project, place))
    changed = [file for file in later.files if file in rests_on]
    if later.is_cut and not changed:
        changed = ["more files than the forge lists"]
    if changed:
        named = ", ".join(f"`{path}`" for path in changed[:MOST_NAMED])
        more = f" and {len(changed) - MOST_NAMED:,} more" if len(changed) > MOST_NAMED else ""
        raise Stale(
            f"`{event.branch}` has moved on from {commit[:SHORT]} to {later.commit[:SHORT]}, which "
            f"changed {named}{more}: what would be written is not what it declares any more. The "
            "job of the newest commit applies that"
        )
    return ""


def _rests_on(
    made: Plan, read: tuple[Path, ...], project: Project, place: ProjectLocation
) -> Iterator[str]:
    """Yield the files, relative to the repository, that decide the changes of a plan.

    These are all files that were read, except manifests in which nothing is written.
    """
    places = [(change.source, change.action.writes) for change in made.changes]
    sources = {source.file for source, writes in places if source is not None and writes}
    untouched = {source.file for source, _ in places if source is not None} - sources
    root = project.root.resolve()
    inputs = {os.path.relpath(path.resolve(), root) for path in read}
    for file in (inputs | sources | {PROJECT_FILE}) - untouched:
        yield posixpath.normpath(f"{place.folder}/{Path(file).as_posix()}")
