"""Graph of the references and uses of manifests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path as File

from reconciler.document import Json, Path
from reconciler.features.graph.resource_graph import Graph, Link, Use, joined
from reconciler.kinds import BY_NAME
from reconciler.kinds.shape import Facts, facts_within
from reconciler.model import Ref, Source
from reconciler.project import ProjectFile
from reconciler.queries import parse
from reconciler.syntax.expressions import OPEN
from reconciler.syntax.files import find_files
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.loader import Loader
from reconciler.workspace.query_checks import QueryPositions
from reconciler.workspace.shard_homes import with_homes
from reconciler.workspace.workspace import load_workspaces, sources_of


def load_graph(
    paths: Sequence[File], root: File, scopes: Sequence[Scope], settings: ProjectFile
) -> Graph:
    """Return the graph of the selected manifests under `paths`; errors are not reported here."""
    found = find_files(paths, root, settings.exclude, settings.limits.files)
    sources = sources_of(paths, root, settings.limits.size, kept=len(scopes) > 1)
    graphs = []
    scopes = with_homes(scopes, lambda plain: load_workspaces(paths, root, plain, settings))
    for scope in scopes:
        sources.begin()
        loader = Loader(found.root, sources, scope, settings.environments)
        for file in found.files:
            loader.load(file)
        graphs.append(graph_of(loader.declared, scope))
    return joined(graphs)


def graph_of(declared: Sequence[DeclaredManifest], scope: Scope) -> Graph:
    """Return the graph of the selected manifests of one environment.

    A manifest that is not selected is only the end of a reference.
    """
    places = QueryPositions(scope)
    ids = {
        (manifest.kind.name, str(known)): manifest.manifest.ref
        for manifest in declared
        if (known := manifest.kind.declared_id(manifest.manifest)) is not None
    }
    selected = [manifest for manifest in declared if manifest.selected]
    return Graph(
        tuple(manifest.manifest for manifest in selected),
        tuple(link for manifest in selected for link in _links(manifest, ids, places)),
        tuple(use for manifest in selected for use in _uses(manifest, places)),
    )


def _links(
    declared: DeclaredManifest, ids: dict[tuple[str, str], Ref], places: QueryPositions
) -> Iterator[Link]:
    start = declared.manifest.ref
    for text, references in declared.references:
        for reference in references:
            line, column = text.document.locate_spot(reference.path, reference.spot)
            yield Link(start, reference.ref, Source(text.file, line, column))
    for path, kind, value in _ids_in(declared.manifest.spec, Facts(part=declared.kind.spec), ()):
        known = BY_NAME.get(kind)
        end = ids.get((kind, str(known.normal_id(value)))) if known is not None else None
        if end is not None and OPEN not in value:
            yield Link(start, end, _source(declared, path, places))


def _ids_in(value: Json, facts: Facts, path: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the texts that are ids of other resources, with the kinds of those resources."""
    if facts.refers is not None and isinstance(value, str):
        yield path, facts.refers.kind, value
    elif facts.part is None and facts.items is None and facts.values is None:
        return
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _ids_in(inner, facts_within(facts, key), (*path, key))
    elif isinstance(value, list):
        for nth, inner in enumerate(value):
            yield from _ids_in(inner, facts_within(facts, nth), (*path, nth))


def _uses(declared: DeclaredManifest, places: QueryPositions) -> Iterator[Use]:
    for query in declared.kind.queries(declared.manifest.spec):
        yield Use(
            manifest=declared.manifest,
            path=query.path,
            source=_source(declared, query.path, places),
            language=query.language,
            parsed=parse(query.language, query.text),
        )


def _source(declared: DeclaredManifest, path: Path, places: QueryPositions) -> Source:
    text = declared.spec
    line, column = places.place(text, (*text.prefix, *path[text.dropped :]))
    return Source(text.file, line, column)
