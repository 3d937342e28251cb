"""The graph of manifests: references, and the names that their queries use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path as File

from reconciler.document import Path
from reconciler.kinds import BY_NAME
from reconciler.kinds.shape import references_in
from reconciler.model.manifest import Manifest, Ref, Source
from reconciler.operations.check_project import Checked, check
from reconciler.operations.open_project import Options, manifest_paths
from reconciler.project import ProjectFile, choose_environment
from reconciler.queries import Language, Parsed, parse
from reconciler.syntax.expressions import OPEN
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.secret_scan import withheld_from
from reconciler.workspace.workspace import load_each
from reconciler.workspace.workspace_checks import QueryPositions


@dataclass(frozen=True, slots=True)
class Link:
    """A resource that refers to another, by a reference or by its id; `source` is the place."""

    start: Ref
    end: Ref
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A query of a manifest, and what it uses; `path` leads to it in `spec`."""

    manifest: Manifest
    path: Path
    source: Source
    language: Language
    parsed: Parsed

    @property
    def names(self) -> Iterator[str]:
        """Yield every name that it uses: of metrics, labels and fields."""
        yield from self.parsed.metrics
        yield from (matcher.label for matcher in self.parsed.matchers)
        yield from self.parsed.fields


@dataclass(frozen=True, slots=True)
class Graph:
    """The resources of a workspace in their order, their references and their queries."""

    manifests: Sequence[Manifest] = ()
    links: Sequence[Link] = ()
    uses: Sequence[Use] = ()

    def of_uses(self, wanted: Callable[[Use], bool]) -> Graph:
        """Return the graph of the wanted queries: their resources, and who refers to these."""
        uses = tuple(filter(wanted, self.uses))
        return self._around({use.manifest.ref for use in uses}, uses)

    def with_metric(self, name: str) -> Graph:
        """Return the graph of what uses a metric; `*` and `?` match other characters."""
        return self.of_uses(lambda use: _named(name, use.parsed.metrics))

    def with_name(self, name: str) -> Graph:
        """Return the graph of what uses a metric, a label, a log field or a `Kind/name`."""
        found = self.of_uses(lambda use: _named(name, use.names))
        ends = {link.end for link in self.links if fnmatchcase(str(link.end), name)}
        if not ends:
            return found
        return self._around({use.manifest.ref for use in found.uses} | ends, found.uses)

    def _around(self, refs: set[Ref], uses: Sequence[Use]) -> Graph:
        links = tuple(link for link in self.links if link.end in refs)
        kept = refs | {link.start for link in links}
        return replace(
            self,
            manifests=tuple(manifest for manifest in self.manifests if manifest.ref in kept),
            links=links,
            uses=tuple(uses),
        )

    @property
    def metrics(self) -> list[str]:
        """All metrics that queries use, each once and sorted."""
        return sorted({name for use in self.uses for name in use.parsed.metrics})

    @property
    def names(self) -> list[str]:
        """All names that can be searched for."""
        names = {name for use in self.uses for name in use.names}
        return sorted(names | {str(manifest.ref) for manifest in self.manifests})


def _named(pattern: str, names: Sequence[str] | Iterator[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def joined(graphs: Sequence[Graph]) -> Graph:
    """Return one graph of several environments; what two have in common is in it once."""
    manifests = {
        manifest.ref: manifest for graph in reversed(graphs) for manifest in graph.manifests
    }
    links = dict.fromkeys(link for graph in graphs for link in graph.links)
    uses = {
        (use.manifest.ref, use.path, use.source, use.parsed): use
        for graph in reversed(graphs)
        for use in graph.uses
    }
    return Graph(
        tuple(
            sorted(manifests.values(), key=lambda manifest: (_place(manifest.source), manifest.ref))
        ),
        tuple(sorted(links, key=lambda link: (_place(link.source), link.start, link.end))),
        tuple(sorted(uses.values(), key=lambda use: (_place(use.source), use.manifest.ref))),
    )


def _place(source: Source) -> tuple[str, int, int]:
    return source.file, source.line, source.column


def load_graph(
    paths: Sequence[File], root: File, scopes: Sequence[Scope], settings: ProjectFile
) -> Graph:
    """Return the graph of the selected manifests under `paths`; errors are not reported here."""
    loaders = load_each(paths, root, scopes, settings)
    return joined([graph_of(loader.declared, loader.scope) for loader in loaders])


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
        tuple(
            Use(
                manifest=manifest.manifest,
                path=query.path,
                source=_source(manifest, query.path, places),
                language=query.language,
                parsed=parse(query.language, query.text),
            )
            for manifest in selected
            for query in manifest.kind.queries(manifest.manifest.spec)
        ),
    )


def _links(
    declared: DeclaredManifest, ids: dict[tuple[str, str], Ref], places: QueryPositions
) -> Iterator[Link]:
    start = declared.manifest.ref
    for text, references in declared.references:
        for reference in references:
            line, column = text.document.locate_spot(reference.path, reference.spot)
            yield Link(start, reference.ref, Source(text.file, line, column))
    for path, kind, value in references_in(declared.manifest.spec, declared.kind.spec):
        if isinstance(value, str) and OPEN not in value:
            end = ids.get((kind, str(BY_NAME[kind].normal_id(value))))
            if end is not None:
                yield Link(start, end, _source(declared, path, places))


def _source(declared: DeclaredManifest, path: Path, places: QueryPositions) -> Source:
    text = declared.spec
    line, column = places.place(text, (*text.prefix, *path[text.dropped :]))
    return Source(text.file, line, column)


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
