"""Whom an alert tells, and how."""

from typing import Annotated, ClassVar

from pydantic import Field

from reconciler.emulator.models.enumerations import NotifyOn
from reconciler.emulator.models.wire import Int32, JsonObject, SentUuid, WireObject, bounds

NotificationMinutes = Annotated[Int32, bounds(1, 10_080)]


class FieldTemplate(WireObject):
    """A field of a connector or message, filled from a template."""

    field_name: str = ""
    template: str = ""


class ConfigOverrides(WireObject):
    """What replaces the preset's own configuration."""

    connector_config_fields: list[FieldTemplate] = Field(default_factory=list)
    message_config_fields: list[FieldTemplate] = Field(default_factory=list)
    payload_type: str = ""


class RoutingOverrides(WireObject):
    """The overrides of one occasion, triggered or resolved."""

    config_overrides: ConfigOverrides | None = None


class Destination(WireObject):
    """A connector with its preset."""

    connector_id: str = ""
    preset_id: str = ""
    notify_on: NotifyOn = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"
    resolved_route_overrides: RoutingOverrides | None = None
    triggered_routing_overrides: RoutingOverrides | None = None


class Router(WireObject):
    """Routing by rules; an empty router is not the same as none."""

    uuids: ClassVar[tuple[str, ...]] = ("id",)

    id: SentUuid | None = None
    notify_on: NotifyOn = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"


class Integration(WireObject):
    """A webhook by its number, or addresses."""

    integration_id: Int32 | None = None
    recipients: JsonObject | None = None


class Webhook(WireObject):
    """An integration that is called, at most once in so many minutes."""

    integration: Integration | None = None
    minutes: NotificationMinutes | None = None
    notify_on: NotifyOn = "NOTIFY_ON_TRIGGERED_ONLY_UNSPECIFIED"


class NotificationGroup(WireObject):
    """Destinations that are told together."""

    destinations: list[Destination] = Field(default_factory=list)
    group_by_keys: list[str] = Field(default_factory=list)
    router: Router | None = None
    webhooks: list[Webhook] = Field(default_factory=list)
