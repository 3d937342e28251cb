"""Alert definitions: endpoint 1.

The service cannot create one through the API, so `plant` adds what a person would have clicked
together. Bounds of single fields are in the model. The rules here look at the type of an alert, or
inside its part. Source: docs/assumptions.md.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar
from uuid import uuid4

from pydantic import Field
from pydantic_core import CoreSchema

from reconciler.emulator import wire
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Call, Records, Resource


@dataclass(frozen=True)
class DescribedAs:
    """A marker in `Annotated`: the field accepts what its type says; `model` is its schema."""

    model: type[wire.WireObject]

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: Callable[[CoreSchema], wire.JsonObject]
    ) -> wire.JsonObject:
        """Return the schema of the model."""
        return handler(self.model.__pydantic_core_schema__)


TracingOperation = Annotated[
    str,
    wire.OpenEnum(
        "TRACING_FILTER_OPERATION_TYPE_",
        "IS_OR_UNSPECIFIED",
        "IS_NOT",
        "INCLUDES",
        "STARTS_WITH",
        "ENDS_WITH",
    ),
]


class TracingFilterType(wire.WireObject):
    """Values compared in one way."""

    operation: TracingOperation = "TRACING_FILTER_OPERATION_TYPE_IS_OR_UNSPECIFIED"
    values: list[str] = Field(default_factory=list)


class SpanField(wire.WireObject):
    """A filter on any field of a span."""

    key: str = ""
    filter_type: TracingFilterType | None = None


class TracingLabelFilters(wire.WireObject):
    """Filters on where a span comes from."""

    application_name: list[TracingFilterType] = Field(default_factory=list)
    operation_name: list[TracingFilterType] = Field(default_factory=list)
    service_name: list[TracingFilterType] = Field(default_factory=list)
    subsystem_name: list[TracingFilterType] = Field(default_factory=list)
    span_fields: list[SpanField] = Field(default_factory=list)


class SimpleTracingFilter(wire.WireObject):
    """Slow spans with certain labels; the latency travels as text."""

    digits: ClassVar[frozenset[str]] = frozenset({"latencyThresholdMs"})

    latency_threshold_ms: wire.Int64 = "0"
    tracing_label_filters: TracingLabelFilters | None = None


class TracingFilter(wire.WireObject):
    """Wrapper of the simple filter."""

    simple_filter: SimpleTracingFilter | None = None


class TracingImmediate(wire.WireObject):
    """An alert on each matching trace."""

    notification_payload_filter: list[str] = Field(default_factory=list)
    tracing_filter: TracingFilter | None = None


NotifyOn = Annotated[
    str, wire.OpenEnum("NOTIFY_ON_", "TRIGGERED_ONLY_UNSPECIFIED", "TRIGGERED_AND_RESOLVED")
]
NotificationMinutes = Annotated[wire.Int32, wire.bounds(1, 10_080)]


class FieldTemplate(wire.WireObject):
    """A field of a connector or message, filled from a template."""

    field_name: str = ""
    template: str = ""


class ConfigOverrides(wire.WireObject):
    """Settings that replace those of the preset."""

    connector_config_fields: list[FieldTemplate] = Field(default_factory=list)
    message_config_fields: list[FieldTemplate] = Field(default_factory=list)
    payload_type: str = ""


class RoutingOverrides(wire.WireObject):
    """The overrides of one occasion, triggered or resolved."""

    config_overrides: ConfigOverrides | None = None


class Destination(wire.WireObject):
    """A connector with its preset."""

    connector_id: str = ""
    preset_id: str = ""
    notify_on: NotifyOn = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"
    resolved_route_overrides: RoutingOverrides | None = None
    triggered_routing_overrides: RoutingOverrides | None = None


class Router(wire.WireObject):
    """Routing by rules; an empty router is not the same as none."""

    uuids: ClassVar[frozenset[str]] = frozenset({"id"})

    id: wire.SentUuid | None = None
    notify_on: NotifyOn = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"


class Integration(wire.WireObject):
    """A webhook by its number, or addresses."""

    integration_id: wire.Int32 | None = None
    recipients: wire.JsonObject | None = None


class Webhook(wire.WireObject):
    """An integration that is called, at most once in so many minutes."""

    integration: Integration | None = None
    minutes: NotificationMinutes | None = None
    notify_on: NotifyOn = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"


class NotificationGroup(wire.WireObject):
    """Destinations that are notified together."""

    destinations: list[Destination] = Field(default_factory=list)
    group_by_keys: list[str] = Field(default_factory=list)
    router: Router | None = None
    webhooks: list[Webhook] = Field(default_factory=list)


DayOfWeek = Annotated[
    str,
    wire.OpenEnum(
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

BULK_LIMIT = 100  # docs/assumptions.md: seen, not in the document


class TimeOfDay(wire.WireObject):
    """A wall-clock time."""

    hours: Annotated[wire.Int32, wire.bounds(0, 23)] = 0
    minutes: Annotated[wire.Int32, wire.bounds(0, 59)] = 0


class ActiveOn(wire.WireObject):
    """The time when the alert is active; an end before the start is past midnight."""

    day_of_week: list[DayOfWeek] = Field(default_factory=list)
    start_time: TimeOfDay | None = None
    end_time: TimeOfDay | None = None


class IncidentsSettings(wire.WireObject):
    """How often the alert may open an incident."""

    minutes: NotificationMinutes | None = None
    notify_on: NotifyOn = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"


class SloDefinitionRef(wire.WireObject):
    """The SLO an alert watches."""

    uuids: ClassVar[frozenset[str]] = frozenset({"sloId"})

    slo_id: wire.SentUuid


class SloThreshold(wire.WireObject):
    """The part of an alert on an SLO; it watches the budget or the burn rate."""

    slo_definition: SloDefinitionRef
    error_budget: wire.JsonObject | None = None
    burn_rate: wire.JsonObject | None = None


class AlertDefProperties(wire.WireObject):
    """The fields of an alert that a person declares."""

    name: Annotated[str, Field(min_length=1, max_length=512)]
    description: Annotated[str, Field(max_length=3000)] = ""
    enabled: bool = False
    deleted: bool = False
    phantom_mode: bool = False
    priority: Annotated[
        str, wire.OpenEnum("ALERT_DEF_PRIORITY_", "P5_OR_UNSPECIFIED", "P1", "P2", "P3", "P4")
    ] = "ALERT_DEF_PRIORITY_P5_OR_UNSPECIFIED"
    type: Annotated[str, wire.OpenEnum("ALERT_DEF_TYPE_", "LOGS_IMMEDIATE_OR_UNSPECIFIED")] = (
        "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED"
    )
    entity_labels: wire.Labels = Field(default_factory=dict)
    group_by_keys: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)
    active_on: ActiveOn | None = None
    incidents_settings: IncidentsSettings | None = None
    notification_group: NotificationGroup | None = None
    notification_group_excess: list[NotificationGroup] = Field(default_factory=list)
    tracing_immediate: TracingImmediate | None = None
    logs_immediate: wire.JsonObject | None = None
    logs_threshold: wire.JsonObject | None = None
    logs_anomaly: wire.JsonObject | None = None
    logs_ratio_threshold: wire.JsonObject | None = None
    logs_new_value: wire.JsonObject | None = None
    logs_unique_count: wire.JsonObject | None = None
    logs_time_relative_threshold: wire.JsonObject | None = None
    metric_threshold: wire.JsonObject | None = None
    metric_anomaly: wire.JsonObject | None = None
    tracing_threshold: wire.JsonObject | None = None
    flow: wire.JsonObject | None = None
    slo_threshold: SloThreshold | None = None


class AlertDefToReplace(wire.WireObject):
    """One item of the bulk replace; its properties are checked separately."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"alertVersionId", "createdTime", "updatedTime", "lastTriggeredTime", "status"}
    )

    id: wire.Uuid
    alert_def_properties: Annotated[wire.JsonObject, DescribedAs(AlertDefProperties)]


