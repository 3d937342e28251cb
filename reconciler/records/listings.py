"""Alert events, cases, incidents, data usage and log policies; the close of incidents.

Source: docs/endpoints.md, 2, 7 to 10, 15 and 19.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator, Field

from reconciler.api.retry import Request
from reconciler.document import Json, value_at
from reconciler.errors import OutcomeUnknown
from reconciler.model import Ref
from reconciler.model.assumptions import POLICIES, Assumptions
from reconciler.records import record as of

if TYPE_CHECKING:
    from reconciler.api.client import Api

ALERTS: Final = "AlertDefinition"
"""The kind of the resources that events are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAlert:
    """An alert to look for: its id, its names, and its versions in the span.

    `all_versions` means that no other version can be in the span: the journal has one that existed
    when the span began. `known_since` is when the first known version was made, None where there is
    none.
    """

    ref: Ref
    remote_id: str
    names: frozenset[str]
    versions: frozenset[str]
    all_versions: bool
    known_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Finder of the alert of a record: by its id, by its version, and last by its name.

    A name of several alerts identifies none.
    """

    ids: Mapping[str, Ref]
    versions: Mapping[str, Ref]
    names: Mapping[str, Ref]
    all_versions: bool

    @classmethod
    def of(cls, alerts: Sequence[KnownAlert]) -> Finder:
        """Make a finder for these alerts."""
        bearers = Counter(name for alert in alerts for name in alert.names)
        return cls(
            ids={alert.remote_id: alert.ref for alert in alerts if alert.remote_id},
            versions={version: alert.ref for alert in alerts for version in alert.versions},
            names={
                name: alert.ref for alert in alerts for name in alert.names if bearers[name] == 1
            },
            all_versions=all(alert.all_versions for alert in alerts),
        )

    def alert_of(self, event: AlertEvent) -> tuple[Ref | None, bool]:
        """Return the event's alert, or None, and whether it was looked up by its name alone."""
        if event.alert_id:
            return self.ids.get(event.alert_id), False
        if event.alert_version_id:
            return self.versions.get(event.alert_version_id), False
        return self.names.get(event.alert_name), True

    def may_be_ours(self, event: AlertEvent) -> bool:
        """Return whether an event without a known alert may be of one of these alerts."""
        if event.alert_id:
            return False
        return not self.all_versions if event.alert_version_id else not event.alert_name


ALERT_EVENTS = "/alerts/events/v3/alert-events"


_TRIGGERS = frozenset(("trigger", "triggered", "fire", "fired", "firing"))
_ENDS = frozenset(("resolve", "resolved", "closed", "ended"))
_NO_TRIGGERS = _ENDS | frozenset(("acknowledged", "suppressed", "snoozed", "muted"))
_ALERT_IDS = ("alertId", "alert_id", "alertDefId", "alert_def_id")
_VERSION_IDS = ("alertVersionId", "alert_version_id")
_NAMES = ("alertName", "alert_name", "name")


