"""Track records of the alerts that a plan touches: how often they fired, and what followed.

Source: docs/track-record.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import (
    AsyncIterator,
    Callable,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    NotRequired,
    TypeAlias,
    TypeVar,
)

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.document import Json, value_at
from reconciler.errors import ReconcilerError
from reconciler.journal.history import History, Memory
from reconciler.kinds import BY_NAME
from reconciler.model import Change, Plan, Ref, Remembered, Seen, SignalsUnread
from reconciler.operations.plan_and_drift import SectionRequest
from reconciler.records.listings import (
    CASE_PRIORITIES,
    UNRESOLVED,
    AlertEvent,
    Case,
    CaseFilter,
    EventFilter,
    ExtendedIncidentEvent,
    Finder,
    Incident,
    IncidentEventFilter,
    IncidentFilter,
    KnownAlert,
    in_batches,
    list_alert_events,
    list_cases,
    list_incident_events,
    list_incidents,
)
from reconciler.records.record import Allowance, Record, Span, moment, stamp
from reconciler.report.counts import WORST_FIRST
from reconciler.report.html.page import NOTHING, STRIP, Markup, figure, of_class, strip
from reconciler.report.markdown import LONGEST_NAME, code, listed_items
from reconciler.report.sections import SectionFormats
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import plural

if TYPE_CHECKING:
    from reconciler.api.client import Api


@with_config(ConfigDict(extra="ignore"))
class TrackRecordDocument(TypedDict):
    """The record of an alert before the plan: docs/track-record.md. null means unknown."""

    days: int
    events: Annotated[int | None, Field(description="How often it fired.")]
    incidents: int | None
    openIncidents: Annotated[int | None, Field(description="Open now, whenever they began.")]
    cases: int | None
    complete: Annotated[
        bool,
        Field(description="false where something was cut off or refused: figures are the least."),
    ]
    unclearEvents: Annotated[
        int, Field(description="Of the events, those of a type that does not say if it fired.")
    ]
    byName: Annotated[
        int, Field(description="What has no id, and is counted as it has the alert's name.")
    ]
    untied: NotRequired[
        Annotated[
            int,
            Field(
                default=0,
                description="Events and cases that may be of the alert: they name only a version, "
                "and not all versions of the alert are known. Left out where there are none.",
            ),
        ]
    ]
    casesByPriority: dict[str, int]
    lastAcknowledged: str | None
    daily: Annotated[
        list[int], Field(description="Events of each 24 hours up to the plan, the oldest first.")
    ]


TrackRecordMember: TypeAlias = Annotated[
    TrackRecordDocument,
    Field(description="Of an alert that the plan touches, where that was asked for."),
]


@dataclass(frozen=True, slots=True)
class TrackRecords:
    """The track record of each alert that a plan touches. It changes by itself."""

    formats: ClassVar[str] = "reconciler.features.track_record.track_records:FORMATS"
    by_ref: Mapping[Ref, TrackRecordDocument]


MOST_REQUESTS = 20
"""Pages of all listings of one run together; each has a hundred records."""

MOST_OPEN, MOST_INCIDENTS, MOST_INCIDENT_EVENTS, MOST_CASES = 2, 3, 3, 3
_LISTED = TypeVar("_LISTED", bound=Record)


@dataclass(frozen=True, slots=True)
class ListResult(Generic[_LISTED]):
    """The result of a listing; `unread` is why it failed, `whole` that nothing was cut off."""

    records: tuple[_LISTED, ...] = ()
    whole: bool = True
    unread: str = ""

    @property
    def is_complete(self) -> bool:
        """Return whether all records were returned."""
        return self.whole and not self.unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The alert events of some versions; of all alerts where it has no versions."""

    versions: frozenset[str]
    listed: ListResult[AlertEvent]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvents:
    """The records of a span."""

    span: Span
    open_incidents: ListResult[Incident]
    incidents: ListResult[Incident]
    incident_events: ListResult[ExtendedIncidentEvent]
    cases: ListResult[Case]
    batches: tuple[Batch, ...] = ()

    @property
    def events(self) -> Iterator[AlertEvent]:
        """Every alert event once."""
        seen: set[str] = set()
        for batch in self.batches:
            for event in batch.listed.records:
                if event.cx_event_key not in seen or not event.cx_event_key:
                    seen.add(event.cx_event_key)
                    yield event

    @property
    def unread(self) -> Iterator[tuple[str, str]]:
        """The listings that could not be read, and why, each once."""
        listings: Mapping[str, Sequence[ListResult[Any]]] = {
            "incidents": (self.open_incidents, self.incidents),
            "incident events": (self.incident_events,),
            "cases": (self.cases,),
            "alert events": [batch.listed for batch in self.batches],
        }
        for name, results in listings.items():
            why = next((result.unread for result in results if result.unread), "")
            if why:
                yield name, why


