"""References between the resources of a workspace, and what their queries use. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from reconciler.document import Path
from reconciler.model.manifest import Manifest, Ref, Source
from reconciler.queries import Language, Parsed


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
        refs = {use.manifest.ref for use in uses}
        return self._around(refs, uses)

    def with_metric(self, name: str) -> Graph:
        """Return the graph of what uses a metric; `*` and `?` match other characters."""
        return self.of_uses(lambda use: _named(name, use.parsed.metrics))

    def with_name(self, name: str) -> Graph:
        """Return the graph of what uses a metric, a label, a log field or a `Kind/name`."""
        found = self.of_uses(lambda use: _named(name, use.names))
        ends = {link.end for link in self.links if fnmatchcase(str(link.end), name)}
        links = tuple(link for link in self.links if link.end in ends)
        if not links:
            return found
        refs = {use.manifest.ref for use in found.uses} | ends
        return self._around(refs, found.uses)

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
