"""Queries of Grafana panels: PromQL unchanged, plain log queries as Lucene. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reconciler.features.import_.conversion import NOTHING_ALIKE, Fields, Notes, named, text_at
from reconciler.features.import_.prometheus import is_logql

LONGEST_QUERY = 10_000
PROMQL, LUCENE = "promql", "lucene"
PROMQL_KINDS = ("prom", "thanos", "cortex", "mimir", "victoria")
KINDS = (*PROMQL_KINDS, "loki", "influx", "elastic", "graphite", "sql", "cloudwatch", "tempo")
"""Parts of the type names of data sources, by which a name alone is recognised as a type."""

OPEN_KINDS = frozenset(("mixed", "datasource", "grafana"))
_SELECTOR = re.compile(r"\s*\{([^{}]*)\}((?:\s*(?:\|=|!=)\s*\"(?:[^\"\\]|\\.)*\")*)\s*")
_MATCHER = re.compile(r"\s*(\w+)\s*(=|!=)\s*(\"(?:[^\"\\]|\\.)*\")\s*(?:,|$)")
_LINE = re.compile(r"(\|=|!=)\s*(\"(?:[^\"\\]|\\.)*\")")


@dataclass(frozen=True, slots=True)
class PanelQuery:
    """A query of a panel: PromQL, Lucene, or a text in an unknown language.

    `source` is the type of the data source, as far as the panel names it.
    """

    id: str
    text: str
    language: str
    legend: str = ""
    is_hidden: bool = False
    source: str = ""
    target: Fields = field(default_factory=lambda: Fields({}), compare=False)

    def take_source(self, panel: Fields) -> None:
        """Count the data source as read: the language of the query follows from it."""
        holder = self.target if "datasource" in self.target else panel
        holder.take("datasource")
        holder.inner("datasource").take("type")


def queries_of(panel: Fields, called: str, notes: Notes) -> list[PanelQuery]:
    """Return the queries of a panel; queries without a text are left behind."""
    found = []
    panel_source = _source_of(panel)
    for number, target in enumerate(panel.each("targets"), 1):
        text = next(filter(None, (target.text(key) for key in ("expr", "query", "rawSql"))), "")
        query_id = text_at(target.document, "refId") or str(number)
        if not text:
            notes.leave(f"{called}: query {named(query_id)}", "it holds no text of a query")
            notes.unread(f"{called}: query {named(query_id)}", target)
            continue
        if len(text) > LONGEST_QUERY:
            notes.leave(called, f"a query is longer than {LONGEST_QUERY:,} characters, and is cut")
        source = _source_of(target) or panel_source
        is_promql = bool(target.text("expr")) and _is_promql(source, text)
        language = PROMQL if is_promql and len(text) <= LONGEST_QUERY else ""
        lucene = "" if is_promql else lucene_of(text)
        if is_promql and source.is_only_named:
            what = f"its source `{named(source.name)}` has only a name: taken for Prometheus"
            notes.leave(called, what)
        legend = target.text("legendFormat")
        found.append(
            PanelQuery(
                query_id,
                lucene or text,
                LUCENE if lucene else language,
                "" if legend == "__auto" else legend,
                target.flag("hide"),
                source.name or "a query of no known kind",
                target,
            )
        )
        if interval := target.scalar("interval"):
            query_name = f"{called}: query {named(query_id)}"
            notes.leave(f"{query_name}: interval: {named(interval)}", NOTHING_ALIKE)
    return found


@dataclass(frozen=True, slots=True)
class _Source:
    """The data source of a panel or a query: its type, or its name in Grafana."""

    name: str = ""
    is_only_named: bool = False

    def __bool__(self) -> bool:
        return bool(self.name)


def _source_of(holder: Fields) -> _Source:
    name = text_at(holder.document, "datasource")
    if name:
        is_known = any(kind in name.lower() for kind in KINDS)
        is_open = name.startswith(("$", "-- ")) or name.lower() == "default"
        return _Source() if is_open else _Source(name, not is_known)
    kind = text_at(holder.document, "datasource", "type")
    return _Source() if kind.startswith("$") or kind in OPEN_KINDS else _Source(kind)


def _is_promql(source: _Source, text: str) -> bool:
    """Return whether a text in `expr`, which only Prometheus and Loki have, is PromQL."""
    if not source or source.is_only_named:
        return not is_logql(text[:LONGEST_QUERY])
    return any(promql_kind in source.name.lower() for promql_kind in PROMQL_KINDS)


def lucene_of(query: str) -> str:
    """Return a log query in Lucene's syntax, "" for a query that Lucene cannot express.

    Labels are read as fields of the same names.
    """
    found = _SELECTOR.fullmatch(query) if len(query) <= LONGEST_QUERY else None
    if found is None:
        return ""
    parts: list[str] = []
    place = 0
    while place < len(found[1].rstrip()):
        matcher = _MATCHER.match(found[1], place)
        if matcher is None:
            return ""
        parts.append(f"{'NOT ' if matcher[2] == '!=' else ''}{matcher[1]}:{matcher[3]}")
        place = matcher.end()
    parts += [f"{'NOT ' if sign == '!=' else ''}{text}" for sign, text in _LINE.findall(found[2])]
    return " AND ".join(parts)
