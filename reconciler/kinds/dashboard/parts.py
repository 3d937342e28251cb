"""Actions, annotations, filters and variables of a dashboard.

The API document shows one member of each choice; where others may exist, the
part is not `complete`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field

from reconciler.kinds.field_traits import (
    Empty,
    Flag,
    IdValue,
    Observed,
    ObservedPart,
    Opaque,
    Part,
    Refers,
    Text,
    TextList,
    Unordered,
    known,
)

DatasetScope: TypeAlias = Annotated[Text, known("DATASET_SCOPE_", "UNSPECIFIED")]


class GoToDashboard(Part):
    """Opens another dashboard."""

    dashboard_id: Annotated[Text, Refers("Dashboard")] = None
    """The id of the dashboard: `${ref:Dashboard/name}`, or an id."""


class ActionDefinition(Part):
    """What an action does."""

    complete: ClassVar[bool] = False

    go_to_dashboard_action: GoToDashboard | None = None
    """Opens another dashboard."""


class WidgetAction(Part):
    """What a click on a widget may do."""

    id: Text = None
    """The id of the action, any text that is unique among the actions."""
    name: Text = None
    """What the action is called in the menu."""
    data_source: Annotated[Text, known("ACTION_DATA_SOURCE_TYPE_", "NONE_UNSPECIFIED")] = None
    """What data the action is about; only its zero value is documented."""
    definition: ActionDefinition | None = None
    """What the action does."""
    should_open_in_new_window: Flag = None
    """Whether it opens in a new window."""
    widget_id: Text = None
    """The id of the widget that the action is for."""


class SpecificWidgets(Part):
    """Some widgets only."""

    widget_ids: Annotated[TextList, Unordered()] = None
    """The ids of the widgets, in any order."""


class AnnotationScope(Part):
    """On which widgets an annotation is drawn."""

    complete: ClassVar[bool] = False

    specific_widgets: SpecificWidgets | None = None
    """Draws the annotation on some widgets only."""


class DatasetField(Part):
    """A field of the data, by its path."""

    keypath: TextList = None
    """The names that lead to the field, from the outside in."""
    scope: DatasetScope = None
    """The kind of data that the field is of; only the zero value is documented.
    """


class QueryText(Part):
    """A query."""

    text: Text = None
    """The text of the query; it is sent as written."""


class InstantStrategy(Part):
    """An annotation at one moment."""

    timestamp_field: DatasetField | None = None
    """The field that holds the moment."""


class AnnotationStrategy(Part):
    """From which field an annotation takes its time."""

    complete: ClassVar[bool] = False

    instant: InstantStrategy | None = None
    """Draws the annotation at one moment."""


class QueryLanguageSource(Part):
    """Annotations from a query."""

    data_mode_type: Annotated[Text, known("DATA_MODE_TYPE_", "HIGH_UNSPECIFIED")] = None
    """How the data is asked for; only its zero value is documented."""
    label_fields: list[DatasetField] | None = None
    """The fields whose values label the annotation."""
    message_template: Text = None
    """The text of the annotation."""
    orientation: Annotated[Text, known("ANNOTATION_ORIENTATION_", "VERTICAL_UNSPECIFIED")] = None
    """Whether the mark stands or lies; only the zero value, standing, is documented."""
    query: QueryText | None = None
    """The query whose results are drawn."""
    strategy: AnnotationStrategy | None = None
    """From which field the annotation takes its time."""


class AnnotationSource(Part):
    """Where annotations come from."""

    complete: ClassVar[bool] = False

    query_language: QueryLanguageSource | None = None
    """Draws the results of a query."""


class Annotation(Part):
    """Marks drawn over the widgets."""

    id: Text = None
    """The id of the annotation, any text that is unique among the annotations."""
    name: Text = None
    """What the annotation is called."""
    description: Text = None
    """What the annotation marks, for people."""
    enabled: Flag = None
    """Whether the annotation is drawn."""
    color: Annotated[Text, known("ANNOTATION_COLOR_", "UNSPECIFIED")] = None
    """The colour of the mark; only its zero value is documented."""
    scope: AnnotationScope | None = None
    """On which widgets the annotation is drawn."""
    source: AnnotationSource | None = None
    """Where the annotation comes from."""


class SelectedValues(ObservedPart):
    """The values picked; an empty list is not all of them."""

    values: Annotated[TextList, Unordered()] = None
    """The values that are picked, in any order; an empty list is none of them."""


class ValueSelection(Part):
    """All values, or a list of them."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("all", "list")),)

    all: Empty | None = None
    """Picks all values; written as `{}`."""
    list_: Annotated[SelectedValues | None, Field(alias="list"), Observed()] = None
    """Picks the values of a list."""


