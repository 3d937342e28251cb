"""Plans against a revision instead of the service. Source: docs/plan.md."""

from __future__ import annotations

from reconciler.model import Plan
from reconciler.operations.offline import opened_offline
from reconciler.operations.open_project import Options, lead_here, open_project
from reconciler.project import Project, choose_environment
from reconciler.workspace.revision import branching_point


def plan_against(options: Options, revision: str) -> tuple[Plan, Project]:
    """Plan a project against the last commit in common with a revision.

    Raises UsageError without git or for an invalid revision, and InvalidInput for wrong manifests
    on either side.
    """
    project = open_project(options)
    name, environment = choose_environment(project, options.environment)
    lead_here(options, project, name)
    common = branching_point(project.root, revision, "--against")
    with opened_offline(options, project, name, environment) as offline:
        return offline.holding(common).plan(), project
