"""The part of an alert definition that belongs to its type, by the name of the part."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final, TypeAlias

from pydantic import Field

from reconciler.kinds.field_traits import (
    AtMost,
    Choosing,
    Flag,
    Int64Text,
    Number,
    ObservedPart,
    Part,
    Refers,
    Text,
    TextList,
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
]
MANY_RULES: Final = AtMost(5, 1)
ONE_RULE: Final = AtMost(1, 1)


class Override(ObservedPart):
    """Settings of one rule that differ from the alert."""

    priority: Priority = None
    """The priority of this rule, instead of that of the alert."""


class UndetectedValues(ObservedPart):
    """The handling of series that stopped sending data."""

    complete: ClassVar[bool] = False

    trigger_undetected_values: Flag = None
    """Whether a series that stopped sending data triggers too."""


class MetricFilter(ObservedPart):
    """The series that count."""

    needed: ClassVar[tuple[str, ...]] = ("promql",)

    promql: Annotated[Text, AtMost(65_535)] = None
    """The metric, as PromQL; it is sent as written."""


class MetricTimeWindow(ObservedPart):
    """The window in which a metric is evaluated."""

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
    """One of the windows that the service offers."""
    metric_time_window_dynamic_duration: Text = None
    """Any window, as a duration like `1h15m`."""


class MetricThresholdCondition(ObservedPart):
    """The condition of a rule on a metric."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "threshold", "ofTheLast")

    condition_type: Annotated[
        Text, examples("METRIC_THRESHOLD_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN")
    ] = None
    """The side of the threshold on which the rule is met."""
    threshold: Number = None
    """The number that the metric is compared with."""
    for_over_pct: int | None = None
    """The share of the window for which the condition must be met, in per cent."""
    of_the_last: MetricTimeWindow | None = None
    """The window in which the metric is evaluated."""


class MetricThresholdRule(ObservedPart):
    """One rule of a metric threshold."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: MetricThresholdCondition | None = None
    """The condition of the rule."""
    override: Override | None = None
    """Settings of this rule that differ from the alert, such as its priority."""


class MissingValues(ObservedPart):
    """The handling of gaps in a series."""

    min_non_null_values_pct: int | None = None
    """The share of values that must be present for a window to count, in per cent."""
    replace_with_zero: Flag = None
    """Whether a missing value counts as 0."""


class MetricThreshold(ObservedPart):
    """Alerts when a metric crosses a threshold."""

    needed: ClassVar[tuple[str, ...]] = ("metricFilter", "rules")

    metric_filter: MetricFilter | None = None
    """The metric that is evaluated."""
    rules: Annotated[list[MetricThresholdRule] | None, MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules; each may have its own priority."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late data before the alert is evaluated."""
    missing_values: MissingValues | None = None
    """The handling of gaps in a series."""
    undetected_values_management: UndetectedValues | None = None
    """What to do about series that stopped sending data."""


class FlowAlert(ObservedPart):
    """One alert of a flow; `id` is its id in the service."""

    needed: ClassVar[tuple[str, ...]] = ("id",)

    id: Annotated[
        Text,
        Refers("AlertDefinition"),
    ] = None
    """The id of the alert: `${ref:AlertDefinition/name}`, or a uuid."""
    not_: Annotated[Flag, Field(alias="not")] = None
    """Whether the condition is that the alert did not happen."""


class FlowGroup(ObservedPart):
    """Alerts of one stage that are evaluated together."""

    needed: ClassVar[tuple[str, ...]] = ("alertDefs",)

    alert_defs: list[FlowAlert] | None = None
    """The alerts of the group."""
    alerts_op: Annotated[Text, examples("ALERTS_OP_", "OR")] = None
    """How the alerts of the group are joined."""
    next_op: Annotated[Text, examples("NEXT_OP_", "AND_OR_UNSPECIFIED")] = None
    """How the group is joined with the next one."""


