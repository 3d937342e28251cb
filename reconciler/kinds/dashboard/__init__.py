"""The kind `Dashboard`: its `spec:` of sections, rows and widgets; checks of several fields.

For actions, annotations, filters and variables, the API document shows one member of each choice. A
part that may have other members is not `complete`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import Field

from reconciler.document import Json, Path, value_at
from reconciler.kinds import field_traits as of
from reconciler.kinds.kind import (
    ANY_STEP,
    DASHBOARD_ID,
    ConsentRule,
    Endpoint,
    Essential,
    Grid,
    Kind,
    RiskyChange,
)
from reconciler.kinds.shape import EACH, camel_case_known_fields, places, without_read_only
from reconciler.model import Action, Change, Manifest, RemoteId, Seen
from reconciler.model.assumptions import Assumptions
from reconciler.queries import Language, Query, queries_named
from reconciler.syntax.diagnostic import Advice, Finding, warning

DatasetScope: TypeAlias = Annotated[of.Text, of.known("DATASET_SCOPE_", "UNSPECIFIED")]


class GoToDashboard(of.Part):
    """Opens another dashboard."""

    dashboard_id: Annotated[of.Text, of.Refers("Dashboard")] = None
    """The id of the dashboard: `${ref:Dashboard/name}`, or an id."""


class ActionDefinition(of.PartlyKnown):
    """The effect of an action."""

    go_to_dashboard_action: GoToDashboard | None = None
    """Opens another dashboard."""


class WidgetAction(of.Part):
    """An action of a click on a widget."""

    id: of.Text = None
    """The id of the action, any text that is unique among the actions."""
    name: of.Text = None
    """The name of the action in the menu."""
    data_source: Annotated[of.Text, of.known("ACTION_DATA_SOURCE_TYPE_", "NONE_UNSPECIFIED")] = None
    """The data of the action; only its zero value is documented."""
    definition: ActionDefinition | None = None
    """The effect of the action."""
    should_open_in_new_window: of.Flag = None
    """Whether it opens in a new window."""
    widget_id: of.Text = None
    """The id of the widget that the action is for."""


class SpecificWidgets(of.Part):
    """Some widgets only."""

    widget_ids: Annotated[of.TextList, of.Unordered()] = None
    """The ids of the widgets, in any order."""


class AnnotationScope(of.PartlyKnown):
    """The widgets on which an annotation is drawn."""

    specific_widgets: SpecificWidgets | None = None
    """Draws the annotation on some widgets only."""


class DatasetField(of.Part):
    """A field of the data, by its path."""

    keypath: of.TextList = None
    """The names that lead to the field, from the outside in."""
    scope: DatasetScope = None
    """The kind of data of the field; only the zero value is documented."""


class QueryText(of.Part):
    """A query."""

    text: of.Text = None
    """The text of the query; it is sent as written."""


class InstantStrategy(of.Part):
    """An annotation at one moment."""

    timestamp_field: DatasetField | None = None
    """The field with the moment."""


class AnnotationStrategy(of.PartlyKnown):
    """The field with the time of an annotation."""

    instant: InstantStrategy | None = None
    """Draws the annotation at one moment."""


class QueryLanguageSource(of.Part):
    """Annotations from a query."""

    data_mode_type: Annotated[of.Text, of.known("DATA_MODE_TYPE_", "HIGH_UNSPECIFIED")] = None
    """How the data is queried; only its zero value is documented."""
    label_fields: list[DatasetField] | None = None
    """The fields with the labels of the annotation."""
    message_template: of.Text = None
    """The text of the annotation."""
    orientation: Annotated[of.Text, of.known("ANNOTATION_ORIENTATION_", "VERTICAL_UNSPECIFIED")] = (
        None
    )
    """Whether the mark is vertical or horizontal; only the zero value, vertical, is documented."""
    query: QueryText | None = None
    """The query; its results are drawn."""
    strategy: AnnotationStrategy | None = None
    """The field with the time of the annotation."""


class AnnotationSource(of.PartlyKnown):
    """The source of annotations."""

    query_language: QueryLanguageSource | None = None
    """Draws the results of a query."""


class Annotation(of.Part):
    """Marks drawn over the widgets."""

    id: of.Text = None
    """The id of the annotation, any text that is unique among the annotations."""
    name: of.Text = None
    """The name of the annotation."""
    description: of.Text = None
    """The meaning of the annotation, for people."""
    enabled: of.Flag = None
    """Whether the annotation is drawn."""
    color: Annotated[of.Text, of.known("ANNOTATION_COLOR_", "UNSPECIFIED")] = None
    """The colour of the mark; only its zero value is documented."""
    scope: AnnotationScope | None = None
    """The widgets on which the annotation is drawn."""
    source: AnnotationSource | None = None
    """The source of the annotation."""


class SelectedValues(of.ObservedPart):
    """The selected values; an empty list does not mean all of them."""

    values: Annotated[of.TextList, of.Unordered()] = None
    """The selected values, in any order; an empty list selects none."""


class ValueSelection(of.Part):
    """All values, or a list of them."""

    alternatives: ClassVar[of.Choices] = (frozenset(("all", "list")),)

    all: of.Empty | None = None
    """Selects all values; written as `{}`."""
    list_: Annotated[SelectedValues | None, Field(alias="list"), of.Observed()] = None
    """Selects the values of a list."""


class Equals(of.Part):
    """Keeps what equals the selection."""

    selection: ValueSelection | None = None
    """The values that pass."""


class FilterOperator(of.PartlyKnown):
    """The comparison of a filter."""

    equals: Equals | None = None
    """Keeps what equals one of the values."""


class MetricsFilter(of.Part):
    """A filter on a label of metrics."""

    label: of.Text = None
    """The label that is filtered."""
    metric: of.Text = None
    """The metric with the label."""
    operator: FilterOperator | None = None
    """How the filter compares."""


class FilterSource(of.PartlyKnown):
    """The data that a filter applies to."""

    alternatives: ClassVar[of.Choices] = (frozenset(("metrics", "logs", "spans")),)

    metrics: MetricsFilter | None = None
    """A filter on a label of metrics."""
    logs: Annotated[of.Opaque | None, of.Observed()] = None
    """A filter on a field of log lines."""
    spans: Annotated[of.Opaque | None, of.Observed()] = None
    """A filter on a field of spans."""


class Filter(of.Part):
    """A filter for the whole dashboard."""

    id: of.IdValue | None = None
    """The id of the filter; if it is left out, one is generated and kept."""
    display_name: of.Text = None
    """The name of the filter on the dashboard."""
    enabled: of.Flag = None
    """Whether the filter has an effect."""
    collapsed: of.Flag = None
    """Whether the filter is collapsed."""
    source: FilterSource | None = None
    """The data that the filter applies to, and the values that it keeps."""


class Constant(of.Part):
    """A fixed value."""

    value: of.Text = None
    """The value of the variable."""


class VariableDefinition(of.PartlyKnown):
    """The source of a variable's values."""

    constant: Constant | None = None
    """A fixed value; some services refuse such a variable."""