class AlertEvent(of.Record):
    """One event; `cxEventTimestamp` is in epoch seconds."""

    company_id: int | None = None
    cx_event_key: of.Text = ""
    cx_event_labels: of.Labels = Field(default_factory=dict)
    cx_event_payload: Any = None
    cx_event_payload_type: of.Text = ""
    cx_event_timestamp: of.Text = ""
    cx_event_type: of.Text = ""
    cx_event_dedup_key: of.Text = ""
    cx_event_metadata: Any = None

    @property
    def is_trigger(self) -> bool | None:
        """Return whether an alert fired; None where the event does not say.

        Source: docs/assumptions.md.
        """
        for words in self._describe():
            if words & _NO_TRIGGERS:
                return False
            if words & _TRIGGERS:
                return True
        return None

    @property
    def turn(self) -> str:
        """The turn of its alert: `triggered` or `resolved`; "" where the event says neither."""
        if self.is_trigger:
            return "triggered"
        return "resolved" if any(words & _ENDS for words in self._describe()) else ""

    def _describe(self) -> Iterator[frozenset[str]]:
        """Yield the words of its type, and those of the payload's status."""
        payload = self.cx_event_payload
        status = payload.get("status") if isinstance(payload, dict) else ""
        for text in (self.cx_event_type, status):
            if isinstance(text, str):
                yield frozenset(re.split(r"[^a-z]+", text.lower()))

    @property
    def alert_id(self) -> str:
        """The id of its alert in lower case, from any field that has it; "" where none has."""
        return next(self.alert_ids, "").lower()

    @property
    def alert_ids(self) -> Iterator[str]:
        """Every id of an alert in the event, as it is written there."""
        return self._all_reported(_ALERT_IDS)

    @property
    def alert_version_id(self) -> str:
        """The version of its alert, in lower case, "" where the event has none."""
        return self._reported(_VERSION_IDS).lower()

    @property
    def alert_name(self) -> str:
        """The name of its alert, "" where the event has none."""
        return self._reported(_NAMES)

    def _reported(self, names: Sequence[str]) -> str:
        return next(self._all_reported(names), "")

    def _all_reported(self, names: Sequence[str]) -> Iterator[str]:
        places = (self.cx_event_metadata, self.cx_event_payload, self.cx_event_labels)
        for fields in places:
            for name in names:
                value = fields.get(name) if isinstance(fields, dict) else None
                if isinstance(value, str) and value:
                    yield value


VERSIONS_AT_ONCE: Final = 100
"""Version ids in one request: they are in its address."""


