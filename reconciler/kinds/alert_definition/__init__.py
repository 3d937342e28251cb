"""The kind `AlertDefinition`: its `spec:` (`alertDefProperties`), risky changes, weak points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, TypeAlias

from reconciler.document import Json, Missing, value_at
from reconciler.kinds import field_traits as of
from reconciler.kinds.alert_definition import parts
from reconciler.kinds.checks import key_finding, looks_like_key
from reconciler.kinds.kind import (
    ANY_STEP,
    REQUIRED_UUID,
    Bearing,
    ConsentRule,
    Endpoint,
    Essential,
    Kind,
    RiskyChange,
    SpecFinding,
    Watched,
    is_blank,
)
from reconciler.kinds.shape import EACH, facts_of, places
from reconciler.model import Action, Change, Manifest, Remembered, RemoteId, Seen
from reconciler.model.assumptions import BULK_LIMIT
from reconciler.queries import Language, Query, queries_named
from reconciler.redaction.templates import Template, references_in
from reconciler.syntax.diagnostic import Advice, Finding, warning
from reconciler.syntax.expressions import OPEN

NAME: Final = "AlertDefinition"
MINUTES: Final = of.AtMost(10_080, 1)
NotifyOn: TypeAlias = Annotated[
    of.Text, of.known("NOTIFY_ON_", "TRIGGERED_ONLY_UNSPECIFIED", "TRIGGERED_AND_RESOLVED")
]
GroupByKeys: TypeAlias = Annotated[of.TextList, of.Unordered(), of.AtMost(100)]


class ConfigField(of.Part):
    """One field of a message or connector, filled from a template."""

    called: ClassVar[tuple[tuple[str, ...], ...]] = (("fieldName",),)

    field_name: of.Text = None
    """The name of the field of the connector or of the message."""
    template: of.Text = None
    """The text of the field; text in double braces is left to the service."""


class ConfigOverrides(of.Part):
    """Settings of a destination that differ."""

    connector_config_fields: Annotated[list[ConfigField] | None, of.Keyed(("fieldName",))] = None
    """Fields of the connector that are sent with other values."""
    message_config_fields: Annotated[list[ConfigField] | None, of.Keyed(("fieldName",))] = None
    """Fields of the message that are sent with other values."""
    payload_type: Annotated[
        of.Text,
        of.known(
            "",
            "chat_raw",
            "chat_structured",
            "incident_mgmt_triggered",
            "incident_mgmt_resolved",
            "generic_https_default",
        ),
    ] = None
    """The form of the message; it depends on the connector."""


class RouteOverrides(of.Part):
    """Settings of a destination that differ for one state of the alert."""

    config_overrides: ConfigOverrides | None = None
    """The fields that are sent with other values."""


class Destination(of.Part):
    """A connector that is notified."""

    connector_id: of.Text = None
    """The id of the connector that is notified."""
    preset_id: of.Text = None
    """The id of the preset; the API document has only the name of the field."""
    notify_on: NotifyOn = None
    """Whether it is notified only when the alert triggers, or also when it resolves."""
    resolved_route_overrides: RouteOverrides | None = None
    """Settings that differ when the alert resolves."""
    triggered_routing_overrides: RouteOverrides | None = None
    """Settings that differ when the alert triggers."""


class Router(of.Part):
    """A router that picks the destinations; an empty one means the default router."""

    id: of.Uuid | None = None
    """The id of the router, a uuid; left out, it is the default router."""
    notify_on: NotifyOn = None
    """Whether it is notified only when the alert triggers, or also when it resolves."""


class Recipients(of.Part):
    """People notified by mail."""

    emails: Annotated[of.TextList, of.Unordered()] = None
    """The mail addresses, in any order."""


class Integration(of.Part):
    """The target of a webhook."""

    alternatives: ClassVar[of.Choices] = (frozenset(("integrationId", "recipients")),)
    choosing: ClassVar[of.Choosing] = of.Choosing.EXPECTED

    integration_id: of.Int32 | None = None
    """The number of the integration."""
    recipients: Annotated[Recipients | None, of.Observed()] = None
    """People who are notified by mail, instead of an integration."""


class Webhook(of.Part):
    """A webhook that is called."""

    integration: Integration | None = None
    """The target of the webhook: an integration, or people."""
    minutes: Annotated[of.Int32 | None, MINUTES, of.Unit.MINUTES] = None
    """Minutes before the webhook is called again for the same alert."""
    notify_on: NotifyOn = None
    """Whether it is called only when the alert triggers, or also when it resolves."""


class NotificationGroup(of.Part):
    """The recipients of an alert's notifications, once for each group of labels."""

    group_by_keys: GroupByKeys = None
    """The labels; notifications are grouped by their values."""
    destinations: list[Destination] | None = None
    """The connectors that are notified."""
    router: Router | None = None
    """A router that picks the destinations; an empty one, `{}`, is the default router."""
    webhooks: list[Webhook] | None = None
    """The webhooks that are called."""


