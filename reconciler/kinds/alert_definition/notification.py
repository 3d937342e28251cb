"""Who is told of an alert, and how."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, TypeAlias

from reconciler.kinds.fields import (
    AtMost,
    Choosing,
    Int32,
    Keyed,
    Names,
    Observed,
    Part,
    Text,
    Unit,
    Unordered,
    Uuid,
    known,
)

MINUTES: Final = AtMost(10_080, 1)
NotifyOn: TypeAlias = Annotated[
    Text, known("NOTIFY_ON_", "TRIGGERED_ONLY_UNSPECIFIED", "TRIGGERED_AND_RESOLVED")
]
GroupByKeys: TypeAlias = Annotated[Names, Unordered(), AtMost(100)]


class ConfigField(Part):
    """One field of a message or connector, filled from a template."""

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
