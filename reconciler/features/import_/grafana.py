"""Grafana dashboards: rows become sections, panels become widgets, queries are mapped. Pure.

Source:
https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/.

A panel without a counterpart becomes a text widget that says so, with its queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

from reconciler.document import Json
from reconciler.features.import_.prometheus import is_logql
from reconciler.features.import_.records import (
    ALONE,
    NOTHING_ALIKE,
    Beside,
    Conversion,
    Converted,
    Fields,
    Notes,
    named,
    number_of,
    plain,
    seconds_of,
    text_at,
)
from reconciler.kinds.dashboard import DASHBOARD
from reconciler.report.markdown import fenced
from reconciler.workspace.envelope import is_grafana

GRID, WIDEST = 24, 1_280
"""The width of a dashboard in Grafana's units, and here, in pixels of a usual window."""


def last_first(panels: Sequence[Fields]) -> list[Fields]:
    """Return panels in the reverse order of display."""
    return sorted(panels, key=lambda panel: (grid(panel, "y"), grid(panel, "x")), reverse=True)


def grid(panel: Fields, side: str) -> float:
    """Return a coordinate or size of a panel, 0 for none."""
    number = panel.inner("gridPos").number(side)
    return float(number) if number is not None else 0.0


def name_places(panels: Sequence[Fields], notes: Notes) -> None:
    """Add the places of panels that do not fill their row, or differ in height."""
    ends = 0.0
    is_filled = len({grid(panel, "h") for panel in panels}) == 1
    for panel in panels:
        is_filled = is_filled and grid(panel, "x") == ends
        ends += grid(panel, "w")
    for panel in () if is_filled and ends == GRID else panels:
        place = ", ".join(f"{side} {grid(panel, side):g}" for side in ("x", "w", "h"))
        if panel.inner("gridPos").document:
            reason = "panels of one row fill it here, and are as high as the highest"
            notes.leave(f"{called(panel)}: gridPos: {place}", reason)


def called(panel: Fields, what: str = "panel") -> str:
    """Return the name of a panel or row in reports: its title, or its id where it has none."""
    title = text_at(panel.document, "title")
    return f"{what} `{named(title) or named(str(panel.document.get('id', '')))}`"