DAY: Final = of.known(
    "DAY_OF_WEEK_",
    "MONDAY_OR_UNSPECIFIED",
    "TUESDAY",
    "WEDNESDAY",
    "THURSDAY",
    "FRIDAY",
    "SATURDAY",
    "SUNDAY",
)


class TimeOfDay(of.Part):
    """A time of the day, in UTC."""

    hours: Annotated[of.Int32 | None, of.AtMost(23, 0)] = None
    """The hour, from 0 to 23."""
    minutes: Annotated[of.Int32 | None, of.AtMost(59, 0)] = None
    """The minute, from 0 to 59."""


class ActiveOn(of.Part):
    """The times when the alert is active; an end before the start crosses midnight."""

    day_of_week: Annotated[list[Annotated[str, DAY]] | None, of.Unordered()] = None
    """The days, in any order."""
    start_time: TimeOfDay | None = None
    """The start of the active time on each of the days."""
    end_time: TimeOfDay | None = None
    """The end of the active time; an end before the start crosses midnight."""


class IncidentsSettings(of.Part):
    """Notifications about incidents of the alert."""

    minutes: Annotated[of.Int32 | None, MINUTES, of.Unit.MINUTES] = None
    """Minutes before a notification about an open incident is repeated."""
    notify_on: NotifyOn = None
    """Whether only the start of an incident is notified, or also its end."""


class AlertDefinitionSpec(of.Part):
    """The properties of an alert definition."""

    alternatives: ClassVar[of.Choices] = (frozenset(parts.TYPE_OF),)
    wrappers: ClassVar[tuple[of.Wrapper, ...]] = (
        of.Wrapper(("alertDefProperties",)),
        of.Wrapper(("alertDefs", 0), ("failedToReplaceAlertDefs", "notFoundIds", "skippedIds")),
        of.Wrapper(("alertDefsToReplace", 0)),
    )
    read_only: ClassVar[of.ReadOnlyFields] = {
        "id": of.own_id(
            "The id of the alert, a uuid; the service assigns it and a replace keeps it."
        ),
        "alertDefProperties": of.ReadOnly(
            "The wrapper around what a manifest has under `spec`.",
            Advice("write its fields under spec"),
            "wraps what is in spec",
            of.ReadOnlyReason.STAYS,
        ),
        "alertVersionId": of.ReadOnly("The id of the version; it may be new after a replace."),
        "createdTime": of.ReadOnly("When the alert was created."),
        "updatedTime": of.ReadOnly("When the alert was last changed."),
        "lastTriggeredTime": of.ReadOnly("When the alert last triggered."),
        "status": of.ReadOnly(
            "The state of the alert; the API document shows only its zero value."
        ),
    }

    name: Annotated[of.Text, of.Needed(), of.AtMost(512, 1)] = None
    """The name of the alert for people; its incidents have the same name."""
    description: Annotated[of.Text, of.AtMost(3000)] = None
    """What the alert means and what to do, for the person on call."""
    enabled: of.Flag = None
    """Whether the alert is evaluated at all."""
    deleted: of.Flag = None
    """Marks the alert as deleted; the API document shows no other way to remove one."""
    phantom_mode: of.Flag = None
    """Evaluates the alert without notifying anyone itself."""
    priority: parts.Priority = None
    """How urgent the alert is, from P1 (most) to P5."""
    type: Annotated[
        of.Text,
        of.KnownValues("ALERT_DEF_TYPE_", tuple(parts.TYPE_OF.values()), of.ValueCoverage.KNOWN),
    ] = None
    """The type of the alert; it must match the part of the same name in this `spec`."""
    entity_labels: of.StringMap = None
    """Labels of the alert, text by name; any names are allowed."""
    group_by_keys: GroupByKeys = None
    """The labels, in any order; the alert triggers separately for each of their values."""
    active_on: ActiveOn | None = None
    """The times when the alert is active; always if it is left out."""
    incidents_settings: IncidentsSettings | None = None
    """Notifications about incidents of the alert."""
    notification_group: NotificationGroup | None = None
    """The recipients of the alert's notifications."""
    notification_group_excess: list[NotificationGroup] | None = None
    """Further notification groups, in addition to `notificationGroup`."""

    tracing_immediate: parts.TracingImmediate | None = None
    """Triggers on each span that matches."""
    logs_immediate: Annotated[parts.LogsImmediate | None, of.Observed()] = None
    """Triggers on each log line that matches."""
    logs_threshold: Annotated[parts.LogsThreshold | None, of.Observed()] = None
    """Triggers when log lines are more or fewer than a threshold."""
    logs_anomaly: Annotated[parts.LogsAnomaly | None, of.Observed()] = None
    """Triggers when the number of log lines is unusual."""
    logs_ratio_threshold: Annotated[parts.LogsRatioThreshold | None, of.Observed()] = None
    """Triggers on the ratio of two counts of log lines."""
    logs_new_value: Annotated[parts.SingleRulePart | None, of.Observed()] = None
    """Triggers when a field of log lines has a value that is new."""
    logs_unique_count: Annotated[parts.LogsUniqueCount | None, of.Observed()] = None
    """Triggers on the number of unique values of a field of log lines."""
    logs_time_relative_threshold: Annotated[parts.RulesPart | None, of.Observed()] = None
    """Triggers when log lines differ from those of an earlier time."""
    metric_threshold: Annotated[parts.MetricThreshold | None, of.Observed()] = None
    """Triggers when a metric crosses a threshold."""
    metric_anomaly: Annotated[parts.SingleRulePart | None, of.Observed()] = None
    """Triggers when a metric is unusual."""
    tracing_threshold: Annotated[parts.SingleRulePart | None, of.Observed()] = None
    """Triggers when spans are more than a threshold."""
    flow: Annotated[parts.Flow | None, of.Observed()] = None
    """Triggers when other alerts happen in a given order."""
    slo_threshold: Annotated[parts.SloThreshold | None, of.Observed()] = None
    """Triggers on an SLO: when its error budget runs out."""