class BulkReplaceRequest(wire.WireObject):
    """Request of endpoint 1."""

    alert_defs_to_replace: Annotated[list[AlertDefToReplace], Field(max_length=BULK_LIMIT)]


class StoredAlertDefinition(wire.WireObject):
    """The record of an alert that the service keeps."""

    metadata: ClassVar[frozenset[str]] = frozenset(
        {"createdTime", "updatedTime", "lastTriggeredTime", "status"}
    )

    id: str
    alert_version_id: str
    alert_def_properties: AlertDefProperties
    created_time: wire.Timestamp
    updated_time: wire.Timestamp
    last_triggered_time: wire.Timestamp | None = None
    status: Annotated[str, wire.OpenEnum("ALERT_DEF_STATUS_", "UNSPECIFIED")] = (
        "ALERT_DEF_STATUS_UNSPECIFIED"
    )


class AlertDefId(wire.WireObject):
    """An entry of `failedToReplaceAlertDefs`."""

    id: str


class BulkReplaceReply(wire.WireObject):
    """Reply of endpoint 1: each sent id is in exactly one of the four lists."""

    alert_defs: list[StoredAlertDefinition] = Field(default_factory=list)
    failed_to_replace_alert_defs: list[AlertDefId] = Field(default_factory=list)
    not_found_ids: list[str] = Field(default_factory=list)
    skipped_ids: list[str] = Field(default_factory=list)


