"""Grafana dashboards: rows become sections, panels widgets, queries what they map to. Pure.

Source: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/.
What has no counterpart becomes a widget of text that says so, with its queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from reconciler.document import Json
from reconciler.importing.converting import (
    Conversion,
    Converted,
    Notes,
    at,
    named,
    number_of,
    objects_at,
    plain,
    seconds_of,
    text_at,
)
from reconciler.importing.grafana_queries import LONGEST_QUERY, LUCENE, PROMQL, Query, queries_of
from reconciler.kinds.dashboard import DASHBOARD
from reconciler.manifests.strangers import is_grafana
from reconciler.report.markdown import fenced

MOST_PANELS = 1_000
LONGEST_TEXT = 4_096
MOST_TOLD = 10
ROW = "row"
LINES = frozenset(("timeseries", "graph"))
NUMBERS = frozenset(("gauge", "stat", "singlestat"))
TABLES = frozenset(("table", "table-old"))
PIES = frozenset(("piechart", "grafana-piechart-panel"))
LOGS = frozenset(("logs",))
TEXTS = frozenset(("text",))
UNITS = {"percent": "UNIT_PERCENT", "short": "UNIT_NUMBER", "none": "UNIT_NUMBER"}
EDITED = ("transformations", "repeat", "links", "alert", "timeFrom", "timeShift", "libraryPanel")
USUAL_HEIGHT, USUAL_ROW = 8, 19
"""Units of a panel in Grafana, and of a row here: what new ones have."""

GRID, WIDEST = 24, 1_280
"""Units across a dashboard in Grafana, and here, where they are pixels of a usual window."""

NOTHING_ALIKE = "it has no counterpart that is taken over"
TALLEST = 100
_BACK = re.compile(r"now-(\w+)")
_VARIABLE = re.compile(r"[$][{]?(\w+)|\[\[(\w+)")


@dataclass(slots=True)
class _Section:
    """A heading and what stands below it; "" for what stands above all of them."""

    title: str = ""
    is_folded: bool = False
    panels: list[dict[str, Json]] = field(default_factory=list)


recognise = is_grafana


def convert(document: Json, source: str, beside: Sequence[Json] = ()) -> Conversion:
    """Give the one dashboard that a document is."""
    del beside
    inner = _inner(document)
    notes = Notes()
    title = text_at(inner, "title") or source
    dashboard: dict[str, Json] = {"name": title[:LONGEST_TEXT]}
    if description := text_at(inner, "description"):
        dashboard["description"] = description[:LONGEST_TEXT]
    _put_times(dashboard, inner, notes)
    variables = _put_variables(dashboard, inner, notes)
    sections = _sections(inner, notes)
    dashboard["layout"] = {"sections": [_section(one, variables, notes) for one in sections]}
    for what, value in (
        (
            "annotations",
            [one for one in objects_at(inner, "annotations", "list") if not one.get("builtIn")],
        ),
        ("links", at(inner, "links")),
        ("tags", at(inner, "tags")),
    ):
        if value:
            notes.leave(what, NOTHING_ALIKE)
    made = Converted(DASHBOARD, title, {"dashboard": dashboard}, {}, notes.all)
    return Conversion((made,))


def _inner(document: Json) -> Json:
    inner = at(document, "dashboard")
    return inner if isinstance(inner, dict) else document


def _put_times(dashboard: dict[str, Json], inner: Json, notes: Notes) -> None:
    back = _BACK.fullmatch(text_at(inner, "time", "from"))
    seconds = seconds_of(back[1]) if back is not None else None
    if seconds and text_at(inner, "time", "to") == "now":
        dashboard["relativeTimeFrame"] = f"{seconds}s"
    elif at(inner, "time"):
        notes.leave("time", "only a time up to now is taken over")
    written = text_at(inner, "refresh")
    refreshes = seconds_of(written)
    if not refreshes:
        dashboard["off"] = {}
        return
    nearest = 120 if refreshes <= 120 else 300  # noqa: PLR2004 - the two that there are
    dashboard["twoMinutes" if refreshes <= 120 else "fiveMinutes"] = {}  # noqa: PLR2004 - as above
    if refreshes != nearest:
        notes.leave(f"refresh: {named(written)}", f"every {nearest // 60} minutes is the nearest")


def _put_variables(dashboard: dict[str, Json], inner: Json, notes: Notes) -> frozenset[str]:
    """Take over what can be: intervals, whose shape is known. Give the names."""
    made: dict[str, Json] = {}
    for variable in objects_at(inner, "templating", "list"):
        name, kind = text_at(variable, "name"), text_at(variable, "type")
        values = [one.strip() for one in text_at(variable, "query").split(",") if one.strip()]
        if kind != "interval" or not name or not values:
            said = f"variables of the type {named(kind)} are not taken over"
            notes.leave(f"variable `{named(name)}`", said)
            continue
        chosen = text_at(variable, "current", "value")
        chosen = chosen if chosen in values else values[0]
        made[name] = {
            "name": name,
            "displayName": text_at(variable, "label") or name,
            "displayType": "VARIABLE_DISPLAY_TYPE_V2_UNSPECIFIED",
            "source": {
                "static": {
                    "allOption": {"includeAll": False},
                    "values": [
                        {"label": one, "value": one, "isDefault": one == chosen} for one in values
                    ],
                    "valuesOrderDirection": "ORDER_DIRECTION_UNSPECIFIED",
                }
            },
            "value": {"interval": {"value": {"label": chosen, "value": chosen}}},
        }
    if made:
        dashboard["variablesV2"] = [*made.values()]
    return frozenset(made)


def _sections(inner: Json, notes: Notes) -> list[_Section]:
    """Give the rows of the dashboard, with their panels in the order in which they are seen."""
    sections = [_Section()]
    panels = [*islice(_panels(inner), MOST_PANELS + 1)]
    if len(panels) > MOST_PANELS:
        notes.leave("panels", f"only the first {MOST_PANELS:,} are read")
    for panel in panels[:MOST_PANELS]:
        if panel.get("type") == ROW:
            if panel.get("repeat"):
                notes.leave(f"row `{named(text_at(panel, 'title'))}`: repeat", NOTHING_ALIKE)
            sections.append(_Section(text_at(panel, "title"), panel.get("collapsed") is True))
        else:
            sections[-1].panels.append(panel)
    return [one for one in sections if one.panels or one.title] or sections


def _panels(inner: Json) -> Iterator[dict[str, Json]]:
    """Yield rows and panels; dashboards of old hold panels in rows, and folded rows still do."""
    for row in objects_at(inner, "rows"):
        told = {"title": row.get("title"), "repeat": row.get("repeat")}
        yield {"type": ROW, "collapsed": row.get("collapse"), **told}
        yield from objects_at(row, "panels")
    waiting = sorted(objects_at(inner, "panels"), key=_place, reverse=True)
    while waiting:
        panel = waiting.pop()
        yield panel
        if panel.get("type") == ROW:
            waiting.extend(sorted(objects_at(panel, "panels"), key=_place, reverse=True))


def _place(panel: dict[str, Json]) -> tuple[float, float]:
    return _grid(panel, "y"), _grid(panel, "x")


def _grid(panel: dict[str, Json], side: str) -> float:
    number = number_of(at(panel, "gridPos", side))
    return float(number) if number is not None else 0.0


def _section(section: _Section, variables: frozenset[str], notes: Notes) -> Json:
    options: Json = {"internal": {}}
    if section.title:
        options = {"custom": {"name": section.title, "collapsed": section.is_folded}}
    rows: list[Json] = []
    for _, beside in groupby(section.panels, key=lambda panel: _grid(panel, "y")):
        panels = [*beside]
        height = max(_grid(panel, "h") for panel in panels) or USUAL_HEIGHT
        height = min(TALLEST, max(1, round(height * USUAL_ROW / USUAL_HEIGHT)))
        widths = _widths(panels)
        widgets = [
            _widget(panel, width, variables, notes)
            for panel, width in zip(panels, widths, strict=True)
        ]
        rows.append({"appearance": {"height": height}, "widgets": widgets})
    return {"options": options, "rows": rows}


def _widths(panels: Sequence[dict[str, Json]]) -> list[int]:
    """Give the widths of panels in one row; 0 lets the service share it, as where all are alike."""
    shares = [min(GRID, max(0.0, _grid(panel, "w"))) for panel in panels]
    if len(set(shares)) == 1 or not all(shares):
        return [0] * len(shares)
    return [max(1, round(share * WIDEST / GRID)) for share in shares]


def _widget(panel: dict[str, Json], width: int, variables: frozenset[str], notes: Notes) -> Json:
    title = text_at(panel, "title")
    called = f"panel `{named(title) or named(str(panel.get('id', '')))}`"
    widget: dict[str, Json] = {"title": title}
    if description := text_at(panel, "description"):
        widget["description"] = description
    widget["appearance"] = {"width": width}
    queries = queries_of(panel, called, notes)
    widget["definition"] = _definition(panel, queries, called, notes)
    for what in _settings_left(panel):
        notes.leave(f"{called}: {what}", NOTHING_ALIKE)
    used = {one[1] or one[2] for query in queries for one in _VARIABLE.finditer(query.text)}
    if lost := sorted(used - variables):
        said = f"its queries name variables that are not there: {', '.join(lost[:5])}"
        notes.leave(called, said)
    return widget


def _settings_left(panel: dict[str, Json]) -> Iterator[str]:
    """Yield what a panel sets that nothing here says, by its name there."""
    yield from (what for what in EDITED if panel.get(what))
    defaults = at(panel, "fieldConfig", "defaults")
    yield from (what for what in ("mappings", "links", "decimals") if at(defaults, what))
    if len(objects_at(defaults, "thresholds", "steps")) > 1:
        yield "thresholds"
    if objects_at(panel, "fieldConfig", "overrides"):
        yield "overrides"
    unit = text_at(defaults, "unit")
    if unit and unit not in UNITS:
        yield f"unit {named(unit)}"


def _definition(
    panel: dict[str, Json], queries: Sequence[Query], called: str, notes: Notes
) -> Json:
    kind = text_at(panel, "type")
    if kind in TEXTS:
        text = text_at(panel, "options", "content") or text_at(panel, "content")
        if (text_at(panel, "options", "mode") or text_at(panel, "mode")) == "html":
            notes.leave(called, "its text is HTML, and is kept as it is")
        return _markdown(text)
    mapped, definition = _mapped(kind, panel, queries)
    if not mapped:
        notes.leave(called, f"a panel `{named(kind)}` with these queries has no counterpart: text")
        if len(queries) > MOST_TOLD:
            notes.leave(called, f"only the first {MOST_TOLD} of its queries stand in the text")
        return _markdown(_apology(kind, queries))
    if mapped[0].language == LUCENE:
        notes.leave(called, "labels of its query are taken for fields of the same names")
    if len(mapped) < len(queries):
        left = ", ".join(named(one.id) for one in queries if one not in mapped)
        notes.leave(f"{called}: queries {left}", "this widget cannot hold them")
    return definition


def _mapped(
    kind: str, panel: dict[str, Json], queries: Sequence[Query]
) -> tuple[Sequence[Query], Json]:
    """Give what a panel becomes, and those of its queries that it then has."""
    metrics = [one for one in queries if one.language == PROMQL]
    logs = [one for one in queries if one.language == LUCENE]
    if kind in LINES and metrics:
        return metrics, _line_chart(panel, metrics)
    if kind in NUMBERS and metrics:
        return metrics[:1], _gauge(panel, metrics[0])
    if kind in TABLES | PIES and metrics:
        chart = "pieChart" if kind in PIES else "dataTable"
        return metrics[:1], {chart: {"query": _instant(metrics[0])}}
    if kind in TABLES | LOGS and logs:
        return logs[:1], {"dataTable": {"query": _of_logs(logs[0]), "resultsPerPage": 100}}
    return (), None


def _line_chart(panel: dict[str, Json], queries: Iterable[Query]) -> Json:
    return {
        "lineChart": {
            "queryDefinitions": [
                {
                    "id": f"{number}-{query.id}",
                    "name": query.id,
                    "isVisible": not query.is_hidden,
                    "query": {"metrics": {"promqlQuery": {"value": query.text}}},
                    **({"seriesNameTemplate": query.legend} if query.legend else {}),
                    "unit": _unit(panel),
                }
                for number, query in enumerate(queries, 1)
            ]
        }
    }


def _gauge(panel: dict[str, Json], query: Query) -> Json:
    low, high = (number_of(at(panel, "fieldConfig", "defaults", side)) for side in ("min", "max"))
    gauge: dict[str, Json] = {"query": _instant(query), "unit": _unit(panel)}
    if low is not None and high is not None and low < high:
        gauge |= {"min": plain(low), "max": plain(high)}
    return {"gauge": gauge}


def _unit(panel: dict[str, Json]) -> str:
    return UNITS.get(text_at(panel, "fieldConfig", "defaults", "unit"), "UNIT_UNSPECIFIED")


def _instant(query: Query) -> Json:
    kind = "PROM_QL_QUERY_TYPE_INSTANT"
    return {"metrics": {"promqlQuery": {"value": query.text}, "promqlQueryType": kind}}


def _of_logs(query: Query) -> Json:
    return {"logs": {"luceneQuery": {"value": query.text}, "filters": []}}


def _markdown(text: str) -> Json:
    return {"markdown": {"markdownText": text}}


def _apology(kind: str, queries: Sequence[Query]) -> str:
    lines = [f"A Grafana panel of the type `{named(kind).replace('`', '')}` stood here."]
    for query in queries[:MOST_TOLD]:
        lines += ["", fenced("", query.text[:LONGEST_QUERY].splitlines())]
    return "\n".join(lines)
