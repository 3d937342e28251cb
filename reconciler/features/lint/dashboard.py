"""Lint rules for dashboards. Source: docs/practice.md."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from reconciler.document import Json, Path, canonical_text, value_at
from reconciler.features.lint.lint import LintRule
from reconciler.kinds.kind import Neighbours, SpecFinding, lists_in, text_of
from reconciler.kinds.shape import EACH, places
from reconciler.model import Manifest
from reconciler.queries import holes_in
from reconciler.syntax.diagnostic import Advice

SECTIONS = ("dashboard", "layout", "sections", EACH)
IN_SECTION = ("rows", EACH, "widgets", EACH)
WIDGETS = (*SECTIONS, *IN_SECTION)
QUERIES = (
    ("metrics", "promqlQuery", "value"),
    ("queryLanguage", "queryLanguageQuery", "text"),
)
"""Paths of queries that must not be empty; an empty Lucene query is valid: all logs."""

WITH_VARIABLES = (
    ("metrics", "promqlQuery", "value"),
    ("logs", "luceneQuery", "value"),
    ("spans", "luceneQuery", "value"),
)
"""Paths of queries in which `$name` is a variable; in a query language it may be a source."""

FILL_IN = Advice("write the query, or remove the widget")


def _twin_titles(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    for section, content in places(spec, *SECTIONS):
        first: dict[tuple[str, str], Path] = {}
        for path, widget in places(content, *IN_SECTION, path=section):
            title = text_of(widget.get("title")) if isinstance(widget, dict) else None
            if title is None or not title.strip():
                continue
            definition = value_at(widget, ("definition",))
            shown = ",".join(definition) if isinstance(definition, dict) else ""
            if first.setdefault((title.strip(), shown), path) != path:
                message = f"another widget of this section is called `{title.strip()}` too"
                remedy = Advice("name each by what it shows")
                yield SpecFinding((*path, "title"), message, remedy)


def _queries(spec: dict[str, Json]) -> Iterator[tuple[Path, Json]]:
    for path, definition in places(spec, *WIDGETS, "definition"):
        for kind in definition if isinstance(definition, dict) else ():
            for steps in (("query",), ("queryDefinitions", EACH, "query")):
                yield from places(definition, kind, *steps, path=path)


def _empty_queries(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    for path, query in _queries(spec):
        for steps in QUERIES:
            for place, written in places(query, *steps, path=path):
                text = text_of(written)
                if text is not None and not text.strip():
                    yield SpecFinding(
                        place, "this query is empty: the widget shows nothing", FILL_IN
                    )
    for path, definition in places(spec, *WIDGETS, "definition"):
        for place, queries in places(definition, "lineChart", "queryDefinitions", path=path):
            if queries == []:
                yield SpecFinding(
                    place, "this chart has no query: it shows nothing", FILL_IN, at_key=True
                )


def _twin_queries(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    for path, definition in places(spec, *WIDGETS, "definition"):
        for kind in definition if isinstance(definition, dict) else ():
            first: dict[str, Path] = {}
            steps = (kind, "queryDefinitions", EACH, "query")
            for place, query in places(definition, *steps, path=path):
                if query and first.setdefault(canonical_text(query), place) != place:
                    message = (
                        "this widget has the very same query already, so that one hides the other"
                    )
                    yield SpecFinding(place, message, Advice("remove one of them"), at_key=True)


def _unused_variables(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    dashboard = spec.get("dashboard")
    if not isinstance(dashboard, dict):
        return
    lists = {key: lists_in(dashboard, key) for key in ("variables", "variablesV2")}
    if not any(lists.values()):
        return
    # A variable may be used in the query of another variable.
    texts = {
        (key, index): "\n".join(_texts(item))
        for key, items in lists.items()
        for index, item in enumerate(items)
    }
    rest = "\n".join(_texts({key: value for key, value in dashboard.items() if key not in lists}))
    for key, items in lists.items():
        for index, item in enumerate(items):
            name = text_of(value_at(item, ("name",)))
            if not name:
                continue
            others = (text for place, text in texts.items() if place != (key, index))
            called = [name, *filter(None, [text_of(value_at(item, ("id", "value")))])]
            if not any(_is_named(label, text) for label in called for text in (rest, *others)):
                message = f"the variable `{name}` is used by no query, title or filter here"
                remedy = Advice("use it, or remove it: a choice that changes nothing misleads")
                yield SpecFinding(("dashboard", key, index, "name"), message, remedy)


def _undeclared_variables(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    """Yield one finding for each variable, at the first query that names it."""
    dashboard = spec.get("dashboard")
    if not isinstance(dashboard, dict):
        return
    declared = {
        text_of(value_at(item, ("name",)))
        for key in ("variables", "variablesV2")
        for item in lists_in(dashboard, key)
    }
    found: dict[str, list[Path]] = {}
    for path, query in _queries(spec):
        for steps in WITH_VARIABLES:
            for place, written in places(query, *steps, path=path):
                for name in dict.fromkeys(_variables_in(text_of(written) or "")):
                    found.setdefault(name, []).append(place)
    for name, queries in found.items():
        if name not in declared:
            more = f" (and in {len(queries) - 1} more)" if len(queries) > 1 else ""
            message = f"`${name}` is no variable of this dashboard, and this query names it{more}"
            remedy = Advice(f"declare `{name}` under `variablesV2`, or write a value in its place")
            yield SpecFinding(queries[0], message, remedy)


def _variables_in(query: str) -> Iterator[str]:
    """Yield the names in `$name`, `${name}` and `${name:format}`; `$1` is a group of a pattern."""
    for hole in holes_in(query):
        name = hole.written.lstrip("$").strip("{}").partition(":")[0]
        if hole.written.startswith("$") and name.isidentifier():
            yield name


def _is_named(name: str, text: str) -> bool:
    return name in text and (
        re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text) is not None
    )


def _texts(document: Json) -> Iterator[str]:
    """Yield every text of a document; a value that is filled in late as its placeholder."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield key
            yield from _texts(value)
    elif isinstance(document, list):
        for item in document:
            yield from _texts(item)
    elif isinstance(document, str):
        yield document


def _twin_names(neighbours: Neighbours) -> Iterator[tuple[Manifest, SpecFinding]]:
    """Yield dashboards with the same name in the same folder."""
    called: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for manifest in neighbours.own:
        dashboard = manifest.spec.get("dashboard")
        name = text_of(dashboard.get("name")) if isinstance(dashboard, dict) else None
        if name and isinstance(dashboard, dict):
            folder = [dashboard.get("folderId"), dashboard.get("folderPath")]
            called[name.strip(), canonical_text(folder)].append(manifest)
    for (name, _), (first, *others) in called.items():
        for manifest in others:
            message = f"`{first.ref}` at {first.source} in the same folder is called `{name}` too"
            remedy = Advice("name each by what it is for")
            yield manifest, SpecFinding(("dashboard", "name"), message, remedy)


PRACTICES = (
    LintRule(code="L401", find=_twin_titles),
    LintRule(code="L402", find=_empty_queries),
    LintRule(code="L403", find=_twin_queries),
    LintRule(code="L404", find=_unused_variables),
    LintRule(code="L405", among=_twin_names),
    LintRule(code="L406", find=_undeclared_variables),
)
