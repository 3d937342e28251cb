"""The part of an alert on single traces, the only part the API document shows."""

from typing import ClassVar

from pydantic import Field

from reconciler.emulator.models.enumerations import TracingOperation
from reconciler.emulator.models.wire import Int64, WireObject


class TracingFilterType(WireObject):
    """Values compared in one way."""

    operation: TracingOperation = "TRACING_FILTER_OPERATION_TYPE_IS_OR_UNSPECIFIED"
    values: list[str] = Field(default_factory=list)


class SpanField(WireObject):
    """A filter on any field of a span."""

    key: str = ""
    filter_type: TracingFilterType | None = None


class TracingLabelFilters(WireObject):
    """Filters on where a span comes from."""

    application_name: list[TracingFilterType] = Field(default_factory=list)
    operation_name: list[TracingFilterType] = Field(default_factory=list)
    service_name: list[TracingFilterType] = Field(default_factory=list)
    subsystem_name: list[TracingFilterType] = Field(default_factory=list)
    span_fields: list[SpanField] = Field(default_factory=list)


class SimpleTracingFilter(WireObject):
    """Slow spans with certain labels; the latency travels as text."""

    digits: ClassVar[tuple[str, ...]] = ("latency_threshold_ms",)

    latency_threshold_ms: Int64 = "0"
    tracing_label_filters: TracingLabelFilters | None = None


class TracingFilter(WireObject):
    """Wrapper of the simple filter."""

    simple_filter: SimpleTracingFilter | None = None


class TracingImmediate(WireObject):
    """An alert on each matching trace."""

    notification_payload_filter: list[str] = Field(default_factory=list)
    tracing_filter: TracingFilter | None = None
