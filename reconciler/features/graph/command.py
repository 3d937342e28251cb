"""`reconciler graph`: references between manifests, and the names that their queries use.

It is shown as text and JSON, and as drawings for Graphviz and Mermaid. Source: docs/graph.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Annotated, NotRequired

import click
from pydantic import Field
from typing_extensions import TypedDict

from reconciler.cli import options
from reconciler.cli.console import data, stderr_style, stdout_style, words
from reconciler.document import Path
from reconciler.errors import InvalidInput, UsageError
from reconciler.kinds import BY_NAME
from reconciler.kinds.shape import references_in
from reconciler.model import Manifest, Ref, Selected, Source
from reconciler.operations.check_project import Checked, check
from reconciler.operations.open_project import Options, manifest_paths
from reconciler.project import choose_environment
from reconciler.queries import Language, Parsed, parse
from reconciler.report.changes.document import Limited, selection_document
from reconciler.report.complaints.document import complaints_text
from reconciler.report.counts import describe_selection
from reconciler.report.labels import place_in
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style
from reconciler.syntax.expressions import OPEN
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.build import DeclaredManifest
from reconciler.workspace.expression_scope import Scope, withheld_from
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
    """A query of a manifest, and the names that it uses; `path` is its path in `spec`."""

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
    """Return one graph of several environments; what several have in common is in it once."""
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
            end = ids.get((kind, str(BY_NAME[kind].id_form.normal(value))))
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
    loaders = load_each(paths, project.root, scopes, project.settings)
    return joined([graph_of(loader.declared, loader.scope) for loader in loaders]), checked


LONGEST_VALUE = 80
LONGEST_LABEL = 120


class PlaceDocument(TypedDict):
    """A place in a file. The path is relative to the project; line and column count from 1."""

    file: str
    line: int
    column: int


class ResourceDocument(TypedDict):
    """A resource, and where its manifest begins."""

    ref: str
    source: PlaceDocument


# `from` is a keyword of Python, so a class cannot declare this field.
LinkDocument = TypedDict(
    "LinkDocument",
    {
        "from": str,
        "to": str,
        "source": Annotated[PlaceDocument, Field(description="Where the reference is.")],
    },
)


class MatcherDocument(TypedDict):
    """A condition on a label."""

    label: str
    op: str
    value: str


class UseDocument(TypedDict):
    """A query, and what it uses. Of a query that cannot be parsed, nothing is known."""

    ref: str
    path: Annotated[list[str | int], Field(description="Where it is in `spec`.")]
    place: Annotated[str, Field(description="The same in words, as the title of a widget.")]
    source: PlaceDocument
    language: str
    parsed: bool
    metrics: list[str]
    matchers: list[MatcherDocument]
    fields: list[str]


class GraphDocument(TypedDict):
    """References between resources, and what queries use."""

    resources: list[ResourceDocument]
    references: list[LinkDocument]
    uses: list[UseDocument]
    selection: NotRequired[Limited]


def graph_json(graph: Graph, selected: Selected | None = None) -> str:
    """Return the JSON of schemas/graph.schema.json; `selected` is a selection, None for all."""
    document = GraphDocument(
        resources=[
            ResourceDocument(ref=str(manifest.ref), source=_place_document(manifest.source))
            for manifest in graph.manifests
        ],
        references=[
            {
                "from": str(link.start),
                "to": str(link.end),
                "source": _place_document(link.source),
            }
            for link in graph.links
        ],
        uses=[
            {
                "ref": str(use.manifest.ref),
                "path": list(use.path),
                "place": spoken(use),
                "source": _place_document(use.source),
                "language": use.language.value,
                "parsed": use.parsed.error is None,
                "metrics": list(use.parsed.metrics),
                "matchers": [
                    {"label": matcher.label, "op": matcher.op, "value": matcher.value}
                    for matcher in use.parsed.matchers
                ],
                "fields": list(use.parsed.fields),
            }
            for use in graph.uses
        ],
    )
    if selected is not None:
        document["selection"] = selection_document(selected)
    return json_text(document)


def _place_document(source: Source) -> PlaceDocument:
    return PlaceDocument(file=source.file, line=source.line, column=source.column)


def spoken(use: Use) -> str:
    """Return the place of a query in its resource, by the titles that people gave."""
    spec = use.manifest.spec
    return place_in(BY_NAME.get(use.manifest.ref.kind), use.path, spec).words


def graph_text(graph: Graph, style: Style) -> str:
    """Return each resource with its references, its referrers, and what its queries use."""
    return "".join(
        f"{line}\n" for manifest in graph.manifests for line in _lines(manifest, graph, style)
    )


def _lines(manifest: Manifest, graph: Graph, style: Style) -> Iterator[str]:
    ref = manifest.ref
    yield f"{style.paint(safe(str(ref)), Colour.BOLD)}  {safe(str(manifest.source))}"
    for link in graph.links:
        if link.start == ref:
            yield f"  refers to {safe(str(link.end))}  {safe(str(link.source))}"
    for link in graph.links:
        if link.end == ref:
            yield f"  referred to by {safe(str(link.start))}  {safe(str(link.source))}"
    for use in graph.uses:
        if use.manifest.ref == ref:
            yield f"  {spoken(use)}  {safe(str(use.source))}"
            yield from (f"    {line}" for line in _said(use))


def _said(use: Use) -> Iterator[str]:
    parsed = use.parsed
    if parsed.error is not None:
        yield f"{use.language.value} that cannot be parsed: {safe(parsed.error.message)}"
    if parsed.metrics:
        yield f"metrics: {_listed(parsed.metrics)}"
    if parsed.matchers:
        values = [(matcher, safe(matcher.value, LONGEST_VALUE)) for matcher in parsed.matchers]
        matchers = [f'{matcher.label}{matcher.op}"{value}"' for matcher, value in values]
        yield f"labels: {_listed(matchers)}"
    if parsed.fields:
        yield f"fields: {_listed(parsed.fields)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(safe(name, LONGEST_LABEL) for name in names)


def graph_dot(graph: Graph) -> str:
    """Return a graph for Graphviz; metrics and log fields are boxes with round corners."""
    lines = ["digraph workspace {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f"  {_dot(name)};" for name in _nodes(graph)]
    names = _used_names(graph)
    lines += [f'  {_dot(name)} [shape=box, style="rounded"];' for name in names]
    lines += [f"  {_dot(start)} -> {_dot(end)};" for start, end in _edges(graph)]
    return "\n".join((*lines, "}")) + "\n"


def _dot(name: str) -> str:
    # A backslash begins an escape of Graphviz, and a quote ends the text.
    text = safe(name, LONGEST_LABEL).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def graph_mermaid(graph: Graph) -> str:
    """Return a graph for Mermaid: nodes have numbers, and their texts no markup."""
    resources, names = _nodes(graph), _used_names(graph)
    numbers = {name: f"n{nth}" for nth, name in enumerate((*resources, *names))}
    lines = ["flowchart LR"]
    lines += [f'  {numbers[name]}["{_mermaid(name)}"]' for name in resources]
    lines += [f'  {numbers[name]}(["{_mermaid(name)}"])' for name in names]
    lines += [f"  {numbers[start]} --> {numbers[end]}" for start, end in _edges(graph)]
    return "\n".join(lines) + "\n"


_MARKUP = re.compile(r"[^\w ./:-]", re.ASCII)


def _mermaid(name: str) -> str:
    return _MARKUP.sub(lambda match: f"#{ord(match.group())};", safe(name, LONGEST_LABEL))


def _nodes(graph: Graph) -> list[str]:
    """Return the names of the resources, including references to resources that do not exist."""
    named = [str(manifest.ref) for manifest in graph.manifests]
    return [*dict.fromkeys((*named, *(str(link.end) for link in graph.links)))]


def _used_names(graph: Graph) -> list[str]:
    return [*dict.fromkeys(name for use in graph.uses for name in _names(use))]


def _names(use: Use) -> Iterator[str]:
    yield from (f"metric {name}" for name in use.parsed.metrics)
    yield from (f"field {name}" for name in use.parsed.fields)


def _edges(graph: Graph) -> list[tuple[str, str]]:
    edges = [(str(link.start), str(link.end)) for link in graph.links]
    edges += [(str(use.manifest.ref), name) for use in graph.uses for name in _names(use)]
    return [*dict.fromkeys(edges)]


FORMATS: Mapping[str, Callable[[Graph, Style, Selected | None], str]] = {
    "text": lambda graph, style, _: graph_text(graph, style),
    "dot": lambda graph, *_: graph_dot(graph),
    "mermaid": lambda graph, *_: graph_mermaid(graph),
    "json": lambda graph, _, selected: graph_json(graph, selected),
}


@click.command
@options.reading
@options.selecting
@options.formats(*FORMATS)
@click.option(
    "--metric",
    metavar="NAME",
    help="Only resources with a query of this metric; `*` and `?` match any "
    "characters and one character.",
)
@click.option(
    "--uses",
    metavar="NAME",
    help="Only resources that use this metric, label or log field, or that refer "
    "to this Kind/name.",
)
def graph(*, options: Options, form: str, metric: str | None, uses: str | None) -> int:
    """Show what refers to what, and which metrics, labels and log fields queries use.

    Without -e, the graph covers all environments. No service, key or secret is needed.
    """
    if metric is not None and uses is not None:
        raise UsageError("--metric and --uses exclude each other: --uses finds metrics too")
    whole, checked = read_graph(options)
    if checked.workspace.errors:
        words(complaints_text(checked.workspace.errors, stderr_style(verbose=options.verbose)))
    shown, name, known = whole, "", list[str]()
    if metric is not None:
        shown = whole.of_uses(lambda use: _named(metric, use.parsed.metrics))
        name, known = metric, whole.metrics
    elif uses is not None:
        shown = whole.with_name(uses)
        _check_is_declared(uses, whole, shown)
        name, known = uses, whole.names
    if name and not shown.manifests and not options.quiet:
        words(f"nothing uses {_with_hint(name, known)}")
    if checked.selected is not None and not options.quiet:
        words(safe(describe_selection(checked.selected)))
    text = FORMATS[form](shown, stdout_style(verbose=options.verbose), checked.selected)
    return data(text, ending=InvalidInput.exit_code if checked.workspace.errors else 0)


def _check_is_declared(name: str, whole: Graph, shown: Graph) -> None:
    """Raise UsageError for a typo; otherwise "nothing uses it" would be the answer."""
    ref = Ref.parse(name)
    declared = [str(manifest.ref) for manifest in whole.manifests]
    is_glob = any(wildcard in name for wildcard in "*?[")
    if ref is None or shown.manifests or is_glob or name in declared:
        return
    if ref.kind in BY_NAME or nearest(ref.kind, BY_NAME):
        raise UsageError(f"nothing declares {_with_hint(name, declared)}")


def _with_hint(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return f"`{safe(name)}`" + (f": did you mean `{safe(near)}`?" if near else "")
