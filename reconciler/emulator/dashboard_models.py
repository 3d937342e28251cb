"""Dashboards, as they are written and as they are stored.

The fields are those of the API document; the choices (`off`, `absoluteTimeFrame`, ...)
and the limits come from docs/assumptions.md.
"""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from reconciler.emulator.wire_models import (
    Empty,
    Identifier,
    Int32,
    JsonObject,
    OpenEnum,
    Timestamp,
    WireObject,
    bounds,
    choice,
    rule,
)

QUERY_LIMIT = 10_000  # docs/assumptions.md: characters of a metric query


def _has_short_queries(definition: object) -> bool:
    """Return whether each `promqlQuery` is short, however deep, as definitions are opaque."""
    if isinstance(definition, list):
        return all(map(_has_short_queries, definition))
    if not isinstance(definition, dict):
        return True
    query = definition.get("promqlQuery")
    query = query.get("value") if isinstance(query, dict) else query
    is_short = not isinstance(query, str) or len(query) <= QUERY_LIMIT
    return is_short and all(map(_has_short_queries, definition.values()))


Opaque = Annotated[
    JsonObject,
    AfterValidator(
        rule(_has_short_queries, "metric_query", "promqlQuery is longer than 10000 characters")
    ),
]


class WidgetDefinition(WireObject):
    """Exactly one kind of widget; the API document does not show its content."""

    markdown: Opaque | None = None
    gauge: Opaque | None = None
    bar_chart: Opaque | None = None
    horizontal_bar_chart: Opaque | None = None
    pie_chart: Opaque | None = None
    line_chart: Opaque | None = None
    data_table: Opaque | None = None
    hexagon: Opaque | None = None
    dynamic: Opaque | None = None

    _one_kind = choice(is_required=True)


class Identified(WireObject):
    """An object that services are known to require an id of."""

    needed: ClassVar[frozenset[str]] = frozenset({"id"})

    id: Identifier | None = None

    @property
    def key(self) -> str:
        """The id; hand-made dashboards use one for several objects."""
        return self.id.value if self.id else ""


class WidgetAppearance(WireObject):
    """Zero means the width the row gives."""

    width: Annotated[Int32, bounds(0)] = 0


class Widget(Identified):
    """One widget; only the service sets its times."""

    read_only: ClassVar[frozenset[str]] = frozenset({"createdAt", "updatedAt"})

    title: str = ""
    description: str = ""
    appearance: WidgetAppearance | None = None
    definition: WidgetDefinition | None = None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class RowAppearance(WireObject):
    """How high the row is."""

    height: Annotated[Int32, bounds(1)] | None = None


class Row(Identified):
    """Widgets side by side."""

    appearance: RowAppearance | None = None
    widgets: Annotated[list[Widget], Field(max_length=1000)] = Field(default_factory=list)


class SectionOptions(WireObject):
    """A section of its own name, or an internal one."""

    internal: Empty | None = None
    custom: JsonObject | None = None

    _one_option = choice("internal", "custom")


class Section(Identified):
    """Rows under one heading."""

    options: SectionOptions | None = None
    rows: Annotated[list[Row], Field(max_length=1000)] = Field(default_factory=list)


class Layout(WireObject):
    """The sections, in order."""

    sections: Annotated[list[Section], Field(max_length=1000)] = Field(default_factory=list)


AnnotationColor = Annotated[str, OpenEnum("ANNOTATION_COLOR_", "UNSPECIFIED")]
AnnotationOrientation = Annotated[str, OpenEnum("ANNOTATION_ORIENTATION_", "VERTICAL_UNSPECIFIED")]
DataMode = Annotated[str, OpenEnum("DATA_MODE_TYPE_", "HIGH_UNSPECIFIED")]
DatasetScope = Annotated[str, OpenEnum("DATASET_SCOPE_", "UNSPECIFIED")]


class ObservationField(WireObject):
    """A field of the data, by path and dataset."""

    keypath: list[str] = Field(default_factory=list)
    scope: DatasetScope = "DATASET_SCOPE_UNSPECIFIED"


class AnnotationQuery(WireObject):
    """The query of an annotation."""

    text: Annotated[str, Field(max_length=QUERY_LIMIT)] = ""


class InstantStrategy(WireObject):
    """A mark at one moment."""

    timestamp_field: ObservationField | None = None