@dataclass(slots=True)
class Asker:
    """The reader of the listings: each once, while requests are left."""

    api: Api
    span: Span
    left: int = MOST_REQUESTS

    async def happened(
        self, cases: ListResult[Case], versions: Iterable[str], *, are_all: bool
    ) -> SpanEvents:
        """Read all other listings.

        Events are read by version where `are_all` says that all versions are known.
        """
        api, span, listed = self.api, self.span, self.listed
        unresolved = IncidentFilter(statuses=UNRESOLVED, open_only=True)
        begun, noted = IncidentFilter(created=span), IncidentEventFilter(span=span)
        return SpanEvents(
            span=span,
            open_incidents=await listed(MOST_OPEN, partial(list_incidents, api, unresolved)),
            incidents=await listed(MOST_INCIDENTS, partial(list_incidents, api, begun)),
            incident_events=await listed(
                MOST_INCIDENT_EVENTS, partial(list_incident_events, api, noted)
            ),
            cases=cases,
            batches=tuple(
                [batch async for batch in self._batches(sorted(versions), are_all=are_all)]
            ),
        )

    async def _batches(self, versions: Sequence[str], *, are_all: bool) -> AsyncIterator[Batch]:
        """Yield the events of all alerts if needed, then by version those that may be missing."""
        parts = in_batches(versions)
        if not are_all:
            kept = min(2 * len(parts), self.left // 2)
            every = await self._events(self.left - kept, ())
            yield Batch(versions=frozenset(), listed=every)
            if every.is_complete or every.unread:
                return
        for number, part in enumerate(parts):
            fair = max(1, self.left // (len(parts) - number))
            yield Batch(versions=frozenset(part), listed=await self._events(fair, part))

    async def _events(self, most: int, versions: Sequence[str]) -> ListResult[AlertEvent]:
        wanted = EventFilter(alert_version_ids=tuple(versions), span=self.span)
        return await self.listed(most, partial(list_alert_events, self.api, wanted))

    async def cases(self, pages: Allowance) -> AsyncIterator[Case]:
        """Yield cases until those before the span begin.

        The API document says that the newest come first.
        """
        async for case in list_cases(self.api, CaseFilter(), pages):
            began = moment(case.create_time)
            if began is not None and began < self.span.since:
                return
            if self.span.holds(case.create_time):
                yield case

    async def listed(
        self, most: int, listing: Callable[[Allowance], AsyncIterator[_LISTED]]
    ) -> ListResult[_LISTED]:
        """Read at most `most` pages; a refused listing is empty, and stops nothing."""
        given = min(most, self.left)
        pages = Allowance(given)
        records: list[_LISTED] = []
        try:
            async for record in listing(pages):
                records.append(record)  # noqa: PERF401 - what came before a failure counts
        except ReconcilerError as error:
            return ListResult(tuple(records), whole=False, unread=str(error))
        finally:
            self.left -= given - (pages.left or 0)
        return ListResult(tuple(records), whole=not pages.cut)


ACKNOWLEDGED = "INCIDENT_EVENT_TYPE_ACKNOWLEDGE"
OTHER = "other"
DAY = timedelta(days=1)


async def with_track_records(request: SectionRequest) -> Plan:
    """Return the plan with the track records of the requested number of days.

    A request that the service refuses becomes a remark, and does not fail the plan.
    """
    made = request.plan
    records, unread = await track_records(
        request.api, made, request.history, request.asked, datetime.now(UTC)
    )
    if unread is not None:
        made = replace(made, remarks=(*made.remarks, unread))
    return made.with_section(TrackRecords(records))


async def track_records(
    api: Api, plan: Plan, history: History, days: int, now: datetime
) -> tuple[dict[Ref, TrackRecordDocument], SignalsUnread | None]:
    """Return the track record of each alert that a plan touches, and what the service refused."""
    span = Span(now - days * DAY, now)
    alerts = touched_alerts(plan, history, span)
    if not alerts:
        return {}, None
    asker = Asker(api, span)
    cases = await asker.listed(MOST_CASES, asker.cases)
    alerts = [_with_versions_of(alert, cases.records) for alert in alerts]
    versions = {version for alert in alerts for version in alert.versions}
    are_all = all(alert.all_versions for alert in alerts)
    happened = await asker.happened(cases, versions, are_all=are_all)
    others = {
        known.version.lower() for memory in history.memories.values() for known in memory.versions
    }
    records, unnamed = records_of(alerts, happened, days, versions | others)
    unread = [*happened.unread]
    if unnamed:
        unread.append(("alert events", f"{unnamed} of them name no alert"))
    return records, SignalsUnread(*map(tuple, zip(*unread, strict=True))) if unread else None


def touched_alerts(plan: Plan, history: History, span: Span) -> list[KnownAlert]:
    """Return the alerts that a plan touches and that the service has."""
    return [
        _alert(change, history.of(change.ref), span)
        for change in plan.changes
        if change.action.is_to_do
        and BY_NAME[change.ref.kind].fires
        and change.remote_id is not None
    ]


def _alert(change: Change, memory: Memory, span: Span) -> KnownAlert:
    seen = change.observation
    documents: list[Json] = [change.body]
    documents += [seen.document] if isinstance(seen, Seen | Remembered) else []
    names = (value_at(document, BY_NAME[change.ref.kind].title) for document in documents)
    known = [(version.version.lower(), moment(version.at)) for version in memory.versions]
    before = [version for version, at in known if at is not None and at <= span.since]
    within = [version for version, at in known if at is None or at > span.since]
    return KnownAlert(
        ref=change.ref,
        remote_id=str(change.remote_id).lower(),
        names=frozenset(name for name in names if isinstance(name, str) and name),
        versions=frozenset((*before[-1:], *within)),
        all_versions=bool(before),
        known_since=min((at for _, at in known if at is not None), default=None),
    )


def _with_versions_of(alert: KnownAlert, cases: Iterable[Case]) -> KnownAlert:
    """Add the versions in cases: the alert may have been edited in the web interface."""
    known = {
        indicator.alert_version_id.lower()
        for case in cases
        for indicator in case.alert_indicators
        if indicator.alert_id.lower() == alert.remote_id and indicator.alert_version_id
    }
    return replace(alert, versions=alert.versions | known)


def records_of(
    alerts: Sequence[KnownAlert], happened: SpanEvents, days: int, versions: Container[str]
) -> tuple[dict[Ref, TrackRecordDocument], int]:
    """Count what happened by alert, and the events that name no alert.

    `versions` are the versions with a known alert.
    """
    finder = Finder.of(alerts)
    counts = {alert.ref: _Counts() for alert in alerts}
    unnamed = _count_events(finder, counts, happened)
    _count_incidents(finder, counts, happened)
    _count_cases(finder, counts, happened)
    untied = _untied(happened, versions)
    records = {}
    for alert in alerts:
        record = _record(alert, counts[alert.ref], happened, days)
        own = sum(_may_be_of(alert, at) for at in untied)
        record["complete"] = record["complete"] and not (unnamed or own)
        if own:
            record["untied"] = own
        records[alert.ref] = record
    return records, unnamed


def _untied(happened: SpanEvents, versions: Container[str]) -> list[datetime | None]:
    """Return the times of events and indicators that only name a version of no known alert."""
    seen = [
        (event.alert_id, event.alert_version_id, event.cx_event_timestamp)
        for event in happened.events
        if event.is_trigger is not False
    ]
    seen += [
        (indicator.alert_id, indicator.alert_version_id, case.create_time)
        for case in happened.cases.records
        for indicator in case.alert_indicators
    ]
    return [
        moment(at)
        for alert_id, version, at in seen
        if not alert_id and version and version.lower() not in versions
    ]


def _may_be_of(alert: KnownAlert, at: datetime | None) -> bool:
    """Return whether an unknown version may be an older version of an alert than the known ones."""
    if alert.all_versions:
        return False
    return alert.known_since is None or at is None or at < alert.known_since


@dataclass(slots=True)
class _Counts:
    events: int = 0
    unclear: int = 0
    by_name: int = 0
    incidents: int = 0
    open_incidents: int = 0
    cases: int = 0
    priorities: Counter[str] = field(default_factory=Counter)
    days: Counter[int] = field(default_factory=Counter)
    acknowledged: datetime | None = None

    def acknowledge(self, at: str) -> None:
        when = moment(at)
        if when is not None and (self.acknowledged is None or when > self.acknowledged):
            self.acknowledged = when


def _count_events(finder: Finder, counts: Mapping[Ref, _Counts], happened: SpanEvents) -> int:
    """Count triggers by alert; return the number of events that name no alert at all."""
    unnamed = 0
    for event in happened.events:
        if event.is_trigger is False:
            continue
        ref, by_name = finder.alert_of(event)
        if ref is None:
            is_named = event.alert_id or event.alert_version_id or event.alert_name
            unnamed += not is_named
            continue
        count = counts[ref]
        count.events += 1
        count.by_name += by_name
        count.unclear += event.is_trigger is None
        at = moment(event.cx_event_timestamp)
        if at is not None:
            count.days[(at - happened.span.since) // DAY] += 1
    return unnamed


def _count_incidents(finder: Finder, counts: Mapping[Ref, _Counts], happened: SpanEvents) -> None:
    alert_of: dict[str, str] = {}
    for event in happened.incident_events.records:
        inner, known = event.incident_event, event.incident_event_extended_metadata
        if known is None or not known.alert_id:
            continue
        alert_id = known.alert_id.lower()
        ref = finder.ids.get(alert_id)
        if inner is not None and inner.id:
            alert_of[inner.id] = alert_id
        if ref is not None and inner is not None and inner.incident_event_type == ACKNOWLEDGED:
            counts[ref].acknowledge(event.cx_event_timestamp)
    found = {record.id: record for record in happened.open_incidents.records}
    found |= {record.id: record for record in happened.incidents.records}
    for incident in found.values():
        ref, by_name = _alert_behind(incident, alert_of, finder)
        if ref is not None:
            count = counts[ref]
            count.incidents += happened.span.holds(incident.created_at)
            count.open_incidents += incident.is_open
            count.by_name += by_name


def _alert_behind(
    incident: Incident, alert_of: Mapping[str, str], finder: Finder
) -> tuple[Ref | None, bool]:
    """Return the alert that one of an incident's events names, else the alert with its name."""
    for event in incident.events:
        if event.id in alert_of:
            return finder.ids.get(alert_of[event.id]), False
    return finder.names.get(incident.name), True


def _count_cases(finder: Finder, counts: Mapping[Ref, _Counts], happened: SpanEvents) -> None:
    for case in happened.cases.records:
        refs, by_name = _alerts_of(case, finder)
        for ref in refs:
            count = counts[ref]
            count.cases += 1
            count.by_name += by_name
            count.priorities[_priority(case)] += 1
            count.acknowledge(case.acknowledge_time)


def _priority(case: Case) -> str:
    """Return the priority as `P1`; another value of the service is not shown."""
    priority = case.priority.removeprefix(CASE_PRIORITIES.prefix)
    return priority if priority in CASE_PRIORITIES.known else OTHER


def _alerts_of(case: Case, finder: Finder) -> tuple[set[Ref], bool]:
    if not case.alert_indicators:
        ref = finder.names.get(case.title)
        return (set() if ref is None else {ref}), True
    found = {
        finder.ids.get(indicator.alert_id.lower())
        if indicator.alert_id
        else finder.versions.get(indicator.alert_version_id.lower())
        for indicator in case.alert_indicators
    }
    return {ref for ref in found if ref is not None}, False


def _record(
    alert: KnownAlert, count: _Counts, happened: SpanEvents, days: int
) -> TrackRecordDocument:
    events_told, events_whole = _events_of(alert, happened)
    incidents, opened, cases = happened.incidents, happened.open_incidents, happened.cases
    others = (incidents, opened, happened.incident_events, cases)
    return {
        "days": days,
        "events": count.events if events_told else None,
        "incidents": None if incidents.unread else count.incidents,
        "openIncidents": None if opened.unread else count.open_incidents,
        "cases": None if cases.unread else count.cases,
        "complete": events_whole and all(other.is_complete for other in others),
        "unclearEvents": count.unclear,
        "byName": count.by_name,
        "casesByPriority": dict(sorted(count.priorities.items())),
        "lastAcknowledged": stamp(count.acknowledged) if count.acknowledged else None,
        "daily": [count.days[day] for day in range(days)] if events_told else [],
    }


def _events_of(alert: KnownAlert, happened: SpanEvents) -> tuple[bool, bool]:
    """Return whether events of an alert were returned, and whether these are all."""
    every = [batch for batch in happened.batches if not batch.versions]
    own = [batch for batch in happened.batches if batch.versions & alert.versions]
    is_read = any(not batch.listed.unread for batch in (*every, *own))
    if any(batch.listed.is_complete for batch in every):
        return is_read, True
    by_version = bool(own) and all(batch.listed.is_complete for batch in own)
    return is_read, alert.all_versions and by_version


def describe_record(record: TrackRecordDocument) -> str:
    """Return the record as the beginning of a sentence, without foreign text."""
    parts = [_fired(record), _incidents(record), _cases(record)]
    sentence = f"{', '.join(parts)} in {plural(record['days'], 'day')}"
    if record["lastAcknowledged"]:
        sentence += f", last acknowledged {record['lastAcknowledged'][:10]}"
    return sentence + "".join(f" ({caveat})" for caveat in _caveats(record))


def _fired(record: TrackRecordDocument) -> str:
    if record["events"] is None:
        return "how often it fired is not known"
    least = "" if record["complete"] else "at least "
    match record["events"]:
        case 0:
            return "never fired" if record["complete"] else "not seen to fire"
        case 1:
            return f"fired {least}once"
        case count:
            return f"fired {least}{count:,} times"


def _incidents(record: TrackRecordDocument) -> str:
    counted = "incidents not known"
    if record["incidents"] is not None:
        counted = plural(record["incidents"], "incident") if record["incidents"] else "no incident"
    return (
        f"{counted}, {record['openIncidents']:,} open now" if record["openIncidents"] else counted
    )


def _cases(record: TrackRecordDocument) -> str:
    if record["cases"] is None:
        return "cases not known"
    kinds: Mapping[str, int] = record["casesByPriority"]
    return ", ".join(plural(count, f"{kind} case") for kind, count in kinds.items()) or "no case"


def _caveats(record: TrackRecordDocument) -> Iterator[str]:
    if untied := record.get("untied"):
        records = plural(untied, "record")
        tell = "names" if untied == 1 else "name"
        yield f"not all its versions are known, and {records} {tell} only an unknown one"
    elif not record["complete"]:
        yield "not all was returned"
    if record["unclearEvents"]:
        yield f"{record['unclearEvents']:,} of a type that may not be a trigger"
    if record["byName"]:
        yield f"{record['byName']:,} counted by its name alone"


def describe_track_record(change: Change, record: TrackRecordDocument) -> str:
    """Return what an alert did, and what the change takes away from it."""
    taken = [weakening.said for weakening in BY_NAME[change.ref.kind].weakens(change)]
    after = f"; with this change {', and '.join(taken)}" if taken else ""
    return f"{describe_record(record)}{after}"


def track_record_members(records: TrackRecords, change: Change) -> Mapping[str, object]:
    """Return the members of the JSON of a change; none where no record was read."""
    record = records.by_ref.get(change.ref)
    return {} if record is None else {"trackRecord": record}


def track_record_lines(records: TrackRecords, change: Change, style: Style) -> Iterator[str]:
    """Yield the lines below an alert of a plan; none where no record was read."""
    record = records.by_ref.get(change.ref)
    if record is not None:
        yield from wrapped(describe_track_record(change, record), style, Colour.CYAN)


def track_record_markdown(records: TrackRecords, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a list for a comment, the alerts that fired most often first."""
    known = records.by_ref
    found = [(change, known[change.ref]) for change in changes if change.ref in known]
    found.sort(key=lambda pair: (-(pair[1]["events"] or 0), WORST_FIRST.index(pair[0].action)))
    items = [
        f"{code(str(change.ref), LONGEST_NAME)}: {describe_track_record(change, record)}"
        for change, record in found
    ]
    yield from listed_items("What these alerts did", items)


STEP = 24.0


def _card(records: TrackRecords, change: Change) -> Markup:
    record = records.by_ref.get(change.ref)
    if record is None:
        return NOTHING
    summary = describe_track_record(change, record)
    summary = summary[0].upper() + summary[1:]
    return figure(summary, _strip(record)) if record["daily"] else of_class("p", "track", summary)


def _strip(record: TrackRecordDocument) -> Markup:
    """Return a bar for each 24 hours."""
    daily = record["daily"]
    label = f"Fired in each 24 hours, the oldest first: {', '.join(map(str, daily))}"
    ends = f"{plural(record['days'], 'day')} ago", f"at most {max(daily):,} in 24 hours", "now"
    return strip(label, daily, ends, width=min(STRIP, STEP * len(daily)))


FORMATS: Final[SectionFormats[TrackRecords]] = SectionFormats(
    change_members=track_record_members,
    change_lines=track_record_lines,
    changes_markdown=track_record_markdown,
    change_html=_card,
)