def check(spec: dict[str, Json]) -> Iterator[Finding]:
    """Yield contradictions between the fields of an alert definition."""
    yield from _type_findings(spec)
    yield from _template_findings(spec)


def _type_findings(spec: dict[str, Json]) -> Iterator[Finding]:
    """Check `type` against the part next to it; an unknown type is not checked."""
    declared = spec.get("type")
    present = [part for part in parts.TYPE_OF if spec.get(part) is not None]
    wanted = {kind: part for part, kind in parts.TYPE_OF.items()}.get(str(declared))
    if declared is None and not present and spec.keys() <= facts_of(AlertDefinitionSpec).keys():
        message = "an alert never triggers without its type and the part that belongs to that"
        first = parts.TYPE_PARTS[0]
        pair = f"`type: {parts.TYPE_OF[first]}` and `{first}`"
        yield warning("M302", (), message, Advice(f"write both, as {pair}"))
    elif declared is None and len(present) == 1:
        message = f"`{present[0]}` is there, but no type that says so"
        remedy = Advice(f"write type: {parts.TYPE_OF[present[0]]}")
        yield warning("M310", (present[0],), message, remedy, at_key=True)
    elif wanted is not None and not present:
        message = f"the type is {declared}, but the part `{wanted}` is missing"
        yield warning("M310", ("type",), message, Advice(f"write {wanted}"))
    elif wanted is not None and wanted not in present:
        message = f"the type is {declared}, but the part is `{present[0]}`"
        yield Finding("M310", ("type",), message, suggestion=parts.TYPE_OF[present[0]])


_SECRET_FIELD = re.compile(r"api[-_ ]?key|authorization|passw|secret|token", re.IGNORECASE)
_SHORTEST_SECRET = 8


def _template_findings(spec: dict[str, Json]) -> Iterator[Finding]:
    """Yield literals in connector fields with a name that means a secret."""
    for group in GROUPS:
        for overrides in ("triggeredRoutingOverrides", "resolvedRouteOverrides"):
            inner = ("configOverrides", "connectorConfigFields", EACH)
            for path, field in places(spec, *group, "destinations", EACH, overrides, *inner):
                if isinstance(field, dict) and _is_secret(
                    field.get("fieldName"), field.get("template")
                ):
                    yield key_finding((*path, "template"))


def _is_secret(name: Json, template: Json) -> bool:
    """Return whether it is a secret in plain text that `lint` did not find by its form."""
    return (
        isinstance(name, str)
        and isinstance(template, str)
        and _SECRET_FIELD.search(name) is not None
        and len(template) >= _SHORTEST_SECRET
        and OPEN not in template
        and "{{" not in template
        and not looks_like_key(template)
    )


# In the documented parts the name of a field is its query language, at any depth.
LANGUAGES: Final = {"luceneQuery": Language.LUCENE, "promql": Language.PROMQL}


