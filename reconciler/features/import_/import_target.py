"""Project that an import writes to: its manifests, the secrets they name, and free places."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reconciler.api.secret import Redaction
from reconciler.errors import InvalidInput, UsageError
from reconciler.kinds.kind import Kind
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session, open_target, read_workspaces
from reconciler.operations.secret_sources import Allowed, secrets_named, secrets_of
from reconciler.project import Project
from reconciler.redaction.templates import named_values
from reconciler.report.complaints.document import complaints_summary
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.runtime.advice import on_manifests
from reconciler.syntax.files import SUFFIXES, display_name, find_files
from reconciler.workspace.expression_scope import Scope, withheld_from
from reconciler.workspace.workspace import Workspace
from reconciler.workspace.write_files import folder_inside, folder_like, passed_over

NOT_SET = "M502"
MOST_NAMED = 10


def open_for_import(options: Options, exports: Sequence[Path]) -> tuple[Session, dict[str, str]]:
    """Return a session with the existing manifests, and the secrets that they name.

    The secrets are those of all environments. Errors in the manifests, and secrets that are not
    set, do not stop the import, as nothing is sent; errors are only reported. Raises what
    `open_target` raises.
    """
    session = open_target(options)
    # Exports often lie next to the manifests that they become.
    options = replace(options, paths=())
    withheld = withheld_from(os.environ)
    salt = session.salt
    scopes = [
        Scope(
            name,
            environment.variables,
            secrets_of(
                session.project,
                name,
                environment,
                os.environ,
                Allowed.ALL if name == session.name else Allowed.NOTHING,
            ),
            salt=salt,
            withheld=withheld,
        )
        for name, environment in {
            **session.project.settings.environments,
            session.name: session.environment,
        }.items()
    ]
    workspaces = read_workspaces(options, session.project, scopes)
    workspace = workspaces[session.name]
    secrets: dict[str, str] = {}
    for read in workspaces.values():
        for manifest in read.manifests:
            secrets |= named_values(manifest.spec)
    wrong = [error for error in workspace.errors if error.code != NOT_SET]
    if wrong:
        # Manifests with errors may name further secrets.
        named = secrets_named(options, session.project, session.name, session.environment)
        secrets |= {name: value for name, value in named.items() if not withheld.why(name, value)}
    secrets = {name: value for name, value in secrets.items() if value}
    options.reporter.hide(Redaction(secrets.values()))
    doubted = _complained_of(workspace, exports, session.project.root)
    home = _home(session.project)
    # The first import creates the folder.
    to_be_made = home is not None and not home.exists() and display_name(home, session.project.root)
    reported = [
        complaint
        for complaint in wrong
        if complaint.file not in doubted and complaint.file != to_be_made
    ]
    if reported and not options.quiet:
        summary = complaints_summary(reported, len(workspace.manifests), workspace.files)
        options.reporter.say(
            f"of what is there already: {summary}; see `{on_manifests('validate')}`"
        )
    if doubted and not options.quiet:
        more = f" and {plural(len(doubted) - 1, 'more file')}" if len(doubted) > 1 else ""
        lie, them = ("lie", "them") if more else ("lies", "it")
        options.reporter.say(
            safe(
                f"{doubted[0]}{more} {lie} where manifests are read from, so `validate` complains "
                f"of {them}: move {them} out of the project, or leave {them} out with `exclude:` "
                "in reconciler.yaml"
            )
        )
    return replace(session, workspace=workspace), secrets


def _complained_of(workspace: Workspace, exports: Sequence[Path], root: Path) -> list[str]:
    """Return the names of exports that are read as manifests, and have errors as such."""
    complained = {complaint.file for complaint in workspace.complaints}
    complained -= {manifest.source.file for manifest in workspace.manifests}
    found = find_files(exports, root.resolve()).files if complained and exports else ()
    return [file.name for file in found if file.name in complained]


def folder_for(kind: Kind, project: Project, to: Path | None) -> Path:
    """Return the folder for manifests of a kind. Raises UsageError for an unusable folder."""
    root = project.root.resolve()
    if to is not None:
        return folder_inside(Path.cwd() / to, root)
    # Where the project file names folders, manifests are read only from those.
    home = _home(project)
    return folder_inside(folder_like((home or project.root) / kind.name), root)


def _home(project: Project) -> Path | None:
    """Return the first folder of `manifests:`, even if it does not exist yet; None for a file."""
    first = project.root / next(iter(project.settings.manifests), ".")
    is_folder = first.is_dir() or not (os.path.lexists(first) or first.suffix in SUFFIXES)
    return first if is_folder else None


def check_read(files: Sequence[Path], project: Project) -> None:
    """Raise UsageError where one of these files would not be read as a manifest."""
    root = project.root.resolve()
    paths = [project.root / manifest for manifest in project.settings.manifests]
    passed = passed_over(files, paths, root, project.settings.exclude)
    if passed is not None:
        raise UsageError(
            f"{display_name(passed, root)}: no manifest is looked for there, by `manifests:`, "
            "`exclude:` or .gitignore. Nothing was imported: choose another folder with --to"
        )


def refuse_taken(others: Sequence[Path], root: Path) -> None:
    """Raise InvalidInput where other files are in the way."""
    if others:
        named = ", ".join(display_name(other, root) for other in others[:MOST_NAMED])
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        raise InvalidInput(
            f"{named}{more}: there already, and import writes over no file. Nothing was "
            "imported: move it away, or choose another folder with --to"
        )