def widths(panels: Sequence[Fields]) -> list[int]:
    """Return the widths of panels in one row; 0 lets the service divide it, as for equal panels."""
    shares = [min(GRID, max(0.0, grid(panel, "w"))) for panel in panels]
    if len(set(shares)) == 1 or not all(shares):
        return [0] * len(shares)
    return [max(1, round(share * WIDEST / GRID)) for share in shares]


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel, its name in reports, and notes on what of it is left behind."""

    fields: Fields
    name: str
    notes: Notes

    def leave(self, what: str, why: str) -> None:
        """Note a part of the panel that is not imported; "" is the panel itself."""
        self.notes.leave(": ".join(filter(None, (self.name, what))), why)

    def leave_unless(self, usual: Sequence[Json], *path: str) -> None:
        """Note a setting that is not imported, unless widgets behave in this way by default."""
        *around, key = path
        value = self.fields.inner(*around).value(key)
        if value is not None and value not in usual:
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            self.leave(f"{'.'.join(path)}: {named(shown)}", NOTHING_ALIKE)


LONGEST_QUERY = 10_000
PROMQL, LUCENE = "promql", "lucene"
PROMQL_KINDS = ("prom", "thanos", "cortex", "mimir", "victoria")
KINDS = (*PROMQL_KINDS, "loki", "influx", "elastic", "graphite", "sql", "cloudwatch", "tempo")
"""Parts of the type names of data sources, by which a name alone is recognised as a type."""

OPEN_KINDS = frozenset(("mixed", "datasource", "grafana"))
USUAL_INTERVAL = "5m"
_NAME = r"__(?:rate_)?interval"
_DERIVED = re.compile(rf"[$]{_NAME}\b|[$]{{{_NAME}(?::\w+)?}}|\[\[{_NAME}(?::\w+)?\]\]")
"""An interval that Grafana derives from the zoom, in each spelling."""

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


def queries_of(panel: Panel) -> list[PanelQuery]:
    """Return the queries of a panel; queries without a text are left behind."""
    found = []
    panel_source = _source_of(panel.fields)
    for number, target in enumerate(panel.fields.each("targets"), 1):
        text = next(filter(None, (target.text(key) for key in ("expr", "query", "rawSql"))), "")
        query_id = text_at(target.document, "refId") or str(number)
        query_name = f"query {named(query_id)}"
        if not text:
            panel.leave(query_name, "it holds no text of a query")
            panel.notes.unread(f"{panel.name}: {query_name}", target)
            continue
        if len(text) > LONGEST_QUERY:
            panel.leave("", f"a query is longer than {LONGEST_QUERY:,} characters, and is cut")
        source = _source_of(target) or panel_source
        is_promql = bool(target.text("expr")) and _is_promql(source, text)
        if is_promql:
            text = _with_literals(text, panel.notes)
        language = PROMQL if is_promql and len(text) <= LONGEST_QUERY else ""
        lucene = "" if is_promql else lucene_of(text)
        if is_promql and source is not None and source[1]:
            why = f"its source `{named(source[0])}` has only a name: taken for Prometheus"
            panel.leave("", why)
        legend = target.text("legendFormat")
        found.append(
            PanelQuery(
                query_id,
                lucene or text,
                LUCENE if lucene else language,
                "" if legend == "__auto" else legend,
                target.flag("hide"),
                source[0] if source is not None else "a query of no known kind",
                target,
            )
        )
        if interval := target.scalar("interval"):
            panel.leave(f"{query_name}: interval: {named(interval)}", NOTHING_ALIKE)
    return found


def _with_literals(text: str, notes: Notes) -> str:
    """Return a query with a literal for each interval that Grafana derives from the zoom."""
    for written in dict.fromkeys(_DERIVED.findall(text)):
        notes.leave(f"`{written}`", f"it follows the zoom in Grafana; here it is {USUAL_INTERVAL}")
    return _DERIVED.sub(USUAL_INTERVAL, text)


_Source: TypeAlias = tuple[str, bool]
"""The data source of a panel or a query: its type, or its name in Grafana and True."""


def _source_of(holder: Fields) -> _Source | None:
    name = text_at(holder.document, "datasource")
    if name:
        is_known = any(kind in name.lower() for kind in KINDS)
        is_open = name.startswith(("$", "-- ")) or name.lower() == "default"
        return None if is_open else (name, not is_known)
    kind = text_at(holder.document, "datasource", "type")
    return None if not kind or kind.startswith("$") or kind in OPEN_KINDS else (kind, False)


def _is_promql(source: _Source | None, text: str) -> bool:
    """Return whether a text in `expr`, which only Prometheus and Loki have, is PromQL."""
    if source is None or source[1]:
        return not is_logql(text[:LONGEST_QUERY])
    return any(promql_kind in source[0].lower() for promql_kind in PROMQL_KINDS)


def lucene_of(query: str) -> str:
    """Return a log query in Lucene's syntax, "" for a query that Lucene cannot express.

    Labels are read as fields of the same names.
    """
    found = _SELECTOR.fullmatch(query) if len(query) <= LONGEST_QUERY else None
    if found is None:
        return ""
    parts: list[tuple[str, str]] = []
    place = 0
    while place < len(found[1].rstrip()):
        matcher = _MATCHER.match(found[1], place)
        if matcher is None:
            return ""
        parts.append((matcher[2], f"{matcher[1]}:{matcher[3]}"))
        place = matcher.end()
    parts += _LINE.findall(found[2])
    return " AND ".join(f"{'NOT ' if sign == '!=' else ''}{text}" for sign, text in parts)


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
USUAL_HEIGHT, USUAL_ROW = 8, 19
"""Default heights: of a panel in Grafana's units, and of a row here."""

