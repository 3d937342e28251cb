"""Formatting: which files of a project stand in another layout than the one, and writing them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from reconciler.errors import UsageError
from reconciler.operations.open_project import Options, manifest_paths, open_project
from reconciler.project import Project, choose_environment
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.format_files import Tidied, find_untidy
from reconciler.workspace.modelines import FOLDER, has_schemas
from reconciler.workspace.new_files import replace_text
from reconciler.workspace.secret_scan import withheld_from
from reconciler.workspace.selected_files import files_taken


def find(asked: Options, *, modeline: bool = False) -> Tidied:
    """Look at the manifests of a project, and at the project file where no path was asked for.

    Of a selection, files of which nothing is selected are only counted.

    Raises InvalidInput for a project file that is malformed, and UsageError where a modeline
    would lead to schemas that are not there.
    """
    project = open_project(asked)
    if modeline and not has_schemas(project.root):
        raise UsageError(
            f"there are no schemas in {FOLDER}/ of the project: `reconciler init` writes them"
        )
    paths = manifest_paths(asked, project)
    wanted = _wanted(asked, project, paths) if asked.selection else lambda _: True
    if not asked.paths and project.file is not None:
        paths.append(project.file)
    return find_untidy(paths, project, modelines=modeline, wanted=wanted)


def _wanted(asked: Options, project: Project, paths: Sequence[Path]) -> Callable[[str], bool]:
    """Tell files by whether they hold what is selected in an environment."""
    environments = project.settings.environments
    if asked.environment is not None or not environments:
        environments = dict([choose_environment(project, asked.environment)])
    withheld = withheld_from(os.environ)
    scopes = [
        Scope(name, environment.variables, None, withheld=withheld, selection=asked.selection)
        for name, environment in environments.items()
    ]
    return files_taken(paths, project.root, scopes, project.settings, asked.selection).has


def write(found: Tidied) -> None:
    """Write every file in the place of what it was. Raises InvalidInput where one cannot be."""
    for tidy in found.changed:
        replace_text(tidy.path, tidy.name, tidy.roots, before=tidy.before, after=tidy.after)