class Variable(of.Part):
    """A variable of the first kind."""

    name: of.Text = None
    """The name by which queries use the variable."""
    display_name: of.Text = None
    """The name of the variable on the dashboard."""
    description: of.Text = None
    """The purpose of the variable, for people."""
    display_type: Annotated[of.Text, of.known("VARIABLE_DISPLAY_TYPE_", "UNSPECIFIED")] = None
    """How the variable is shown; only its zero value is documented."""
    definition: VariableDefinition | None = None
    """The source of the variable's values."""


class AllOption(of.Part):
    """The choice "all" of a variable."""

    include_all: of.Flag = None
    """Whether all values may be selected at once."""
    label: of.Text = None
    """The name of that choice."""


class StaticValue(of.Part):
    """A value that may be selected."""

    is_default: of.Flag = None
    """Whether the value is selected at first."""
    label: of.Text = None
    """The name of the value on the dashboard."""
    value: of.Text = None
    """The value that queries get."""


class StaticSource(of.Part):
    """A fixed list of values."""

    all_option: AllOption | None = None
    """Whether all values may be selected at once."""
    values: list[StaticValue] | None = None
    """The values that may be selected."""
    values_order_direction: Annotated[of.Text, of.known("ORDER_DIRECTION_", "UNSPECIFIED")] = None
    """How the values are ordered; only the zero value is documented."""


class VariableSource(of.PartlyKnown):
    """The source of a variable's values."""

    static: StaticSource | None = None
    """A fixed list of values."""


