"""Alerts that the service mentions elsewhere: what it tells of its alerts, as it lists none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final

from reconciler.errors import NotAuthorised, ServiceRefused, UnreadableReply
from reconciler.records.alert_events import EventFilter, list_alert_events
from reconciler.records.case_records import CaseFilter, list_cases
from reconciler.records.incident_records import IncidentEventFilter, list_incident_events

if TYPE_CHECKING:
    from reconciler.api.client import Api

ALERTS: Final = "AlertDefinition"
MOST_RECORDS = 2_000
"""Records of each listing that are looked at; names of alerts come again and again in them."""

Mention = tuple[str, str]
"""The id of an alert, and what is said of it."""


async def mentioned_alerts(api: Api) -> dict[str, str]:
    """Map the ids of alerts that incidents, cases and alert events mention to words about each.

    A listing that the key may not read, or that cannot be read, tells none. Raises what is
    about the service as a whole.
    """
    found: dict[str, str] = {}
    for listing in (_in_incidents, _in_cases, _in_events):
        await _take(listing, api, found)
    return found


async def _take(
    listing: Callable[[Api], AsyncIterator[Mention]], api: Api, found: dict[str, str]
) -> None:
    try:
        async for alert, said in listing(api):
            if alert:
                found.setdefault(alert.lower(), said)
    except NotAuthorised as refused:
        if not refused.known:
            raise
    except (ServiceRefused, UnreadableReply):
        return


async def _in_incidents(api: Api) -> AsyncIterator[Mention]:
    async for event in list_incident_events(api, IncidentEventFilter(), MOST_RECORDS):
        told = event.incident_event_extended_metadata
        if told is not None:
            called = f" `{told.alert_name}`" if told.alert_name else ""
            yield told.alert_id, f"an incident is of this alert{called}"


async def _in_cases(api: Api) -> AsyncIterator[Mention]:
    async for case in list_cases(api, CaseFilter(), MOST_RECORDS):
        for indicator in case.alert_indicators:
            yield indicator.alert_id, f"the case `{case.title}` is of this alert"


async def _in_events(api: Api) -> AsyncIterator[Mention]:
    async for event in list_alert_events(api, EventFilter(), MOST_RECORDS):
        for alert_id in event.alert_ids:
            yield alert_id, "an alert event is of this alert"
