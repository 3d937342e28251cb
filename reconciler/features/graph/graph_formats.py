"""A graph of resources as text, JSON, and drawings for Graphviz and Mermaid. See docs/graph.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from reconciler.features.graph.load_graph import Graph, Use
from reconciler.kinds import BY_NAME
from reconciler.model import Manifest, Selected, Source
from reconciler.report.changes.document import Limited, selection_document
from reconciler.report.labels import place_in
from reconciler.report.safe import json_text, safe
from reconciler.report.table import Colour, Style

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
            ResourceDocument(ref=str(manifest.ref), source=_place(manifest.source))
            for manifest in graph.manifests
        ],
        references=[
            {"from": str(link.start), "to": str(link.end), "source": _place(link.source)}
            for link in graph.links
        ],
        uses=[_use(use) for use in graph.uses],
    )
    if selected is not None:
        document["selection"] = selection_document(selected)
    return json_text(document)


def _place(source: Source) -> PlaceDocument:
    return PlaceDocument(file=source.file, line=source.line, column=source.column)


def _use(use: Use) -> UseDocument:
    return UseDocument(
        ref=str(use.manifest.ref),
        path=list(use.path),
        place=spoken(use),
        source=_place(use.source),
        language=use.language.value,
        parsed=use.parsed.error is None,
        metrics=list(use.parsed.metrics),
        matchers=[
            MatcherDocument(label=matcher.label, op=matcher.op, value=matcher.value)
            for matcher in use.parsed.matchers
        ],
        fields=list(use.parsed.fields),
    )


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