class LabelledValue(of.Part):
    """A value and its name."""

    label: of.Text = None
    """The name of the value on the dashboard."""
    value: of.Text = None
    """The value that queries get."""


class IntervalValue(of.Part):
    """The selected interval."""

    value: LabelledValue | None = None
    """The selected interval."""


class VariableValue(of.PartlyKnown):
    """The selected value."""

    interval: IntervalValue | None = None
    """The selected interval."""


class VariableV2(of.Part):
    """A variable of `variablesV2`; those of `variables` are `Variable`."""

    id: of.IdValue | None = None
    """The id of the variable; if it is left out, one is generated and kept."""
    name: of.Text = None
    """The name by which queries use the variable."""
    display_name: of.Text = None
    """The name of the variable on the dashboard."""
    description: of.Text = None
    """The purpose of the variable, for people."""
    display_full_row: of.Flag = None
    """Whether the variable has a row of its own on the dashboard."""
    display_type: Annotated[of.Text, of.known("VARIABLE_DISPLAY_TYPE_V2_", "UNSPECIFIED")] = None
    """How the variable is shown; only its zero value is documented."""
    source: VariableSource | None = None
    """The source of the variable's values."""
    value: VariableValue | None = None
    """The selected value."""


BY_ID: Final = of.Keyed(("id", "value"))
LIST: Final = of.AtMost(1000)