class Equals(Part):
    """Keeps what equals the selection."""

    selection: ValueSelection | None = None
    """The values that pass."""


class FilterOperator(Part):
    """How a filter compares."""

    complete: ClassVar[bool] = False

    equals: Equals | None = None
    """Keeps what equals one of the values."""


class MetricsFilter(Part):
    """A filter on a label of metrics."""

    label: Text = None
    """The label that is filtered by."""
    metric: Text = None
    """The metric whose label is meant."""
    operator: FilterOperator | None = None
    """How the filter compares."""


class FilterSource(Part):
    """The data a filter is for."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("metrics", "logs", "spans")),)
    complete: ClassVar[bool] = False

    metrics: MetricsFilter | None = None
    """A filter on a label of metrics."""
    logs: Annotated[Opaque | None, Observed()] = None
    """A filter on a field of log lines."""
    spans: Annotated[Opaque | None, Observed()] = None
    """A filter on a field of spans."""


class Filter(Part):
    """A filter for the whole dashboard."""

    id: IdValue | None = None
    """The id of the filter; one is made up, and kept, where it is left out."""
    display_name: Text = None
    """What the filter is called on the dashboard."""
    enabled: Flag = None
    """Whether the filter has an effect."""
    collapsed: Flag = None
    """Whether the filter is folded."""
    source: FilterSource | None = None
    """The data that the filter is for, and what it keeps."""


class Constant(Part):
    """A fixed value."""

    value: Text = None
    """The value of the variable."""


class VariableDefinition(Part):
    """Where a variable has its values from."""

    complete: ClassVar[bool] = False

    constant: Constant | None = None
    """A value that is fixed; some services refuse such a variable."""


class Variable(Part):
    """A variable of the first kind."""

    name: Text = None
    """The name by which queries use the variable."""
    display_name: Text = None
    """What the variable is called on the dashboard."""
    description: Text = None
    """What the variable is for, for people."""
    display_type: Annotated[Text, known("VARIABLE_DISPLAY_TYPE_", "UNSPECIFIED")] = None
    """How the variable is shown; only its zero value is documented."""
    definition: VariableDefinition | None = None
    """Where the variable has its values from."""


class AllOption(Part):
    """Whether "all" may be picked."""

    include_all: Flag = None
    """Whether all values may be picked at once."""
    label: Text = None
    """What that choice is called."""


class StaticValue(Part):
    """A value that may be picked."""

    is_default: Flag = None
    """Whether the value is picked at first."""
    label: Text = None
    """What the value is called on the dashboard."""
    value: Text = None
    """The value that queries get."""


class StaticSource(Part):
    """Values that are written down."""

    all_option: AllOption | None = None
    """Whether all values may be picked at once."""
    values: list[StaticValue] | None = None
    """The values that may be picked."""
    values_order_direction: Annotated[Text, known("ORDER_DIRECTION_", "UNSPECIFIED")] = None
    """How the values are ordered; only the zero value is documented."""


class VariableSource(Part):
    """Where a variable has its values from."""

    complete: ClassVar[bool] = False

    static: StaticSource | None = None
    """Values that are written down here."""


class LabelledValue(Part):
    """A value and what it is called."""

    label: Text = None
    """What the value is called on the dashboard."""
    value: Text = None
    """The value that queries get."""


class IntervalValue(Part):
    """The interval picked."""

    value: LabelledValue | None = None
    """The interval that is picked."""


class VariableValue(Part):
    """The value picked."""

    complete: ClassVar[bool] = False

    interval: IntervalValue | None = None
    """The interval that is picked."""


class VariableV2(Part):
    """A variable of the second kind."""

    id: IdValue | None = None
    """The id of the variable; one is made up, and kept, where it is left out."""
    name: Text = None
    """The name by which queries use the variable."""
    display_name: Text = None
    """What the variable is called on the dashboard."""
    description: Text = None
    """What the variable is for, for people."""
    display_full_row: Flag = None
    """Whether the variable has a row of its own on the dashboard."""
    display_type: Annotated[Text, known("VARIABLE_DISPLAY_TYPE_V2_", "UNSPECIFIED")] = None
    """How the variable is shown; only its zero value is documented."""
    source: VariableSource | None = None
    """Where the variable has its values from."""
    value: VariableValue | None = None
    """What is picked."""
