"""Actions, annotations, filters and variables of a dashboard.

The API document shows one member of each choice; where others may exist, the
part is not `complete`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field

from reconciler.kinds.fields import (
    Empty,
    Flag,
    IdValue,
    Names,
    Observed,
    ObservedPart,
    Opaque,
    Part,
    Refers,
    Text,
    Unordered,
    known,
)

DatasetScope: TypeAlias = Annotated[Text, known("DATASET_SCOPE_", "UNSPECIFIED")]


class GoToDashboard(Part):
    """Opens another dashboard."""

    dashboard_id: Annotated[
        Text, Refers("Dashboard"), Field(description="`${ref:Dashboard/name}`, or an id.")
    ] = None


class ActionDefinition(Part):
    """What an action does."""

    complete: ClassVar[bool] = False

    go_to_dashboard_action: GoToDashboard | None = None


class Action(Part):
    """What a click on a widget may do."""

    id: Text = None
    name: Text = None
    data_source: Annotated[Text, known("ACTION_DATA_SOURCE_TYPE_", "NONE_UNSPECIFIED")] = None
    definition: ActionDefinition | None = None
    should_open_in_new_window: Flag = None
    widget_id: Text = None


class SpecificWidgets(Part):
    """Some widgets only."""

    widget_ids: Annotated[Names, Unordered()] = None


class AnnotationScope(Part):
    """On which widgets an annotation is drawn."""

    complete: ClassVar[bool] = False

    specific_widgets: SpecificWidgets | None = None


class DatasetField(Part):
    """A field of the data, by its path."""

    keypath: Names = None
    scope: DatasetScope = None


class QueryText(Part):
    """A query."""

    text: Text = None


class InstantStrategy(Part):
    """An annotation at one moment."""

    timestamp_field: DatasetField | None = None


class AnnotationStrategy(Part):
    """From which field an annotation takes its time."""

    complete: ClassVar[bool] = False

    instant: InstantStrategy | None = None


class QueryLanguageSource(Part):
    """Annotations from a query."""

    data_mode_type: Annotated[Text, known("DATA_MODE_TYPE_", "HIGH_UNSPECIFIED")] = None
    label_fields: list[DatasetField] | None = None
    message_template: Text = None
    orientation: Annotated[Text, known("ANNOTATION_ORIENTATION_", "VERTICAL_UNSPECIFIED")] = None
    query: QueryText | None = None
    strategy: AnnotationStrategy | None = None


class AnnotationSource(Part):
    """Where annotations come from."""

    complete: ClassVar[bool] = False

    query_language: QueryLanguageSource | None = None


class Annotation(Part):
    """Marks drawn over the widgets."""

    id: Text = None
    name: Text = None
    description: Text = None
    enabled: Flag = None
    color: Annotated[Text, known("ANNOTATION_COLOR_", "UNSPECIFIED")] = None
    scope: AnnotationScope | None = None
    source: AnnotationSource | None = None


class SelectedValues(ObservedPart):
    """The values picked; an empty list is not all of them."""

    values: Annotated[Names, Unordered()] = None


class Selection(Part):
    """All values, or a list of them."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("all", "list")),)

    all: Empty | None = None
    list_: Annotated[SelectedValues | None, Field(alias="list"), Observed()] = None


class Equals(Part):
    """Keeps what equals the selection."""

    selection: Selection | None = None


class FilterOperator(Part):
    """How a filter compares."""

    complete: ClassVar[bool] = False

    equals: Equals | None = None


class MetricsFilter(Part):
    """A filter on a label of metrics."""

    label: Text = None
    metric: Text = None
    operator: FilterOperator | None = None


class FilterSource(Part):
    """The data a filter is for."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(("metrics", "logs", "spans")),)
    complete: ClassVar[bool] = False

    metrics: MetricsFilter | None = None
    logs: Annotated[Opaque | None, Observed()] = None
    spans: Annotated[Opaque | None, Observed()] = None


class Filter(Part):
    """A filter for the whole dashboard."""

    id: IdValue | None = None
    display_name: Text = None
    enabled: Flag = None
    collapsed: Flag = None
    source: FilterSource | None = None


class Constant(Part):
    """A fixed value."""

    value: Text = None


class VariableDefinition(Part):
    """Where a variable has its values from."""

    complete: ClassVar[bool] = False

    constant: Constant | None = None


class Variable(Part):
    """A variable of the first kind."""

    name: Text = None
    display_name: Text = None
    description: Text = None
    display_type: Annotated[Text, known("VARIABLE_DISPLAY_TYPE_", "UNSPECIFIED")] = None
    definition: VariableDefinition | None = None


class AllOption(Part):
    """Whether "all" may be picked."""

    include_all: Flag = None
    label: Text = None


class StaticValue(Part):
    """A value that may be picked."""

    is_default: Flag = None
    label: Text = None
    value: Text = None


class StaticSource(Part):
    """Values that are written down."""

    all_option: AllOption | None = None
    values: list[StaticValue] | None = None
    values_order_direction: Annotated[Text, known("ORDER_DIRECTION_", "UNSPECIFIED")] = None


class VariableSource(Part):
    """Where a variable has its values from."""

    complete: ClassVar[bool] = False

    static: StaticSource | None = None


class LabelledValue(Part):
    """A value and what it is called."""

    label: Text = None
    value: Text = None


class IntervalValue(Part):
    """The interval picked."""

    value: LabelledValue | None = None


class VariableValue(Part):
    """The value picked."""

    complete: ClassVar[bool] = False

    interval: IntervalValue | None = None


class VariableV2(Part):
    """A variable of the second kind."""

    id: IdValue | None = None
    name: Text = None
    display_name: Text = None
    description: Text = None
    display_full_row: Flag = None
    display_type: Annotated[Text, known("VARIABLE_DISPLAY_TYPE_V2_", "UNSPECIFIED")] = None
    source: VariableSource | None = None
    value: VariableValue | None = None
