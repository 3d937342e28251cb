"""Audit rules: checks of declarations against what happened, and the reading of what happened.

Source: docs/audit.md.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from reconciler.document import Json, Path
from reconciler.errors import (
    NotAuthorised,
    ReconcilerError,
    ServiceRefused,
    Unavailable,
    UnreadableReply,
    WrongRoute,
)
from reconciler.kinds.assumed_reads import text as text_of
from reconciler.kinds.kind import Neighbours, SpecFinding
from reconciler.kinds.log_policy_set.remote import bulk_test
from reconciler.model import Manifest
from reconciler.records import listings
from reconciler.records.record import PAGE_SIZE, Span, moment
from reconciler.syntax.diagnostic import Complaint, Suppressed

if TYPE_CHECKING:
    from reconciler.api.client import Api
    from reconciler.document import Json


class Rest(Enum):
    """Sources of a check besides the manifests, by their names in reports."""

    EVENTS = "alert events"
    SPAN = "alert events of the whole span"
    NAMES = "alert events that name their alert"
    INCIDENTS = "open incidents"
    LOGS = "policies that logs meet"
    AGE = "since when it is declared so"


@dataclass(frozen=True, slots=True)
class AlertHistory:
    """The history of one alert in the span, oldest first.

    `fired` has each trigger. `lasted` has the durations of those with a reported end. `open_since`
    has the starts of its open incidents. `unclear` counts the events without a readable type.
    """

    fired: tuple[datetime, ...] = ()
    lasted: tuple[timedelta, ...] = ()
    open_since: tuple[datetime, ...] = ()
    unclear: int = 0


class Since(NamedTuple):
    """The time `at` since which something is known to be unchanged, by the `journal` or `git`."""

    at: datetime
    by: str


def _nobody_knows(_: Manifest, __: Path = ()) -> Since | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvidence:
    """Reports of the service about a span that ends `at` a moment.

    `days` were requested and `covered` were returned. `of` has the history of each alert, by its
    id. `logs` counts kinds of logs, and `met` those that match a policy, by its name; `live` are
    the policies in force. `declared` returns when a manifest was added, at the latest; `since`
    returns when a value in its `spec` last changed, at the latest. `lacks` says why a source is
    missing.
    """

    at: datetime
    days: int
    covered: int = 0
    of: Mapping[str, AlertHistory] = field(default_factory=dict)
    met: Mapping[str, int] = field(default_factory=dict)
    live: frozenset[str] = frozenset()
    logs: int = 0
    declared: Callable[[Manifest], Since | None] = _nobody_knows
    since: Callable[[Manifest, Path], Since | None] = _nobody_knows
    lacks: Mapping[Rest, str] = field(default_factory=dict)

    def about(self, manifest: Manifest) -> AlertHistory:
        """Return the history of the alert of a manifest."""
        return self.of.get(str(manifest.remote_id).lower(), AlertHistory())


class Trace(NamedTuple):
    """One place that a check is about, and its figures."""

    manifest: Manifest
    found: SpecFinding
    figures: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRule:
    """One check, and its sources; the page of its code says why it exists.

    A check that must be `asked` for is off unless `checks:` names it.
    """

    code: str
    rests_on: tuple[Rest, ...]
    find: Callable[[Neighbours, AuditEvidence], Iterator[Trace]]
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Audited:
    """A finding at its place, its figures, and its sources."""

    complaint: Complaint
    figures: Mapping[str, Json]
    rests_on: tuple[Rest, ...]


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Checks that could not be made, by codes, and why."""

    codes: tuple[str, ...]
    rest: Rest
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The result of an audit. `since` and `until` are the ends of the span.

    `events` counts the events that were examined, and `requests` the requests.
    """

    since: datetime
    until: datetime
    days: int
    covered: int
    events: int = 0
    requests: int = 0
    resources: int = 0
    found: tuple[Audited, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()

    @property
    def complaints(self) -> list[Complaint]:
        """The findings as complaints."""
        return [audited.complaint for audited in self.found]


MOST_EVENTS: Final = 10_000
MOST_INCIDENTS: Final = 2_000
MOST_INCIDENT_EVENTS: Final = 2_000
MOST_PLACES: Final = 500
"""Pairs of application and subsystem: their logs are asked about, in all severities."""

ROWS_AT_ONCE: Final = 200
_APPLICATION = ("application", "applicationname")
_SUBSYSTEM = ("subsystem", "subsystemname")

Row = tuple[str, str, str]
"""Application, subsystem and severity of a log."""

Found = TypeVar("Found")


@dataclass(slots=True)
class LookedBack:
    """The records that were read, and in `lacks` what could not be read, and why.

    `behind` maps incidents to alerts. `has_older` means that there is also an event from before the
    span. `failures` are the errors, and `asked` is the number of listings.
    """

    events: list[listings.AlertEvent] = field(default_factory=list)
    has_older: bool = False
    incidents: list[listings.Incident] = field(default_factory=list)
    behind: dict[str, str] = field(default_factory=dict)
    met: Mapping[str, int] = field(default_factory=dict)
    live: frozenset[str] = frozenset()
    logs: int = 0
    lacks: dict[Rest, str] = field(default_factory=dict)
    failures: list[ReconcilerError] = field(default_factory=list)
    asked: int = 0


async def look_back(api: Api, span: Span, wanted: Collection[Rest]) -> LookedBack:
    """Read what is wanted.

    Raises NotAuthorised where the key is refused, and Unavailable where nothing at all could be
    read.
    """
    found = LookedBack()
    if Rest.EVENTS in wanted:
        events = listings.list_alert_events(
            api, listings.EventFilter(span=span), MOST_EVENTS, whole=True
        )
        found.events = await _all(events, Rest.EVENTS, found)
    if Rest.SPAN in wanted and Rest.EVENTS not in found.lacks:
        found.has_older = await _has_older(api, span)
    if Rest.INCIDENTS in wanted:
        unresolved = listings.IncidentFilter(statuses=listings.UNRESOLVED, open_only=True)
        incidents = listings.list_incidents(api, unresolved, MOST_INCIDENTS, whole=True)
        found.incidents = await _all(incidents, Rest.INCIDENTS, found)
        if found.incidents:
            found.behind = await _alerts_behind(api, found)
    if Rest.LOGS in wanted and Rest.EVENTS not in found.lacks:
        await _take_logs(api, found)
    down = [failure for failure in found.failures if isinstance(failure, Unavailable)]
    if down and len(found.failures) == found.asked:
        raise down[0]
    return found


async def _all(listing: AsyncIterator[Found], rest: Rest, told: LookedBack) -> list[Found]:
    """Return all of a listing; nothing where it cannot be read, and record why."""
    told.asked += 1
    try:
        return [record async for record in listing]
    except ReconcilerError as error:
        _note(error, rest, told)
        return []


async def _has_older(api: Api, span: Span) -> bool:
    """Return whether there is an earlier event: then the service still has the whole span.

    False where that cannot be read.
    """
    before = listings.EventFilter(span=Span(span.since - timedelta(days=365), span.since))
    with suppress(NotAuthorised, ServiceRefused, Unavailable):
        async for event in listings.list_alert_events(api, before, PAGE_SIZE, whole=True):
            if moment(event.cx_event_timestamp) is not None:
                return True
    return False


def _note(error: ReconcilerError, rest: Rest, told: LookedBack) -> None:
    """Record why something cannot be read. Raises errors that concern the whole run."""
    is_of_the_key = isinstance(error, NotAuthorised) and not error.known
    if is_of_the_key or not isinstance(error, NotAuthorised | ServiceRefused | Unavailable):
        raise error
    told.failures.append(error)
    kind = next((words for kind, words in _WHY.items() if isinstance(error, kind)), _NOT_SAID)
    told.lacks[rest] = f"{kind}: {error}"


_NOT_SAID: Final = "the service does not say"
_WHY: Final = {
    NotAuthorised: "the key may not read them",
    WrongRoute: "this service has no such listing",
    UnreadableReply: "the answer cannot be used",
}


async def _alerts_behind(api: Api, told: LookedBack) -> dict[str, str]:
    """Map open incidents to the alerts that their events name; an incident itself names none."""
    incident_of = {
        event.id: incident.id
        for incident in told.incidents
        for event in incident.events
        if event.id
    }
    listing = listings.list_incident_events(
        api, listings.IncidentEventFilter(), MOST_INCIDENT_EVENTS
    )
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
        # The names of the incidents remain: a name that only one alert has identifies that alert.
        told.lacks = lacks
    return behind


async def _take_logs(api: Api, told: LookedBack) -> None:
    """Find the policies that the known logs meet."""
    rows = logs_in(told.events)
    if not rows:
        told.lacks[Rest.LOGS] = "no alert event names an application or a subsystem"
        return
    told.asked += 1
    try:
        policies = await listings.list_log_policies(api)
        told.met = await meets(api, rows)
    except ReconcilerError as error:
        _note(error, Rest.LOGS, told)
        return
    told.logs = len(rows)
    told.live = frozenset(policy.name for policy in policies if policy.enabled is True)


def logs_in(events: Iterable[listings.AlertEvent]) -> list[Row]:
    """Return the logs of the places in the labels of events, in every severity."""
    found: dict[tuple[str, str], None] = {}
    for event in events:
        labels = {key.casefold(): value for key, value in event.cx_event_labels.items()}
        place = _first(labels, _APPLICATION), _first(labels, _SUBSYSTEM)
        if any(place) and len(found) < MOST_PLACES:
            found[place] = None
    return [(*place, severity) for place in found for severity in listings.POLICY_SEVERITIES.known]


def _first(labels: Mapping[str, str], names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


async def meets(api: Api, rows: Sequence[Row]) -> dict[str, int]:
    """Count by name the policies that logs meet, as the service itself says.

    Raises what `Api.ask` raises.
    """
    met: dict[str, int] = {}
    for start in range(0, len(rows), ROWS_AT_ONCE):
        wire: list[dict[str, Json]] = [
            {
                "applicationNameValues": application,
                "subsystemNameValues": subsystem,
                "severityValues": f"{listings.POLICY_SEVERITIES.prefix}{severity}",
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
