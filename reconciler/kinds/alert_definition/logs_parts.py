"""The parts of alert definitions on logs, as observed in payloads (docs/assumptions.md)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from reconciler.kinds.alert_definition.type_parts import (
    MANY_RULES,
    ONE_RULE,
    EvaluationDelay,
    Override,
    UndetectedValues,
)
from reconciler.kinds.field_traits import (
    Flag,
    Int64Text,
    Number,
    ObservedPart,
    Text,
    TextList,
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