def in_batches(versions: Sequence[str]) -> list[tuple[str, ...]]:
    """Return version ids in batches of as many as one request takes."""
    starts = range(0, len(versions), VERSIONS_AT_ONCE)
    return [tuple(versions[start : start + VERSIONS_AT_ONCE]) for start in starts]


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The events that are wanted; an event must have every label."""

    alert_version_ids: tuple[str, ...] = ()
    span: of.Span | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def holds(self, event: AlertEvent) -> bool:
        """Return whether an event matches.

        A service may ignore a filter that it does not know.
        """
        labels = event.cx_event_labels
        return (self.span is None or self.span.holds(event.cx_event_timestamp)) and all(
            labels.get(key) == value for key, value in self.labels.items()
        )


def list_alert_events(
    api: Api, wanted: EventFilter, limit: int | of.Allowance | None = None, *, whole: bool = False
) -> AsyncIterator[AlertEvent]:
    """Return events page by page, newest first as far as the service sorts.

    Raises what `Api.read` raises, and with `whole` UnreadableReply for a listing that is cut.
    """
    spell, label_filter = api.assumptions.parameter, api.assumptions.label_filter
    fixed = [
        *spell("alertVersionIds", list(wanted.alert_version_ids)),
        *spell("timestampRange", of.range_filter(wanted.span, api.assumptions)),
        *spell("eventLabels", label_filter(wanted.labels)),
    ]
    fetch = of.paged(api, partial(api.read, ALERT_EVENTS), fixed)
    return of.follow(fetch, of.PageShape("events", AlertEvent), limit, wanted.holds, whole=whole)


CASES = "/cases/cases/v1"

CASE_STATES = of.Enumeration("CASE_STATE_", ("CREATED", "ACTIVE", "RESOLVED"))
CASE_STATUSES = of.Enumeration("CASE_STATUS_", ("OPEN", "ACKNOWLEDGED", "CLOSED"))
CASE_PRIORITIES = of.Enumeration("CASE_PRIORITY_", ("P1", "P2", "P3", "P4", "P5"))
CATEGORIES = of.Enumeration("CASE_CATEGORY_", ("SECURITY", "AVAILABILITY"))


class PriorityDetails(of.Record):
    """The priority from the system, and the priority that a person set instead."""

    override: of.Text = ""
    system: of.Text = ""


class Assignee(of.Record):
    """The person who looks after a case."""

    user_id: of.Text = ""


class ResolutionDetails(of.Record):
    """The time when a case was resolved, and by whom."""

    resolve_time: of.Text = ""
    resolved_by: of.Text = ""


class AlertIndicator(of.Record):
    """One alert of a case."""

    alert_id: of.Text = ""
    alert_version_id: of.Text = ""
    grouping_type: of.Text = ""
    groupings: Annotated[list[of.KeyValue], of.OrEmpty] = Field(default_factory=list)
    priority: of.Text = ""
    state: of.Text = ""
    trigger_time: of.Text = ""
    resolve_time: of.Text = ""


class Case(of.Record):
    """One case; the fields without a default are required in every answer."""

    id: of.Text
    category: of.Text
    create_time: of.Text
    priority: of.Text
    state: of.Text
    status: of.Text
    title: of.Text
    readable_id: of.Text = ""
    description: of.Text = ""
    priority_details: PriorityDetails | None = None
    update_time: of.Text = ""
    acknowledge_time: of.Text = ""
    assignee: Assignee | None = None
    groupings: Annotated[list[of.KeyValue], of.OrEmpty] = Field(default_factory=list)
    labels: Annotated[list[of.KeyValue], of.OrEmpty] = Field(default_factory=list)
    resolution_details: ResolutionDetails | None = None
    alert_indicators: Annotated[list[AlertIndicator], of.OrEmpty] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilter:
    """The cases that are wanted. Lists are alternatives; labels must all be there."""

    states: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str = ""
    unassigned: bool = False

    def document(self, assumptions: Assumptions) -> dict[str, Json]:
        """Return the `filters` of the request, without those that are not set."""
        bare = assumptions.case_statuses == "bare"
        filters: dict[str, Json] = {
            "states": list(self.states),
            # This is the only filter for which the API document shows values without their prefix.
            "statuses": [
                status.removeprefix(CASE_STATUSES.prefix) if bare else status
                for status in self.statuses
            ],
            "priorities": list(self.priorities),
            "categories": list(self.categories),
            "labels": _pairs(self.labels),
            "groupings": _pairs(self.groupings),
            "textSearch": self.text,
            "assignees": [{"unassigned": {}}] if self.unassigned else [],
        }
        return {key: value for key, value in filters.items() if value}


def _pairs(labels: Mapping[str, tuple[str, ...]]) -> list[Json]:
    return [{"key": key, "values": list(values)} for key, values in labels.items()]


def list_cases(
    api: Api, wanted: CaseFilter, limit: int | of.Allowance | None = None
) -> AsyncIterator[Case]:
    """Return cases page by page, newest first.

    Needs the permission `case:Read`. Raises what `Api.ask` raises.
    """
    filters = wanted.document(api.assumptions)

    def fetch(pagination: dict[str, Json]) -> Awaitable[Json]:
        return api.ask(CASES, {"filters": filters, "pagination": pagination})

    return of.follow(fetch, of.PageShape("cases", Case), limit)


INCIDENTS = "/incidents/incidents/v1"
EVENTS = f"{INCIDENTS}/events"
CLOSE = f"{INCIDENTS}/close"

FIRST_YEAR: Final = 1971
"""No incident was closed before this year: a service may write a missing time as its zero."""

MOST_AHEAD: Final = timedelta(minutes=5)
"""Clocks differ; a closing time further ahead than this does not count yet."""

INCIDENT_SEVERITIES = of.Enumeration(
    "INCIDENT_SEVERITY_", ("LOW", "INFO", "WARNING", "ERROR", "CRITICAL")
)
INCIDENT_STATES = of.Enumeration("INCIDENT_STATE_", ("TRIGGERED", "RESOLVED"))
INCIDENT_STATUSES = of.Enumeration("INCIDENT_STATUS_", ("TRIGGERED", "ACKNOWLEDGED", "RESOLVED"))
UNRESOLVED = ("INCIDENT_STATUS_TRIGGERED", "INCIDENT_STATUS_ACKNOWLEDGED")
EVENT_TYPES = of.Enumeration(
    "INCIDENT_EVENT_TYPE_",
    ("OPEN", "CLOSE", "UPSERT_STATE", "ACKNOWLEDGE", "ASSIGN", "UNASSIGN", "SNOOZE_INDICATOR"),
)


class Person(of.Record):
    """A user."""

    user_id: of.Text = ""


class Assignment(of.Record):
    """The person who assigned an incident, and the person who got it."""

    assigned_by: Person | None = None
    assigned_to: Person | None = None


class IncidentEvent(of.Record):
    """An event of an incident; a close has the empty object `close`."""

    id: of.Text = ""
    incident_event_type: of.Text = ""
    originator_type: of.Text = ""
    administrative_event: Person | None = None
    close: dict[str, Any] | None = None


class Incident(of.Record):
    """One incident; it is open while it has no `closedAt` (docs/assumptions.md)."""

    id: of.Text
    name: of.Text = ""
    description: of.Text = ""
    created_at: of.Text = ""
    closed_at: of.Text = ""
    duration: of.Text = ""
    severity: of.Text = ""
    state: of.Text = ""
    status: of.Text = ""
    is_muted: bool | None = None
    last_state_update_key: of.Text = ""
    last_state_update_time: of.Text = ""
    contextual_labels: of.Labels = Field(default_factory=dict)
    display_labels: of.Labels = Field(default_factory=dict)
    meta_labels: Annotated[list[of.KeyValue], of.OrEmpty] = Field(default_factory=list)
    assignments: Annotated[list[Assignment], of.OrEmpty] = Field(default_factory=list)
    events: Annotated[list[IncidentEvent], of.OrEmpty] = Field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Return whether `closedAt` is absent, unreadable, or a zero date."""
        closed = of.moment(self.closed_at)
        return closed is None or closed.year < FIRST_YEAR

    def is_open_at(self, now: datetime) -> bool:
        """Return whether it is open at `now`, even if `closedAt` is over five minutes later."""
        closed = of.moment(self.closed_at)
        return self.is_open or (closed is not None and closed > now + MOST_AHEAD)


