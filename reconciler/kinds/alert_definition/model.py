"""What stands under `spec:` of an alert definition: its `alertDefProperties`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import Field

from reconciler.document import Json
from reconciler.expressions import OPEN
from reconciler.kinds.alert_definition.logs_parts import (
    LogsAnomaly,
    LogsImmediate,
    LogsRatioThreshold,
    LogsThreshold,
    LogsUniqueCount,
)
from reconciler.kinds.alert_definition.type_parts import (
    TYPE_OF,
    Flow,
    MetricThreshold,
    Priority,
    RulesPart,
    SingleRulePart,
    SloThreshold,
    TracingImmediate,
)
from reconciler.kinds.checks import key_finding, looks_like_key
from reconciler.kinds.fields import (
    OWN_ID,
    AtMost,
    Choosing,
    Fate,
    Flag,
    Int32,
    Keyed,
    Known,
    Listing,
    Names,
    Observed,
    Part,
    ReadOnly,
    StringMap,
    Text,
    Unit,
    Unordered,
    Uuid,
    Wrapper,
    known,
)
from reconciler.kinds.shape import EACH, facts_of, places
from reconciler.queries import Language, Query, queries_named
from reconciler.source.diagnostic import Advice, Finding, warning

MINUTES: Final = AtMost(10_080, 1)
NotifyOn: TypeAlias = Annotated[
    Text, known("NOTIFY_ON_", "TRIGGERED_ONLY_UNSPECIFIED", "TRIGGERED_AND_RESOLVED")
]
GroupByKeys: TypeAlias = Annotated[Names, Unordered(), AtMost(100)]


class ConfigField(Part):
    """One field of a message or connector, filled from a template."""

    called: ClassVar[tuple[tuple[str, ...], ...]] = (("fieldName",),)

    field_name: Text = None
    template: Text = None


class ConfigOverrides(Part):
    """What a destination sends differently."""

    connector_config_fields: Annotated[list[ConfigField] | None, Keyed(("fieldName",))] = None
    message_config_fields: Annotated[list[ConfigField] | None, Keyed(("fieldName",))] = None
    payload_type: Annotated[
        Text,
        known(
            "",
            "chat_raw",
            "chat_structured",
            "incident_mgmt_triggered",
            "incident_mgmt_resolved",
            "generic_https_default",
        ),
    ] = None


class RouteOverrides(Part):
    """What a destination sends differently for one state of the alert."""

    config_overrides: ConfigOverrides | None = None


class Destination(Part):
    """A connector that is told."""

    connector_id: Text = None
    preset_id: Text = None
    notify_on: NotifyOn = None
    resolved_route_overrides: RouteOverrides | None = None
    triggered_routing_overrides: RouteOverrides | None = None


class Router(Part):
    """A router that picks the destinations; an empty one means the default router."""

    id: Uuid | None = None
    notify_on: NotifyOn = None


class Recipients(Part):
    """People told by mail."""

    emails: Annotated[Names, Unordered()] = None


class Integration(Part):
    """Where a webhook goes."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset(("integrationId", "recipients")),
    )
    choosing: ClassVar[Choosing] = Choosing.EXPECTED

    integration_id: Int32 | None = None
    recipients: Annotated[Recipients | None, Observed()] = None


class Webhook(Part):
    """A webhook that is called."""

    integration: Integration | None = None
    minutes: Annotated[Int32 | None, MINUTES, Unit.MINUTES] = None
    notify_on: NotifyOn = None


class NotificationGroup(Part):
    """Who is told of an alert, once for each group of labels."""

    group_by_keys: GroupByKeys = None
    destinations: list[Destination] | None = None
    router: Router | None = None
    webhooks: list[Webhook] | None = None


DAY: Final = known(
    "DAY_OF_WEEK_",
    "MONDAY_OR_UNSPECIFIED",
    "TUESDAY",
    "WEDNESDAY",
    "THURSDAY",
    "FRIDAY",
    "SATURDAY",
    "SUNDAY",
)


class TimeOfDay(Part):
    """A time of the day, in UTC."""

    hours: Annotated[Int32 | None, AtMost(23, 0)] = None
    minutes: Annotated[Int32 | None, AtMost(59, 0)] = None


class ActiveOn(Part):
    """When the alert is awake; an end before the start crosses midnight."""

    day_of_week: Annotated[list[Annotated[str, DAY]] | None, Unordered()] = None
    start_time: TimeOfDay | None = None
    end_time: TimeOfDay | None = None


class IncidentsSettings(Part):
    """How incidents of the alert are told."""

    minutes: Annotated[
        Int32 | None, MINUTES, Unit.MINUTES, Field(description="Minutes before it is told again.")
    ] = None
    notify_on: NotifyOn = None


