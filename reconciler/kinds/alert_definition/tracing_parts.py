"""The part of alert definitions on spans that the API document shows."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from reconciler.kinds.fields import (
    Int64Text,
    Names,
    Part,
    Text,
    Unit,
    Unordered,
    known,
)


class TracingLabelFilter(Part):
    """One condition on a label of a span."""

    operation: Annotated[
        Text,
        known(
            "TRACING_FILTER_OPERATION_TYPE_",
            "IS_OR_UNSPECIFIED",
            "IS_NOT",
            "INCLUDES",
            "STARTS_WITH",
            "ENDS_WITH",
        ),
    ] = None
    values: Annotated[Names, Unordered()] = None


class SpanFieldFilter(Part):
    """One condition on a field of a span."""

    key: Text = None
    filter_type: TracingLabelFilter | None = None


class TracingLabelFilters(Part):
    """Conditions on the labels of a span."""

    application_name: list[TracingLabelFilter] | None = None
    operation_name: list[TracingLabelFilter] | None = None
    service_name: list[TracingLabelFilter] | None = None
    subsystem_name: list[TracingLabelFilter] | None = None
    span_fields: list[SpanFieldFilter] | None = None


class TracingSimpleFilter(Part):
    """A latency, and conditions on labels."""

    latency_threshold_ms: Annotated[
        Int64Text | None, Unit.MILLISECONDS, Field(description="Milliseconds, as text.")
    ] = None
    tracing_label_filters: TracingLabelFilters | None = None


class TracingFilter(Part):
    """Which spans count."""

    complete: ClassVar[bool] = False

    simple_filter: TracingSimpleFilter | None = None


class TracingImmediate(Part):
    """Alerts on each span that matches."""

    notification_payload_filter: Names = None
    tracing_filter: TracingFilter | None = None
