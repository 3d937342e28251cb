"""Actions, annotations, filters and variables of a dashboard.

The API document shows one member of each choice; if others may exist, the part is not `complete`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field

from reconciler.kinds import field_traits as of

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
