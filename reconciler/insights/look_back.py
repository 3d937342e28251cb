"""What the service tells of a span: alert events, open incidents, and the policies that logs meet.

Each listing is paged once, all that it holds at the same moment. What cannot be told is said
with its reason, and never taken for nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from reconciler.errors import (
    NotAuthorised,
    ReconcilerError,
    ServiceRefused,
    Unavailable,
    UnreadableReply,
    WrongRoute,
)
from reconciler.kinds.answers import text as text_of
from reconciler.kinds.audit_rule import Rest
from reconciler.kinds.log_policy_set.remote import bulk_test
from reconciler.records.alert_events import AlertEvent, EventFilter, list_alert_events
from reconciler.records.incident_records import (
    UNRESOLVED,
    Incident,
    IncidentEventFilter,
    IncidentFilter,
    list_incident_events,
    list_incidents,
)
from reconciler.records.log_policies import SEVERITIES, list_log_policies
from reconciler.records.record import PAGE_SIZE, Span, moment

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.document import Json

MOST_EVENTS: Final = 10_000
MOST_INCIDENTS: Final = 2_000
MOST_INCIDENT_EVENTS: Final = 2_000
MOST_PLACES: Final = 500
"""Pairs of application and subsystem whose logs are asked about, in all severities."""

ROWS_AT_ONCE: Final = 200
A_YEAR: Final = timedelta(days=365)
_APPLICATION = ("application", "applicationname")
_SUBSYSTEM = ("subsystem", "subsystemname")

Row = tuple[str, str, str]
"""Application, subsystem and severity of a log."""

Found = TypeVar("Found")


@dataclass(slots=True)
class LookedBack:
    """What was told, and under `lacks` what was not, and why. `behind` maps incidents to alerts.

    `has_older` says that an event from before the span is told too. `failures` are the errors
    that were met, and `asked` how many listings there were.
    """

    events: list[AlertEvent] = field(default_factory=list)
    has_older: bool = False
    incidents: list[Incident] = field(default_factory=list)
    behind: dict[str, str] = field(default_factory=dict)
    met: Mapping[str, int] = field(default_factory=dict)
    live: frozenset[str] = frozenset()
    logs: int = 0
    lacks: dict[Rest, str] = field(default_factory=dict)
    failures: list[ReconcilerError] = field(default_factory=list)
    asked: int = 0


async def look_back(
    api: Api, span: Span, wanted: Collection[Rest], samples: Sequence[Row] = ()
) -> LookedBack:
    """Ask for what is wanted.

    `samples` are logs that are asked about beside those that events tell of. Raises
    NotAuthorised where the key is refused, and Unavailable where nothing at all was told.
    """
    told = LookedBack()
    if Rest.EVENTS in wanted:
        events = list_alert_events(api, EventFilter(span=span), MOST_EVENTS, whole=True)
        told.events = await _all(events, Rest.EVENTS, told)
    if Rest.SPAN in wanted and Rest.EVENTS not in told.lacks:
        told.has_older = await _has_older(api, span)
    if Rest.INCIDENTS in wanted:
        unresolved = IncidentFilter(statuses=UNRESOLVED, open_only=True)
        incidents = list_incidents(api, unresolved, MOST_INCIDENTS, whole=True)
        told.incidents = await _all(incidents, Rest.INCIDENTS, told)
        if told.incidents:
            told.behind = await _alerts_behind(api, told)
    if Rest.LOGS in wanted and Rest.EVENTS not in told.lacks:
        await _take_logs(api, told, samples)
    down = [failure for failure in told.failures if isinstance(failure, Unavailable)]
    if down and len(told.failures) == told.asked:
        raise down[0]
    return told


async def _all(listing: AsyncIterator[Found], rest: Rest, told: LookedBack) -> list[Found]:
    """Give all of a listing; nothing, and why, where that is not to be had."""
    told.asked += 1
    try:
        return [one async for one in listing]
    except ReconcilerError as error:
        _note(error, rest, told)
        return []


async def _has_older(api: Api, span: Span) -> bool:
    """Tell whether an event from before the span is told, so that all of the span is kept.

    Where that cannot be told it is not so.
    """
    before = EventFilter(span=Span(span.since - A_YEAR, span.since))
    with suppress(NotAuthorised, ServiceRefused, Unavailable):
        async for event in list_alert_events(api, before, PAGE_SIZE, whole=True):
            if moment(event.cx_event_timestamp) is not None:
                return True
    return False


def _note(error: ReconcilerError, rest: Rest, told: LookedBack) -> None:
    """Keep why something cannot be told. Raises what is about the run as a whole."""
    if isinstance(error, NotAuthorised) and not error.known:
        raise error
    if not isinstance(error, NotAuthorised | ServiceRefused | Unavailable):
        raise error
    told.failures.append(error)
    match error:
        case NotAuthorised():
            kind = "the key may not read them"
        case WrongRoute():
            kind = "this service has no such listing"
        case UnreadableReply():
            kind = "the answer cannot be used"
        case _:
            kind = "the service does not tell"
    told.lacks[rest] = f"{kind}: {error}"


async def _alerts_behind(api: Api, told: LookedBack) -> dict[str, str]:
    """Map open incidents to the alerts that their events name; an incident itself names none."""
    incident_of = {
        event.id: incident.id
        for incident in told.incidents
        for event in incident.events
        if event.id
    }
    listing = list_incident_events(api, IncidentEventFilter(), MOST_INCIDENT_EVENTS)
    told.asked += 1
    behind: dict[str, str] = {}
    try:
        async for event in listing:
            inner, known = event.incident_event, event.incident_event_extended_metadata
            if inner is not None and known is not None and known.alert_id:
                incident = incident_of.get(inner.id)
                if incident is not None:
                    behind[incident] = known.alert_id.lower()
    except ReconcilerError as error:
        lacks = dict(told.lacks)
        _note(error, Rest.INCIDENTS, told)
        # Their names are left: what bears that of one alert alone is of that.
        told.lacks = lacks
    return behind


async def _take_logs(api: Api, told: LookedBack, samples: Sequence[Row]) -> None:
    """Find out which policies the logs meet that are known here."""
    rows = [*dict.fromkeys((*logs_in(told.events), *samples))]
    if not rows:
        told.lacks[Rest.LOGS] = "no alert event names an application or a subsystem"
        return
    told.asked += 1
    try:
        policies = await list_log_policies(api)
        told.met = await meets(api, rows)
    except ReconcilerError as error:
        _note(error, Rest.LOGS, told)
        return
    told.logs = len(rows)
    told.live = frozenset(policy.name for policy in policies if policy.enabled is True)


def logs_in(events: Iterable[AlertEvent]) -> list[Row]:
    """Give the logs of the places that the labels of events name, in every severity."""
    found: dict[tuple[str, str], None] = {}
    for event in events:
        labels = {key.casefold(): value for key, value in event.cx_event_labels.items()}
        place = _first(labels, _APPLICATION), _first(labels, _SUBSYSTEM)
        if any(place) and len(found) < MOST_PLACES:
            found[place] = None
    return [(*place, severity) for place in found for severity in SEVERITIES.known]


def _first(labels: Mapping[str, str], names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


async def meets(api: Api, rows: Sequence[Row]) -> dict[str, int]:
    """Count by their names the policies that logs meet, as the service itself says.

    Raises what `Api.ask` raises.
    """
    met: dict[str, int] = {}
    for start in range(0, len(rows), ROWS_AT_ONCE):
        wire: list[dict[str, Json]] = [
            {
                "applicationNameValues": application,
                "subsystemNameValues": subsystem,
                "severityValues": f"{SEVERITIES.prefix}{severity}",
            }
            for application, subsystem, severity in rows[start : start + ROWS_AT_ONCE]
        ]
        for result in await bulk_test(api, wire):
            policy = result.get("policy")
            if not isinstance(result.get("matched"), bool):
                raise UnreadableReply("a result does not say whether a policy matched")
            if result["matched"] is True:
                if not isinstance(policy, dict) or not text_of(policy, "name"):
                    raise UnreadableReply("a result does not name the policy that matched")
                name = text_of(policy, "name")
                met[name] = met.get(name, 0) + 1
    return met
