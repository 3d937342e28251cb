"""All that `validate` looks at, for a person and for CI: project file, manifests, references."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from reconciler.model import Selected
from reconciler.operations.open_project import (
    Options,
    is_whole,
    lead_here,
    project_file,
    read_project,
    today,
)
from reconciler.operations.open_session import advice_on_nothing, read_workspaces
from reconciler.operations.secret_sources import Allowed, secrets_of
from reconciler.project import Environment, Project, choose_environment
from reconciler.syntax.files import folder_in_repository
from reconciler.workspace.all_environments import everywhere
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.secret_scan import Withheld, withheld_from
from reconciler.workspace.workspace import NOTHING, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found. A project file that is malformed is all that is complained of then.

    `folder` is where the project stands in its repository, "" for its root, and `advice`
    what to do where nothing is declared. `project` is None where its file is malformed, and
    `selected` where everything is looked at.
    """

    workspace: Workspace
    environment: str
    folder: str
    project: Project | None = None
    advice: str = ""
    selected: Selected | None = None


def check(
    asked: Options, secrets: Mapping[str, str] | None = None, *, in_all: bool = False
) -> Checked:
    """Check manifests offline: no secret, key or service is needed.

    With `secrets`, each that the manifests name must be among them. With `in_all`,
    every environment is looked at, unless one is asked for: then the name in what
    is given is "".

    Raises UsageError for a project file or an environment that is not there.
    """
    project, complaints = read_project(asked)
    if project is None:
        root = (project_file(asked) or Path()).parent.resolve()
        return Checked(
            workspace=Workspace(complaints=tuple(complaints)),
            environment="",
            folder=folder_in_repository(root),
        )
    return check_in(project, asked, secrets, in_all=in_all)


def check_in(
    project: Project,
    asked: Options,
    secrets: Mapping[str, str] | None = None,
    *,
    in_all: bool = False,
    instead: Mapping[Path, str] = NOTHING,
) -> Checked:
    """Check the manifests of a project that was read, as `check` does.

    `instead` are the texts of files that are not read.

    Raises UsageError for an environment that is not there.
    """
    environments: Mapping[str, Environment] = project.settings.environments
    if not in_all or asked.environment is not None or len(environments) <= 1:
        environments = dict([choose_environment(project, asked.environment)])
    lead_here(asked, project, next(iter(environments)) if len(environments) == 1 else "")
    withheld = withheld_from(os.environ)
    scopes = [
        _scope(project, name, environment, asked, secrets, withheld)
        for name, environment in environments.items()
    ]
    are_all = (
        is_whole(asked, project) and environments.keys() >= project.settings.environments.keys()
    )
    workspace = everywhere(read_workspaces(asked, project, scopes, instead), are_all=are_all)
    asked.selection.check_named(workspace.known)
    name = "" if len(scopes) > 1 else scopes[0].environment
    selected = asked.selection.leaving_out(len(workspace.left_out))
    advice = advice_on_nothing(asked, project, workspace, name)
    return Checked(
        workspace=workspace,
        environment=name,
        folder=folder_in_repository(project.root),
        project=project,
        advice=advice,
        selected=selected,
    )


def _scope(  # noqa: PLR0917 - what a scope is made of
    project: Project,
    name: str,
    environment: Environment,
    asked: Options,
    environ: Mapping[str, str] | None,
    withheld: Withheld,
) -> Scope:
    """Give what expressions may name. No file of a secret is read here, and no command run."""
    scope = Scope(
        name, environment.variables, withheld=withheld, today=today(), selection=asked.selection
    )
    if environ is None:
        return scope
    known = secrets_of(project, name, environment, environ, Allowed.NOTHING)
    return replace(scope, secrets=known, unread=known.unread, why_unset=known.why)
