"""Alert definitions, and the bulk replace that carries them.

The fields are those of the API document; the parts of the other alert types
and the limits come from docs/assumptions.md.
"""

from typing import Annotated, ClassVar

from pydantic import Field

from reconciler.emulator.models.described import DescribedAs
from reconciler.emulator.models.enumerations import (
    AlertPriority,
    AlertStatus,
    AlertType,
    DayOfWeek,
    NotifyOn,
)
from reconciler.emulator.models.notification_group import NotificationGroup, NotificationMinutes
from reconciler.emulator.models.tracing_immediate import TracingImmediate
from reconciler.emulator.models.wire import (
    Int32,
    JsonObject,
    Labels,
    SentUuid,
    Timestamp,
    Uuid,
    WireObject,
    bounds,
)

BULK_LIMIT = 100  # docs/assumptions.md: seen, not in the document


class TimeOfDay(WireObject):
    """A wall-clock time."""

    hours: Annotated[Int32, bounds(0, 23)] = 0
    minutes: Annotated[Int32, bounds(0, 59)] = 0


class ActiveOn(WireObject):
    """When the alert is awake; an end before the start crosses midnight."""

    day_of_week: list[DayOfWeek] = Field(default_factory=list)
    start_time: TimeOfDay | None = None
    end_time: TimeOfDay | None = None


class IncidentsSettings(WireObject):
    """How often the alert may open an incident."""

    minutes: NotificationMinutes | None = None
    notify_on: NotifyOn = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"


class SloDefinitionRef(WireObject):
    """The SLO an alert watches."""

    uuids: ClassVar[tuple[str, ...]] = ("slo_id",)

    slo_id: SentUuid


class SloThreshold(WireObject):
    """The part of an alert on an SLO; it watches the budget or the burn rate."""

    slo_definition: SloDefinitionRef
    error_budget: JsonObject | None = None
    burn_rate: JsonObject | None = None


class AlertDefProperties(WireObject):
    """What a person declares of an alert."""

    name: Annotated[str, Field(min_length=1, max_length=512)]
    description: Annotated[str, Field(max_length=3000)] = ""
    enabled: bool = False
    deleted: bool = False
    phantom_mode: bool = False
    priority: AlertPriority = "ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED"
    type: AlertType = "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED"
    entity_labels: Labels = Field(default_factory=dict)
    group_by_keys: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)
    active_on: ActiveOn | None = None
    incidents_settings: IncidentsSettings | None = None
    notification_group: NotificationGroup | None = None
    notification_group_excess: list[NotificationGroup] = Field(default_factory=list)
    tracing_immediate: TracingImmediate | None = None
    logs_immediate: JsonObject | None = None
    logs_threshold: JsonObject | None = None
    logs_anomaly: JsonObject | None = None
    logs_ratio_threshold: JsonObject | None = None
    logs_new_value: JsonObject | None = None
    logs_unique_count: JsonObject | None = None
    logs_time_relative_threshold: JsonObject | None = None
    metric_threshold: JsonObject | None = None
    metric_anomaly: JsonObject | None = None
    tracing_threshold: JsonObject | None = None
    flow: JsonObject | None = None
    slo_threshold: SloThreshold | None = None


class AlertDefToReplace(WireObject):
    """One item of the bulk replace; its properties are judged one by one."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"alertVersionId", "createdTime", "updatedTime", "lastTriggeredTime", "status"}
    )

    id: Uuid
    alert_def_properties: Annotated[JsonObject, DescribedAs(AlertDefProperties)]


class BulkReplaceRequest(WireObject):
    """Request of endpoint 1."""

    alert_defs_to_replace: Annotated[list[AlertDefToReplace], Field(max_length=BULK_LIMIT)]


class StoredAlertDefinition(WireObject):
    """What the service keeps of an alert."""

    metadata: ClassVar[frozenset[str]] = frozenset(
        {"createdTime", "updatedTime", "lastTriggeredTime", "status"}
    )

    id: str
    alert_version_id: str
    alert_def_properties: AlertDefProperties
    created_time: Timestamp
    updated_time: Timestamp
    last_triggered_time: Timestamp | None = None
    status: AlertStatus = "ALERT_DEF_STATUS_UNSPECIFIED"


class AlertDefId(WireObject):
    """An entry of `failedToReplaceAlertDefs`."""

    id: str


class BulkReplaceReply(WireObject):
    """Reply of endpoint 1: each sent id is in exactly one of the four lists."""

    alert_defs: list[StoredAlertDefinition] = Field(default_factory=list)
    failed_to_replace_alert_defs: list[AlertDefId] = Field(default_factory=list)
    not_found_ids: list[str] = Field(default_factory=list)
    skipped_ids: list[str] = Field(default_factory=list)
