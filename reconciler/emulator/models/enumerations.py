"""Every enumeration of the API, with the values known so far.

The API document lists few values and says others exist, so any value with
the right prefix is taken; only SLO time frames are a closed list. The further
values come from docs/assumptions.md.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema


@dataclass(frozen=True)
class OpenEnum:
    """A string with a fixed prefix in capitals; `known` are the endings seen."""

    prefix: str
    known: tuple[str, ...]

    def __get_pydantic_core_schema__(self, _source: object, _next: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._checked)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _next: object) -> JsonSchemaValue:
        return {
            "type": "string",
            "pattern": f"^{self.prefix}[A-Z0-9_]+$",
            "examples": [self.prefix + ending for ending in self.known],
        }

    def _checked(self, value: object) -> str:
        if isinstance(value, str) and re.fullmatch(f"{self.prefix}[A-Z0-9_]+", value):
            return value
        raise PydanticCustomError("enum", "not a value of {prefix}*", {"prefix": self.prefix})


def _open(prefix: str, *known: str) -> OpenEnum:
    return OpenEnum(prefix, known)


AlertPriority = Annotated[
    str, _open("ALERT_DEF_PRIORITY_", "P5_OR_UNSPECIFIED", "P1", "P2", "P3", "P4")
]
AlertType = Annotated[str, _open("ALERT_DEF_TYPE_", "LOGS_IMMEDIATE_OR_UNSPECIFIED")]
AlertStatus = Annotated[str, _open("ALERT_DEF_STATUS_", "UNSPECIFIED")]
NotifyOn = Annotated[
    str, _open("NOTIFY_ON_", "TRIGGERED_ONLY_UNSPECIFIED", "TRIGGERED_AND_RESOLVED")
]
DayOfWeek = Annotated[
    str,
    _open(
        "DAY_OF_WEEK_",
        "MONDAY_OR_UNSPECIFIED",
        "TUESDAY",
        "WEDNESDAY",
        "THURSDAY",
        "FRIDAY",
        "SATURDAY",
        "SUNDAY",
    ),
]
TracingOperation = Annotated[
    str,
    _open(
        "TRACING_FILTER_OPERATION_TYPE_",
        "IS_OR_UNSPECIFIED",
        "IS_NOT",
        "INCLUDES",
        "STARTS_WITH",
        "ENDS_WITH",
    ),
]

ActionDataSource = Annotated[str, _open("ACTION_DATA_SOURCE_TYPE_", "NONE_UNSPECIFIED")]
AnnotationColor = Annotated[str, _open("ANNOTATION_COLOR_", "UNSPECIFIED")]
AnnotationOrientation = Annotated[str, _open("ANNOTATION_ORIENTATION_", "VERTICAL_UNSPECIFIED")]
DataMode = Annotated[str, _open("DATA_MODE_TYPE_", "HIGH_UNSPECIFIED")]
DatasetScope = Annotated[str, _open("DATASET_SCOPE_", "UNSPECIFIED")]
OrderDirection = Annotated[str, _open("ORDER_DIRECTION_", "UNSPECIFIED")]
VariableDisplay = Annotated[str, _open("VARIABLE_DISPLAY_TYPE_", "UNSPECIFIED")]
VariableDisplayV2 = Annotated[str, _open("VARIABLE_DISPLAY_TYPE_V2_", "UNSPECIFIED")]
OriginType = Annotated[str, _open("TOKEN_ORIGIN_TYPE_", "UNSPECIFIED", "USER", "API")]

SloTimeFrame = Literal[
    "SLO_TIME_FRAME_UNSPECIFIED",
    "SLO_TIME_FRAME_7_DAYS",
    "SLO_TIME_FRAME_14_DAYS",
    "SLO_TIME_FRAME_21_DAYS",
    "SLO_TIME_FRAME_28_DAYS",
]
SloWindow = Annotated[str, _open("WINDOW_SLO_WINDOW_", "UNSPECIFIED", "1_MINUTE", "5_MINUTES")]
ComparisonOperator = Annotated[
    str,
    _open(
        "COMPARISON_OPERATOR_",
        "UNSPECIFIED",
        "GREATER_THAN",
        "GREATER_THAN_OR_EQUALS",
        "LESS_THAN",
        "LESS_THAN_OR_EQUALS",
    ),
]
MissingDataStrategy = Annotated[
    str, _open("MISSING_DATA_STRATEGY_", "UNSPECIFIED", "UNCOUNTED", "GOOD", "BAD")
]

PolicyPriority = Annotated[
    str, _open("PRIORITY_TYPE_", "UNSPECIFIED", "BLOCK", "LOW", "MEDIUM", "HIGH")
]
RuleType = Annotated[
    str, _open("RULE_TYPE_ID_", "UNSPECIFIED", "IS", "IS_NOT", "START_WITH", "INCLUDES")
]
Severity = Annotated[
    str,
    _open("SEVERITY_", "UNSPECIFIED", "DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL"),
]

ViewType = Annotated[
    str,
    _open("VIEW_TYPE_", "UNSPECIFIED", "LOGS", "TEMPLATES", "ARCHIVE_LOGS", "ARCHIVE_TEMPLATES"),
]

SourceType = Literal["SOURCE_TYPE_UNSPECIFIED", "SOURCE_TYPE_LOGS", "SOURCE_TYPE_SPANS"]

CaseCategory = Annotated[str, _open("CASE_CATEGORY_", "UNSPECIFIED", "SECURITY", "AVAILABILITY")]
CasePriority = Annotated[str, _open("CASE_PRIORITY_", "UNSPECIFIED", "P1", "P2", "P3", "P4", "P5")]
CaseState = Annotated[str, _open("CASE_STATE_", "UNSPECIFIED", "CREATED", "ACTIVE", "RESOLVED")]
CaseStatus = Annotated[str, _open("CASE_STATUS_", "UNSPECIFIED", "OPEN", "ACKNOWLEDGED", "CLOSED")]
CaseResolver = Annotated[str, _open("CASE_RESOLVER_", "UNSPECIFIED", "USER", "SYSTEM")]
CaseOrderField = Annotated[
    str,
    _open(
        "CASE_ORDER_BY_FIELD_",
        "UNSPECIFIED",
        "CREATE_TIME",
        "UPDATE_TIME",
        "PRIORITY",
        "STATE",
        "STATUS",
        "TITLE",
    ),
]
CaseOrderDirection = Annotated[str, _open("CASE_ORDER_BY_DIRECTION_", "UNSPECIFIED", "ASC", "DESC")]
IndicatorGrouping = Annotated[str, _open("GROUPING_TYPE_", "UNSPECIFIED")]
IndicatorPriority = Annotated[str, _open("ALERT_PRIORITY_", "UNSPECIFIED", "P1", "P2", "P3")]
IndicatorState = Annotated[
    str, _open("ALERT_INDICATOR_STATE_", "UNSPECIFIED", "TRIGGERED", "RESOLVED")
]

IncidentSeverity = Annotated[
    str,
    _open("INCIDENT_SEVERITY_", "UNSPECIFIED", "LOW", "INFO", "WARNING", "ERROR", "CRITICAL"),
]
IncidentState = Annotated[str, _open("INCIDENT_STATE_", "UNSPECIFIED", "TRIGGERED", "RESOLVED")]
IncidentStatus = Annotated[
    str, _open("INCIDENT_STATUS_", "UNSPECIFIED", "TRIGGERED", "ACKNOWLEDGED", "RESOLVED")
]
IncidentEventType = Annotated[
    str,
    _open(
        "INCIDENT_EVENT_TYPE_",
        "UNSPECIFIED",
        "OPEN",
        "CLOSE",
        "UPSERT_STATE",
        "ACKNOWLEDGE",
        "ASSIGN",
        "UNASSIGN",
        "SNOOZE_INDICATOR",
    ),
]
OriginatorType = Annotated[str, _open("ORIGINATOR_TYPE_", "UNSPECIFIED", "USER", "AUTOMATIC")]
IncidentAlertType = Annotated[
    str, _open("INCIDENT_EVENT_ALERT_TYPE_", "STANDARD_OR_UNSPECIFIED", "METRIC", "SLO")
]

UsageRange = Literal[
    "RANGE_UNSPECIFIED",
    "RANGE_CURRENT_MONTH",
    "RANGE_LAST_WEEK",
    "RANGE_LAST_30_DAYS",
    "RANGE_LAST_90_DAYS",
    "RANGE_LAST_YEAR",
]
