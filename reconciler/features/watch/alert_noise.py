"""Noise of the alerts of a run: their events since the run, compared with those before.

Source: docs/evidence.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from reconciler.document import value_at
from reconciler.errors import NotAuthorised, ServiceRefused, UnreadableReply
from reconciler.features.watch.noise import Counted, NoiseWatch, UnknownCause, Verdict, WatchedAlert
from reconciler.features.watch.small_counts import Tails, corrected, tails
from reconciler.features.watch.spans import SHORTEST, Spans, joined, spans_of
from reconciler.journal.entries import Entry
from reconciler.journal.history import History, Memory
from reconciler.journal.runs import RunSummary
from reconciler.journal.writes import Write, writes_of
from reconciler.kinds import BY_NAME
from reconciler.model import Ref
from reconciler.records.alert_events import AlertEvent, EventFilter, in_batches, list_alert_events
from reconciler.records.alert_finder import Finder, KnownAlert
from reconciler.records.record import Allowance, Span, moment, stamp

if TYPE_CHECKING:
    # Only the type is needed here, and it would load the whole HTTP client.
    from reconciler.api.client import Api

LEVEL: Final = 0.01
MOST_REQUESTS: Final = 60
"""Pages of one look; each has a hundred events."""

CLOCKS: Final = timedelta(minutes=2)
"""How far the clocks of the service and of this machine may differ."""

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched(KnownAlert):
    """One alert that a run wrote, at `at`; `until` is when another run wrote it, or the end.

    `written` is when it was written before, None where that is not known. Its versions are those
    that it had since the spans begin.
    """

    at: datetime
    until: datetime
    written: datetime | None
    clocks_differ: bool = False

    @property
    def spans(self) -> Spans | None:
        """The spans to compare; None where too little time has passed."""
        return spans_of(self.at, self.until)


def alerts_of_run(
    entries: Sequence[Entry], history: History, run: RunSummary, until: datetime
) -> list[Touched]:
    """Return the alerts that a run changed, by their present names."""
    found = []
    for ref, writes in sorted(writes_of(entries).items()):
        kind = BY_NAME.get(ref.kind)
        changing = [write for write in writes if write.changed]
        places = [at for at, write in enumerate(changing) if write.run == run.run]
        if kind is not None and kind.fires and places:
            found.append(_alert(ref, changing, places[-1], history.of(ref), until))
    return found


def _alert(ref: Ref, writes: Sequence[Write], at: int, memory: Memory, until: datetime) -> Touched:
    write = writes[at]
    begun = moment(write.at) or until
    later = moment(writes[at + 1].at) if at + 1 < len(writes) else None
    updated = moment(write.told.updated)
    known = [(version.version.lower(), moment(version.at)) for version in memory.versions]
    oldest = begun - timedelta(days=7)
    before = [version for version, when in known if when is not None and when <= oldest]
    within = [version for version, when in known if when is None or when > oldest]
    titles = (
        value_at(write.declared, BY_NAME[ref.kind].title)
        for write in writes
        if write.declared is not None
    )
    return Touched(
        ref=ref,
        remote_id=str(memory.remote_id or "").lower(),
        names=frozenset(title for title in titles if isinstance(title, str) and title),
        versions=frozenset((*before[-1:], *within)),
        all_versions=bool(before),
        at=begun,
        until=until if later is None else min(later, until),
        written=moment(writes[at - 1].at) if at else None,
        clocks_differ=updated is not None and abs(updated - begun) > CLOCKS,
    )


async def watch(
    api: Api, run: RunSummary, alerts: Sequence[Touched], until: datetime
) -> NoiseWatch:
    """Read once all events of the alerts, and judge them at the level of one per cent."""
    spans = [span for alert in alerts if alert.spans is not None for span in alert.spans.all]
    listed = await _asked(api, joined(spans), alerts) if spans else ReportedEvents()
    return NoiseWatch(
        run=run.run,
        command=run.command or "apply",
        since=run.at,
        until=stamp(until),
        level=LEVEL,
        alerts=tuple(judged(alerts, listed)),
        complete=listed.complete,
        unread=listed.unread,
        commit=run.commit,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedEvents:
    """The events that a service returned.

    `unread` is why it returned none, and `cut` means that it had more.
    """

    events: tuple[AlertEvent, ...] = ()
    unread: str = ""
    cut: bool = False

    @property
    def complete(self) -> bool:
        """Return whether all events were returned."""
        return not (self.unread or self.cut)


async def _asked(api: Api, spans: Iterable[Span], alerts: Sequence[Touched]) -> ReportedEvents:
    pages = Allowance(MOST_REQUESTS)
    events: list[AlertEvent] = []
    try:
        for span in spans:
            for versions in _batches(alerts):
                wanted = EventFilter(alert_version_ids=versions, span=span)
                events += [event async for event in list_alert_events(api, wanted, pages)]
    except NotAuthorised as error:
        if not error.known:
            raise
        return ReportedEvents(events=tuple(events), unread=str(error))
    except (ServiceRefused, UnreadableReply) as error:
        return ReportedEvents(events=tuple(events), unread=str(error))
    return ReportedEvents(events=tuple(events), cut=pages.cut)


def _batches(alerts: Sequence[Touched]) -> list[tuple[str, ...]]:
    """Return the batches of versions to read.

    Where not all versions are known, one empty batch reads the events of all alerts.
    """
    if not all(alert.all_versions for alert in alerts):
        return [()]
    return in_batches(sorted({version for alert in alerts for version in alert.versions}))


def judged(
    alerts: Sequence[Touched], told: ReportedEvents, level: float = LEVEL
) -> Iterator[WatchedAlert]:
    """Yield the verdict on each alert, at a level that holds for all of them together."""
    moments, unassigned = _moments(alerts, told.events)
    counted = [_counted(alert, moments.get(alert.ref, []), told, unassigned) for alert in alerts]
    known = [result for result in counted if result.tails is not None]
    many = corrected([result.tails.as_many for result in known if result.tails is not None])
    few = corrected([result.tails.as_few for result in known if result.tails is not None])
    ps = {
        result.found.ref: pair
        for result, pair in zip(known, zip(many, few, strict=True), strict=True)
    }
    for result in counted:
        if result.found.ref not in ps:
            yield result.found
        else:
            as_many, as_few = ps[result.found.ref]
            verdict = result.verdict(as_many, as_few, level)
            yield replace(result.found, verdict=verdict, p=min(as_many, as_few))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """The counts of one alert; `each` are the counts of every span before the run."""

    found: WatchedAlert
    tails: Tails | None = None
    each: tuple[int, ...] = ()

    def verdict(self, as_many: float, as_few: float, level: float) -> Verdict:
        """Judge an alert: beyond chance, and beyond every span before, as events come in bursts."""
        after = self.found.after.events if self.found.after is not None else 0
        if as_many <= level and after > max(self.each):
            return "noisier"
        if as_few <= level and after < min(self.each):
            return "quieter"
        return "same"


def _counted(
    alert: Touched, moments: Sequence[datetime], told: ReportedEvents, untold: int
) -> _Counted:
    found = WatchedAlert(
        ref=alert.ref,
        until=stamp(alert.until),
        written="" if alert.written is None else stamp(alert.written),
    )
    spans = alert.spans
    if cause := _cause(alert, spans, told, untold):
        return _Counted(found=replace(found, cause=cause))
    assert spans is not None  # noqa: S101 - otherwise there is a cause
    hours = (spans.after.until - spans.after.since) / _HOUR

    def count(span: Span) -> int:
        return sum(span.since <= at < span.until for at in moments)

    after, base = count(spans.after), spans.known_since(alert.written)
    seen = replace(
        found,
        until=stamp(spans.after.until),
        after=Counted(after, hours),
        before=Counted(count(spans.right_before), hours),
        week_before=Counted(count(spans.base[-1]), hours),
    )
    if not base:
        return _Counted(found=replace(seen, cause="written-before"))
    counts = [count(span) for span in base]
    total, whole = sum(counts), hours * len(counts)
    if alert.written is None or alert.written <= spans.right_before.since:
        counts.append(count(spans.right_before))
    return _Counted(
        found=replace(seen, base=Counted(total, whole), spans=len(base)),
        tails=tails(after, hours, total, whole),
        each=tuple(counts),
    )


def _cause(
    alert: Touched, spans: Spans | None, told: ReportedEvents, untold: int
) -> UnknownCause | None:
    """Return why an alert cannot be judged, None where it can."""
    if spans is None or alert.until - alert.at < SHORTEST:
        return "too-soon"
    if not alert.remote_id:
        return "no-id"
    if alert.clocks_differ:
        return "clock"
    if told.unread:
        return "unread"
    if told.cut:
        return "cut"
    return "untold" if untold else None


def _moments(
    alerts: Sequence[Touched], events: Iterable[AlertEvent]
) -> tuple[dict[Ref, list[datetime]], int]:
    """Return when each alert fired, and how many events may be of any of them.

    An event with a type that does not say whether an alert fired counts as fired, once for all
    events that share its deduplication key.
    """
    finder = Finder.of(alerts)
    moments: dict[Ref, list[datetime]] = {alert.ref: [] for alert in alerts}
    seen: set[tuple[str, str]] = set()
    unassigned = 0
    for event in events:
        if event.is_trigger is False or _is_known(event, seen):
            continue
        at, (ref, _) = moment(event.cx_event_timestamp), finder.alert_of(event)
        if ref is None or at is None:
            unassigned += at is None or finder.may_be_ours(event)
        else:
            moments[ref].append(at)
    return moments, unassigned


def _is_known(event: AlertEvent, seen: set[tuple[str, str]]) -> bool:
    """Return whether an event came before, and record it."""
    keys = [("event", event.cx_event_key)] if event.cx_event_key else []
    if event.is_trigger is None and event.cx_event_dedup_key:
        keys.append(("duplicate", event.cx_event_dedup_key))
    known = any(key in seen for key in keys)
    seen.update(keys)
    return known
