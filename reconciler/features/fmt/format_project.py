"""Formatting: find the files of a project with another layout than ours, and write them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from reconciler.errors import UsageError
from reconciler.features.fmt.format_files import Tidied, find_untidy
from reconciler.operations.open_project import Options, manifest_paths, open_project
from reconciler.project import Project, choose_environment
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.modelines import FOLDER, has_schemas
from reconciler.workspace.new_files import replace_text
from reconciler.workspace.secret_scan import withheld_from
from reconciler.workspace.selected_files import files_taken


def find(options: Options, *, modeline: bool = False) -> Tidied:
    """Return which manifests need formatting, and the project file where no path was given.

    With a selection, files without a selected resource are only counted. Raises InvalidInput for a
    malformed project file, and UsageError where a modeline would lead to missing schemas.
    """
    project = open_project(options)
    if modeline and not has_schemas(project.root):
        raise UsageError(
            f"there are no schemas in {FOLDER}/ of the project: `reconciler init` writes them"
        )
    paths = manifest_paths(options, project)
    wanted = _wanted(options, project, paths) if options.selection else lambda _: True
    if not options.paths and project.file is not None:
        paths.append(project.file)
    return find_untidy(paths, project, modelines=modeline, wanted=wanted)


def _wanted(options: Options, project: Project, paths: Sequence[Path]) -> Callable[[str], bool]:
    """Return a check for files that hold a selected resource in an environment."""
    environments = project.settings.environments
    if options.environment is not None or not environments:
        environments = dict([choose_environment(project, options.environment)])
    withheld = withheld_from(os.environ)
    scopes = [
        Scope(name, environment.variables, None, withheld=withheld, selection=options.selection)
        for name, environment in environments.items()
    ]
    return files_taken(paths, project.root, scopes, project.settings, options.selection).has


def write(found: Tidied) -> None:
    """Write every changed file. Raises InvalidInput where a file cannot be written."""
    for tidy in found.changed:
        replace_text(tidy.path, tidy.name, tidy.roots, before=tidy.before, after=tidy.after)
