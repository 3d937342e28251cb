"""What was asked for on the command line, and the project that it leads to."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from reconciler.advice import Here, lead_to
from reconciler.errors import InvalidInput, UsageError
from reconciler.manifests.project_file import load_project
from reconciler.plan_file import is_plan_file
from reconciler.project import (
    Project,
)
from reconciler.session.voice import Silent, Voice
from reconciler.source.diagnostic import Complaint
from reconciler.source.files import PROJECT_FILE
from reconciler.waits import Waits


@dataclass(frozen=True, slots=True)
class Asked:
    """What the shared flags asked for.

    `waits` is where it is noted what is waited for, and `voice` whom the run speaks to.
    """

    paths: tuple[Path, ...]
    environment: str | None
    project: Path | None
    verbose: bool
    quiet: bool
    waits: Waits = field(default_factory=Waits)
    voice: Voice = field(default_factory=Silent)


def now() -> datetime:
    """Give the time of day, in UTC."""
    return datetime.now(UTC)


def open_project(asked: Asked) -> Project:
    """Find and read the project file: as asked, else upward from the manifests.

    Raises UsageError for a file that is not there and InvalidInput for one that
    is malformed, once all its complaints are told.
    """
    project, complaints = read_project(asked)
    if complaints:
        asked.voice.complain(complaints, verbose=asked.verbose)
    if project is None:
        raise InvalidInput(f"{project_file(asked)} is not a valid project file")
    return project


def read_project(asked: Asked) -> tuple[Project | None, Sequence[Complaint]]:
    """Give the project, None where its file is malformed, and what is wrong with that.

    Raises UsageError for a file that is not there.
    """
    file = project_file(asked)
    if file is None:
        return Project(_folder_of(asked.paths[0] if asked.paths else Path())), ()
    return load_project(file)


def project_file(asked: Asked) -> Path | None:
    """Find the project file: as asked, else upward from the manifests; None where there is none.

    Raises UsageError for a file that is not there.
    """
    if asked.project is not None and not _is_there(asked.project):
        raise UsageError(f"there is no project file {asked.project}")
    return asked.project or _find_project(asked.paths)


def _find_project(paths: Sequence[Path]) -> Path | None:
    for start in (*paths[:1], Path()):
        folder = _folder_of(start)
        for place in (folder, *folder.parents):
            file = place / PROJECT_FILE
            if _is_there(file):
                return file
            if (place / ".git").exists():
                break
    return None


def lead_here(asked: Asked, project: Project, name: str) -> None:
    """Let what is advised from now on lead to an environment of a project, from where this runs."""
    here, found = _folder_of(Path()), _find_project(())
    without = found.resolve() if found is not None else here
    there = project.file.resolve() if project.file is not None else project.root
    manifests = [str(path) for path in asked.paths if not is_plan_file(path)]
    given = _typed(manifests)
    if without == there:
        lead_to(Here(name, to_manifests=given))
        return
    file = asked.project or project.file
    to_project = "" if file is None else _typed(["--project", str(file)])
    if asked.project is not None:
        lead_to(Here(name, to_project, f"{to_project}{given}", to_project))
        return
    to_journal = _typed(["--path", str(asked.paths[0])]) if asked.paths else ""
    lead_to(Here(name, to_journal, given or to_project, to_project))


def _typed(words: Sequence[str]) -> str:
    """Give words as they are typed, a blank before each."""
    return "".join(f" {shlex.quote(word)}" for word in words)


def _is_there(file: Path) -> bool:
    """Tell a file, or a link wherever it leads: that is complained of where it is read."""
    return os.path.isfile(file) or os.path.islink(file)  # noqa: PTH113, PTH114 - never raise


def _folder_of(path: Path) -> Path:
    """Give a folder, or that of a file, without links; a name of any length will do."""
    real = Path(os.path.realpath(path))
    return real if os.path.isdir(real) else real.parent  # noqa: PTH112 - never raises


def manifest_paths(asked: Asked, project: Project) -> list[Path]:
    """Give where the manifests are: the arguments, else the project's own setting."""
    if asked.paths:
        return list(asked.paths)
    return [project.root / path for path in project.settings.manifests]


def is_whole(asked: Asked, project: Project) -> bool:
    """Tell whether the paths cover all manifests of the project."""
    given = [path.resolve() for path in asked.paths]
    wanted = [(project.root / path).resolve() for path in project.settings.manifests]
    return not given or all(any(one.is_relative_to(path) for path in given) for one in wanted)
