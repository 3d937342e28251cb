"""Actions, annotations, filters and variables of a dashboard.

The API document shows one member of each choice; if others may exist, the part is not `complete`.
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
    """The effect of an action."""

    complete: ClassVar[bool] = False

    go_to_dashboard_action: GoToDashboard | None = None
    """Opens another dashboard."""


class WidgetAction(Part):
    """An action of a click on a widget."""

    id: Text = None
    """The id of the action, any text that is unique among the actions."""
    name: Text = None
    """The name of the action in the menu."""
    data_source: Annotated[Text, known("ACTION_DATA_SOURCE_TYPE_", "NONE_UNSPECIFIED")] = None
    """The data of the action; only its zero value is documented."""
    definition: ActionDefinition | None = None
    """The effect of the action."""
    should_open_in_new_window: Flag = None
    """Whether it opens in a new window."""
    widget_id: Text = None
    """The id of the widget that the action is for."""


class SpecificWidgets(Part):
    """Some widgets only."""

    widget_ids: Annotated[TextList, Unordered()] = None
    """The ids of the widgets, in any order."""


class AnnotationScope(Part):
    """The widgets on which an annotation is drawn."""

    complete: ClassVar[bool] = False

    specific_widgets: SpecificWidgets | None = None
    """Draws the annotation on some widgets only."""


class DatasetField(Part):
    """A field of the data, by its path."""

    keypath: TextList = None
    """The names that lead to the field, from the outside in."""
    scope: DatasetScope = None
    """The kind of data of the field; only the zero value is documented."""


class QueryText(Part):
    """A query."""

    text: Text = None
    """The text of the query; it is sent as written."""


class InstantStrategy(Part):
    """An annotation at one moment."""

    timestamp_field: DatasetField | None = None
    """The field with the moment."""


class AnnotationStrategy(Part):
    """The field with the time of an annotation."""

    complete: ClassVar[bool] = False

    instant: InstantStrategy | None = None
    """Draws the annotation at one moment."""


class QueryLanguageSource(Part):
    """Annotations from a query."""

    data_mode_type: Annotated[Text, known("DATA_MODE_TYPE_", "HIGH_UNSPECIFIED")] = None
    """How the data is queried; only its zero value is documented."""
    label_fields: list[DatasetField] | None = None
    """The fields with the labels of the annotation."""
    message_template: Text = None
    """The text of the annotation."""
    orientation: Annotated[Text, known("ANNOTATION_ORIENTATION_", "VERTICAL_UNSPECIFIED")] = None
    """Whether the mark is vertical or horizontal; only the zero value, vertical, is documented."""
    query: QueryText | None = None
    """The query; its results are drawn."""
    strategy: AnnotationStrategy | None = None
    """The field with the time of the annotation."""


class AnnotationSource(Part):
    """The source of annotations."""

    complete: ClassVar[bool] = False

    query_language: QueryLanguageSource | None = None
    """Draws the results of a query."""


class Annotation(Part):
    """Marks drawn over the widgets."""

    id: Text = None
    """The id of the annotation, any text that is unique among the annotations."""
    name: Text = None
    """The name of the annotation."""
    description: Text = None
    """The meaning of the annotation, for people."""
    enabled: Flag = None
    """Whether the annotation is drawn."""
    color: Annotated[Text, known("ANNOTATION_COLOR_", "UNSPECIFIED")] = None
    """The colour of the mark; only its zero value is documented."""
    scope: AnnotationScope | None = None
    """The widgets on which the annotation is drawn."""
    source: AnnotationSource | None = None
    """The source of the annotation."""


class SelectedValues(ObservedPart):
    """The selected values; an empty list does not mean all of them."""

    values: Annotated[TextList, Unordered()] = None
    """The selected values, in any order; an empty list selects none."""


class ValueSelection(Part):
    """All values, or a list of them."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("all", "list")),)

    all: Empty | None = None
    """Selects all values; written as `{}`."""
    list_: Annotated[SelectedValues | None, Field(alias="list"), Observed()] = None
    """Selects the values of a list."""


