"""The part of an alert definition that belongs to its type."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final, TypeAlias

from pydantic import Field

from reconciler.kinds.fields import (
    AtMost,
    Choosing,
    Flag,
    Int64Text,
    Names,
    Number,
    ObservedPart,
    Part,
    Refers,
    Text,
    Unit,
    Unordered,
    examples,
    known,
)

TYPE_PARTS: Final = (
    "logsImmediate",
    "logsThreshold",
    "logsAnomaly",
    "logsRatioThreshold",
    "logsNewValue",
    "logsUniqueCount",
    "logsTimeRelativeThreshold",
    "metricThreshold",
    "metricAnomaly",
    "tracingImmediate",
    "tracingThreshold",
    "flow",
    "sloThreshold",
)


def _type_of(part: str) -> str:
    words = re.sub(r"(?=[A-Z])", "_", part).upper()
    return f"ALERT_DEF_TYPE_{words}" + ("_OR_UNSPECIFIED" if part == TYPE_PARTS[0] else "")


TYPE_OF: Final = {part: _type_of(part) for part in TYPE_PARTS}
"""The value of `type` that goes with each part."""

PRIORITY: Final = known("ALERT_DEF_PRIORITY_", "P1", "P2", "P3", "P4", "P5_OR_UNSPECIFIED")
Priority: TypeAlias = Annotated[Text, PRIORITY]
EvaluationDelay: TypeAlias = Annotated[
    int | None,
    AtMost(10_800_000, 0),
    Unit.MILLISECONDS,
    Field(description="How long to wait for late data."),
]
MANY_RULES: Final = AtMost(5, 1)
ONE_RULE: Final = AtMost(1, 1)


class Override(ObservedPart):
    """What one rule sets differently."""

    priority: Priority = None


class UndetectedValues(ObservedPart):
    """What to do about series that went silent."""

    complete: ClassVar[bool] = False

    trigger_undetected_values: Flag = None


class MetricFilter(ObservedPart):
    """Which series counts."""

    needed: ClassVar[tuple[str, ...]] = ("promql",)

    promql: Annotated[Text, AtMost(65_535)] = None


class MetricTimeWindow(ObservedPart):
    """The window in which a metric is looked at."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset(("metricTimeWindowSpecificValue", "metricTimeWindowDynamicDuration")),
    )
    choosing: ClassVar[Choosing] = Choosing.EXPECTED

    metric_time_window_specific_value: Annotated[
        Text,
        examples(
            "METRIC_TIME_WINDOW_VALUE_",
            *("MINUTES_5", "MINUTES_10", "MINUTES_15"),
        ),
    ] = None
    metric_time_window_dynamic_duration: Annotated[
        Text, Field(description='A duration, as "1h15m".')
    ] = None


class MetricThresholdCondition(ObservedPart):
    """When a rule on a metric is met."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "threshold", "ofTheLast")

    condition_type: Annotated[
        Text, examples("METRIC_THRESHOLD_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN")
    ] = None
    threshold: Number = None
    for_over_pct: Annotated[
        int | None, Field(description="For which share of the window, in per cent.")
    ] = None
    of_the_last: MetricTimeWindow | None = None


class MetricThresholdRule(ObservedPart):
    """One rule of a metric threshold."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: MetricThresholdCondition | None = None
    override: Override | None = None


class MissingValues(ObservedPart):
    """How gaps in a series are taken."""

    min_non_null_values_pct: int | None = None
    replace_with_zero: Flag = None


class MetricThreshold(ObservedPart):
    """Alerts when a metric crosses a threshold."""

    needed: ClassVar[tuple[str, ...]] = ("metricFilter", "rules")

    metric_filter: MetricFilter | None = None
    rules: Annotated[list[MetricThresholdRule] | None, MANY_RULES] = None
    evaluation_delay_ms: EvaluationDelay = None
    missing_values: MissingValues | None = None
    undetected_values_management: UndetectedValues | None = None


class FlowAlert(ObservedPart):
    """One alert of a flow; `id` is what the service calls it."""

    needed: ClassVar[tuple[str, ...]] = ("id",)

    id: Annotated[
        Text,
        Refers("AlertDefinition"),
        Field(description="`${ref:AlertDefinition/name}`, or a uuid."),
    ] = None
    not_: Annotated[Flag, Field(alias="not")] = None


class FlowGroup(ObservedPart):
    """Alerts of one stage that are taken together."""

    needed: ClassVar[tuple[str, ...]] = ("alertDefs",)

    alert_defs: list[FlowAlert] | None = None
    alerts_op: Annotated[Text, examples("ALERTS_OP_", "OR")] = None
    next_op: Annotated[Text, examples("NEXT_OP_", "AND_OR_UNSPECIFIED")] = None


class FlowGroups(ObservedPart):
    """The groups of one stage."""

    needed: ClassVar[tuple[str, ...]] = ("groups",)

    groups: list[FlowGroup] | None = None


class FlowStage(ObservedPart):
    """One stage of a flow."""

    needed: ClassVar[tuple[str, ...]] = ("flowStagesGroups",)

    timeframe_ms: Annotated[Int64Text | None, Unit.MILLISECONDS] = None
    timeframe_type: Annotated[Text, examples("TIMEFRAME_TYPE_", "UP_TO")] = None
    flow_stages_groups: FlowGroups | None = None


class Flow(ObservedPart):
    """Alerts when other alerts happen in a given order."""

    needed: ClassVar[tuple[str, ...]] = ("stages",)

    stages: Annotated[list[FlowStage] | None, AtMost(30, 1)] = None
    enforce_suppression: Flag = None


class SloDefinition(ObservedPart):
    """The SLO an alert watches."""

    needed: ClassVar[tuple[str, ...]] = ("sloId",)

    slo_id: Annotated[Text, Refers("SLO"), Field(description="`${ref:SLO/name}`, or a uuid.")] = (
        None
    )


class SloCondition(ObservedPart):
    """How much of the budget."""

    needed: ClassVar[tuple[str, ...]] = ("threshold",)

    threshold: Number = None


class SloRule(ObservedPart):
    """One rule of an SLO alert."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: SloCondition | None = None
    override: Override | None = None


class ErrorBudget(ObservedPart):
    """Alerts when this much of the error budget is left."""

    needed: ClassVar[tuple[str, ...]] = ("rules",)

    rules: Annotated[list[SloRule] | None, MANY_RULES] = None


class SloThreshold(ObservedPart):
    """Alerts on an SLO."""

    complete: ClassVar[bool] = False
    needed: ClassVar[tuple[str, ...]] = ("sloDefinition",)

    slo_definition: SloDefinition | None = None
    error_budget: ErrorBudget | None = None


class AnyRule(ObservedPart):
    """A rule whose condition is not shown."""

    complete: ClassVar[bool] = False

    override: Override | None = None


class SingleRulePart(ObservedPart):
    """A part of which no more is sure than that it has one rule."""

    complete: ClassVar[bool] = False

    rules: Annotated[list[AnyRule] | None, ONE_RULE] = None


class RulesPart(ObservedPart):
    """A part of which no more is sure than that it has rules."""

    complete: ClassVar[bool] = False

    rules: Annotated[list[AnyRule] | None, MANY_RULES] = None


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
