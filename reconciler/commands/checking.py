"""All that `validate` looks at, for a person and for CI: project file, manifests, references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reconciler.commands.opening import Asked, manifest_paths, project_file, read_project
from reconciler.manifests.expressions import Scope
from reconciler.manifests.files import folder_in_repository
from reconciler.manifests.workspace import Workspace, load_workspace
from reconciler.project import choose_environment


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found. A project file that is malformed is all that is complained of then.

    `folder` is where the project stands in its repository, "" for its root.
    """

    workspace: Workspace
    environment: str
    folder: str


def check(asked: Asked, secrets: Mapping[str, str] | None = None) -> Checked:
    """Check manifests offline: no secret, key or service is needed.

    With `secrets`, each that the manifests name must be among them.

    Raises UsageError for a project file or an environment that is not there.
    """
    project, complaints = read_project(asked)
    if project is None:
        root = (project_file(asked) or Path()).resolve().parent
        return Checked(Workspace((), tuple(complaints)), "", folder_in_repository(root))
    name, chosen = choose_environment(project, asked.environment)
    known = project.settings.environments
    scope = Scope(name, chosen.variables, secrets)
    workspace = load_workspace(manifest_paths(asked, project), project.root, scope, known)
    return Checked(workspace, name, folder_in_repository(project.root))
