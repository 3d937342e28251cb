"""The part of an alert definition that belongs to its type, by the name of the part."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final, Generic, TypeAlias, TypeVar

from pydantic import Field

from reconciler.kinds import field_traits as of

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

PRIORITY: Final = of.known("ALERT_DEF_PRIORITY_", "P1", "P2", "P3", "P4", "P5_OR_UNSPECIFIED")
Priority: TypeAlias = Annotated[of.Text, PRIORITY]
EvaluationDelay: TypeAlias = Annotated[
    int | None,
    of.AtMost(10_800_000, 0),
    of.Unit.MILLISECONDS,
]
MANY_RULES: Final = of.AtMost(5, 1)
ONE_RULE: Final = of.AtMost(1, 1)


class Override(of.ObservedPart):
    """Settings of one rule that differ from the alert."""

    priority: Priority = None
    """The priority of this rule, instead of that of the alert."""


Condition = TypeVar("Condition", bound=of.Part)


class ConditionRule(of.ObservedPart, Generic[Condition]):
    """A rule with a condition that is known."""

    condition: Annotated[Condition | None, of.Needed()] = None
    """The condition of the rule."""
    override: Override | None = None
    """Settings of this rule that differ from the alert, such as its priority."""


class UndetectedValues(of.PartlyObserved):
    """The handling of series that stopped sending data."""

    trigger_undetected_values: of.Flag = None
    """Whether a series that stopped sending data triggers too."""


class MetricFilter(of.ObservedPart):
    """The series that count."""

    promql: Annotated[of.Text, of.Needed(), of.AtMost(65_535)] = None
    """The metric, as PromQL; it is sent as written."""


class MetricTimeWindow(of.ObservedPart):
    """The window in which a metric is evaluated."""

    alternatives: ClassVar[of.Choices] = (
        frozenset(("metricTimeWindowSpecificValue", "metricTimeWindowDynamicDuration")),
    )
    choosing: ClassVar[of.Choosing] = of.Choosing.EXPECTED

    metric_time_window_specific_value: Annotated[
        of.Text,
        of.examples(
            "METRIC_TIME_WINDOW_VALUE_",
            *("MINUTES_5", "MINUTES_10", "MINUTES_15"),
        ),
    ] = None
    """One of the windows that the service offers."""
    metric_time_window_dynamic_duration: of.Text = None
    """Any window, as a duration like `1h15m`."""


class MetricThresholdCondition(of.ObservedPart):
    """The condition of a rule on a metric."""

    condition_type: Annotated[
        of.Text,
        of.Needed(),
        of.examples("METRIC_THRESHOLD_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN"),
    ] = None
    """The side of the threshold on which the rule is met."""
    threshold: Annotated[of.Number, of.Needed()] = None
    """The number that the metric is compared with."""
    for_over_pct: int | None = None
    """The share of the window for which the condition must be met, in per cent."""
    of_the_last: Annotated[MetricTimeWindow | None, of.Needed()] = None
    """The window in which the metric is evaluated."""


class MetricThresholdRule(ConditionRule[MetricThresholdCondition]):
    """One rule of a metric threshold."""


class MissingValues(of.ObservedPart):
    """The handling of gaps in a series."""

    min_non_null_values_pct: int | None = None
    """The share of values that must be present for a window to count, in per cent."""
    replace_with_zero: of.Flag = None
    """Whether a missing value counts as 0."""


class MetricThreshold(of.ObservedPart):
    """Alerts when a metric crosses a threshold."""

    metric_filter: Annotated[MetricFilter | None, of.Needed()] = None
    """The metric that is evaluated."""
    rules: Annotated[list[MetricThresholdRule] | None, of.Needed(), MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules; each may have its own priority."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late data before the alert is evaluated."""
    missing_values: MissingValues | None = None
    """The handling of gaps in a series."""
    undetected_values_management: UndetectedValues | None = None
    """What to do about series that stopped sending data."""