class EventMetadata(of.Record):
    """The fields that the event listing adds to an event."""

    alert_group_by_fields: Annotated[list[of.Text], of.OrEmpty] = Field(default_factory=list)
    alert_id: of.Text = ""
    alert_labels: Annotated[list[of.KeyValue], of.OrEmpty] = Field(default_factory=list)
    alert_name: of.Text = ""
    alert_type: of.Text = ""
    incident_permutation: Any = None
    incident_severity: of.Text = ""
    incident_state: of.Text = ""
    incident_status: of.Text = ""
    is_muted: bool | None = None


class ExtendedIncidentEvent(of.Record):
    """An incident event as the event listing returns it."""

    cx_event_key: of.Text = ""
    cx_event_timestamp: of.Text = ""
    incident_event: IncidentEvent | None = None
    incident_event_extended_metadata: EventMetadata | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter:
    """The incidents that are wanted. Lists are alternatives."""

    applications: tuple[str, ...] = ()
    subsystems: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    muted: bool | None = None
    text: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    created: of.Span | None = None
    open_only: bool = False

    def document(self, assumptions: Assumptions) -> dict[str, Json]:
        """Return the `filter` of the request, without fields that are not set."""
        names = assumptions.filter_names
        filters: dict[str, Json] = {
            "applicationName": list(self.applications),
            "subsystemName": list(self.subsystems),
            "severity": list(self.severities),
            "state": list(self.states),
            "status": list(self.statuses),
            "isMuted": self.muted,
            names.search_query: assumptions.text_filter(self.text),
            names.contextual_labels: assumptions.label_filter(self.labels),
            names.created_at_range: of.range_filter(self.created, assumptions),
        }
        return {key: value for key, value in filters.items() if value not in ([], {}, "", None)}

    def holds(self, incident: Incident) -> bool:
        """Return whether an incident matches.

        A service may ignore a filter that it does not know.
        """
        labels = incident.contextual_labels
        return (
            _among(incident.severity, self.severities)
            and _among(incident.state, self.states)
            and _among(incident.status, self.statuses)
            and (self.muted is None or incident.is_muted in (self.muted, None))
            and (self.created is None or self.created.holds(incident.created_at))
            and all(labels.get(key) == value for key, value in self.labels.items())
            and (incident.is_open or not self.open_only)
        )


LISTED = of.PageShape("incidents", Incident, ("incidents", of.PAGINATION))
EVENTS_LISTED = of.PageShape("items", ExtendedIncidentEvent, ("items",))


def _among(value: str, wanted: Sequence[str]) -> bool:
    return not wanted or not value or value in wanted


