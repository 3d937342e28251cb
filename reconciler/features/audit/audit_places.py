"""Findings of an audit, placed at the lines of their manifests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reconciler.model import Ref
from reconciler.project import ProjectFile
from reconciler.syntax.diagnostic import Finding
from reconciler.syntax.files import find_files
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.loader import Loader
from reconciler.workspace.silence import Silenced, Silencing
from reconciler.workspace.workspace import sources_of


def placed(
    found: Sequence[tuple[Ref, Finding]],
    paths: Sequence[Path],
    root: Path,
    scope: Scope,
    settings: ProjectFile,
) -> Silenced:
    """Return findings about the `spec` of resources at their places, without the silenced ones.

    The files are read again because nothing else keeps their text.
    """
    silencing = Silencing(settings.checks, [rule.name for rule in settings.own_rules])
    files = find_files(paths, root, settings.exclude, settings.limits.files)
    loader = Loader(
        files.root,
        sources_of(paths, root, settings.limits.size),
        scope,
        settings.environments,
        silencing,
    )
    loader.sources.begin()
    for file in files.files:
        loader.load(file)
    loader.complain_of_strays()
    places = {manifest.manifest.ref: manifest for manifest in loader.declared}
    complaints = [places[ref].spec.complaint(finding) for ref, finding in found if ref in places]
    return silencing.told(sorted(complaints), [manifest.manifest for manifest in loader.declared])
