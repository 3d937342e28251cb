"""Annotations: marks over the charts of a dashboard."""

from typing import Annotated

from pydantic import Field

from reconciler.emulator.models.dashboard_layout import QUERY_LIMIT
from reconciler.emulator.models.enumerations import (
    AnnotationColor,
    AnnotationOrientation,
    DataMode,
    DatasetScope,
)
from reconciler.emulator.models.wire import WireObject


class ObservationField(WireObject):
    """A field of the data, by path and dataset."""

    keypath: list[str] = Field(default_factory=list)
    scope: DatasetScope = "DATASET_SCOPE_UNSPECIFIED"


class AnnotationQuery(WireObject):
    """What the annotation looks for."""

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
