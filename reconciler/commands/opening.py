"""From flags and environment to what a command works with: project, workspace, journal, door."""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.commands.journal_opening import open_journal
from reconciler.commands.output import redact_with, stderr_style, words
from reconciler.complaint import Complaint
from reconciler.errors import InvalidInput, UsageError
from reconciler.manifests.expressions import Scope
from reconciler.manifests.files import PROJECT_FILE, find_files, read_file
from reconciler.manifests.project_file import load_project
from reconciler.manifests.workspace import Workspace, load_workspace
from reconciler.project import (
    Embedded,
    Environment,
    Project,
    Target,
    choose_environment,
    choose_target,
)
from reconciler.report.complaints.text import complaints_summary, complaints_text

if TYPE_CHECKING:
    import httpx

    from reconciler.api.door import Api
    from reconciler.api.secret import Redaction
    from reconciler.journal.journal import Journal

_SECRET = re.compile(r"\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the shared flags asked for."""

    paths: tuple[Path, ...]
    environment: str | None
    project: Path | None
    verbose: bool
    quiet: bool


def now() -> datetime:
    """Give the time of day, in UTC."""
    return datetime.now(UTC)


def open_project(asked: Asked) -> Project:
    """Find and read the project file: as asked, else upward from the manifests.

    Raises UsageError for a file that is not there and InvalidInput for one that
    is malformed, once all its complaints are printed.
    """
    project, complaints = read_project(asked)
    if complaints:
        words(complaints_text(complaints, stderr_style(verbose=asked.verbose)))
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
    if asked.project is not None and not asked.project.is_file():
        raise UsageError(f"there is no project file {asked.project}")
    return asked.project or _find_project(asked.paths)


def _find_project(paths: Sequence[Path]) -> Path | None:
    for start in (*paths[:1], Path()):
        folder = _folder_of(start)
        for place in (folder, *folder.parents):
            if (place / PROJECT_FILE).is_file():
                return place / PROJECT_FILE
            if (place / ".git").exists():
                break
    return None


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


def open_workspace(asked: Asked, project: Project, scope: Scope) -> Workspace:
    """Read all manifests; print complaints.

    Raises InvalidInput where one of them is an error.
    """
    known = project.settings.environments
    workspace = load_workspace(manifest_paths(asked, project), project.root, scope, known)
    shown = workspace.errors if asked.quiet else workspace.complaints
    if shown:
        words(complaints_text(shown, stderr_style(verbose=asked.verbose)))
    if workspace.errors:
        count = len(workspace.manifests)
        raise InvalidInput(complaints_summary(workspace.complaints, count, workspace.files))
    return workspace


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything a command that talks to the service works with.

    `named` are secrets to hide that no manifest was read for.
    """

    project: Project
    name: str
    environment: Environment
    target: Target
    workspace: Workspace
    whole: bool
    named: frozenset[str] = frozenset()

    def journal(self) -> Journal:
        """Give the journal of the environment, read.

        Raises JournalError or InvalidInput.
        """
        return open_journal(self.project, self.name, self.environment, self.target)


def open_target(asked: Asked) -> Bench:
    """Do what comes before the first request of a command that reads no manifests."""
    project = open_project(asked)
    name, environment = choose_environment(project, asked.environment)
    target = choose_target(project, name, environment, os.environ)
    named = named_secrets(asked, project)
    return Bench(project, name, environment, target, Workspace((), ()), whole=False, named=named)


def named_secrets(asked: Asked, project: Project) -> frozenset[str]:
    """Give the secrets that the manifests name, to hide them; nothing else of these is read."""
    values: set[str] = set()
    for file in find_files(manifest_paths(asked, project), project.root).files:
        text = read_file(file.path, file.name, (project.root.resolve(),))
        names = _SECRET.findall(text) if isinstance(text, str) else ()
        values.update(os.environ.get(name, "") for name in names)
    return frozenset(values)


def open_bench(asked: Asked) -> Bench:
    """Do all that comes before the first request."""
    project = open_project(asked)
    name, environment = choose_environment(project, asked.environment)
    target = choose_target(project, name, environment, os.environ)
    scope = Scope(name, environment.variables, os.environ, salt_of(name, target))
    workspace = open_workspace(asked, project, scope)
    redact_with(_redaction_of(workspace))
    return Bench(project, name, environment, target, workspace, is_whole(asked, project))


def salt_of(name: str, target: Target) -> str:
    """Give the salt of the seals that stand for secrets in plans and journals."""
    return f"{name}\0{target.name}"


def _redaction_of(workspace: Workspace) -> Redaction:
    from reconciler.api.secret import Redaction  # noqa: PLC0415 - not for validate
    from reconciler.template import secret_values  # noqa: PLC0415 - not for validate

    values = {value for manifest in workspace.manifests for value in secret_values(manifest.spec)}
    return Redaction(values)


@asynccontextmanager
async def open_api(bench: Bench) -> AsyncIterator[Api]:
    """Open the door to the target.

    Raises NotAuthorised without a key, where one is needed.
    """
    from reconciler.api.door import Api  # noqa: PLC0415 - brings the HTTP client
    from reconciler.api.secret import Secret, key_from  # noqa: PLC0415 - with it

    # A core dump would hold the key.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    target = bench.target
    assumptions = bench.environment.api
    if isinstance(target, Embedded):
        transport = _embedded(bench, target)
        api = Api("http://emulator", Secret("any"), transport=transport, assumptions=assumptions)
    else:
        key = key_from(os.environ)
        api = Api(target.base_url, key, target.authorization, assumptions=assumptions)
    api.redaction = _redaction_of(bench.workspace)
    for secret in (*bench.named, api.key.reveal()):
        api.redaction.add(secret)
    redact_with(api.redaction)
    async with api:
        yield api


def _embedded(bench: Bench, target: Embedded) -> httpx.AsyncBaseTransport:
    """Start the emulator in this process, with every alert that the workspace declares."""
    from httpx import ASGITransport  # noqa: PLC0415 - brings the HTTP client

    from reconciler.emulator import create_app  # noqa: PLC0415 - brings the server

    alert_ids = [
        str(manifest.remote_id)
        for manifest in bench.workspace.manifests
        if isinstance(manifest.remote_id, str) and not _creatable(manifest.ref.kind)
    ]
    return ASGITransport(create_app(target.data, alert_ids=alert_ids), raise_app_exceptions=False)


def _creatable(kind: str) -> bool:
    from reconciler.kinds import BY_NAME  # noqa: PLC0415 - loaded already

    return not BY_NAME[kind].id_form.required


def is_terminal() -> bool:
    """Tell whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