def queries(spec: dict[str, Json]) -> Iterator[Query]:
    """Yield the PromQL of metrics and the Lucene of logs."""
    return queries_named(spec, LANGUAGES)


SILENCED = "alert-silenced"
DELETED = "alert-deleted"
LOWERED = "alert-priority-lowered"
CONSENTS = (SILENCED, DELETED)

_PRIORITY = re.compile("ALERT_DEF_PRIORITY_P([1-5])")
_LOWEST = 5  # the meaning of an absent priority, by the name of its value


def weakens(change: Change) -> Iterator[RiskyChange]:
    """Yield the risky changes in a write of an alert.

    For an alert that was never read, what the write takes away is unknown. Then only the sent
    values are used: they show whether the alert is silenced. An edit that someone made live since
    the last apply is included: the next apply makes it permanent, even if it sends nothing.
    """
    if change.action not in (Action.UPDATE, Action.ASSERT, Action.KEEP):
        return
    unseen = change.action is Action.ASSERT
    names = _names(change)
    for difference in (*change.differences, *change.since_applied):
        is_live = difference in change.since_applied
        would = "it would stay" if is_live else "it would be"
        since = ", which someone did live since its last apply" if is_live else ""
        match difference.path:
            case ("enabled",) if difference.before is True or (
                unseen and difference.after is False
            ):
                message = f"{would} disabled{since}"
                yield RiskyChange(
                    SILENCED, message, "disabled", ConsentRule.WITH_OPEN_INCIDENTS, names
                )
            case ("phantomMode",) if difference.after is True:
                message = f"{would} {'' if is_live else 'set to '}phantom{since}"
                yield RiskyChange(
                    SILENCED, message, "set to phantom", ConsentRule.WITH_OPEN_INCIDENTS, names
                )
            case ("deleted",) if difference.after is True:
                message = f"{would} deleted{since}"
                yield RiskyChange(DELETED, message, "deleted", ConsentRule.ALWAYS)
            case ("priority",) if _rank(difference.after) > _rank(difference.before) > 0:
                before, after = _rank(difference.before), _rank(difference.after)
                message = f"its priority would go down from P{before} to P{after}"
                yield RiskyChange(LOWERED, message, "lowered in priority")


_SLO_ID = ("sloThreshold", "sloDefinition", "sloId")


def watches(manifest: Manifest) -> Iterator[Watched]:
    """Yield the SLO of an alert's threshold, by reference or by its id."""
    declared = value_at(manifest.spec, _SLO_ID)
    references = references_in(declared) if isinstance(declared, str) else ()
    for ref in references:
        yield Watched(ref.kind, ref)
    if isinstance(declared, str) and not references:
        yield Watched("SLO", remote_id=declared)


def _rank(priority: Json | Missing) -> int:
    """Return 1 for P1 to 5 for P5, and 0 for an unknown value."""
    if not isinstance(priority, str):
        return _LOWEST
    known = _PRIORITY.match(priority)
    return 0 if known is None else int(known[1])


def _names(change: Change) -> frozenset[str]:
    known = change.observation
    before = known.document if isinstance(known, Seen | Remembered) else {}
    names = (document.get("name") for document in (before, change.body))
    return frozenset(name for name in names if isinstance(name, str) and name)


def no_alert(remote_id: RemoteId | None) -> str:
    """Return the text that the service has no such alert."""
    return f"the service has no alert {remote_id}"


ONLY_REPLACES: Final = "bulk replace cannot create it: check its id in `metadata`"


def cannot_create(manifest: Manifest) -> str:
    """Return why an absent alert is not created."""
    return f"{no_alert(manifest.remote_id)}; {ONLY_REPLACES}"


GROUPS = (("notificationGroup",), ("notificationGroupExcess", EACH))


