"""What refers to what in a workspace, and what its queries use. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from reconciler.document import Path
from reconciler.model.manifest import Manifest, Ref, Source
from reconciler.queries import Language, Parsed


@dataclass(frozen=True, slots=True)
class Link:
    """A resource that names another, by a reference or by its id; `source` is where."""

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
        """Every name that it uses: of metrics, labels and fields."""
        yield from self.parsed.metrics
        yield from (one.label for one in self.parsed.matchers)
        yield from self.parsed.fields


@dataclass(frozen=True, slots=True)
class Graph:
    """The resources of a workspace in their order, what they refer to, and their queries."""

    manifests: Sequence[Manifest] = ()
    links: Sequence[Link] = ()
    uses: Sequence[Use] = ()

    def of_uses(self, wanted: Callable[[Use], bool]) -> Graph:
        """Give what is left where only some queries count, and who refers to their resources."""
        uses = tuple(filter(wanted, self.uses))
        refs = {one.manifest.ref for one in uses}
        return self._around(refs, uses)

    def with_metric(self, name: str) -> Graph:
        """Give what uses a metric; `*` and `?` stand for other characters."""
        return self.of_uses(lambda use: _named(name, use.parsed.metrics))

    def with_name(self, name: str) -> Graph:
        """Give what uses a metric, a label, a log field, or a resource by its `Kind/name`."""
        found = self.of_uses(lambda use: _named(name, use.names))
        ends = {one.end for one in self.links if fnmatchcase(str(one.end), name)}
        links = tuple(one for one in self.links if one.end in ends)
        if not links:
            return found
        refs = {one.manifest.ref for one in found.uses} | ends
        return self._around(refs, found.uses)

    def _around(self, refs: set[Ref], uses: Sequence[Use]) -> Graph:
        links = tuple(one for one in self.links if one.end in refs)
        kept = refs | {one.start for one in links}
        return replace(
            self,
            manifests=tuple(one for one in self.manifests if one.ref in kept),
            links=links,
            uses=tuple(uses),
        )

    @property
    def metrics(self) -> list[str]:
        """All metrics that queries use, each once and sorted."""
        return sorted({name for use in self.uses for name in use.parsed.metrics})

    @property
    def names(self) -> list[str]:
        """All names that something can be found by."""
        names = {name for use in self.uses for name in use.names}
        return sorted(names | {str(one.ref) for one in self.manifests})


def _named(pattern: str, names: Sequence[str] | Iterator[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def joined(graphs: Sequence[Graph]) -> Graph:
    """Give one graph of several environments; what is the same in two is there once."""
    manifests = {one.ref: one for graph in reversed(graphs) for one in graph.manifests}
    links = dict.fromkeys(one for graph in graphs for one in graph.links)
    uses = {
        (one.manifest.ref, one.path, one.source, one.parsed): one
        for graph in reversed(graphs)
        for one in graph.uses
    }
    return Graph(
        tuple(sorted(manifests.values(), key=lambda one: (_place(one.source), one.ref))),
        tuple(sorted(links, key=lambda one: (_place(one.source), one.start, one.end))),
        tuple(sorted(uses.values(), key=lambda one: (_place(one.source), one.manifest.ref))),
    )


def _place(source: Source) -> tuple[str, int, int]:
    return source.file, source.line, source.column