class FlowGroups(ObservedPart):
    """The groups of one stage."""

    needed: ClassVar[tuple[str, ...]] = ("groups",)

    groups: list[FlowGroup] | None = None
    """The groups, in their order."""


class FlowStage(ObservedPart):
    """One stage of a flow."""

    needed: ClassVar[tuple[str, ...]] = ("flowStagesGroups",)

    timeframe_ms: Annotated[Int64Text | None, Unit.MILLISECONDS] = None
    """Milliseconds that the stage may take."""
    timeframe_type: Annotated[Text, examples("TIMEFRAME_TYPE_", "UP_TO")] = None
    """The meaning of the time of the stage."""
    flow_stages_groups: FlowGroups | None = None
    """The alerts that make the stage."""


class Flow(ObservedPart):
    """Alerts when other alerts happen in a given order."""

    needed: ClassVar[tuple[str, ...]] = ("stages",)

    stages: Annotated[list[FlowStage] | None, AtMost(30, 1)] = None
    """The stages, in the order in which they must happen."""
    enforce_suppression: Flag = None
    """Not in the API document; only its name was observed."""


class SloDefinition(ObservedPart):
    """The SLO an alert watches."""

    needed: ClassVar[tuple[str, ...]] = ("sloId",)

    slo_id: Annotated[Text, Refers("SLO")] = None
    """The id of the SLO: `${ref:SLO/name}`, or a uuid."""


class SloCondition(ObservedPart):
    """A threshold of the budget."""

    needed: ClassVar[tuple[str, ...]] = ("threshold",)

    threshold: Number = None
    """The number at which the rule is met."""


class SloRule(ObservedPart):
    """One rule of an SLO alert."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: SloCondition | None = None
    """The condition of the rule."""
    override: Override | None = None
    """Settings of this rule that differ from the alert, such as its priority."""


class ErrorBudget(ObservedPart):
    """Alerts when this much of the error budget is left."""

    needed: ClassVar[tuple[str, ...]] = ("rules",)

    rules: Annotated[list[SloRule] | None, MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules; each may have its own priority."""


class SloThreshold(ObservedPart):
    """Alerts on an SLO."""

    complete: ClassVar[bool] = False
    needed: ClassVar[tuple[str, ...]] = ("sloDefinition",)

    slo_definition: SloDefinition | None = None
    """The SLO that the alert watches."""
    error_budget: ErrorBudget | None = None
    """Triggers on how much of the error budget is left."""


class AnyRule(ObservedPart):
    """A rule with an undocumented condition."""

    complete: ClassVar[bool] = False

    override: Override | None = None
    """Settings of this rule that differ from the alert, such as its priority."""


class SingleRulePart(ObservedPart):
    """A part that is only known to have one rule."""

    complete: ClassVar[bool] = False

    rules: Annotated[list[AnyRule] | None, ONE_RULE] = None
    """The only rule, by which the alert triggers; its condition is not documented."""


class RulesPart(ObservedPart):
    """A part that is only known to have rules."""

    complete: ClassVar[bool] = False

    rules: Annotated[list[AnyRule] | None, MANY_RULES] = None
    """The rules by which the alert triggers; their conditions are not documented."""


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
    """How a value is compared with the listed values."""
    values: Annotated[TextList, Unordered()] = None
    """The values, in any order."""


class SpanFieldFilter(Part):
    """One condition on a field of a span."""

    key: Text = None
    """The name of the field of the span."""
    filter_type: TracingLabelFilter | None = None
    """The condition on its value."""


class TracingLabelFilters(Part):
    """Conditions on the labels of a span."""

    application_name: list[TracingLabelFilter] | None = None
    """Conditions on the name of the application."""
    operation_name: list[TracingLabelFilter] | None = None
    """Conditions on the name of the operation."""
    service_name: list[TracingLabelFilter] | None = None
    """Conditions on the name of the service."""
    subsystem_name: list[TracingLabelFilter] | None = None
    """Conditions on the name of the subsystem."""
    span_fields: list[SpanFieldFilter] | None = None
    """Conditions on other fields of the span."""


