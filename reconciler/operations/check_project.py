"""Checks of `validate`, for a person and for CI: project file, manifests, references."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

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
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import Complaint, Finding
from reconciler.syntax.files import PROJECT_FILE, folder_in_repository
from reconciler.workspace.expression_scope import Scope, withheld_from
from reconciler.workspace.workspace import NOTHING, Workspace, everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of a check. If the project file is malformed, it has only complaints about it.

    `folder` is the path of the project in its repository, "" for the root. `advice` says what to do
    where nothing is declared. `project` is None where its file is malformed. `selected` is None
    where nothing was selected.
    """

    workspace: Workspace
    environment: str
    folder: str
    project: Project | None = None
    advice: str = ""
    selected: Selected | None = None


NOT_CHECKED: Final = Checked(workspace=Workspace(), environment="", folder="")

AfterCheck: TypeAlias = Callable[[Checked, Options, Any], Checked]
"""Takes the result of a check and the value of an option, and returns the result to report."""

AFTER_CHECK: Final = Rows[AfterCheck]("after-check")
"""The key is the parameter of an option of `validate`."""


@runtime_checkable
class SettingWithFile(Protocol):
    """A setting of a feature that names a file of the checkout, which `validate` checks too."""

    def file_flaws(self, environment: Environment, root: Path) -> Iterator[str]:
        """Yield what is wrong with the file; `root` is the folder of the project."""


Remarks: TypeAlias = Callable[[Checked, Options], Iterator[str]]
"""Yields lines to a person on what was checked."""

REMARKS: Final = Rows[Remarks]("check-remarks")
"""The key is the name of the feature."""


def remarks_on(checked: Checked, options: Options) -> Iterator[str]:
    """Yield the lines that features add at the end, to a person."""
    for remarks in REMARKS.all():
        yield from remarks(checked, options)


def after_check(checked: Checked, options: Options, asked: Mapping[str, object]) -> Checked:
    """Return the result of a check, after the rows of the given options have changed it."""
    for name in AFTER_CHECK:
        if asked.get(name) not in (None, False) and checked.project is not None:
            checked = AFTER_CHECK.load(name)(checked, options, asked[name])
    return checked


def check(
    options: Options, secrets: Mapping[str, str] | None = None, *, in_all: bool = False
) -> Checked:
    """Check manifests offline, without service, key or secrets.

    With `secrets`, every secret that the manifests name must be among them. With `in_all`, every
    environment is checked, unless the options name one; the result then has "" as its environment.
    Raises UsageError for a missing project file or environment.
    """
    project, complaints = read_project(options)
    if project is None:
        root = (project_file(options) or Path()).parent.resolve()
        return Checked(
            workspace=Workspace(complaints=tuple(complaints)),
            environment="",
            folder=folder_in_repository(root),
        )
    return check_in(project, options, secrets, in_all=in_all)


def check_in(
    project: Project,
    options: Options,
    secrets: Mapping[str, str] | None = None,
    *,
    in_all: bool = False,
    instead: Mapping[Path, str] = NOTHING,
) -> Checked:
    """Check the manifests of a project that was read already, as `check` does.

    `instead` has texts that replace the content of files. Raises UsageError for a missing
    environment.
    """
    environments: Mapping[str, Environment] = project.settings.environments
    if not in_all or options.environment is not None or len(environments) <= 1:
        environments = dict([choose_environment(project, options.environment)])
    lead_here(options, project, next(iter(environments)) if len(environments) == 1 else "")
    withheld = withheld_from(os.environ)
    scopes = []
    for name, environment in environments.items():
        scope = Scope(
            name,
            environment.variables,
            withheld=withheld,
            today=today(),
            selection=options.selection,
        )
        if secrets is not None:
            # No secret file is read and no command is run.
            known = secrets_of(project, name, environment, secrets, Allowed.NOTHING)
            scope = replace(scope, secrets=known, unread=known.unread, why_unset=known.why)
        scopes.append(scope)
    are_all = (
        is_whole(options, project) and environments.keys() >= project.settings.environments.keys()
    )
    workspace = everywhere(read_workspaces(options, project, scopes, instead), are_all=are_all)
    if flawed := tuple(_complaints_of_files(project, environments)):
        workspace = replace(workspace, complaints=(*flawed, *workspace.complaints))
    options.selection.check_named(workspace.known)
    name = "" if len(scopes) > 1 else scopes[0].environment
    return Checked(
        workspace=workspace,
        environment=name,
        folder=folder_in_repository(project.root),
        project=project,
        advice=advice_on_nothing(options, project, workspace, name),
        selected=options.selection.leaving_out(len(workspace.left_out)),
    )


def _complaints_of_files(
    project: Project, environments: Mapping[str, Environment]
) -> Iterator[Complaint]:
    """Yield a complaint for each flaw of a file that a setting names, at the setting."""
    for name, environment in environments.items():
        for key, setting in environment.settings_given(object):
            if not isinstance(setting, SettingWithFile):
                continue
            for flaw in setting.file_flaws(environment, project.root):
                finding = Finding("P101", ("environments", name, key), flaw)
                text = project.settings.written
                yield (
                    text.complaint(finding)
                    if text is not None
                    else Complaint.of_file(PROJECT_FILE, finding.code, flaw)
                )
