"""What stands under `spec:` of a dashboard: sections, rows, widgets, checks of two fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from reconciler.document import Json, Path
from reconciler.kinds.dashboard.parts import Annotation, Filter, Variable, VariableV2, WidgetAction
from reconciler.kinds.field_traits import (
    AtMost,
    Choosing,
    Empty,
    Flag,
    Formed,
    IdValue,
    Int32,
    Keyed,
    Observed,
    ObservedPart,
    Opaque,
    Part,
    ReadOnly,
    Text,
    TextList,
    Unit,
    Wrapper,
)
from reconciler.kinds.shape import EACH, places
from reconciler.queries import Language, Query, queries_named
from reconciler.syntax.diagnostic import Advice, Finding, warning

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
    """A text, written as Markdown."""
    gauge: Opaque | None = None
    """One number on a scale; services want `min` below `max`."""
    bar_chart: Opaque | None = None
    """Bars that stand upright."""
    horizontal_bar_chart: Opaque | None = None
    """Bars that lie."""
    pie_chart: Opaque | None = None
    """Shares of a whole."""
    line_chart: Opaque | None = None
    """Lines over time."""
    data_table: Opaque | None = None
    """Rows and columns."""
    hexagon: Opaque | None = None
    """Many values at once, each a hexagon."""
    dynamic: Opaque | None = None
    """A widget whose form follows its data."""


class WidgetAppearance(Part):
    """How wide a widget is; 0 lets the service choose."""

    width: Int32 | None = None
    """The width, in units of the service; 0 lets the service choose."""


class Widget(Part):
    """One widget."""

    needed: ClassVar[tuple[str, ...]] = ("definition",)

    id: IdValue | None = None
    """The id of the widget; one is made up, and kept, where it is left out."""
    title: Text = None
    """The heading of the widget."""
    description: Text = None
    """What the widget shows, for people."""
    appearance: WidgetAppearance | None = None
    """How wide the widget is."""
    definition: WidgetDefinition | None = None
    """What the widget shows, and of which data."""
    created_at: Annotated[Any, ReadOnly()] = None
    """When the widget was made."""
    updated_at: Annotated[Any, ReadOnly()] = None
    """When the widget was last changed."""


class RowAppearance(Part):
    """How high a row is."""

    height: Annotated[Int32 | None, AtMost(low=1)] = None
    """The height, in units of the service, from 1."""


class Row(Part):
    """Widgets side by side."""

    id: IdValue | None = None
    """The id of the row; one is made up, and kept, where it is left out."""
    appearance: RowAppearance | None = None
    """How high the row is."""
    widgets: Annotated[list[Widget] | None, BY_ID, LIST] = None
    """The widgets of the row, from left to right."""


class SectionColor(ObservedPart):
    """The colour of a section."""

    complete: ClassVar[bool] = False

    predefined: Text = None
    """One of the colours that the service offers; the names are not documented."""


class CustomSection(ObservedPart):
    """A section with a heading."""

    name: Text = None
    """The heading of the section."""
    description: Text = None
    """What stands under the heading."""
    collapsed: Flag = None
    """Whether the section is folded."""
    color: SectionColor | None = None
    """The colour of the section."""
    repetitive_var: Any = None
    """The variable for each of whose values the section is repeated."""


class SectionOptions(Part):
    """Whether a section has a heading."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("internal", "custom")),)

    internal: Empty | None = None
    """A section without a heading, written as `{}`."""
    custom: Annotated[CustomSection | None, Observed()] = None
    """A section with a heading."""


class Section(Part):
    """Rows under one heading."""

    called: ClassVar[tuple[tuple[str, ...], ...]] = (("options", "custom", "name"), *Part.called)

    id: IdValue | None = None
    """The id of the section; one is made up, and kept, where it is left out."""
    options: SectionOptions | None = None
    """Whether the section has a heading, and which."""
    rows: Annotated[list[Row] | None, BY_ID, LIST] = None
    """The rows of the section, from top to bottom."""


class Layout(Part):
    """What stands where."""

    sections: Annotated[list[Section] | None, BY_ID, LIST] = None
    """The sections, from top to bottom."""


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
    repair=Advice("remove it: a new dashboard gets the slug of metadata.name"),
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

    segments: Annotated[TextList, AtMost(2, 1)] = None
    """The names of the folders from the top, one or two; the service may create them."""


