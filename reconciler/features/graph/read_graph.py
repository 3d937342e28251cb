"""Graph: references between resources, and what queries use, without a service, key or secret."""

from __future__ import annotations

import os

from reconciler.features.graph.load_graph import load_graph
from reconciler.features.graph.resource_graph import Graph
from reconciler.operations.check_project import Checked, check
from reconciler.operations.open_project import Options, manifest_paths
from reconciler.project import choose_environment
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.secret_scan import withheld_from


def read_graph(options: Options) -> tuple[Graph, Checked]:
    """Return the graph of all readable manifests, and the result of checking them.

    Without an environment in the options it covers all of them. Raises UsageError for a missing
    project file or environment.
    """
    checked = check(options, in_all=True)
    project = checked.project
    if project is None:
        return Graph(), checked
    chosen = dict([choose_environment(project, options.environment)]) if checked.environment else {}
    withheld = withheld_from(os.environ)
    scopes = [
        Scope(name, environment.variables, None, withheld=withheld, selection=options.selection)
        for name, environment in (chosen or project.settings.environments).items()
    ]
    paths = manifest_paths(options, project)
    return load_graph(paths, project.root, scopes, project.settings), checked