def undescribed(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    """Yield a finding if the alert has neither a description nor a runbook label."""
    if is_blank(spec.get("description")) and not _has_runbook_label(spec):
        message = "this alert has no description: whoever it wakes must guess what it means"
        remedy = Advice("say in `description` what is wrong, and where the runbook is")
        yield SpecFinding(("description",) if "description" in spec else ("name",), message, remedy)


def without_runbook(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    """Yield a finding if the description has no link and there is no runbook label."""
    description = spec.get("description")
    leads = isinstance(description, Template) or "://" in str(description or "")
    if not leads and not is_blank(description) and not _has_runbook_label(spec):
        message = "the description has no link, so that nothing leads to a runbook"
        remedy = Advice("add the address of what to do to the description")
        yield SpecFinding(("description",), message, remedy)


def _has_runbook_label(spec: dict[str, Json]) -> bool:
    labels = spec.get("entityLabels")
    return isinstance(labels, dict) and any(
        "runbook" in key.casefold() and not is_blank(value) for key, value in labels.items()
    )


def is_awake(spec: dict[str, Json]) -> bool:
    """Return whether the alert is on and notifies people itself."""
    on = spec.get("enabled") is not False and spec.get("deleted") is not True
    return on and spec.get("phantomMode") is not True


def reaches_somebody(group: Json) -> bool:
    """Return whether a group has a router, a destination or a webhook with a recipient.

    A webhook with unknown fields counts as a webhook with a recipient.
    """
    if not isinstance(group, dict):
        return group is not None
    if isinstance(group.get("router"), dict) or group.get("destinations"):
        return True
    for _, integration in places(group, "webhooks", EACH, "integration"):
        if isinstance(integration, dict):
            emails = [value for _, value in places(integration, "recipients", "emails", EACH)]
            has_other = bool(integration.keys() - {"integrationId", "recipients"})
            if has_other or not all(map(is_blank, (integration.get("integrationId"), *emails))):
                return True
    return False


def off_for_good(spec: dict[str, Json]) -> Iterator[SpecFinding]:
    """Yield a finding for each flag by which an alert is off."""
    for flag, asleep, message in (
        ("enabled", False, "this alert is disabled"),
        ("phantomMode", True, "this alert is a phantom, and tells nobody by itself"),
    ):
        if spec.get(flag) is asleep:
            remedy = Advice("say until when: `exempt: {L209: {reason: …, until: 2026-12-31}}`")
            yield SpecFinding((flag,), f"{message}, and no day says until when", remedy)


# Paths in the part that belongs to the type of the alert: its name differs for each type.
QUERY = ("simpleFilter", "luceneQuery")
RULE = (ANY_STEP, "rules", ANY_STEP, "condition")
TRACES = (ANY_STEP, "tracingFilter", "simpleFilter")
TOLD = "notificationGroup"
ESSENTIALS = (
    Essential(("enabled",), usual=True),
    Essential(("phantomMode",), usual=False),
    Essential(("deleted",), usual=False),
    Essential((ANY_STEP, "logsFilter", *QUERY)),
    Essential((ANY_STEP, "numerator", *QUERY), "numerator"),
    Essential((ANY_STEP, "denominator", *QUERY), "denominator"),
    Essential(("metricThreshold", "metricFilter", "promql")),
    Essential(("priority",)),
    Essential(("type",)),
    Essential(("groupByKeys",)),
    Essential((*TRACES, "latencyThresholdMs")),
    Essential((*TRACES, "tracingLabelFilters", "serviceName", ANY_STEP, "values"), "serviceName"),
    Essential(("sloThreshold", "sloDefinition", "sloId")),
    Essential(("sloThreshold", "errorBudget", "rules", ANY_STEP, "condition", "threshold")),
    Essential(("flow", "stages")),
    Essential((*RULE, "conditionType")),
    Essential((*RULE, "threshold")),
    Essential((*RULE, "timeWindow", ANY_STEP)),
    Essential((*RULE, "ofTheLast", ANY_STEP)),
    Essential((TOLD, "destinations", ANY_STEP, "connectorId")),
    Essential((TOLD, "webhooks", ANY_STEP, "integration", "integrationId")),
    Essential((TOLD, "webhooks", ANY_STEP, "integration", "recipients", "emails")),
    Essential((TOLD, "router", "id"), "router"),
)


EXAMPLE: Final[dict[str, Json]] = {
    "name": "Checkout errors",
    "priority": "ALERT_DEF_PRIORITY_P1",
    "type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
    "logsImmediate": {
        "logsFilter": {"simpleFilter": {"luceneQuery": "severity:error AND service:checkout"}}
    },
}

ALERT_DEFINITION = Kind(
    name=NAME,
    noun="alert",
    spec=AlertDefinitionSpec,
    id_form=REQUIRED_UUID,
    check=check,
    queries=queries,
    readable=False,
    cannot_create=cannot_create,
    batch_size=BULK_LIMIT,
    weakens=weakens,
    consents=CONSENTS,
    risky=(("enabled",), ("phantomMode",), ("deleted",)),
    fires=True,
    watches=watches,
    bearing=Bearing((("entityLabels",),)),
    essentials=ESSENTIALS,
    endpoints=(Endpoint(1, "PUT", "/alerts/alerts-general/v3/bulk", "replaces many"),),
    example=EXAMPLE,
    limits="The API can neither read nor create alert definitions: drift cannot be seen.",
)