class AbsoluteTimeFrame(ObservedPart):
    """From one time to another."""

    needed: ClassVar[tuple[str, ...]] = ("from", "to")

    from_: Annotated[Text, Field(alias="from")] = None
    """When the time begins, as ISO 8601 in UTC."""
    to: Text = None
    """When the time ends, as ISO 8601 in UTC."""


class Dashboard(Part):
    """A custom dashboard."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset(("off", "twoMinutes", "fiveMinutes")),
        frozenset(("relativeTimeFrame", "absoluteTimeFrame")),
        frozenset(("folderId", "folderPath")),
    )
    needed: ClassVar[tuple[str, ...]] = ("name",)

    id: Annotated[Text, DASHBOARD_ID] = None
    """The id of the dashboard, 21 characters; left out, it is found by its slug."""
    name: Annotated[Text, AtMost(4096, 1)] = None
    """What people call the dashboard."""
    description: Annotated[Text, AtMost(4096)] = None
    """What the dashboard is for, for people."""
    slug_name: Annotated[Text, AtMost(255), SLUG] = None
    """Its name in the URL; left out, a new dashboard without an id gets `metadata.name`."""
    folder_id: IdValue | None = None
    """The folder that the dashboard is in, by its id."""
    folder_path: FolderPath | None = None
    """The folder that the dashboard is in, by its names."""
    off: Annotated[Empty | None, Observed()] = None
    """The dashboard does not refresh by itself; written as `{}`."""
    two_minutes: Annotated[Empty | None, Observed()] = None
    """The dashboard refreshes every two minutes; written as `{}`."""
    five_minutes: Empty | None = None
    """The dashboard refreshes every five minutes; written as `{}`."""
    relative_time_frame: Annotated[
        Text,
        AtMost(64, 2),
        SECONDS,
        Unit.SECONDS,
    ] = None
    """The dashboard shows the last so many seconds, written as `900s`."""
    absolute_time_frame: Annotated[AbsoluteTimeFrame | None, Observed()] = None
    """The dashboard shows from one time to another."""
    layout: Layout | None = None
    """What stands where: sections of rows of widgets."""
    actions: Annotated[list[WidgetAction] | None, Keyed(("id",)), LIST] = None
    """What a click on a widget may do."""
    annotations: Annotated[list[Annotation] | None, Keyed(("id",)), LIST] = None
    """Marks that are drawn over the widgets."""
    filters: Annotated[list[Filter] | None, Keyed(("id", "value")), LIST] = None
    """Filters for the whole dashboard."""
    variables: Annotated[list[Variable] | None, Keyed(("name",)), LIST] = None
    """Variables of the first kind; `variablesV2` are of the second."""
    variables_v2: Annotated[list[VariableV2] | None, Keyed(("id", "value")), LIST] = None
    """Variables of the second kind."""


class DashboardSpec(Part):
    """A dashboard, written here or exported to a file beside the manifest."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("dashboard", "file")),)
    choosing: ClassVar[Choosing] = Choosing.REQUIRED
    wrappers: ClassVar[tuple[Wrapper, ...]] = (Wrapper(("dashboard",)),)
    bare: ClassVar[str] = "dashboard"

    dashboard: Dashboard | None = None
    """The dashboard, written here."""
    file: Text = None
    """A JSON export of the dashboard, by its path from this manifest."""
    is_locked: Flag = None
    """Whether the dashboard is locked in the web interface."""

    request_id: Annotated[Any, ReadOnly(why="is made anew for each write")] = None
    """Tells one write from another; it is made anew for each."""
    author_id: Annotated[Any, ReadOnly()] = None
    """The id of who made the dashboard."""
    author_name: Annotated[Any, ReadOnly()] = None
    """The name of who made the dashboard."""
    created_at: Annotated[Any, ReadOnly()] = None
    """When the dashboard was made."""
    created_origin_type: Annotated[Any, ReadOnly()] = None
    """Whether a person or the API made it."""
    updated_at: Annotated[Any, ReadOnly()] = None
    """When the dashboard was last changed."""
    updated_origin_type: Annotated[Any, ReadOnly()] = None
    """Whether a person or the API changed it last."""
    updater_author_id: Annotated[Any, ReadOnly()] = None
    """The id of who changed it last."""
    updater_name: Annotated[Any, ReadOnly()] = None
    """The name of who changed it last."""
    locker_author_id: Annotated[Any, ReadOnly()] = None
    """The id of who locked it."""
    locker_name: Annotated[Any, ReadOnly()] = None
    """The name of who locked it."""


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
