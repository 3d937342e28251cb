"""Queries of Grafana's panels: PromQL as it is, plain queries of logs in Lucene's words. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reconciler.document import Json
from reconciler.importing.converting import Notes, named, objects_at, text_at
from reconciler.importing.prometheus import is_logql

LONGEST_QUERY = 10_000
PROMQL, LUCENE = "promql", "lucene"
_SELECTOR = re.compile(r"\s*\{([^{}]*)\}((?:\s*(?:\|=|!=)\s*\"(?:[^\"\\]|\\.)*\")*)\s*")
_MATCHER = re.compile(r"\s*(\w+)\s*(=|!=)\s*(\"(?:[^\"\\]|\\.)*\")\s*(?:,|$)")
_LINE = re.compile(r"(\|=|!=)\s*(\"(?:[^\"\\]|\\.)*\")")


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a panel: PromQL, Lucene, or a text of a language that is not known here."""

    id: str
    text: str
    language: str
    legend: str = ""
    is_hidden: bool = False


def queries_of(panel: dict[str, Json], called: str, notes: Notes) -> list[Query]:
    """Give the queries of a panel; those without a text are noted as left."""
    found = []
    for number, target in enumerate(objects_at(panel, "targets"), 1):
        text = next(filter(None, (text_at(target, key) for key in ("expr", "query", "rawSql"))), "")
        kind = _source_of(target) or _source_of(panel)
        is_promql = bool(text_at(target, "expr")) and (
            "prom" in kind or (kind in ("", "-- mixed --") and not is_logql(text[:LONGEST_QUERY]))
        )
        language = PROMQL if is_promql and len(text) <= LONGEST_QUERY else ""
        lucene = "" if is_promql else lucene_of(text)
        legend = text_at(target, "legendFormat")
        if len(text) > LONGEST_QUERY:
            notes.leave(called, f"a query is longer than {LONGEST_QUERY:,} characters, and is cut")
        if not text:
            called_so = named(text_at(target, "refId") or str(number))
            notes.leave(f"{called}: query {called_so}", "it holds no text of a query")
        else:
            found.append(
                Query(
                    text_at(target, "refId") or str(number),
                    lucene or text,
                    LUCENE if lucene else language,
                    "" if legend == "__auto" else legend,
                    target.get("hide") is True,
                )
            )
    return found


def _source_of(holder: dict[str, Json]) -> str:
    source = holder.get("datasource")
    kind = source if isinstance(source, str) else text_at(source, "type")
    return "" if kind.startswith("$") else kind.lower()


def lucene_of(query: str) -> str:
    """Give a query of logs in Lucene's words, "" for one that says more than those can.

    Labels are taken for fields of the same names.
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