class WidgetDefinition(of.ObservedPart):
    """The content of a widget: exactly one of these, with an undocumented inner shape."""

    alternatives: ClassVar[of.Choices] = (
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
    choosing: ClassVar[of.Choosing] = of.Choosing.REQUIRED

    markdown: of.Opaque | None = None
    """A text, written as Markdown."""
    gauge: of.Opaque | None = None
    """One number on a scale; services require `min` below `max`."""
    bar_chart: of.Opaque | None = None
    """A chart of vertical bars."""
    horizontal_bar_chart: of.Opaque | None = None
    """A chart of horizontal bars."""
    pie_chart: of.Opaque | None = None
    """Shares of a whole."""
    line_chart: of.Opaque | None = None
    """Lines over time."""
    data_table: of.Opaque | None = None
    """Rows and columns."""
    hexagon: of.Opaque | None = None
    """Many values at once, each a hexagon."""
    dynamic: of.Opaque | None = None
    """A widget with a form that follows its data."""


class WidgetAppearance(of.Part):
    """The width of a widget; 0 lets the service choose."""

    width: of.Int32 | None = None
    """The width, in units of the service; 0 lets the service choose."""


class Widget(of.Part):
    """One widget."""

    read_only: ClassVar[of.ReadOnlyFields] = {
        "createdAt": of.ReadOnly("When the widget was created."),
        "updatedAt": of.ReadOnly("When the widget was last changed."),
    }

    id: of.IdValue | None = None
    """The id of the widget; if it is left out, one is generated and kept."""
    title: of.Text = None
    """The heading of the widget."""
    description: of.Text = None
    """The purpose of the widget, for people."""
    appearance: WidgetAppearance | None = None
    """The width of the widget."""
    definition: Annotated[WidgetDefinition | None, of.Needed()] = None
    """The content of the widget, and its data."""


class RowAppearance(of.Part):
    """The height of a row."""

    height: Annotated[of.Int32 | None, of.AtMost(low=1)] = None
    """The height, in units of the service, from 1."""


class Row(of.Part):
    """Widgets side by side."""

    id: of.IdValue | None = None
    """The id of the row; if it is left out, one is generated and kept."""
    appearance: RowAppearance | None = None
    """The height of the row."""
    widgets: Annotated[list[Widget] | None, BY_ID, LIST] = None
    """The widgets of the row, from left to right."""


class SectionColor(of.PartlyObserved):
    """The colour of a section."""

    predefined: of.Text = None
    """One of the colours that the service offers; the names are not documented."""


class CustomSection(of.ObservedPart):
    """A section with a heading."""

    name: of.Text = None
    """The heading of the section."""
    description: of.Text = None
    """The text under the heading."""
    collapsed: of.Flag = None
    """Whether the section is collapsed."""
    color: SectionColor | None = None
    """The colour of the section."""
    repetitive_var: Any = None
    """The variable of a repeated section: the section is shown for each of its values."""


class SectionOptions(of.Part):
    """The heading of a section, or none."""

    alternatives: ClassVar[of.Choices] = (frozenset(("internal", "custom")),)

    internal: of.Empty | None = None
    """A section without a heading, written as `{}`."""
    custom: Annotated[CustomSection | None, of.Observed()] = None
    """A section with a heading."""


class Section(of.Part):
    """Rows under one heading."""

    called: ClassVar[tuple[tuple[str, ...], ...]] = (("options", "custom", "name"), *of.Part.called)

    id: of.IdValue | None = None
    """The id of the section; if it is left out, one is generated and kept."""
    options: SectionOptions | None = None
    """The heading of the section, or none."""
    rows: Annotated[list[Row] | None, BY_ID, LIST] = None
    """The rows of the section, from top to bottom."""


class Layout(of.Part):
    """The arrangement of the widgets."""

    sections: Annotated[list[Section] | None, BY_ID, LIST] = None
    """The sections, from top to bottom."""


DECLARED_ID: Final = of.Formed(
    re.compile(r"[A-Za-z0-9_-]{21}"),
    "exactly 21 letters, digits, `_` or `-`",
    in_path=True,
    repair=Advice("remove it: the dashboard is then found by its slug"),
)
SLUG: Final = of.Formed(
    re.compile(r"[a-z0-9]+(?:[-_]+[a-z0-9]+)*"),
    "small letters and digits joined by `-` or `_`",
    in_path=True,
    repair=Advice("remove it: a new dashboard gets the slug of metadata.name"),
)


def _in_seconds(text: str) -> str:
    """Return a duration as the service writes it, `3600s` for `1h`."""
    seconds = of.duration_in(of.Unit.SECONDS, text)
    if seconds is not None:
        return f"{seconds}s"
    return f"{text}s" if text.isascii() and text.isdigit() else ""


SECONDS: Final = of.Formed(
    re.compile(r"[0-9]+(?:\.[0-9]{1,9})?s"),
    "a number of seconds, as `900s`,",
    certain=True,
    corrected=_in_seconds,
)
LONGEST_METRIC_QUERY: Final = 10_000  # docs/assumptions.md: observed


class FolderPath(of.Part):
    """A folder by its names; the service may create it."""

    segments: Annotated[of.TextList, of.AtMost(2, 1)] = None
    """The names of the folders from the top, one or two; the service may create them."""


class AbsoluteTimeFrame(of.ObservedPart):
    """A start time and an end time."""

    from_: Annotated[of.Text, of.Needed(), Field(alias="from")] = None
    """The start time, as ISO 8601 in UTC."""
    to: Annotated[of.Text, of.Needed()] = None
    """The end time, as ISO 8601 in UTC."""


class Dashboard(of.Part):
    """A custom dashboard."""

    alternatives: ClassVar[of.Choices] = (
        frozenset(("off", "twoMinutes", "fiveMinutes")),
        frozenset(("relativeTimeFrame", "absoluteTimeFrame")),
        frozenset(("folderId", "folderPath")),
    )

    id: Annotated[of.Text, DECLARED_ID] = None
    """The id of the dashboard, 21 characters; left out, it is found by its slug."""
    name: Annotated[of.Text, of.Needed(), of.AtMost(4096, 1)] = None
    """The name of the dashboard for people."""
    description: Annotated[of.Text, of.AtMost(4096)] = None
    """The purpose of the dashboard, for people."""
    slug_name: Annotated[of.Text, of.AtMost(255), SLUG] = None
    """Its name in the URL; left out, a new dashboard without an id gets `metadata.name`."""
    folder_id: of.IdValue | None = None
    """The folder that the dashboard is in, by its id."""
    folder_path: FolderPath | None = None
    """The folder that the dashboard is in, by its names."""
    off: Annotated[of.Empty | None, of.Observed()] = None
    """The dashboard does not refresh by itself; written as `{}`."""
    two_minutes: Annotated[of.Empty | None, of.Observed()] = None
    """The dashboard refreshes every two minutes; written as `{}`."""
    five_minutes: of.Empty | None = None
    """The dashboard refreshes every five minutes; written as `{}`."""
    relative_time_frame: Annotated[
        of.Text,
        of.AtMost(64, 2),
        SECONDS,
        of.Unit.SECONDS,
    ] = None
    """The time that the dashboard shows, in seconds up to now, written as `900s`."""
    absolute_time_frame: Annotated[AbsoluteTimeFrame | None, of.Observed()] = None
    """The time that the dashboard shows, as a start time and an end time."""
    layout: Layout | None = None
    """The arrangement of the widgets: sections of rows of widgets."""
    actions: Annotated[list[WidgetAction] | None, of.Keyed(("id",)), LIST] = None
    """The actions of a click on a widget."""
    annotations: Annotated[list[Annotation] | None, of.Keyed(("id",)), LIST] = None
    """Marks that are drawn over the widgets."""
    filters: Annotated[list[Filter] | None, of.Keyed(("id", "value")), LIST] = None
    """Filters for the whole dashboard."""
    variables: Annotated[list[Variable] | None, of.Keyed(("name",)), LIST] = None
    """Variables of the first kind; `variablesV2` are of the second."""
    variables_v2: Annotated[list[VariableV2] | None, of.Keyed(("id", "value")), LIST] = None
    """Variables of the second kind."""


class DashboardSpec(of.Part):
    """A dashboard, written here or exported to a file next to the manifest."""

    alternatives: ClassVar[of.Choices] = (frozenset(("dashboard", "file")),)
    choosing: ClassVar[of.Choosing] = of.Choosing.REQUIRED
    wrappers: ClassVar[tuple[of.Wrapper, ...]] = (of.Wrapper(("dashboard",)),)
    bare: ClassVar[str] = "dashboard"
    read_only: ClassVar[of.ReadOnlyFields] = {
        "requestId": of.ReadOnly(
            "The id of one write; it is new for each write.", why="is made again for each write"
        ),
        "authorId": of.ReadOnly("The id of the creator of the dashboard."),
        "authorName": of.ReadOnly("The name of the creator of the dashboard."),
        "createdAt": of.ReadOnly("When the dashboard was created."),
        "createdOriginType": of.ReadOnly("Whether a person or the API created it."),
        "updatedAt": of.ReadOnly("When the dashboard was last changed."),
        "updatedOriginType": of.ReadOnly("Whether a person or the API changed it last."),
        "updaterAuthorId": of.ReadOnly("The id of the person who changed it last."),
        "updaterName": of.ReadOnly("The name of the person who changed it last."),
        "lockerAuthorId": of.ReadOnly("The id of the person who locked it."),
        "lockerName": of.ReadOnly("The name of the person who locked it."),
    }

    dashboard: Dashboard | None = None
    """The dashboard, written here."""
    file: of.Text = None
    """A JSON export of the dashboard, by its path from this manifest."""
    is_locked: of.Flag = None
    """Whether the dashboard is locked in the web interface."""


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
        message = f"a gauge wants min below max, not {low} and {high}"
        yield warning("M310", (*path, "max"), message)


def _query_findings(definition: dict[str, Json], path: Path) -> Iterator[Finding]:
    value = ("query", "metrics", "promqlQuery", "value")
    for kind, inside in definition.items():
        for steps in (value, ("queryDefinitions", EACH, *value)):
            for place, query in places(inside, *steps, path=(*path, kind)):
                if isinstance(query, str) and len(query) > LONGEST_METRIC_QUERY:
                    message = (
                        f"the metric query has {len(query):,} characters; "
                        f"services are known to take at most {LONGEST_METRIC_QUERY:,}"
                    )
                    yield warning("M307", place, message)


LANGUAGES: Final = {"luceneQuery": Language.LUCENE, "promqlQuery": Language.PROMQL}


def queries(spec: dict[str, Json]) -> Iterator[Query]:
    """Yield the queries in fields with the name of a query language, at any depth."""
    return queries_named(spec, LANGUAGES)


USUAL = Assumptions()


def from_export(content: dict[str, Json]) -> dict[str, Json]:
    """Return the `spec` of an export: fields in camelCase, without those that the service sets."""
    bare = not isinstance(content.get("dashboard"), dict)
    record: dict[str, Json] = {"dashboard": content} if bare else content
    return without_read_only(camel_case_known_fields(record, DashboardSpec), DashboardSpec)


def slug_of(manifest: Manifest, assumptions: Assumptions = USUAL) -> str:
    """Return the slug that a dashboard is created with and found by (docs/manifests.md).

    This is the declared slug; else, if no id is declared, a slug made of the name; else "", as the
    declared id alone identifies the dashboard. If the service makes slugs, a new dashboard gets the
    slug of its name even if it declares an id.
    """
    declared = value_at(manifest.spec, ("dashboard", "slugName"))
    if isinstance(declared, str) and declared:
        return declared
    if declared_id(manifest) is not None and assumptions.dashboards.slugs == "kept":
        return ""
    return manifest.ref.name.replace(".", "-").rstrip("-_")


def own_id(spec: dict[str, Json]) -> str:
    """Return the id inside the dashboard itself, as in exports; "" if there is none."""
    value = value_at(spec, ("dashboard", "id"))
    return value if isinstance(value, str) else ""


LOCKED = "dashboard-locked"


def weakens(change: Change) -> Iterator[RiskyChange]:
    """Yield any change of a dashboard that is locked live; the API itself allows such writes."""
    live = change.observation
    locked = isinstance(live, Seen) and live.document.get("isLocked") is True
    if change.action is Action.UPDATE and locked:
        fields = len(change.differences)
        message = f"it is locked live, and {fields} of its fields would change"
        yield RiskyChange(LOCKED, message, consent=ConsentRule.ALWAYS)


def declared_id(manifest: Manifest) -> RemoteId | None:
    """Return the id that a manifest declares: its own, else the id inside an export."""
    return manifest.remote_id or own_id(manifest.spec) or None


def identities(manifest: Manifest) -> Mapping[str, str]:
    """Return the values that no two dashboards may share, by their names for people."""
    found = {"slug": slug_of(manifest), "id": own_id(manifest.spec)}
    return {what: value for what, value in found.items() if value}


WRAPPERS = frozenset(
    (
        *("dashboard", "layout", "definition", "appearance", "options", "custom"),
        *("queryDefinitions", "metrics", "logs", "spans", "promqlQuery", "luceneQuery"),
        *("queryLanguage", "queryLanguageQuery", "text", "value"),
    )
)

SECTIONS = ("dashboard", "layout", "sections")
WIDGETS = (*SECTIONS, ANY_STEP, "rows", ANY_STEP, "widgets")
ESSENTIALS = (
    Essential(WIDGETS),
    *(
        Essential((*WIDGETS, ANY_STEP, "definition", ANY_STEP, *path, ANY_STEP, "value"), "queries")
        for path in (("query", ANY_STEP), ("queryDefinitions", ANY_STEP, "query", ANY_STEP))
    ),
    Essential(("dashboard", "relativeTimeFrame")),
    Essential(("dashboard", "folderPath", "segments"), "folderPath"),
    Essential(("dashboard", "variables")),
    Essential(("dashboard", "variablesV2")),
    Essential(("dashboard", "filters")),
    Essential(("isLocked",), usual=False),
)


EXAMPLE: Final[dict[str, Json]] = {
    "dashboard": {
        "name": "Checkout",
        "relativeTimeFrame": "900s",
        "layout": {
            "sections": [
                {
                    "rows": [
                        {
                            "widgets": [
                                {
                                    "title": "What this shows",
                                    "definition": {"markdown": {"markdownText": "# Checkout"}},
                                }
                            ]
                        }
                    ]
                }
            ]
        },
    }
}

READ = "/v1/dashboards/dashboards/{dashboard_id}"
DASHBOARD = Kind(
    name="Dashboard",
    noun="dashboard",
    spec=DashboardSpec,
    id_form=DASHBOARD_ID,
    check=check,
    queries=queries,
    identities=identities,
    declared_id=declared_id,
    title=("dashboard", "name"),
    from_export=from_export,
    inner_id=("dashboard", "id"),
    findable=True,
    batch_size=16,
    weakens=weakens,
    consents=(LOCKED,),
    essentials=ESSENTIALS,
    picture=Grid(SECTIONS),
    unsaid=WRAPPERS.union(*WidgetDefinition.alternatives),
    endpoints=(
        Endpoint(3, "POST", "/v1/dashboards/dashboards", "makes it", tells=False),
        Endpoint(4, "PUT", "/v1/dashboards/dashboards", "replaces it", tells=False),
        Endpoint(5, "GET", READ, "reads it by its id", sends=False),
        Endpoint(6, "GET", "/v1/dashboards/by-slug/{slug}", "reads it by its slug", sends=False),
    ),
    example=EXAMPLE,
    limits="The API cannot delete dashboards.",
)