class AlertDefinitionSpec(Part):
    """The properties of an alert definition."""

    alternatives: ClassVar[tuple[frozenset[str], ...]] = (frozenset(TYPE_OF),)
    needed: ClassVar[tuple[str, ...]] = ("name",)
    wrappers: ClassVar[tuple[Wrapper, ...]] = (
        Wrapper(("alertDefProperties",)),
        Wrapper(("alertDefs", 0), ("failedToReplaceAlertDefs", "notFoundIds", "skippedIds")),
        Wrapper(("alertDefsToReplace", 0)),
    )

    name: Annotated[Text, AtMost(512, 1)] = None
    description: Annotated[Text, AtMost(3000)] = None
    enabled: Flag = None
    deleted: Flag = None
    phantom_mode: Annotated[
        Flag, Field(description="Evaluate the alert, and tell nobody by itself.")
    ] = None
    priority: Priority = None
    type: Annotated[
        Text,
        Known("ALERT_DEF_TYPE_", tuple(TYPE_OF.values()), Listing.KNOWN),
        Field(description="Agrees with the part that stands beside it."),
    ] = None
    entity_labels: StringMap = None
    group_by_keys: GroupByKeys = None
    active_on: ActiveOn | None = None
    incidents_settings: IncidentsSettings | None = None
    notification_group: NotificationGroup | None = None
    notification_group_excess: Annotated[
        list[NotificationGroup] | None, Field(description="Further notification groups.")
    ] = None

    tracing_immediate: TracingImmediate | None = None
    logs_immediate: Annotated[LogsImmediate | None, Observed()] = None
    logs_threshold: Annotated[LogsThreshold | None, Observed()] = None
    logs_anomaly: Annotated[LogsAnomaly | None, Observed()] = None
    logs_ratio_threshold: Annotated[LogsRatioThreshold | None, Observed()] = None
    logs_new_value: Annotated[SingleRulePart | None, Observed()] = None
    logs_unique_count: Annotated[LogsUniqueCount | None, Observed()] = None
    logs_time_relative_threshold: Annotated[RulesPart | None, Observed()] = None
    metric_threshold: Annotated[MetricThreshold | None, Observed()] = None
    metric_anomaly: Annotated[SingleRulePart | None, Observed()] = None
    tracing_threshold: Annotated[SingleRulePart | None, Observed()] = None
    flow: Annotated[Flow | None, Observed()] = None
    slo_threshold: Annotated[SloThreshold | None, Observed()] = None

    id: Annotated[Any, OWN_ID] = None
    alert_def_properties: Annotated[
        Any,
        ReadOnly(Advice("write its fields under spec"), "wraps what stands in spec", Fate.STAYS),
    ] = None
    alert_version_id: Annotated[Any, ReadOnly()] = None
    created_time: Annotated[Any, ReadOnly()] = None
    updated_time: Annotated[Any, ReadOnly()] = None
    last_triggered_time: Annotated[Any, ReadOnly()] = None
    status: Annotated[Any, ReadOnly()] = None


def check(spec: dict[str, Json]) -> Iterator[Finding]:
    """Yield what the fields of one alert definition say against each other."""
    yield from _type_findings(spec)
    yield from _template_findings(spec)


def _type_findings(spec: dict[str, Json]) -> Iterator[Finding]:
    """Hold `type` against the part beside it; a type nobody here knows is not judged."""
    declared = spec.get("type")
    parts = [part for part in TYPE_OF if spec.get(part) is not None]
    wanted = {of: part for part, of in TYPE_OF.items()}.get(str(declared))
    if declared is None and not parts and spec.keys() <= facts_of(AlertDefinitionSpec).keys():
        said = "an alert never triggers without its type and the part that belongs to that"
        yield warning("M302", (), said, " or ".join(TYPE_OF))
    elif declared is None and len(parts) == 1:
        said = f"`{parts[0]}` is there, but no type that says so"
        yield warning("M310", (parts[0],), said, f"type: {TYPE_OF[parts[0]]}", at_key=True)
    elif wanted is not None and not parts:
        said = f"the type is {declared}, but the part `{wanted}` is missing"
        yield warning("M310", ("type",), said, wanted)
    elif wanted is not None and wanted not in parts:
        said = f"the type is {declared}, but the part is `{parts[0]}`"
        yield Finding("M310", ("type",), said, suggestion=TYPE_OF[parts[0]])


_SECRET_FIELD = re.compile(r"api[-_ ]?key|authorization|passw|secret|token", re.IGNORECASE)
_SHORTEST_SECRET = 8


def _template_findings(spec: dict[str, Json]) -> Iterator[Finding]:
    """Yield literals in connector fields whose name says that they are secret."""
    for group in (("notificationGroup",), ("notificationGroupExcess", EACH)):
        for overrides in ("triggeredRoutingOverrides", "resolvedRouteOverrides"):
            inner = ("configOverrides", "connectorConfigFields", EACH)
            for path, field in places(spec, *group, "destinations", EACH, overrides, *inner):
                if isinstance(field, dict) and _is_secret(
                    field.get("fieldName"), field.get("template")
                ):
                    yield key_finding((*path, "template"))


def _is_secret(name: Json, template: Json) -> bool:
    """Tell a secret in plain text that `lint` did not suspect by its form alone."""
    return (
        isinstance(name, str)
        and isinstance(template, str)
        and _SECRET_FIELD.search(name) is not None
        and len(template) >= _SHORTEST_SECRET
        and OPEN not in template
        and "{{" not in template
        and not looks_like_key(template)
    )


# What is shown of the parts bears its language in its name, wherever it stands.
LANGUAGES: Final = {"luceneQuery": Language.LUCENE, "promql": Language.PROMQL}


def queries(spec: dict[str, Json]) -> Iterator[Query]:
    """Yield the PromQL of metrics and the Lucene of logs."""
    return queries_named(spec, LANGUAGES)
