"""What stands under `spec:` of a dashboard: sections, rows, widgets, checks of two fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from reconciler.document import Json, Path
from reconciler.kinds.dashboard.parts import Action, Annotation, Filter, Variable, VariableV2
from reconciler.kinds.fields import (
    AtMost,
    Choosing,
    Empty,
    Flag,
    Formed,
    IdValue,
    Int32,
    Keyed,
    Names,
    Observed,
    ObservedPart,
    Opaque,
    Part,
    ReadOnly,
    Text,
    Unit,
    Wrapper,
)
from reconciler.kinds.shape import EACH, places
from reconciler.queries import Language, Query, queries_named
from reconciler.source.diagnostic import Advice, Finding, warning

BY_ID: Final = Keyed(("id", "value"))
LIST: Final = AtMost(1000)


class WidgetDefinition(ObservedPart):
    """What a widget shows: exactly one of these, whose inner shape is not documented."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset(
            (
                "markdown",
                "gauge",
                "barChart",
                "horizontalBarChart",
                "pieChart",
                "lineChart",
                "dataTable",
                "hexagon",
                "dynamic",
            )
        ),
    )
    choosing: ClassVar[Choosing] = Choosing.REQUIRED

    markdown: Opaque | None = None
    gauge: Opaque | None = None
    bar_chart: Opaque | None = None
    horizontal_bar_chart: Opaque | None = None
    pie_chart: Opaque | None = None
    line_chart: Opaque | None = None
    data_table: Opaque | None = None
    hexagon: Opaque | None = None
    dynamic: Opaque | None = None


class WidgetAppearance(Part):
    """How wide a widget is; 0 lets the service choose."""

    width: Int32 | None = None


class Widget(Part):
    """One widget."""

    needed: ClassVar[tuple[str, ...]] = ("definition",)

    id: IdValue | None = None
    title: Text = None
    description: Text = None
    appearance: WidgetAppearance | None = None
    definition: WidgetDefinition | None = None
    created_at: Annotated[Any, ReadOnly()] = None
    updated_at: Annotated[Any, ReadOnly()] = None


class RowAppearance(Part):
    """How high a row is."""

    height: Annotated[Int32 | None, AtMost(low=1)] = None


class Row(Part):
    """Widgets side by side."""

    id: IdValue | None = None
    appearance: RowAppearance | None = None
    widgets: Annotated[list[Widget] | None, BY_ID, LIST] = None


class SectionColor(ObservedPart):
    """The colour of a section."""

    complete: ClassVar[bool] = False

    predefined: Text = None


class CustomSection(ObservedPart):
    """A section with a heading."""

    name: Text = None
    description: Text = None
    collapsed: Flag = None
    color: SectionColor | None = None
    repetitive_var: Annotated[
        Any, Field(description="The variable for each of whose values the section is repeated.")
    ] = None


class SectionOptions(Part):
    """Whether a section has a heading."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("internal", "custom")),)

    internal: Empty | None = None
    custom: Annotated[CustomSection | None, Observed()] = None


class Section(Part):
    """Rows under one heading."""

    called: ClassVar[tuple[tuple[str, ...], ...]] = (("options", "custom", "name"), *Part.called)

    id: IdValue | None = None
    options: SectionOptions | None = None
    rows: Annotated[list[Row] | None, BY_ID, LIST] = None


class Layout(Part):
    """What stands where."""

    sections: Annotated[list[Section] | None, BY_ID, LIST] = None


DASHBOARD_ID: Final = Formed(
    re.compile(r"[A-Za-z0-9_-]{21}"),
    "exactly 21 letters, digits, `_` or `-`",
    in_path=True,
    repair=Advice("remove it: the dashboard is then found by its slug"),
)
SLUG: Final = Formed(
    re.compile(r"[a-z0-9]+(?:[-_]+[a-z0-9]+)*"),
    "small letters and digits joined by `-` or `_`",
    in_path=True,
    repair=Advice("remove it: the slug then follows metadata.name"),
)
_DURATION: Final = re.compile(r"([0-9]{1,9}) ?([mhdw])")
_SECONDS_OF: Final = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def _in_seconds(text: str) -> str:
    """Give a duration as the service writes it, `3600s` for `1h`."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is not None:
        return f"{int(found[1]) * _SECONDS_OF[found[2]]}s"
    return f"{text}s" if text.isascii() and text.isdigit() else ""


SECONDS: Final = Formed(
    re.compile(r"[0-9]+(?:\.[0-9]{1,9})?s"),
    "a number of seconds, as `900s`,",
    corrected=_in_seconds,
)
LONGEST_METRIC_QUERY: Final = 10_000  # docs/assumptions.md: seen


class FolderPath(Part):
    """A folder by its names; the service may create it."""

    segments: Annotated[Names, AtMost(2, 1)] = None


class AbsoluteTimeFrame(ObservedPart):
    """From one time to another."""

    needed: ClassVar[tuple[str, ...]] = ("from", "to")

    from_: Annotated[Text, Field(alias="from")] = None
    to: Text = None