class FlowAlert(of.ObservedPart):
    """One alert of a flow; `id` is its id in the service."""

    id: Annotated[
        of.Text,
        of.Needed(),
        of.Refers("AlertDefinition"),
    ] = None
    """The id of the alert: `${ref:AlertDefinition/name}`, or a uuid."""
    not_: Annotated[of.Flag, Field(alias="not")] = None
    """Whether the condition is that the alert did not happen."""


class FlowGroup(of.ObservedPart):
    """Alerts of one stage that are evaluated together."""

    alert_defs: Annotated[list[FlowAlert] | None, of.Needed()] = None
    """The alerts of the group."""
    alerts_op: Annotated[of.Text, of.examples("ALERTS_OP_", "OR")] = None
    """How the alerts of the group are joined."""
    next_op: Annotated[of.Text, of.examples("NEXT_OP_", "AND_OR_UNSPECIFIED")] = None
    """How the group is joined with the next one."""


class FlowGroups(of.ObservedPart):
    """The groups of one stage."""

    groups: Annotated[list[FlowGroup] | None, of.Needed()] = None
    """The groups, in their order."""


class FlowStage(of.ObservedPart):
    """One stage of a flow."""

    timeframe_ms: Annotated[of.Int64Text | None, of.Unit.MILLISECONDS] = None
    """Milliseconds that the stage may take."""
    timeframe_type: Annotated[of.Text, of.examples("TIMEFRAME_TYPE_", "UP_TO")] = None
    """The meaning of the time of the stage."""
    flow_stages_groups: Annotated[FlowGroups | None, of.Needed()] = None
    """The alerts that make the stage."""


class Flow(of.ObservedPart):
    """Alerts when other alerts happen in a given order."""

    stages: Annotated[list[FlowStage] | None, of.Needed(), of.AtMost(30, 1)] = None
    """The stages, in the order in which they must happen."""
    enforce_suppression: of.Flag = None
    """Not in the API document; only its name was observed."""


class SloDefinition(of.ObservedPart):
    """The SLO an alert watches."""

    slo_id: Annotated[of.Text, of.Needed(), of.Refers("SLO")] = None
    """The id of the SLO: `${ref:SLO/name}`, or a uuid."""


class SloCondition(of.ObservedPart):
    """A threshold of the budget."""

    threshold: Annotated[of.Number, of.Needed()] = None
    """The number at which the rule is met."""


class SloRule(ConditionRule[SloCondition]):
    """One rule of an SLO alert."""


