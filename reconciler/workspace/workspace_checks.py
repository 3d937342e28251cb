"""Checks of features, over all manifests of an environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from reconciler.model import Ref
from reconciler.project import ProjectFile
from reconciler.runtime.rows import Rows
from reconciler.syntax.diagnostic import Complaint
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.loader import Loader


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedWorkspace:
    """What a check may depend on: the key of the cache of workspaces covers all of it.

    `complaints` are those of earlier checks, `elsewhere` the resources of other environments.
    """

    declared: Sequence[DeclaredManifest]
    elsewhere: Sequence[Ref]
    complaints: Sequence[Complaint]
    scope: Scope
    settings: ProjectFile


WorkspaceCheck: TypeAlias = Callable[[CheckedWorkspace], Iterator[Complaint]]

ALWAYS: Final = "manifests"
"""The key of checks of every project."""

CHECKS: Final = Rows[WorkspaceCheck]("workspace-checks")
"""By the setting of the project file that a check is about, or `ALWAYS`."""


def wanted_checks(settings: ProjectFile) -> list[str]:
    """Return the keys of the checks that have something to check. Imports none of them.

    Those of every project come last: they skip the manifests with errors.
    """
    return sorted(
        (key for key in CHECKS if key == ALWAYS or getattr(settings, key)), key=ALWAYS.__eq__
    )


def complain_by_features(loader: Loader, settings: ProjectFile) -> None:
    """Add the complaints of the wanted checks, one check after another."""
    for key in wanted_checks(settings):
        checked = CheckedWorkspace(
            declared=loader.declared,
            elsewhere=loader.elsewhere,
            complaints=tuple(loader.complaints),
            scope=loader.scope,
            settings=settings,
        )
        loader.complaints.extend(CHECKS.load(key)(checked))