class AnnotationStrategy(WireObject):
    """How a mark gets its time."""

    instant: InstantStrategy | None = None


class QueryLanguageSource(WireObject):
    """Marks found by a query."""

    data_mode_type: DataMode = "DATA_MODE_TYPE_HIGH_UNSPECIFIED"
    label_fields: list[ObservationField] = Field(default_factory=list)
    message_template: str = ""
    orientation: AnnotationOrientation = "ANNOTATION_ORIENTATION_VERTICAL_UNSPECIFIED"
    query: AnnotationQuery | None = None
    strategy: AnnotationStrategy | None = None


class AnnotationSource(WireObject):
    """Where the marks come from."""

    query_language: QueryLanguageSource | None = None


class SpecificWidgets(WireObject):
    """The widgets that show the marks."""

    widget_ids: list[str] = Field(default_factory=list)


class AnnotationScope(WireObject):
    """Which widgets show the marks."""

    specific_widgets: SpecificWidgets | None = None


class Annotation(WireObject):
    """One set of marks."""

    id: str = ""
    name: str = ""
    description: str = ""
    enabled: bool = False
    color: AnnotationColor = "ANNOTATION_COLOR_UNSPECIFIED"
    scope: AnnotationScope | None = None
    source: AnnotationSource | None = None


OrderDirection = Annotated[str, OpenEnum("ORDER_DIRECTION_", "UNSPECIFIED")]
VariableDisplay = Annotated[str, OpenEnum("VARIABLE_DISPLAY_TYPE_", "UNSPECIFIED")]
VariableDisplayV2 = Annotated[str, OpenEnum("VARIABLE_DISPLAY_TYPE_V2_", "UNSPECIFIED")]


class ConstantDefinition(WireObject):
    """A fixed value."""

    value: str = ""


class VariableDefinition(WireObject):
    """Where the value of a variable comes from; only constants are documented."""

    constant: ConstantDefinition | None = None


class Variable(WireObject):
    """A variable of the first generation, known by its name."""

    name: str = ""
    display_name: str = ""
    description: str = ""
    display_type: VariableDisplay = "VARIABLE_DISPLAY_TYPE_UNSPECIFIED"
    definition: VariableDefinition | None = None


class AllOption(WireObject):
    """The option to choose all values at once."""

    include_all: bool = False
    label: str = ""


class StaticValue(WireObject):
    """One value to choose."""

    is_default: bool = False
    label: str = ""
    value: str = ""


class StaticSource(WireObject):
    """A written list of values."""

    all_option: AllOption | None = None
    values: list[StaticValue] = Field(default_factory=list)
    values_order_direction: OrderDirection = "ORDER_DIRECTION_UNSPECIFIED"


class VariableSource(WireObject):
    """Where the values come from; only static lists are documented."""

    static: StaticSource | None = None


class LabelledValue(WireObject):
    """A value and its name."""

    label: str = ""
    value: str = ""


class IntervalValue(WireObject):
    """A chosen interval."""

    value: LabelledValue | None = None


class VariableValue(WireObject):
    """The chosen values."""

    interval: IntervalValue | None = None


class VariableV2(Identified):
    """A variable of the second generation, known by its id."""

    name: str = ""
    display_name: str = ""
    description: str = ""
    display_full_row: bool = False
    display_type: VariableDisplayV2 = "VARIABLE_DISPLAY_TYPE_V2_UNSPECIFIED"
    source: VariableSource | None = None
    value: VariableValue | None = None


ActionDataSource = Annotated[str, OpenEnum("ACTION_DATA_SOURCE_TYPE_", "NONE_UNSPECIFIED")]
OriginType = Annotated[str, OpenEnum("TOKEN_ORIGIN_TYPE_", "UNSPECIFIED", "USER", "API")]

DASHBOARD_ID = "^[A-Za-z0-9_-]{21}$"  # docs/assumptions.md; a profile may allow others
DashboardId = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": DASHBOARD_ID})]
SlugName = Annotated[str, Field(max_length=255, pattern=r"^[a-z0-9]+(?:[-_]+[a-z0-9]+)*$")]


class FolderPath(WireObject):
    """A folder by name, at most two deep."""

    segments: Annotated[list[str], Field(min_length=1, max_length=2)]


class AbsoluteTimeFrame(WireObject):
    """From one moment to another."""

    from_: Annotated[Timestamp | None, Field(alias="from")] = None
    to: Timestamp | None = None