USUAL: Mapping[tuple[str, ...], tuple[Json, ...]] = {
    ("fieldConfig", "defaults", "custom", "drawStyle"): ("line",),
    ("fieldConfig", "defaults", "custom", "stacking", "mode"): ("none",),
    ("lines",): (True,),
    ("bars",): (False,),
    ("points",): (False,),
    ("stack",): (False,),
    ("percentage",): (False,),
    ("renderer",): ("flot",),
}
"""Settings of lines in Grafana that a line chart here has by default."""

LAST = ("lastNotNull", "last", "current")
"""Names for the last value of a series, which an instant query returns."""

LAST_OF: tuple[Json, ...] = ([], ["lastNotNull"], ["last"], ["current"])

TALLEST = 100
LISTED = frozenset(("interval", "custom"))
FIXED = frozenset(("textbox", "constant"))
"""Types of variables with values in the dashboard: several, or one."""

ALL = "$__all"
"""The value of a variable for all of its values."""

_VARIABLE = re.compile(r"[$][{]?([^\W\d]\w*)|\[\[(\w+)")
"""A variable in a query; `$1` is a group of a pattern in the query."""


@dataclass(slots=True)
class _Section:
    """A heading and the panels below it; "" for panels above all headings."""

    title: str = ""
    is_folded: bool = False
    panels: list[Fields] = field(default_factory=list)


recognise = is_grafana


def convert(document: Json, source: str, beside: Beside = ALONE) -> Conversion:
    """Return the dashboard of a document."""
    del beside
    outer, notes = Fields(document), Notes()
    inner = outer.inner("dashboard") if isinstance(outer.document.get("dashboard"), dict) else outer
    title = inner.text("title") or source
    dashboard: dict[str, Json] = {"name": title[:LONGEST_TEXT]}
    if description := inner.text("description"):
        dashboard["description"] = description[:LONGEST_TEXT]
    if max(len(title), len(description)) > LONGEST_TEXT:
        notes.leave("title, description", f"only their first {LONGEST_TEXT:,} characters fit")
    _put_times(dashboard, inner, notes)
    variables = _put_variables(dashboard, inner, notes)
    dashboard["layout"] = {
        "sections": [_section(section, variables, notes) for section in _sections(inner, notes)]
    }
    inner.take("schemaVersion")
    notes.unread("dashboard", inner)
    notes.unread("around the dashboard", outer)
    return Conversion((Converted(DASHBOARD, title, {"dashboard": dashboard}, {}, notes.all),))


def _put_times(dashboard: dict[str, Json], inner: Fields, notes: Notes) -> None:
    time = inner.inner("time")
    start, end = time.text("from"), time.text("to")
    back = re.fullmatch(r"now-(\w+)", start)
    seconds = seconds_of(back[1]) if back is not None else None
    if seconds and end == "now":
        dashboard["relativeTimeFrame"] = f"{seconds}s"
    elif start or end:
        what = f"time: from {named(start)} to {named(end)}"
        notes.leave(what, "only a time up to now is taken over")
    written = inner.text("refresh")
    refreshes = seconds_of(written)
    if not refreshes:
        if written:
            notes.leave(f"refresh: {named(written)}", "it cannot be read: off")
        dashboard["off"] = {}
        return
    minutes, name = (2, "twoMinutes") if refreshes <= 120 else (5, "fiveMinutes")  # noqa: PLR2004 - the two that there are
    dashboard[name] = {}
    if refreshes != minutes * 60:
        notes.leave(f"refresh: {named(written)}", f"every {minutes} minutes is the nearest")


def _put_variables(dashboard: dict[str, Json], inner: Fields, notes: Notes) -> frozenset[str]:
    """Convert the variables with a fixed list of values; return their names."""
    made: dict[str, Json] = {}
    inputs = {
        text_at(field.document, "name"): text_at(field.document, "value")
        for field in inner.each("__inputs")
    }
    for variable in inner.inner("templating").each("list"):
        name, kind = variable.text("name"), variable.text("type")
        called = f"variable `{named(name)}`"
        choices = _choices(variable, kind, inputs)
        if not choices or not name or name in made:
            reason = f"variables of the type {named(kind)} are not taken over"
            notes.leave(called, reason if name not in made else "there are two of this name")
            variable.take_all()
            continue
        made[name] = {"name": name, **_static_variable(variable, kind, choices, called, notes)}
        notes.unread(called, variable)
    if made:
        dashboard["variablesV2"] = [*made.values()]
    return frozenset(made)