_WITH_ONE_RULE = (
    "logsAnomaly",
    "logsNewValue",
    "logsUniqueCount",
    "metricAnomaly",
    "tracingThreshold",
)
_PARTS = (
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
_LONGEST_PROMQL = 65_535
_LONGEST_DELAY_MS = 10_800_000


def type_of(part: str) -> str:
    """Return the alert type that goes with a part: `metricThreshold` has `..._METRIC_THRESHOLD`."""
    words = re.sub(r"(?=[A-Z])", "_", part).upper()
    ending = "_OR_UNSPECIFIED" if part == "logsImmediate" else ""
    return f"ALERT_DEF_TYPE_{words}{ending}"


def _is_allowed(properties: AlertDefProperties) -> bool:
    """Return whether a definition keeps the rules.

    A definition without any part is accepted: the API document does not show the parts, so it
    cannot require any.
    """
    sent = wire.as_json(properties)
    return all(
        properties.type == type_of(part) and _is_bounded(part, sent[part])
        for part in _PARTS
        if part in sent
    )


def _is_bounded(part: str, content: wire.JsonObject) -> bool:
    delay = content.get("evaluationDelayMs")
    if isinstance(delay, str):
        delay = int(delay) if delay.isdecimal() else 0
    metric = content.get("metricFilter")
    query = metric.get("promql") if isinstance(metric, dict) else None
    return (
        _is_count(content.get("rules"), 1 if part in _WITH_ONE_RULE else 5)
        and _is_count(content.get("stages"), 30)
        and not (isinstance(delay, int) and delay > _LONGEST_DELAY_MS)
        and not (isinstance(query, str) and len(query) > _LONGEST_PROMQL)
    )


def _is_count(items: object, most: int) -> bool:
    """Return whether a list, if present, has 1 to `most` items."""
    return items is None or (isinstance(items, list) and 1 <= len(items) <= most)


ALERT_DEFINITIONS = Resource(
    "alert_definitions (id TEXT PRIMARY KEY, slo_id TEXT, record TEXT NOT NULL)"
)
ALERT_RECORDS = Records("alert", "alert_definitions", "alertDefProperties.name")


def plant(store: Store, alert_ids: Iterable[str], now: str) -> None:
    """Store a bare definition under each id that has none yet.

    Raises ValueError for an id that is not a uuid.
    """
    bare = wire.read(
        AlertDefProperties, {"name": "New alert", "enabled": True, "logsImmediate": {}}
    )
    for text in alert_ids:
        try:
            alert_id = wire.canonical_uuid(text)
        except ValueError:
            raise ValueError(f"alert id {text!r}: not a uuid") from None
        if store.find("alert_definitions", alert_id) is None:
            _keep(store, _version(alert_id, bare, now, now))


def watching(store: Store, slo_id: str) -> Iterator[wire.JsonObject]:
    """Yield the stored definitions that watch an SLO, whole, by id."""
    for record in store.records("alert_definitions", "WHERE slo_id = ? ORDER BY id", slo_id):
        yield wire.whole(StoredAlertDefinition, record)


@ALERT_DEFINITIONS.answers(
    1, "PUT", "/alerts/alerts-general/v3/bulk", BulkReplaceRequest, BulkReplaceReply
)
def _replace(call: Call, request: BulkReplaceRequest) -> BulkReplaceReply:
    items = request.alert_defs_to_replace
    for index, item in enumerate(items):
        if any(item.id == earlier.id for earlier in items[:index]):
            raise wire.InvalidRequestError(
                f"alertDefsToReplace[{index}].id: {item.id} is there twice"
            )
    # Every definition is read before the first is written: a definition that cannot be
    # parsed refuses the whole request.
    proposals = [(item.id, _proposed(call, index, item)) for index, item in enumerate(items)]
    reply, partial = BulkReplaceReply(), call.partial
    for index, (alert_id, properties) in enumerate(proposals):
        if partial.carries_out(index):
            shown = reply if index not in partial.missing else BulkReplaceReply()
            _replace_one(call, alert_id, properties, shown)
        # A fault may name an item for several lists.
        if index in partial.failed:
            reply.failed_to_replace_alert_defs.append(AlertDefId(id=alert_id))
        if index in partial.not_found:
            reply.not_found_ids.append(alert_id)
        if index in partial.skipped:
            reply.skipped_ids.append(alert_id)
    reply.skipped_ids += partial.unsent
    return reply


def _replace_one(
    call: Call, alert_id: str, properties: AlertDefProperties | None, reply: BulkReplaceReply
) -> None:
    stored = call.store.find("alert_definitions", alert_id)
    if stored is None:
        reply.not_found_ids.append(alert_id)
    elif properties is None:
        reply.failed_to_replace_alert_defs.append(AlertDefId(id=alert_id))
    elif wire.canonical(properties) == wire.canonical(
        wire.read(AlertDefProperties, stored["alertDefProperties"])
    ):
        reply.skipped_ids.append(alert_id)
    else:
        version = _version(alert_id, properties, stored["createdTime"], call.now)
        version.last_triggered_time = stored.get("lastTriggeredTime")
        _keep(call.store, version)
        reply.alert_defs.append(version)


def _proposed(call: Call, index: int, item: AlertDefToReplace) -> AlertDefProperties | None:
    """Read the properties; None when they break a rule, as only this item fails then."""
    place = ("alertDefsToReplace", index, "alertDefProperties")
    try:
        properties = wire.body_of(
            AlertDefProperties, item.alert_def_properties, call.profile, *place
        )
    except wire.UnreadableModelError as problem:
        if problem.malformed:
            raise
        return None
    return properties if _is_allowed(properties) else None


def _version(
    alert_id: str, properties: AlertDefProperties, created: str, now: str
) -> StoredAlertDefinition:
    return StoredAlertDefinition(
        id=alert_id,
        alert_version_id=str(uuid4()),
        alert_def_properties=properties,
        created_time=created,
        updated_time=now,
    )


def _keep(store: Store, version: StoredAlertDefinition) -> None:
    watched = version.alert_def_properties.slo_threshold
    slo_id = wire.canonical_uuid(watched.slo_definition.slo_id) if watched else None
    store.keep("alert_definitions", version.id, slo_id, wire.as_text(version))
