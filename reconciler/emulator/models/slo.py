"""Service-level objectives.

The shapes inside both SLIs and of `labels` come from docs/assumptions.md; the
API document names them only.
"""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from reconciler.emulator.models.enumerations import (
    ComparisonOperator,
    MissingDataStrategy,
    SloTimeFrame,
    SloWindow,
)
from reconciler.emulator.models.wire import (
    Int32,
    Labels,
    Timestamp,
    Uuid,
    WireObject,
    exactly_one,
)


class MetricQuery(WireObject):
    """A query over metrics."""

    query: Annotated[str, Field(min_length=1)]


class RequestBasedMetricSli(WireObject):
    """Good events over all events."""

    good_events: MetricQuery
    total_events: MetricQuery


class WindowBasedMetricSli(WireObject):
    """The share of windows in which a query keeps to a threshold."""

    query: MetricQuery
    window: SloWindow = "WINDOW_SLO_WINDOW_UNSPECIFIED"
    comparison_operator: ComparisonOperator = "COMPARISON_OPERATOR_UNSPECIFIED"
    threshold: float = 0.0
    missing_data_strategy: MissingDataStrategy = "MISSING_DATA_STRATEGY_UNSPECIFIED"


class Grouping(WireObject):
    """Labels that split one SLO into many."""

    labels: list[str] = Field(default_factory=list)


class Revision(WireObject):
    """Which version of an SLO this is, counted from 1."""

    revision: Int32 = 0
    update_time: Timestamp | None = None


class SloDefinition(WireObject):
    """Request of endpoints 11, 12 and 14; the read-only fields are ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["requestBasedMetricSli"]},
                {"required": ["windowBasedMetricSli"]},
            ]
        }
    )

    required_in_answers: ClassVar[frozenset[str]] = frozenset({"name", "targetThresholdPercentage"})
    metadata: ClassVar[frozenset[str]] = frozenset(
        {"creator", "createTime", "updateTime", "revision"}
    )
    read_only: ClassVar[frozenset[str]] = metadata | {"type"}

    id: Uuid | None = None
    name: Annotated[str, Field(min_length=1)]
    description: str = ""
    target_threshold_percentage: Annotated[float, Field(ge=0, le=100)]
    slo_time_frame: SloTimeFrame = "SLO_TIME_FRAME_UNSPECIFIED"
    labels: Labels = Field(default_factory=dict)
    grouping: Grouping = Grouping()
    request_based_metric_sli: RequestBasedMetricSli | None = None
    window_based_metric_sli: WindowBasedMetricSli | None = None
    creator: str | None = None
    type: str | None = None
    create_time: Timestamp | None = None
    update_time: Timestamp | None = None
    revision: Revision | None = None

    @model_validator(mode="after")
    def _one_sli(self) -> Self:
        exactly_one(self, "request_based_metric_sli", "window_based_metric_sli")
        return self


class SloReply(WireObject):
    """Reply of endpoints 11 and 13."""

    slo: SloDefinition


class SloReplaceReply(WireObject):
    """Reply of endpoint 12, with the alerts that watch the SLO."""

    slo: SloDefinition
    effected_slo_alert_ids: list[str] = Field(default_factory=list)


class AlertValidation(WireObject):
    """Why an alert would break."""

    id: str
    name: str
    alert_version_id: str
    error_message: str


class SloValidateReply(WireObject):
    """Reply of endpoint 14; alerts without a problem are left out."""

    alerts_validation_result: list[AlertValidation] = Field(default_factory=list)