def _choices(variable: Fields, kind: str, inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of a variable's values, by value; none for a type without fixed values.

    `inputs` are values by the names that a shared dashboard has for them.
    """
    written = text_at(variable.document, "query")
    if found := re.fullmatch(r"[$][{](\w+)[}]", written):
        written = inputs.get(found[1], written)
    if kind in FIXED and "query" in variable:
        return {written: written}
    if kind not in LISTED or variable.text("valuesFormat") not in ("", "csv"):
        return {}
    parts = (part.replace("\\,", ",").strip() for part in re.split(r"(?<!\\),", written))
    pairs = ((part, re.fullmatch(r"(.+?)\s+:\s+(.+)", part)) for part in filter(None, parts))
    return {pair[2] if pair else part: pair[1] if pair else part for part, pair in pairs}


def _static_variable(
    variable: Fields, kind: str, choices: Mapping[str, str], called: str, notes: Notes
) -> dict[str, Json]:
    variable.take("query")
    if kind == "textbox":
        notes.leave(called, "a text of one's own cannot be typed here: its text is its one value")
    options = variable.each("options")
    if {text_at(option.document, "value") for option in options} - {ALL} == choices.keys():
        for option in options:
            option.take("selected", "text", "value")
    chosen = _chosen(variable, choices, called, notes)
    static: dict[str, Json] = {
        "allOption": {"includeAll": variable.flag("includeAll")},
        "values": [
            {"label": label, "value": value, "isDefault": value in chosen}
            for value, label in choices.items()
        ],
        "valuesOrderDirection": "ORDER_DIRECTION_UNSPECIFIED",
    }
    made: dict[str, Json] = {
        "displayName": variable.text("label") or variable.text("name"),
        "displayType": "VARIABLE_DISPLAY_TYPE_V2_UNSPECIFIED",
        "source": {"static": static},
    }
    if description := variable.text("description"):
        made["description"] = description[:LONGEST_TEXT]
    if kind == "interval":
        interval = next(iter(chosen), next(iter(choices)))
        made["value"] = {"interval": {"value": {"label": choices[interval], "value": interval}}}
    return made


def _chosen(
    variable: Fields, choices: Mapping[str, str], called: str, notes: Notes
) -> Sequence[str]:
    """Return the values that are selected at first: what is selected in Grafana, or the first."""
    current = variable.inner("current").value("value")
    written = [
        str(value) for value in (current if isinstance(current, list) else [current]) if value
    ]
    others = [value for value in written if value not in choices and value != ALL]
    if others:
        notes.leave(f"{called}: current: {named(', '.join(others))}", "it is none of its values")
    chosen = [value for value in written if value in choices]
    return chosen or ([] if ALL in written else [*choices][:1])


def _sections(inner: Fields, notes: Notes) -> list[_Section]:
    """Return the rows of the dashboard, with their panels in the order of display."""
    sections = [_Section()]
    panels = [*_panels(inner)]
    if len(panels) > MOST_PANELS:
        notes.leave("panels", f"only the first {MOST_PANELS:,} are read")
    for panel, is_row in panels[:MOST_PANELS]:
        if is_row:
            title, row_name = panel.text("title"), called(panel, "row")
            is_folded = panel.flag("collapsed") or panel.flag("collapse")
            sections.append(_Section(title, is_folded))
            if is_folded and not title:
                notes.leave(f"{row_name}: collapsed", "a section without a title is not folded")
            notes.unread(row_name, panel.without("panels"))
        else:
            sections[-1].panels.append(panel)
    for panel, _ in panels[MOST_PANELS:]:
        panel.without("panels").take_all()
    return [section for section in sections if section.panels or section.title] or sections


def _panels(inner: Fields) -> Iterator[tuple[Fields, bool]]:
    """Yield rows and panels; the flag is True for a row.

    Old dashboards have panels inside rows, and folded rows still do.
    """
    for row in inner.each("rows"):
        yield row, True
        yield from ((panel, False) for panel in row.each("panels"))
    waiting = last_first(inner.each("panels"))
    while waiting:
        panel = waiting.pop()
        is_row = panel.text("type") == ROW
        yield panel, is_row
        if is_row:
            waiting.extend(last_first(panel.each("panels")))


def _section(section: _Section, variables: frozenset[str], notes: Notes) -> Json:
    options: Json = {"internal": {}}
    if section.title:
        options = {"custom": {"name": section.title, "collapsed": section.is_folded}}
    rows: list[Json] = []
    for _, beside in groupby(section.panels, key=lambda panel: grid(panel, "y")):
        panels = [*beside]
        height = max(grid(panel, "h") for panel in panels) or USUAL_HEIGHT
        height = min(TALLEST, max(1, round(height * USUAL_ROW / USUAL_HEIGHT)))
        widgets = [
            _widget(panel, width, variables, notes)
            for panel, width in zip(panels, widths(panels), strict=True)
        ]
        name_places(panels, notes)
        rows.append({"appearance": {"height": height}, "widgets": widgets})
    return {"options": options, "rows": rows}


def _widget(fields: Fields, width: int, variables: frozenset[str], notes: Notes) -> Json:
    panel = Panel(fields, called(fields), notes)
    widget: dict[str, Json] = {"title": fields.text("title")}
    if description := fields.text("description"):
        widget["description"] = description
    widget["appearance"] = {"width": width}
    # Queries of a text panel are left behind like any other field.
    queries = [] if fields.text("type") in TEXTS else queries_of(panel)
    widget["definition"] = _definition(panel, queries)
    notes.unread(panel.name, fields)
    used = {match[1] or match[2] for query in queries for match in _VARIABLE.finditer(query.text)}
    if lost := sorted(used - variables):
        panel.leave("", f"its queries name variables that are not there: {', '.join(lost[:5])}")
    return widget


def _definition(panel: Panel, queries: Sequence[PanelQuery]) -> Json:
    kind = panel.fields.text("type")
    if kind in TEXTS:
        return _markdown(_text(panel))
    mapped, definition = _mapped(kind, panel, queries)
    if kind not in LINES or not mapped:
        _name_settings(panel, queries)
    if not mapped:
        return _markdown(_apology(kind, panel, queries))
    for query in mapped:
        # The language of the query follows from its data source.
        holder = query.target if "datasource" in query.target else panel.fields
        holder.take("datasource")
        holder.inner("datasource").take("type")
    if mapped[0].language == LUCENE:
        panel.leave("", "labels of its query are taken for fields of the same names")
    if len(mapped) < len(queries):
        left = ", ".join(named(query.id) for query in queries if query not in mapped)
        panel.leave(f"queries {left}", "this widget cannot hold them")
    return definition


def _text(panel: Panel) -> str:
    options = panel.fields.inner("options")
    text = options.text("content") or panel.fields.text("content")
    mode = options.text("mode") or panel.fields.text("mode")
    if mode == "html":
        panel.leave("", "its text is HTML, and is kept as it is")
    elif mode not in ("", "markdown"):
        panel.leave(f"mode: {named(mode)}", "its text is Markdown here")
    return text


def _name_settings(panel: Panel, queries: Sequence[PanelQuery]) -> None:
    """Add the settings of queries that only a line chart has a place for."""
    for query in queries:
        query_name = f"query {named(query.id)}"
        if query.legend:
            panel.leave(f"{query_name}: legendFormat: {named(query.legend)}", NOTHING_ALIKE)
        if query.is_hidden:
            panel.leave(f"{query_name}: hide", NOTHING_ALIKE)


def _mapped(
    kind: str, panel: Panel, queries: Sequence[PanelQuery]
) -> tuple[Sequence[PanelQuery], Json]:
    """Return the queries of a panel that its chart uses, and the chart; None for no chart."""
    metrics = [query for query in queries if query.language == PROMQL]
    logs = [query for query in queries if query.language == LUCENE]
    if kind in LINES and metrics:
        return metrics, _line_chart(panel, metrics)
    if kind in NUMBERS and metrics:
        return metrics[:1], _gauge(panel, metrics[0])
    if kind in TABLES | PIES and metrics:
        chart = "pieChart" if kind in PIES else "dataTable"
        if kind in PIES:
            panel.leave_unless(LAST_OF, "options", "reduceOptions", "calcs")
        return metrics[:1], {chart: {"query": _instant(metrics[0])}}
    if kind in TABLES | LOGS and logs:
        query: Json = {"logs": {"luceneQuery": {"value": logs[0].text}, "filters": []}}
        return logs[:1], {"dataTable": {"query": query, "resultsPerPage": 100}}
    return (), None


def _line_chart(panel: Panel, queries: Sequence[PanelQuery]) -> Json:
    unit = _unit(panel)
    for query in queries:
        query.target.take("refId")
    for path, usual in USUAL.items():
        panel.leave_unless(usual, *path)
    return {
        "lineChart": {
            "queryDefinitions": [
                {
                    "id": f"{number}-{query.id}",
                    "name": query.id,
                    "isVisible": not query.is_hidden,
                    "query": {"metrics": {"promqlQuery": {"value": query.text}}},
                    **({"seriesNameTemplate": query.legend} if query.legend else {}),
                    "unit": unit,
                }
                for number, query in enumerate(queries, 1)
            ]
        }
    }


def _gauge(panel: Panel, query: PanelQuery) -> Json:
    gauge: dict[str, Json] = {"query": _instant(query), "unit": _unit(panel)}
    panel.leave_unless(LAST_OF, "options", "reduceOptions", "calcs")
    panel.leave_unless(LAST, "valueName")
    defaults = panel.fields.inner("fieldConfig", "defaults")
    low, high = (number_of(defaults.document.get(side)) for side in ("min", "max"))
    if low is not None and high is not None and low < high:
        gauge |= {"min": plain(low), "max": plain(high)}
        defaults.take("min", "max")
    return {"gauge": gauge}


def _unit(panel: Panel) -> str:
    unit = panel.fields.inner("fieldConfig", "defaults").text("unit")
    if unit and unit not in UNITS:
        panel.leave(f"unit {named(unit)}", NOTHING_ALIKE)
    return UNITS.get(unit, "UNIT_UNSPECIFIED")


def _instant(query: PanelQuery) -> Json:
    kind = "PROM_QL_QUERY_TYPE_INSTANT"
    return {"metrics": {"promqlQuery": {"value": query.text}, "promqlQueryType": kind}}


def _markdown(text: str) -> Json:
    return {"markdown": {"markdownText": text}}


def _apology(kind: str, panel: Panel, queries: Sequence[PanelQuery]) -> str:
    """Return the text in place of a panel without a counterpart, with its queries."""
    reason = f"a panel `{named(kind)}` with these queries has no counterpart: text"
    sources = dict.fromkeys(named(query.source) for query in queries if not query.language)
    if sources:
        reason += f"; it asks {', '.join(sources)}: only PromQL and plain LogQL map"
    panel.leave("", reason)
    if len(queries) > MOST_TOLD:
        left = ", ".join(f"{named(query.id)}: expr" for query in queries[MOST_TOLD:])
        panel.leave(f"queries {left}", f"only the first {MOST_TOLD} are in the text")
    lines = [f"A Grafana panel of the type `{named(kind).replace('`', '')}` stood here."]
    for query in queries[:MOST_TOLD]:
        lines += ["", fenced("", query.text[:LONGEST_QUERY].splitlines())]
    return "\n".join(lines)
