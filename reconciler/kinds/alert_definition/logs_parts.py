"""The parts of alert definitions on logs, as met in payloads (docs/assumptions.md)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from reconciler.kinds.alert_definition.type_parts import (
    MANY_RULES,
    ONE_RULE,
    EvaluationDelay,
    Override,
    UndetectedValues,
)
from reconciler.kinds.fields import (
    Flag,
    Int64Text,
    Names,
    Number,
    ObservedPart,
    Text,
    Unordered,
    examples,
)

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
    value: Text = None


class LabelFilters(ObservedPart):
    """Conditions on the labels of a log line."""

    application_name: list[LabelFilter] | None = None
    subsystem_name: list[LabelFilter] | None = None
    severities: Annotated[list[Annotated[str, LOG_SEVERITY]] | None, Unordered()] = None


class SimpleFilter(ObservedPart):
    """A query, and conditions on labels."""

    lucene_query: Text = None
    label_filters: LabelFilters | None = None


class LogsFilter(ObservedPart):
    """Which log lines count."""

    complete: ClassVar[bool] = False

    simple_filter: SimpleFilter | None = None


class LogsTimeWindow(ObservedPart):
    """The window in which log lines are counted."""

    complete: ClassVar[bool] = False
    needed: ClassVar[tuple[str, ...]] = ("logsTimeWindowSpecificValue",)

    logs_time_window_specific_value: Annotated[
        Text,
        examples("LOGS_TIME_WINDOW_VALUE_", "MINUTES_5_OR_UNSPECIFIED", "MINUTES_10", "MINUTES_30"),
    ] = None


class LogsThresholdCondition(ObservedPart):
    """When a rule on a count of log lines is met."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "threshold", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_THRESHOLD_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED")
    ] = None
    threshold: Number = None
    time_window: LogsTimeWindow | None = None


class LogsThresholdRule(ObservedPart):
    """One rule of a log threshold."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsThresholdCondition | None = None
    override: Override | None = None


class LogsThreshold(ObservedPart):
    """Alerts when log lines are more or fewer than a threshold."""

    needed: ClassVar[tuple[str, ...]] = ("rules",)

    logs_filter: LogsFilter | None = None
    rules: Annotated[list[LogsThresholdRule] | None, MANY_RULES] = None
    evaluation_delay_ms: EvaluationDelay = None
    notification_payload_filter: Names = None
    undetected_values_management: UndetectedValues | None = None


class LogsAnomalyCondition(ObservedPart):
    """When a count of log lines is unusual."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_ANOMALY_CONDITION_TYPE_", "MORE_THAN_USUAL_OR_UNSPECIFIED")
    ] = None
    minimum_threshold: Number = None
    time_window: LogsTimeWindow | None = None


class LogsAnomalyRule(ObservedPart):
    """The rule of a log anomaly."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsAnomalyCondition | None = None
    override: Override | None = None


class LogsAnomaly(ObservedPart):
    """Alerts when the number of log lines is unusual."""

    needed: ClassVar[tuple[str, ...]] = ("rules",)

    logs_filter: LogsFilter | None = None
    rules: Annotated[list[LogsAnomalyRule] | None, ONE_RULE] = None
    evaluation_delay_ms: EvaluationDelay = None
    notification_payload_filter: Names = None


class LogsRatioTimeWindow(ObservedPart):
    """The window in which two counts of log lines are compared."""

    complete: ClassVar[bool] = False
    needed: ClassVar[tuple[str, ...]] = ("logsRatioTimeWindowSpecificValue",)

    logs_ratio_time_window_specific_value: Annotated[
        Text,
        examples("LOGS_RATIO_TIME_WINDOW_VALUE_", "MINUTES_5_OR_UNSPECIFIED", "MINUTES_15"),
    ] = None


class LogsRatioCondition(ObservedPart):
    """When a rule on a ratio is met."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "threshold", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_RATIO_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN")
    ] = None
    threshold: Number = None
    time_window: LogsRatioTimeWindow | None = None


class LogsRatioRule(ObservedPart):
    """One rule of a log ratio."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsRatioCondition | None = None
    override: Override | None = None


class LogsRatioThreshold(ObservedPart):
    """Alerts on the ratio of two counts of log lines."""

    needed: ClassVar[tuple[str, ...]] = ("numerator", "denominator", "rules")

    numerator: LogsFilter | None = None
    numerator_alias: Text = None
    denominator: LogsFilter | None = None
    denominator_alias: Text = None
    rules: Annotated[list[LogsRatioRule] | None, MANY_RULES] = None
    evaluation_delay_ms: EvaluationDelay = None
    notification_payload_filter: Names = None
    ignore_infinity: Flag = None
    undetected_values_management: UndetectedValues | None = None


class LogsImmediate(ObservedPart):
    """Alerts on each log line that matches."""

    complete: ClassVar[bool] = False

    logs_filter: LogsFilter | None = None
    notification_payload_filter: Names = None


class UniqueCountCondition(ObservedPart):
    """When a count of unique values is met."""

    complete: ClassVar[bool] = False

    max_unique_count: Int64Text | None = None


class UniqueCountRule(ObservedPart):
    """The rule of a unique count."""

    complete: ClassVar[bool] = False

    condition: UniqueCountCondition | None = None


class LogsUniqueCount(ObservedPart):
    """Alerts on the number of unique values of a field."""

    complete: ClassVar[bool] = False

    rules: Annotated[list[UniqueCountRule] | None, ONE_RULE] = None
