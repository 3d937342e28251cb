"""Graph: what refers to what, and what queries use, without a service, a key or a secret."""

from __future__ import annotations

import os

from reconciler.model.resource_graph import Graph
from reconciler.operations.check_project import Checked, check
from reconciler.operations.open_project import Options, manifest_paths
from reconciler.project import choose_environment
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.load_graph import load_graph
from reconciler.workspace.secret_scan import withheld_from


def read_graph(asked: Options) -> tuple[Graph, Checked]:
    """Give the graph of what can be read, and all that is wrong with the manifests.

    Without an environment it is that of all of them. Raises UsageError for a project file or
    an environment that is not there.
    """
    checked = check(asked, in_all=True)
    project = checked.project
    if project is None:
        return Graph(), checked
    chosen = dict([choose_environment(project, asked.environment)]) if checked.environment else {}
    withheld = withheld_from(os.environ)
    scopes = [
        Scope(name, environment.variables, None, withheld=withheld, selection=asked.selection)
        for name, environment in (chosen or project.settings.environments).items()
    ]
    paths = manifest_paths(asked, project)
    return load_graph(paths, project.root, scopes, project.settings), checked