class Dashboard(Part):
    """A custom dashboard."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset(("off", "twoMinutes", "fiveMinutes")),
        frozenset(("relativeTimeFrame", "absoluteTimeFrame")),
        frozenset(("folderId", "folderPath")),
    )
    needed: ClassVar[tuple[str, ...]] = ("name",)

    id: Annotated[Text, DASHBOARD_ID] = None
    name: Annotated[Text, AtMost(4096, 1)] = None
    description: Annotated[Text, AtMost(4096)] = None
    slug_name: Annotated[
        Text, AtMost(255), SLUG, Field(description="Its name in the URL; else metadata.name.")
    ] = None
    folder_id: IdValue | None = None
    folder_path: FolderPath | None = None
    off: Annotated[Empty | None, Observed(), Field(description="No automatic refresh.")] = None
    two_minutes: Annotated[Empty | None, Observed()] = None
    five_minutes: Empty | None = None
    relative_time_frame: Annotated[
        Text,
        AtMost(64, 2),
        SECONDS,
        Unit.SECONDS,
        Field(description='The last so many seconds, as "900s".'),
    ] = None
    absolute_time_frame: Annotated[AbsoluteTimeFrame | None, Observed()] = None
    layout: Layout | None = None
    actions: Annotated[list[Action] | None, Keyed(("id",)), LIST] = None
    annotations: Annotated[list[Annotation] | None, Keyed(("id",)), LIST] = None
    filters: Annotated[list[Filter] | None, Keyed(("id", "value")), LIST] = None
    variables: Annotated[list[Variable] | None, Keyed(("name",)), LIST] = None
    variables_v2: Annotated[list[VariableV2] | None, Keyed(("id", "value")), LIST] = None


class DashboardSpec(Part):
    """A dashboard, written here or exported to a file beside the manifest."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("dashboard", "file")),)
    choosing: ClassVar[Choosing] = Choosing.REQUIRED
    wrappers: ClassVar[tuple[Wrapper, ...]] = (Wrapper(("dashboard",)),)
    bare: ClassVar[str] = "dashboard"

    dashboard: Dashboard | None = None
    file: Annotated[Text, Field(description="A JSON export, by its path from this manifest.")] = (
        None
    )
    is_locked: Flag = None

    request_id: Annotated[Any, ReadOnly(why="is made anew for each write")] = None
    author_id: Annotated[Any, ReadOnly()] = None
    author_name: Annotated[Any, ReadOnly()] = None
    created_at: Annotated[Any, ReadOnly()] = None
    created_origin_type: Annotated[Any, ReadOnly()] = None
    updated_at: Annotated[Any, ReadOnly()] = None
    updated_origin_type: Annotated[Any, ReadOnly()] = None
    updater_author_id: Annotated[Any, ReadOnly()] = None
    updater_name: Annotated[Any, ReadOnly()] = None
    locker_author_id: Annotated[Any, ReadOnly()] = None
    locker_name: Annotated[Any, ReadOnly()] = None


def check(spec: dict[str, Json]) -> Iterator[Finding]:
    """Yield what services are known to refuse, or to show wrongly (docs/assumptions.md)."""
    for path, constant in places(spec, "dashboard", "variables", EACH, "definition", "constant"):
        if constant is not None:
            yield warning("M307", path, "some services refuse a constant variable", at_key=True)
    widgets = ("layout", "sections", EACH, "rows", EACH, "widgets", EACH)
    for path, definition in places(spec, "dashboard", *widgets, "definition"):
        if isinstance(definition, dict):
            yield from _gauge_findings(definition.get("gauge"), (*path, "gauge"))
            yield from _query_findings(definition, path)


def _gauge_findings(gauge: Json, path: Path) -> Iterator[Finding]:
    if not isinstance(gauge, dict):
        return
    low, high = gauge.get("min"), gauge.get("max")
    if isinstance(low, int | float) and isinstance(high, int | float) and low >= high:
        said = f"a gauge wants min below max, not {low} and {high}"
        yield warning("M310", (*path, "max"), said)


def _query_findings(definition: dict[str, Json], path: Path) -> Iterator[Finding]:
    value = ("query", "metrics", "promqlQuery", "value")
    for kind, inside in definition.items():
        for steps in (value, ("queryDefinitions", EACH, *value)):
            for place, query in places(inside, *steps, path=(*path, kind)):
                if isinstance(query, str) and len(query) > LONGEST_METRIC_QUERY:
                    said = (
                        f"the metric query has {len(query):,} characters; "
                        f"services are known to take at most {LONGEST_METRIC_QUERY:,}"
                    )
                    yield warning("M307", place, said)


LANGUAGES: Final = {"luceneQuery": Language.LUCENE, "promqlQuery": Language.PROMQL}


def queries(spec: dict[str, Json]) -> Iterator[Query]:
    """Yield the queries of widgets, variables and annotations that bear their language's name."""
    return queries_named(spec, LANGUAGES)