class GoToDashboardAction(WireObject):
    """Opens another dashboard."""

    dashboard_id: str = ""


class ActionDefinition(WireObject):
    """The definition of an action."""

    go_to_dashboard_action: GoToDashboardAction | None = None


class Action(WireObject):
    """An action that a widget offers."""

    id: str = ""
    name: str = ""
    data_source: ActionDataSource = "ACTION_DATA_SOURCE_TYPE_NONE_UNSPECIFIED"
    definition: ActionDefinition | None = None
    should_open_in_new_window: bool = False
    widget_id: str = ""


class SelectedValues(WireObject):
    """The values of a list; an empty list selects none."""

    values: list[str] = Field(default_factory=list)


class Selection(WireObject):
    """All values, or those of a list."""

    all: Empty | None = None
    list_: Annotated[SelectedValues | None, Field(alias="list")] = None


class MetricsOperatorEquals(WireObject):
    """The label equals one of the selected values."""

    selection: Selection | None = None


class MetricsOperator(WireObject):
    """How a label is compared."""

    equals: MetricsOperatorEquals | None = None


class MetricsFilterSource(WireObject):
    """A label of a metric."""

    label: str = ""
    metric: str = ""
    operator: MetricsOperator | None = None


class FilterSource(WireObject):
    """Where the filtered values come from."""

    metrics: MetricsFilterSource | None = None


class DashboardFilter(Identified):
    """A filter over the whole dashboard."""

    display_name: str = ""
    enabled: bool = False
    collapsed: bool = False
    source: FilterSource | None = None


class Dashboard(WireObject):
    """The dashboard itself."""

    id: DashboardId | None = None
    name: Annotated[str, Field(min_length=1, max_length=4096)]
    description: Annotated[str, Field(max_length=4096)] = ""
    slug_name: SlugName | None = None
    folder_id: Identifier | None = None
    folder_path: FolderPath | None = None
    off: Empty | None = None
    two_minutes: Empty | None = None
    five_minutes: Empty | None = None
    relative_time_frame: Annotated[str, Field(min_length=2, max_length=64)] | None = None
    absolute_time_frame: AbsoluteTimeFrame | None = None
    layout: Layout | None = None
    actions: Annotated[list[Action], Field(max_length=1000)] = Field(default_factory=list)
    annotations: Annotated[list[Annotation], Field(max_length=1000)] = Field(default_factory=list)
    filters: Annotated[list[DashboardFilter], Field(max_length=1000)] = Field(default_factory=list)
    variables: Annotated[list[Variable], Field(max_length=1000)] = Field(default_factory=list)
    variables_v2: Annotated[list[VariableV2], Field(max_length=1000)] = Field(default_factory=list)

    _one_refresh = choice("off", "two_minutes", "five_minutes")
    _one_time_frame = choice("relative_time_frame", "absolute_time_frame")
    _one_folder = choice("folder_id", "folder_path")

    def widgets(self) -> list[Widget]:
        """Return all widgets, in reading order."""
        sections = self.layout.sections if self.layout else []
        return [widget for section in sections for row in section.rows for widget in row.widgets]


class DashboardWriteRequest(WireObject):
    """Request of endpoints 3 and 4."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {
            "authorId",
            "authorName",
            "createdAt",
            "createdOriginType",
            "updatedAt",
            "updatedOriginType",
            "updaterAuthorId",
            "updaterName",
            "lockerAuthorId",
            "lockerName",
        }
    )

    dashboard: Dashboard
    request_id: Annotated[str, Field(min_length=1)]
    is_locked: bool | None = None


class DashboardCreateReply(WireObject):
    """Reply of endpoint 3."""

    dashboard_id: str


class StoredDashboard(WireObject):
    """Reply of endpoints 5 and 6; the locker is there while it is locked."""

    metadata: ClassVar[frozenset[str]] = DashboardWriteRequest.read_only

    dashboard: Dashboard
    is_locked: bool = False
    author_id: str = ""
    author_name: str = ""
    created_at: Timestamp
    created_origin_type: OriginType = "TOKEN_ORIGIN_TYPE_UNSPECIFIED"
    updated_at: Timestamp
    updated_origin_type: OriginType = "TOKEN_ORIGIN_TYPE_UNSPECIFIED"
    updater_author_id: str = ""
    updater_name: str = ""
    locker_author_id: str | None = None
    locker_name: str | None = None
