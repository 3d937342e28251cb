"""`reconciler validate`: everything that can be known offline."""

from __future__ import annotations

from pathlib import Path

import click

from reconciler.commands import options
from reconciler.commands.opening import Asked, manifest_paths, open_project
from reconciler.commands.output import data, stdout_style, words
from reconciler.errors import InvalidInput
from reconciler.manifests.expressions import Scope
from reconciler.manifests.workspace import load_workspace
from reconciler.project import choose_environment
from reconciler.report.complaints_document import complaints_json
from reconciler.report.complaints_text import complaints_summary, complaints_text


@click.command
@options.reading
@options.formats("text", "json")
def validate(
    *,
    paths: tuple[Path, ...],
    environment: str | None,
    project: Path | None,
    verbose: bool,
    quiet: bool,
    form: str,
) -> int:
    """Check manifests offline: syntax, fields, names, references.

    Without PATH, the manifests of the project file are checked, else those in
    this folder. No service, key or secret is needed.
    """
    asked = Asked(paths, environment, project, verbose, quiet)
    found = open_project(asked)
    name, chosen = choose_environment(found, environment)
    scope = Scope(name, chosen.variables)
    workspace = load_workspace(
        manifest_paths(asked, found), found.root, scope, found.settings.environments
    )
    count, files = len(workspace.manifests), workspace.files
    if form == "json":
        data(complaints_json(workspace.complaints, count, files))
    else:
        shown = workspace.errors if quiet else workspace.complaints
        data(complaints_text(shown, stdout_style(verbose=verbose)))
    if not quiet:
        words(complaints_summary(workspace.complaints, count, files))
    return InvalidInput.exit_code if workspace.errors else 0
