"""One manifest as an environment sees it, with everything filled in, as text to read."""

from __future__ import annotations

import os

from reconciler.document import Json
from reconciler.errors import UsageError
from reconciler.model import API_VERSION, Manifest
from reconciler.operations.open_project import Options, open_project
from reconciler.operations.open_session import open_workspace
from reconciler.project import choose_environment
from reconciler.redaction.templates import written_out
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.compose import laid_out
from reconciler.workspace.expression_scope import Scope, withheld_from


def expanded(options: Options, name: str) -> str:
    """Return the manifest of a resource, `Kind/name`, as YAML.

    Overrides, items, variables and files are filled in. Secrets and references stay expressions, so
    the text declares the same resource and shows no secret. No secret is read. Raises UsageError
    for a resource that is not declared, and InvalidInput for a workspace with errors, after
    reporting them.
    """
    project = open_project(options)
    environment, chosen = choose_environment(project, options.environment)
    scope = Scope(environment, chosen.variables, withheld=withheld_from(os.environ))
    known = {
        str(manifest.ref): manifest
        for manifest in open_workspace(options, project, scope).manifests
    }
    if name not in known:
        near = nearest(name, known)
        hint = f"; did you mean {near}?" if near else ""
        raise UsageError(f"no manifest of `{environment}` declares {name}{hint}")
    made = known[name]
    comment = f"{made.source}, for {environment}"
    return laid_out(expanded_document(made), {("apiVersion",): comment})


def expanded_document(made: Manifest) -> dict[str, Json]:
    """Return a manifest as one document that declares the same, with everything filled in."""
    metadata: dict[str, Json] = {"name": made.ref.name}
    if made.remote_id is not None:
        metadata["id"] = made.remote_id
    if made.labels:
        metadata["labels"] = written_out(dict(made.labels))
    if made.protect:
        metadata["protect"] = True
    return {
        "apiVersion": API_VERSION,
        "kind": made.ref.kind,
        "metadata": metadata,
        "spec": written_out(made.spec),
    }