class Equals(Part):
    """Keeps what equals the selection."""

    selection: ValueSelection | None = None
    """The values that pass."""


class FilterOperator(Part):
    """The comparison of a filter."""

    complete: ClassVar[bool] = False

    equals: Equals | None = None
    """Keeps what equals one of the values."""


class MetricsFilter(Part):
    """A filter on a label of metrics."""

    label: Text = None
    """The label that is filtered."""
    metric: Text = None
    """The metric with the label."""
    operator: FilterOperator | None = None
    """How the filter compares."""


class FilterSource(Part):
    """The data that a filter applies to."""

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
    """The id of the filter; if it is left out, one is generated and kept."""
    display_name: Text = None
    """The name of the filter on the dashboard."""
    enabled: Flag = None
    """Whether the filter has an effect."""
    collapsed: Flag = None
    """Whether the filter is collapsed."""
    source: FilterSource | None = None
    """The data that the filter applies to, and the values that it keeps."""


class Constant(Part):
    """A fixed value."""

    value: Text = None
    """The value of the variable."""


class VariableDefinition(Part):
    """The source of a variable's values."""

    complete: ClassVar[bool] = False

    constant: Constant | None = None
    """A fixed value; some services refuse such a variable."""


class Variable(Part):
    """A variable of the first kind."""

    name: Text = None
    """The name by which queries use the variable."""
    display_name: Text = None
    """The name of the variable on the dashboard."""
    description: Text = None
    """The purpose of the variable, for people."""
    display_type: Annotated[Text, known("VARIABLE_DISPLAY_TYPE_", "UNSPECIFIED")] = None
    """How the variable is shown; only its zero value is documented."""
    definition: VariableDefinition | None = None
    """The source of the variable's values."""


class AllOption(Part):
    """The choice "all" of a variable."""

    include_all: Flag = None
    """Whether all values may be selected at once."""
    label: Text = None
    """The name of that choice."""


class StaticValue(Part):
    """A value that may be selected."""

    is_default: Flag = None
    """Whether the value is selected at first."""
    label: Text = None
    """The name of the value on the dashboard."""
    value: Text = None
    """The value that queries get."""


class StaticSource(Part):
    """A fixed list of values."""

    all_option: AllOption | None = None
    """Whether all values may be selected at once."""
    values: list[StaticValue] | None = None
    """The values that may be selected."""
    values_order_direction: Annotated[Text, known("ORDER_DIRECTION_", "UNSPECIFIED")] = None
    """How the values are ordered; only the zero value is documented."""


class VariableSource(Part):
    """The source of a variable's values."""

    complete: ClassVar[bool] = False

    static: StaticSource | None = None
    """A fixed list of values."""


class LabelledValue(Part):
    """A value and its name."""

    label: Text = None
    """The name of the value on the dashboard."""
    value: Text = None
    """The value that queries get."""


class IntervalValue(Part):
    """The selected interval."""

    value: LabelledValue | None = None
    """The selected interval."""


class VariableValue(Part):
    """The selected value."""

    complete: ClassVar[bool] = False

    interval: IntervalValue | None = None
    """The selected interval."""


class VariableV2(Part):
    """A variable of the second kind."""

    id: IdValue | None = None
    """The id of the variable; if it is left out, one is generated and kept."""
    name: Text = None
    """The name by which queries use the variable."""
    display_name: Text = None
    """The name of the variable on the dashboard."""
    description: Text = None
    """The purpose of the variable, for people."""
    display_full_row: Flag = None
    """Whether the variable has a row of its own on the dashboard."""
    display_type: Annotated[Text, known("VARIABLE_DISPLAY_TYPE_V2_", "UNSPECIFIED")] = None
    """How the variable is shown; only its zero value is documented."""
    source: VariableSource | None = None
    """The source of the variable's values."""
    value: VariableValue | None = None
    """The selected value."""