class TracingSimpleFilter(Part):
    """A latency, and conditions on labels."""

    latency_threshold_ms: Annotated[Int64Text | None, Unit.MILLISECONDS] = None
    """The latency of the spans to match, in milliseconds; sent as text."""
    tracing_label_filters: TracingLabelFilters | None = None
    """Conditions on the labels of the span."""


class TracingFilter(Part):
    """The spans that count."""

    complete: ClassVar[bool] = False

    simple_filter: TracingSimpleFilter | None = None
    """A latency, and conditions on labels."""


class TracingImmediate(Part):
    """Alerts on each span that matches."""

    notification_payload_filter: TextList = None
    """The fields of the span that are in the notification; their form is not documented."""
    tracing_filter: TracingFilter | None = None
    """The spans that trigger the alert."""


LOG_SEVERITY: Final = examples("LOG_SEVERITY_", "INFO", "WARNING", "ERROR", "CRITICAL")


class LabelFilter(ObservedPart):
    """One condition on a label."""

    operation: Annotated[
        Text,
        examples(
            "LOG_FILTER_OPERATION_TYPE_",
            *("IS_OR_UNSPECIFIED", "INCLUDES", "STARTS_WITH", "ENDS_WITH"),
        ),
    ] = None
    """How the label is compared with the value."""
    value: Text = None
    """The value that the label is compared with."""


class LabelFilters(ObservedPart):
    """Conditions on the labels of a log line."""

    application_name: list[LabelFilter] | None = None
    """Conditions on the name of the application."""
    subsystem_name: list[LabelFilter] | None = None
    """Conditions on the name of the subsystem."""
    severities: Annotated[list[Annotated[str, LOG_SEVERITY]] | None, Unordered()] = None
    """The severities of the lines, in any order."""


class SimpleFilter(ObservedPart):
    """A query, and conditions on labels."""

    lucene_query: Text = None
    """The lines to match, as a Lucene query; it is sent as written."""
    label_filters: LabelFilters | None = None
    """Conditions on the labels of the line."""


class LogsFilter(ObservedPart):
    """The log lines that count."""

    complete: ClassVar[bool] = False

    simple_filter: SimpleFilter | None = None
    """A query, and conditions on labels."""


class LogsTimeWindow(ObservedPart):
    """The window in which log lines are counted."""

    complete: ClassVar[bool] = False
    needed: ClassVar[tuple[str, ...]] = ("logsTimeWindowSpecificValue",)

    logs_time_window_specific_value: Annotated[
        Text,
        examples("LOGS_TIME_WINDOW_VALUE_", "MINUTES_5_OR_UNSPECIFIED", "MINUTES_10", "MINUTES_30"),
    ] = None
    """One of the windows that the service offers."""


class LogsThresholdCondition(ObservedPart):
    """The condition of a rule on a count of log lines."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "threshold", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_THRESHOLD_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED")
    ] = None
    """The side of the threshold on which the rule is met."""
    threshold: Number = None
    """The number that the count of lines is compared with."""
    time_window: LogsTimeWindow | None = None
    """The window in which lines are counted."""


class LogsThresholdRule(ObservedPart):
    """One rule of a log threshold."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsThresholdCondition | None = None
    """The condition of the rule."""
    override: Override | None = None
    """Settings of this rule that differ from the alert, such as its priority."""


