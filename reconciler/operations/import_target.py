"""The project that an import goes into: manifests, the secrets they name, and free places."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reconciler.advice import on_manifests
from reconciler.api.secret import Redaction
from reconciler.errors import InvalidInput, UsageError
from reconciler.kinds.kind import Kind
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session, open_target, read_workspaces
from reconciler.operations.secret_sources import Allowed, secrets_named, secrets_of
from reconciler.project import Project
from reconciler.redaction.templates import named_values
from reconciler.report.complaints.text import complaints_summary
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.syntax.display_names import display_name
from reconciler.syntax.files import SUFFIXES, find_files
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.new_files import folder_inside, folder_like, passed_over
from reconciler.workspace.secret_scan import withheld_from
from reconciler.workspace.workspace import Workspace

NOT_SET = "M502"
MOST_NAMED = 10


def open_for_import(asked: Options, exports: Sequence[Path]) -> tuple[Session, dict[str, str]]:
    """Give the target and the manifests that are there; what is wrong with those is only told.

    Beside it stand the secrets that they name in any environment. One that is not set stops
    nobody, as nothing is sent. Raises what `open_target` raises.
    """
    bench = open_target(asked)
    # Exports often lie beside the manifests they are to become.
    asked = replace(asked, paths=())
    withheld = withheld_from(os.environ)
    salt = bench.salt
    scopes = [
        Scope(
            name,
            environment.variables,
            secrets_of(
                bench.project,
                name,
                environment,
                os.environ,
                Allowed.ALL if name == bench.name else Allowed.NOTHING,
            ),
            salt=salt,
            withheld=withheld,
        )
        for name, environment in {
            **bench.project.settings.environments,
            bench.name: bench.environment,
        }.items()
    ]
    workspaces = read_workspaces(asked, bench.project, scopes)
    workspace = workspaces[bench.name]
    secrets: dict[str, str] = {}
    for each in workspaces.values():
        for manifest in each.manifests:
            secrets |= named_values(manifest.spec)
    wrong = [error for error in workspace.errors if error.code != NOT_SET]
    if wrong:
        # What cannot be read may name others.
        named = secrets_named(asked, bench.project, bench.name, bench.environment)
        secrets |= {name: value for name, value in named.items() if not withheld.why(name, value)}
    secrets = {name: value for name, value in secrets.items() if value}
    asked.voice.hide(Redaction(secrets.values()))
    doubted = _complained_of(workspace, exports, bench.project.root)
    home = _home(bench.project)
    # The first import makes the folder itself.
    to_be_made = home is not None and not home.exists() and display_name(home, bench.project.root)
    told = [
        complaint
        for complaint in wrong
        if complaint.file not in doubted and complaint.file != to_be_made
    ]
    if told and not asked.quiet:
        said = complaints_summary(told, len(workspace.manifests), workspace.files)
        asked.voice.say(f"of what is there already: {said}; see `{on_manifests('validate')}`")
    if doubted and not asked.quiet:
        more = f" and {plural(len(doubted) - 1, 'more file')}" if len(doubted) > 1 else ""
        lie, them = ("lie", "them") if more else ("lies", "it")
        asked.voice.say(
            safe(
                f"{doubted[0]}{more} {lie} where manifests are read from, so `validate` complains "
                f"of {them}: move {them} out of the project, or leave {them} out with `exclude:` "
                "in reconciler.yaml"
            )
        )
    return replace(bench, workspace=workspace), secrets


def _complained_of(workspace: Workspace, exports: Sequence[Path], root: Path) -> list[str]:
    """Name the exports that are no manifests, and are read and complained of as if they were."""
    complained = {complaint.file for complaint in workspace.complaints}
    complained -= {manifest.source.file for manifest in workspace.manifests}
    found = find_files(exports, root.resolve()).files if complained and exports else ()
    return [file.name for file in found if file.name in complained]


def folder_for(kind: Kind, project: Project, to: Path | None) -> Path:
    """Give where manifests of a kind go. Raises UsageError for a place that cannot be."""
    root = project.root.resolve()
    if to is not None:
        return folder_inside(Path.cwd() / to, root)
    # Where the project file names folders, no manifest is looked for beside it.
    home = _home(project)
    return folder_inside(folder_like((home or project.root) / kind.name), root)


def _home(project: Project) -> Path | None:
    """Give the first folder of `manifests:`, be it still to be made; None for a single file."""
    first = project.root / next(iter(project.settings.manifests), ".")
    is_folder = first.is_dir() or not (os.path.lexists(first) or first.suffix in SUFFIXES)
    return first if is_folder else None


def check_read(files: Sequence[Path], project: Project) -> None:
    """Raise UsageError where no manifest is looked for in one of these places."""
    root = project.root.resolve()
    paths = [project.root / manifest for manifest in project.settings.manifests]
    passed = passed_over(files, paths, root, project.settings.exclude)
    if passed is not None:
        raise UsageError(
            f"{display_name(passed, root)}: no manifest is looked for there, by `manifests:`, "
            "`exclude:` or .gitignore. Nothing was imported: choose another folder with --to"
        )


def refuse_taken(others: Sequence[Path], root: Path) -> None:
    """Raise InvalidInput where there are files of others in the way."""
    if others:
        named = ", ".join(display_name(other, root) for other in others[:MOST_NAMED])
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        raise InvalidInput(
            f"{named}{more}: there already, and import writes over no file. Nothing was "
            "imported: move it away, or choose another folder with --to"
        )
