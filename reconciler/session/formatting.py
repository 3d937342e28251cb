"""Formatting: which files of a project stand in another layout than the one, and writing them."""

from __future__ import annotations

from reconciler.errors import UsageError
from reconciler.manifests.formatting import Tidied, find_untidy
from reconciler.manifests.modelines import FOLDER, has_schemas
from reconciler.manifests.placing import replace_text
from reconciler.session.projects import Asked, manifest_paths, open_project


def find(asked: Asked, *, modeline: bool = False) -> Tidied:
    """Look at the manifests of a project, and at the project file where no path was asked for.

    Raises InvalidInput for a project file that is malformed, and UsageError where a modeline
    would lead to schemas that are not there.
    """
    project = open_project(asked)
    if modeline and not has_schemas(project.root):
        raise UsageError(
            f"there are no schemas in {FOLDER}/ of the project: `reconciler init` writes them"
        )
    paths = manifest_paths(asked, project)
    if not asked.paths and project.file is not None:
        paths.append(project.file)
    return find_untidy(paths, project, modelines=modeline)


def write(found: Tidied) -> None:
    """Write every file in the place of what it was. Raises InvalidInput where one cannot be."""
    for one in found.changed:
        replace_text(one.path, one.name, one.roots, before=one.before, after=one.after)