class LogsThreshold(ObservedPart):
    """Alerts when there are more or fewer log lines than a threshold."""

    needed: ClassVar[tuple[str, ...]] = ("rules",)

    logs_filter: LogsFilter | None = None
    """The log lines that are counted."""
    rules: Annotated[list[LogsThresholdRule] | None, MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules; each may have its own priority."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: TextList = None
    """The fields of the line that are in the notification."""
    undetected_values_management: UndetectedValues | None = None
    """What to do about groups that stopped sending data."""


class LogsAnomalyCondition(ObservedPart):
    """The condition for an unusual count of log lines."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_ANOMALY_CONDITION_TYPE_", "MORE_THAN_USUAL_OR_UNSPECIFIED")
    ] = None
    """The direction in which a count is unusual."""
    minimum_threshold: Number = None
    """Counts below this number are never unusual."""
    time_window: LogsTimeWindow | None = None
    """The window in which lines are counted."""


class LogsAnomalyRule(ObservedPart):
    """The rule of a log anomaly."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsAnomalyCondition | None = None
    """The condition of the rule."""
    override: Override | None = None
    """Settings of this rule that differ from the alert, such as its priority."""


class LogsAnomaly(ObservedPart):
    """Alerts when the number of log lines is unusual."""

    needed: ClassVar[tuple[str, ...]] = ("rules",)

    logs_filter: LogsFilter | None = None
    """The log lines that are counted."""
    rules: Annotated[list[LogsAnomalyRule] | None, ONE_RULE] = None
    """The only rule; the alert triggers by it."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: TextList = None
    """The fields of the line that are in the notification."""


class LogsRatioTimeWindow(ObservedPart):
    """The window in which two counts of log lines are compared."""

    complete: ClassVar[bool] = False
    needed: ClassVar[tuple[str, ...]] = ("logsRatioTimeWindowSpecificValue",)

    logs_ratio_time_window_specific_value: Annotated[
        Text,
        examples("LOGS_RATIO_TIME_WINDOW_VALUE_", "MINUTES_5_OR_UNSPECIFIED", "MINUTES_15"),
    ] = None
    """One of the windows that the service offers."""


class LogsRatioCondition(ObservedPart):
    """The condition of a rule on a ratio."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "threshold", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_RATIO_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN")
    ] = None
    """The side of the threshold on which the rule is met."""
    threshold: Number = None
    """The number that the ratio is compared with."""
    time_window: LogsRatioTimeWindow | None = None
    """The window in which both counts are taken."""


class LogsRatioRule(ObservedPart):
    """One rule of a log ratio."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsRatioCondition | None = None
    """The condition of the rule."""
    override: Override | None = None
    """Settings of this rule that differ from the alert, such as its priority."""


class LogsRatioThreshold(ObservedPart):
    """Alerts on the ratio of two counts of log lines."""

    needed: ClassVar[tuple[str, ...]] = ("numerator", "denominator", "rules")

    numerator: LogsFilter | None = None
    """The lines that are counted for the numerator of the ratio."""
    numerator_alias: Text = None
    """The name of the numerator in messages."""
    denominator: LogsFilter | None = None
    """The lines that are counted for the denominator of the ratio."""
    denominator_alias: Text = None
    """The name of the denominator in messages."""
    rules: Annotated[list[LogsRatioRule] | None, MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules; each may have its own priority."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: TextList = None
    """The fields of the line that are in the notification."""
    ignore_infinity: Flag = None
    """Whether a ratio with a denominator of 0 is ignored."""
    undetected_values_management: UndetectedValues | None = None
    """What to do about groups that stopped sending data."""


class LogsImmediate(ObservedPart):
    """Alerts on each log line that matches."""

    complete: ClassVar[bool] = False

    logs_filter: LogsFilter | None = None
    """The log lines that trigger the alert."""
    notification_payload_filter: TextList = None
    """The fields of the line that are in the notification."""


class UniqueCountCondition(ObservedPart):
    """The condition on a count of unique values."""

    complete: ClassVar[bool] = False

    max_unique_count: Int64Text | None = None
    """The number of unique values above which the rule is met."""


class UniqueCountRule(ObservedPart):
    """The rule of a unique count."""

    complete: ClassVar[bool] = False

    condition: UniqueCountCondition | None = None
    """The condition of the rule."""


class LogsUniqueCount(ObservedPart):
    """Alerts on the number of unique values of a field."""

    complete: ClassVar[bool] = False

    rules: Annotated[list[UniqueCountRule] | None, ONE_RULE] = None
    """The only rule; the alert triggers by it."""