class ErrorBudget(of.ObservedPart):
    """Alerts when this much of the error budget is left."""

    rules: Annotated[list[SloRule] | None, of.Needed(), MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules; each may have its own priority."""


class SloThreshold(of.PartlyObserved):
    """Alerts on an SLO."""

    slo_definition: Annotated[SloDefinition | None, of.Needed()] = None
    """The SLO that the alert watches."""
    error_budget: ErrorBudget | None = None
    """Triggers on how much of the error budget is left."""


class AnyRule(of.PartlyObserved):
    """A rule with an undocumented condition."""

    override: Override | None = None
    """Settings of this rule that differ from the alert, such as its priority."""


class SingleRulePart(of.PartlyObserved):
    """A part that is only known to have one rule."""

    rules: Annotated[list[AnyRule] | None, ONE_RULE] = None
    """The only rule, by which the alert triggers; its condition is not documented."""


class RulesPart(of.PartlyObserved):
    """A part that is only known to have rules."""

    rules: Annotated[list[AnyRule] | None, MANY_RULES] = None
    """The rules by which the alert triggers; their conditions are not documented."""


class TracingLabelFilter(of.Part):
    """One condition on a label of a span."""

    operation: Annotated[
        of.Text,
        of.known(
            "TRACING_FILTER_OPERATION_TYPE_",
            "IS_OR_UNSPECIFIED",
            "IS_NOT",
            "INCLUDES",
            "STARTS_WITH",
            "ENDS_WITH",
        ),
    ] = None
    """How a value is compared with the listed values."""
    values: Annotated[of.TextList, of.Unordered()] = None
    """The values, in any order."""


class SpanFieldFilter(of.Part):
    """One condition on a field of a span."""

    key: of.Text = None
    """The name of the field of the span."""
    filter_type: TracingLabelFilter | None = None
    """The condition on its value."""


class TracingLabelFilters(of.Part):
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


class TracingSimpleFilter(of.Part):
    """A latency, and conditions on labels."""

    latency_threshold_ms: Annotated[of.Int64Text | None, of.Unit.MILLISECONDS] = None
    """The latency of the spans to match, in milliseconds; sent as text."""
    tracing_label_filters: TracingLabelFilters | None = None
    """Conditions on the labels of the span."""


class TracingFilter(of.PartlyKnown):
    """The spans that count."""

    simple_filter: TracingSimpleFilter | None = None
    """A latency, and conditions on labels."""


class TracingImmediate(of.Part):
    """Alerts on each span that matches."""

    notification_payload_filter: of.TextList = None
    """The fields of the span that are in the notification; their form is not documented."""
    tracing_filter: TracingFilter | None = None
    """The spans that trigger the alert."""


LOG_SEVERITY: Final = of.examples("LOG_SEVERITY_", "INFO", "WARNING", "ERROR", "CRITICAL")


class LabelFilter(of.ObservedPart):
    """One condition on a label."""

    operation: Annotated[
        of.Text,
        of.examples(
            "LOG_FILTER_OPERATION_TYPE_",
            *("IS_OR_UNSPECIFIED", "INCLUDES", "STARTS_WITH", "ENDS_WITH"),
        ),
    ] = None
    """How the label is compared with the value."""
    value: of.Text = None
    """The value that the label is compared with."""


class LabelFilters(of.ObservedPart):
    """Conditions on the labels of a log line."""

    application_name: list[LabelFilter] | None = None
    """Conditions on the name of the application."""
    subsystem_name: list[LabelFilter] | None = None
    """Conditions on the name of the subsystem."""
    severities: Annotated[list[Annotated[str, LOG_SEVERITY]] | None, of.Unordered()] = None
    """The severities of the lines, in any order."""


class SimpleFilter(of.ObservedPart):
    """A query, and conditions on labels."""

    lucene_query: of.Text = None
    """The lines to match, as a Lucene query; it is sent as written."""
    label_filters: LabelFilters | None = None
    """Conditions on the labels of the line."""


class LogsFilter(of.PartlyObserved):
    """The log lines that count."""

    simple_filter: SimpleFilter | None = None
    """A query, and conditions on labels."""


class LogsTimeWindow(of.PartlyObserved):
    """The window in which log lines are counted."""

    logs_time_window_specific_value: Annotated[
        of.Text,
        of.Needed(),
        of.examples(
            "LOGS_TIME_WINDOW_VALUE_", "MINUTES_5_OR_UNSPECIFIED", "MINUTES_10", "MINUTES_30"
        ),
    ] = None
    """One of the windows that the service offers."""


class LogsThresholdCondition(of.ObservedPart):
    """The condition of a rule on a count of log lines."""

    condition_type: Annotated[
        of.Text,
        of.Needed(),
        of.examples("LOGS_THRESHOLD_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED"),
    ] = None
    """The side of the threshold on which the rule is met."""
    threshold: Annotated[of.Number, of.Needed()] = None
    """The number that the count of lines is compared with."""
    time_window: Annotated[LogsTimeWindow | None, of.Needed()] = None
    """The window in which lines are counted."""


class LogsThresholdRule(ConditionRule[LogsThresholdCondition]):
    """One rule of a log threshold."""


class LogsThreshold(of.ObservedPart):
    """Alerts when there are more or fewer log lines than a threshold."""

    logs_filter: LogsFilter | None = None
    """The log lines that are counted."""
    rules: Annotated[list[LogsThresholdRule] | None, of.Needed(), MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules; each may have its own priority."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: of.TextList = None
    """The fields of the line that are in the notification."""
    undetected_values_management: UndetectedValues | None = None
    """What to do about groups that stopped sending data."""


class LogsAnomalyCondition(of.ObservedPart):
    """The condition for an unusual count of log lines."""

    condition_type: Annotated[
        of.Text,
        of.Needed(),
        of.examples("LOGS_ANOMALY_CONDITION_TYPE_", "MORE_THAN_USUAL_OR_UNSPECIFIED"),
    ] = None
    """The direction in which a count is unusual."""
    minimum_threshold: of.Number = None
    """Counts below this number are never unusual."""
    time_window: Annotated[LogsTimeWindow | None, of.Needed()] = None
    """The window in which lines are counted."""


class LogsAnomalyRule(ConditionRule[LogsAnomalyCondition]):
    """The rule of a log anomaly."""


class LogsAnomaly(of.ObservedPart):
    """Alerts when the number of log lines is unusual."""

    logs_filter: LogsFilter | None = None
    """The log lines that are counted."""
    rules: Annotated[list[LogsAnomalyRule] | None, of.Needed(), ONE_RULE] = None
    """The only rule; the alert triggers by it."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: of.TextList = None
    """The fields of the line that are in the notification."""


class LogsRatioTimeWindow(of.PartlyObserved):
    """The window in which two counts of log lines are compared."""

    logs_ratio_time_window_specific_value: Annotated[
        of.Text,
        of.Needed(),
        of.examples("LOGS_RATIO_TIME_WINDOW_VALUE_", "MINUTES_5_OR_UNSPECIFIED", "MINUTES_15"),
    ] = None
    """One of the windows that the service offers."""


class LogsRatioCondition(of.ObservedPart):
    """The condition of a rule on a ratio."""

    condition_type: Annotated[
        of.Text,
        of.Needed(),
        of.examples("LOGS_RATIO_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN"),
    ] = None
    """The side of the threshold on which the rule is met."""
    threshold: Annotated[of.Number, of.Needed()] = None
    """The number that the ratio is compared with."""
    time_window: Annotated[LogsRatioTimeWindow | None, of.Needed()] = None
    """The window in which both counts are taken."""


class LogsRatioRule(ConditionRule[LogsRatioCondition]):
    """One rule of a log ratio."""


class LogsRatioThreshold(of.ObservedPart):
    """Alerts on the ratio of two counts of log lines."""

    numerator: Annotated[LogsFilter | None, of.Needed()] = None
    """The lines that are counted for the numerator of the ratio."""
    numerator_alias: of.Text = None
    """The name of the numerator in messages."""
    denominator: Annotated[LogsFilter | None, of.Needed()] = None
    """The lines that are counted for the denominator of the ratio."""
    denominator_alias: of.Text = None
    """The name of the denominator in messages."""
    rules: Annotated[list[LogsRatioRule] | None, of.Needed(), MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules; each may have its own priority."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: of.TextList = None
    """The fields of the line that are in the notification."""
    ignore_infinity: of.Flag = None
    """Whether a ratio with a denominator of 0 is ignored."""
    undetected_values_management: UndetectedValues | None = None
    """What to do about groups that stopped sending data."""


class LogsImmediate(of.PartlyObserved):
    """Alerts on each log line that matches."""

    logs_filter: LogsFilter | None = None
    """The log lines that trigger the alert."""
    notification_payload_filter: of.TextList = None
    """The fields of the line that are in the notification."""


class UniqueCountCondition(of.PartlyObserved):
    """The condition on a count of unique values."""

    max_unique_count: of.Int64Text | None = None
    """The number of unique values above which the rule is met."""


class UniqueCountRule(of.PartlyObserved):
    """The rule of a unique count."""

    condition: UniqueCountCondition | None = None
    """The condition of the rule."""


class LogsUniqueCount(of.PartlyObserved):
    """Alerts on the number of unique values of a field."""

    rules: Annotated[list[UniqueCountRule] | None, ONE_RULE] = None
    """The only rule; the alert triggers by it."""
