"""Alerts that incidents, cases and events mention, as the service has no listing of alerts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

from reconciler.errors import NotAuthorised, ServiceRefused, UnreadableReply
from reconciler.records.alert_events import EventFilter, list_alert_events
from reconciler.records.case_records import CaseFilter, list_cases
from reconciler.records.incident_records import IncidentEventFilter, list_incident_events

if TYPE_CHECKING:
    from reconciler.api.client import Api

ALERTS: Final = "AlertDefinition"
MOST_RECORDS = 2_000
"""Records of each listing that are read; the same alerts appear again and again in them."""

Mention = tuple[str, str]
"""The id of an alert, and a text about it."""


async def mentioned_alerts(api: Api) -> dict[str, str]:
    """Map the ids of alerts that incidents, cases and alert events mention to a text about each.

    A listing that the key may not read, or that is unreadable, counts as empty. Raises errors that
    concern the whole service.
    """
    found: dict[str, str] = {}
    for listing in (_in_incidents, _in_cases, _in_events):
        try:
            async for alert, text in listing(api):
                if alert:
                    found.setdefault(alert.lower(), text)
        except NotAuthorised as refused:
            if not refused.known:
                raise
        except (ServiceRefused, UnreadableReply):
            continue
    return found


async def _in_incidents(api: Api) -> AsyncIterator[Mention]:
    async for event in list_incident_events(api, IncidentEventFilter(), MOST_RECORDS):
        metadata = event.incident_event_extended_metadata
        if metadata is not None:
            called = f" `{metadata.alert_name}`" if metadata.alert_name else ""
            yield metadata.alert_id, f"an incident is of this alert{called}"


async def _in_cases(api: Api) -> AsyncIterator[Mention]:
    async for case in list_cases(api, CaseFilter(), MOST_RECORDS):
        for indicator in case.alert_indicators:
            yield indicator.alert_id, f"the case `{case.title}` is of this alert"


async def _in_events(api: Api) -> AsyncIterator[Mention]:
    async for event in list_alert_events(api, EventFilter(), MOST_RECORDS):
        for alert_id in event.alert_ids:
            yield alert_id, "an alert event is of this alert"
