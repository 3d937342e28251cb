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
    """The lines that are meant, as a Lucene query; it is sent as written."""
    label_filters: LabelFilters | None = None
    """Conditions on the labels of the line."""


class LogsFilter(ObservedPart):
    """Which log lines count."""

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
    """When a rule on a count of log lines is met."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "threshold", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_THRESHOLD_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED")
    ] = None
    """On which side of the threshold the rule is met."""
    threshold: Number = None
    """The number that the count of lines is compared with."""
    time_window: LogsTimeWindow | None = None
    """The window in which lines are counted."""


class LogsThresholdRule(ObservedPart):
    """One rule of a log threshold."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsThresholdCondition | None = None
    """When the rule is met."""
    override: Override | None = None
    """What this rule sets otherwise than the alert, as its priority."""


class LogsThreshold(ObservedPart):
    """Alerts when log lines are more or fewer than a threshold."""

    needed: ClassVar[tuple[str, ...]] = ("rules",)

    logs_filter: LogsFilter | None = None
    """Which log lines are counted."""
    rules: Annotated[list[LogsThresholdRule] | None, MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules, each with a priority of its own if it wants."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: TextList = None
    """The fields of the line that the notification has."""
    undetected_values_management: UndetectedValues | None = None
    """What to do about groups that went silent."""


class LogsAnomalyCondition(ObservedPart):
    """When a count of log lines is unusual."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_ANOMALY_CONDITION_TYPE_", "MORE_THAN_USUAL_OR_UNSPECIFIED")
    ] = None
    """In which direction a count is unusual."""
    minimum_threshold: Number = None
    """The count below which nothing is unusual."""
    time_window: LogsTimeWindow | None = None
    """The window in which lines are counted."""


class LogsAnomalyRule(ObservedPart):
    """The rule of a log anomaly."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsAnomalyCondition | None = None
    """When the rule is met."""
    override: Override | None = None
    """What this rule sets otherwise than the alert, as its priority."""


class LogsAnomaly(ObservedPart):
    """Alerts when the number of log lines is unusual."""

    needed: ClassVar[tuple[str, ...]] = ("rules",)

    logs_filter: LogsFilter | None = None
    """Which log lines are counted."""
    rules: Annotated[list[LogsAnomalyRule] | None, ONE_RULE] = None
    """The one rule by which the alert triggers."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: TextList = None
    """The fields of the line that the notification has."""


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
    """When a rule on a ratio is met."""

    needed: ClassVar[tuple[str, ...]] = ("conditionType", "threshold", "timeWindow")

    condition_type: Annotated[
        Text, examples("LOGS_RATIO_CONDITION_TYPE_", "MORE_THAN_OR_UNSPECIFIED", "LESS_THAN")
    ] = None
    """On which side of the threshold the rule is met."""
    threshold: Number = None
    """The number that the ratio is compared with."""
    time_window: LogsRatioTimeWindow | None = None
    """The window in which both counts are taken."""


class LogsRatioRule(ObservedPart):
    """One rule of a log ratio."""

    needed: ClassVar[tuple[str, ...]] = ("condition",)

    condition: LogsRatioCondition | None = None
    """When the rule is met."""
    override: Override | None = None
    """What this rule sets otherwise than the alert, as its priority."""


class LogsRatioThreshold(ObservedPart):
    """Alerts on the ratio of two counts of log lines."""

    needed: ClassVar[tuple[str, ...]] = ("numerator", "denominator", "rules")

    numerator: LogsFilter | None = None
    """The lines that are counted above the line of the ratio."""
    numerator_alias: Text = None
    """What the numerator is called in messages."""
    denominator: LogsFilter | None = None
    """The lines that are counted below the line of the ratio."""
    denominator_alias: Text = None
    """What the denominator is called in messages."""
    rules: Annotated[list[LogsRatioRule] | None, MANY_RULES] = None
    """When the alert triggers: 1 to 5 rules, each with a priority of its own if it wants."""
    evaluation_delay_ms: EvaluationDelay = None
    """Milliseconds to wait for late lines before the alert is evaluated."""
    notification_payload_filter: TextList = None
    """The fields of the line that the notification has."""
    ignore_infinity: Flag = None
    """Whether a ratio to nothing, a denominator of 0, is left out."""
    undetected_values_management: UndetectedValues | None = None
    """What to do about groups that went silent."""


class LogsImmediate(ObservedPart):
    """Alerts on each log line that matches."""

    complete: ClassVar[bool] = False

    logs_filter: LogsFilter | None = None
    """Which log lines trigger the alert."""
    notification_payload_filter: TextList = None
    """The fields of the line that the notification has."""


class UniqueCountCondition(ObservedPart):
    """When a count of unique values is met."""

    complete: ClassVar[bool] = False

    max_unique_count: Int64Text | None = None
    """The number of unique values above which the rule is met."""


class UniqueCountRule(ObservedPart):
    """The rule of a unique count."""

    complete: ClassVar[bool] = False

    condition: UniqueCountCondition | None = None
    """When the rule is met."""


class LogsUniqueCount(ObservedPart):
    """Alerts on the number of unique values of a field."""

    complete: ClassVar[bool] = False

    rules: Annotated[list[UniqueCountRule] | None, ONE_RULE] = None
    """The one rule by which the alert triggers."""