def list_incidents(
    api: Api,
    wanted: IncidentFilter,
    limit: int | of.Allowance | None = None,
    *,
    whole: bool = False,
) -> AsyncIterator[Incident]:
    """Return incidents page by page.

    Raises what `Api.ask` raises, and with `whole` UnreadableReply for a listing that is cut.
    """
    fixed = api.assumptions.parameter("filter", wanted.document(api.assumptions))
    fetch = of.paged(api, partial(api.ask, INCIDENTS, {}), fixed)
    return of.follow(fetch, LISTED, limit, wanted.holds, whole=whole)


async def every_incident(api: Api, most_pages: int) -> tuple[list[Incident], bool]:
    """Return all incidents, open or not, and whether these are all.

    The service filters nothing, as a filter that it understands differently would silently leave
    some out. Raises what `follow_whole` and `Api.ask` raise.
    """
    return await of.follow_whole(of.paged(api, partial(api.ask, INCIDENTS, {})), LISTED, most_pages)


async def every_incident_event(
    api: Api, most_pages: int
) -> tuple[list[ExtendedIncidentEvent], bool]:
    """Return all incident events, and whether these are all.

    Raises what `follow_whole` and `Api.read` raise.
    """
    return await of.follow_whole(
        of.paged(api, partial(api.read, EVENTS)), EVENTS_LISTED, most_pages
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEventFilter:
    """The incident events that are wanted."""

    name: str = ""
    severities: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    muted: bool | None = None
    span: of.Span | None = None

    def document(self, assumptions: Assumptions) -> dict[str, Json]:
        """Return the `filter` of the request, without fields that are not set."""
        names = assumptions.filter_names
        filters: dict[str, Json] = {
            names.event_name: assumptions.text_filter(self.name),
            "severity": list(self.severities),
            "status": list(self.statuses),
            "isMuted": self.muted,
            names.event_time: of.range_filter(self.span, assumptions),
        }
        return {key: value for key, value in filters.items() if value not in ([], {}, "", None)}

    def holds(self, event: ExtendedIncidentEvent) -> bool:
        """Return whether an event matches.

        A service may ignore a filter that it does not know.
        """
        known = event.incident_event_extended_metadata or EventMetadata()
        return (
            (self.span is None or self.span.holds(event.cx_event_timestamp))
            and _among(known.incident_severity, self.severities)
            and _among(known.incident_status, self.statuses)
            and (self.muted is None or known.is_muted in (self.muted, None))
        )


def list_incident_events(
    api: Api, wanted: IncidentEventFilter, limit: int | of.Allowance | None = None
) -> AsyncIterator[ExtendedIncidentEvent]:
    """Return incident events page by page. Raises what `Api.read` raises."""
    fixed = api.assumptions.parameter("filter", wanted.document(api.assumptions))
    fetch = of.paged(api, partial(api.read, EVENTS), fixed)
    return of.follow(fetch, EVENTS_LISTED, limit, wanted.holds)


async def find_incidents(api: Api, ids: Sequence[str]) -> dict[str, Incident]:
    """Find incidents by id in the listing, as the API has no read of one, nor a filter by id.

    Unresolved incidents are listed first: they are few, and most wanted. Raises what `Api.ask`
    raises.
    """
    found: dict[str, Incident] = {}
    for wanted in (IncidentFilter(statuses=UNRESOLVED), IncidentFilter()):
        missing = set(ids) - found.keys()
        if not missing:
            break
        async for incident in list_incidents(api, wanted):
            if incident.id in missing:
                found[incident.id] = incident
                if missing <= found.keys():
                    break
    return found


async def close_incidents(api: Api, ids: Sequence[str]) -> list[Incident]:
    """Close incidents and return them as they are now.

    After a lost answer the incidents are listed, and only those still open are sent again, once
    (docs/network.md). An incident that the answer leaves out is looked up. Raises what `Api.send`
    raises.
    """
    known: dict[str, Incident] = {}
    try:
        answered = await _close(api, ids)
    except OutcomeUnknown:
        known = await find_incidents(api, ids)
        still_open = [id_ for id_ in ids if id_ not in known or known[id_].is_open]
        answered = await _close(api, still_open) if still_open else []
    known |= {incident.id: incident for incident in answered}
    missing = [id_ for id_ in ids if id_ not in known]
    if missing:
        known |= await find_incidents(api, missing)
    return [known[id_] for id_ in ids if id_ in known]


async def _close(api: Api, ids: Sequence[str]) -> list[Incident]:
    field_name = api.assumptions.close_body_field
    body: Json = {} if field_name is None else {field_name: list(ids)}
    params = api.assumptions.parameter("incidentIds", list(ids)) if field_name is None else []
    reply = await api.send("POST", CLOSE, body, request=Request.FINDABLE, params=params)
    listed = value_at(reply, ("incidents",))
    # Incidents that the answer leaves out are looked up.
    return (
        [of.read_record(incident, Incident) for incident in listed]
        if isinstance(listed, list)
        else []
    )


DAILY_UNITS = "/dataplans/data-usage/v2/daily:units"
RANGES = ("CURRENT_MONTH", "LAST_WEEK", "LAST_30_DAYS", "LAST_90_DAYS", "LAST_YEAR")


def _unwrapped(value: object) -> object:
    """Return the number in `{value: number}`; an absent value is 0, as it is on the wire."""
    if isinstance(value, dict):
        return value.get("value") or 0
    return 0 if value is None else value


Units = Annotated[float, BeforeValidator(_unwrapped), Field(allow_inf_nan=False)]


class DailyUnits(of.Record):
    """The units of one day, by consumer."""

    stats_date: of.Text = ""
    blocked_metrics_units: Units = 0
    blocked_units: Units = 0
    cpu_profiles_units: Units = 0
    evaluation_units: Units = 0
    high_logs_units: Units = 0
    high_metrics_units: Units = 0
    high_tracing_units: Units = 0
    low_logs_units: Units = 0
    low_session_recording_units: Units = 0
    low_tracing_units: Units = 0
    medium_logs_units: Units = 0
    medium_tracing_units: Units = 0
    total_units: Units = 0


async def daily_units(api: Api, span: str) -> list[DailyUnits]:
    """Return the units of each day of a range, oldest first; `span` is one of `RANGES`.

    Raises what `Api.ask` raises.
    """
    reply = await api.ask(DAILY_UNITS, {"range": f"RANGE_{span}"})
    days = [of.read_record(day, DailyUnits) for day in of.all_items_of(reply, "units")]
    return sorted(days, key=lambda day: day.stats_date)


POLICY_PRIORITIES = of.Enumeration("PRIORITY_TYPE_", ("BLOCK", "LOW", "MEDIUM", "HIGH"))
RULE_TYPES = of.Enumeration("RULE_TYPE_ID_", ("IS", "IS_NOT", "START_WITH", "INCLUDES"))
POLICY_SEVERITIES = of.Enumeration(
    "SEVERITY_", ("DEBUG", "VERBOSE", "INFO", "WARNING", "ERROR", "CRITICAL")
)


class PolicyRuleRecord(of.Record):
    """The applications or subsystems that a policy is for."""

    name: of.Text = ""
    rule_type_id: of.Text = ""


class LogPolicy(of.Record):
    """A stored policy; `document` has its severities too where the service returns them."""

    id: of.Text = ""
    company_id: int | None = None
    name: of.Text = ""
    description: of.Text = ""
    order: int | None = None
    priority: of.Text = ""
    enabled: bool | None = None
    deleted: bool | None = None
    application_rule: PolicyRuleRecord | None = None
    subsystem_rule: PolicyRuleRecord | None = None
    archive_retention: Any = None
    created_at: of.Text = ""
    updated_at: of.Text = ""


async def list_log_policies(
    api: Api, source: str = "LOGS", *, enabled_only: bool = False
) -> list[LogPolicy]:
    """Return the policies in their order. Raises what `Api.read` raises."""
    spell = api.assumptions.parameter
    params = spell("sourceType", f"SOURCE_TYPE_{source}")
    if enabled_only:
        params += spell("enabledOnly", value=True)
    policies = of.all_items_of(await api.read(POLICIES, params), "policies")
    return sorted(
        (of.read_record(policy, LogPolicy) for policy in policies),
        key=lambda policy: policy.order or 0,
    )
