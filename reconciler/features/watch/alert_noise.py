"""Noise of the alerts of a run: their events since the run, compared with those before.

Source: docs/watch.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.document import value_at
from reconciler.errors import NotAuthorised, ServiceRefused, UnreadableReply
from reconciler.journal.entries import Entry
from reconciler.journal.history import History, Memory, RunSummary
from reconciler.journal.writes import Write, writes_of
from reconciler.kinds import BY_NAME
from reconciler.model import Ref
from reconciler.records.listings import (
    AlertEvent,
    EventFilter,
    Finder,
    KnownAlert,
    in_batches,
    list_alert_events,
)
from reconciler.records.record import Allowance, Span, moment, stamp
from reconciler.report.markdown import COMMENT_BYTES, code, markdown_table
from reconciler.report.reasons import ValueMark
from reconciler.report.safe import json_text, safe
from reconciler.report.table import INDENT, Heading, Style, table, wrapped
from reconciler.report.words import plural

if TYPE_CHECKING:
    from reconciler.api.client import Api


Verdict: TypeAlias = Literal["quieter", "same", "noisier", "unknown"]

UnknownCause: TypeAlias = Literal[
    "too-soon", "no-id", "written-before", "unread", "cut", "untold", "clock"
]
"""Why an alert has no verdict.

No time has passed since the run, or too little of the span before has the same definition. Or
events could not be read, or not all of them; some have no alert or no time. Or the clocks of the
service and of this machine differ.
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """Triggers in a number of hours, which may be the sum of several spans."""

    events: int
    hours: float

    @property
    def per_hour(self) -> float:
        """Triggers per hour."""
        return self.events / self.hours if self.hours else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedAlert:
    """One alert that a run wrote.

    `after` are the triggers since the run, up to `until`; `before` those of the span of the same
    length right before it, and `week_before` those of the same hours a week earlier. `base` is what
    `after` was compared with, over `spans` spans. `p` is the probability that chance alone makes
    such a difference, corrected for the number of alerts. A figure is None if it is not known.
    `cause` is why there is no verdict, "" if there is one. `written` is when another run wrote the
    alert, "" for never.
    """

    ref: Ref
    until: str
    verdict: Verdict = "unknown"
    cause: UnknownCause | Literal[""] = ""
    after: Counted | None = None
    before: Counted | None = None
    week_before: Counted | None = None
    base: Counted | None = None
    spans: int = 0
    p: float | None = None
    written: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseWatch:
    """The results for all alerts of a run; `since` is the time of the run.

    `level` is how often chance alone may give each of the verdicts quieter and noisier, over all
    alerts together. `unread` is why the events could not be read, "" if they could. `complete` says
    that no events were cut off or refused. `commit` is the commit that was applied.
    """

    run: str
    command: str
    since: str
    until: str
    level: float
    alerts: tuple[WatchedAlert, ...]
    complete: bool = True
    unread: str = ""
    commit: str = ""

    @property
    def noisier(self) -> tuple[WatchedAlert, ...]:
        """The alerts that became noisier."""
        return tuple(alert for alert in self.alerts if alert.verdict == "noisier")


@dataclass(frozen=True, slots=True)
class Tails:
    """The probabilities that chance alone gives so many events or more, and so many or fewer."""

    as_many: float
    as_few: float


def tails(after: int, after_hours: float, before: int, before_hours: float) -> Tails:
    """Compare the count of one span with that of another; both are above zero hours.

    If both rates are equal, a tail is at most a level with a probability of at most that level.
    """
    total = after + before
    share = after_hours / (after_hours + before_hours)
    return Tails(_at_least(after, total, share), _at_least(before, total, 1 - share))


def _at_least(count: int, total: int, share: float) -> float:
    """Return the probability of `count` or more of `total`, each with this share.

    The sum goes from the largest term outwards, so that small tails are as exact as large tails.
    """
    if count <= 0:
        return 1.0
    if count > total * share:
        return _upper(count, total, share)
    return max(0.0, 1.0 - _upper(total - count + 1, total, 1 - share))


def _upper(count: int, total: int, share: float) -> float:
    """Return the sum of the terms from `count` on.

    `count` is at least the mean, so terms get smaller.
    """
    if count > total:
        return 0.0
    ways = math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)
    rest = (total - count) * math.log1p(-share)
    term = math.exp(ways + count * math.log(share) + rest)
    odds = share / (1 - share)
    terms: list[float] = []
    for number in range(count, total + 1):
        terms.append(term)
        if number == total or term < terms[0] * _NOTHING:
            break
        term *= odds * (total - number) / (number + 1)
    return min(1.0, math.fsum(terms))


_NOTHING = 1e-20


def corrected(ps: Sequence[float]) -> list[float]:
    """Return the probabilities, in their order, corrected for their number by Holm's method.

    After that, the probability that chance alone brings any of them to a level or below is at most
    that level. They may depend on each other in any way.
    """
    order = sorted(range(len(ps)), key=lambda at: ps[at])
    found = [1.0] * len(ps)
    largest = 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[at]))
        found[at] = largest
    return found


DAY: Final = timedelta(days=1)
DAYS: Final = 7
LONGEST: Final = DAYS * DAY
"""Events later than this after a run are not counted: the span is compared with a week."""

SHORTEST: Final = timedelta(minutes=5)
"""A shorter span proves nothing, as the times of events are not exact enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """The span `after` a run, and the spans of the same length before it.

    `right_before` ends with the run. `base` are the same hours of earlier days, the newest first;
    the last is a week before.
    """

    after: Span
    right_before: Span
    base: tuple[Span, ...]

    def known_since(self, written: datetime | None) -> tuple[Span, ...]:
        """Return the spans of the definition that the run replaced.

        That definition was written at `written`; None means longer ago than is known. If no earlier
        day has the same hours of it, the span right before the run is used.
        """
        whole = [span for span in self.base if written is None or written <= span.since]
        if not whole and (written is None or written <= self.right_before.since):
            return (self.right_before,)
        return tuple(whole)

    @property
    def all(self) -> Iterable[Span]:
        """All spans."""
        return (self.after, self.right_before, *self.base)


def spans_of(run: datetime, until: datetime) -> Spans | None:
    """Return the spans to compare from a run up to a moment; None where the time is too short.

    No earlier day is used twice. A span of up to a day has seven earlier spans. A longer span has
    as many as do not overlap, and always the span a week before.
    """
    length = min(until - run, LONGEST)
    if length < SHORTEST:
        return None
    step = math.ceil(length / DAY)
    days = [days for days in range(step, DAYS + 1, step) if DAYS - days >= step or days == DAYS]
    if DAYS not in days:
        days.append(DAYS)
    return Spans(
        after=Span(run, run + length),
        right_before=Span(run - length, run),
        base=tuple(Span(run - day * DAY, run - day * DAY + length) for day in days),
    )


def joined(spans: Iterable[Span]) -> list[Span]:
    """Join spans that touch or overlap; the newest come first."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: span.since):
        if found and span.since <= found[-1].until:
            last = found.pop()
            found.append(Span(last.since, max(last.until, span.until)))
        else:
            found.append(span)
    return found[::-1]


LEVEL: Final = 0.01
MOST_REQUESTS: Final = 60
"""Pages of one look; each has a hundred events."""

CLOCKS: Final = timedelta(minutes=2)
"""How far the clocks of the service and of this machine may differ."""


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
        places = [at for at, write in enumerate(changing) if write.run == run.entry.run]
        if kind is not None and kind.fires and places:
            found.append(_touched_alert(ref, changing, places[-1], history.of(ref), until))
    return found


def _touched_alert(
    ref: Ref, writes: Sequence[Write], at: int, memory: Memory, until: datetime
) -> Touched:
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


async def look_for_noise(
    api: Api, run: RunSummary, alerts: Sequence[Touched], until: datetime
) -> NoiseWatch:
    """Read all events of the alerts, and judge each alert at the level of one per cent."""
    spans = [span for alert in alerts if alert.spans is not None for span in alert.spans.all]
    listed = await _asked(api, joined(spans), alerts) if spans else ReportedEvents()
    return NoiseWatch(
        run=run.entry.run,
        command=run.entry.command or "apply",
        since=run.entry.at,
        until=stamp(until),
        level=LEVEL,
        alerts=tuple(judged(alerts, listed)),
        complete=not (listed.unread or listed.cut),
        unread=listed.unread,
        commit=run.entry.commit,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedEvents:
    """The events that a service returned.

    `unread` is why it returned none, and `cut` means that it had more.
    """

    events: tuple[AlertEvent, ...] = ()
    unread: str = ""
    cut: bool = False


async def _asked(api: Api, spans: Iterable[Span], alerts: Sequence[Touched]) -> ReportedEvents:
    pages = Allowance(MOST_REQUESTS)
    events: list[AlertEvent] = []
    unread = ""
    # Where not all versions are known, one empty batch reads the events of all alerts.
    batches: list[tuple[str, ...]] = [()]
    if all(alert.all_versions for alert in alerts):
        batches = in_batches(sorted({version for alert in alerts for version in alert.versions}))
    try:
        for span, versions in product(spans, batches):
            wanted = EventFilter(alert_version_ids=versions, span=span)
            events += [event async for event in list_alert_events(api, wanted, pages)]
    except (NotAuthorised, ServiceRefused, UnreadableReply) as error:
        if isinstance(error, NotAuthorised) and not error.known:
            raise
        unread = str(error)
    return ReportedEvents(events=tuple(events), unread=unread, cut=pages.cut)


def judged(
    alerts: Sequence[Touched], told: ReportedEvents, level: float = LEVEL
) -> Iterator[WatchedAlert]:
    """Yield the verdict on each alert, at a level that holds for all of them together."""
    moments, unassigned = _moments(alerts, told.events)
    counted = [_counted(alert, moments.get(alert.ref, []), told, unassigned) for alert in alerts]
    known = [result.tails for result in counted if result.tails is not None]
    many = iter(corrected([tail.as_many for tail in known]))
    few = iter(corrected([tail.as_few for tail in known]))
    for result in counted:
        if result.tails is None:
            yield result.found
        else:
            as_many, as_few = next(many), next(few)
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
    hours = (spans.after.until - spans.after.since) / timedelta(hours=1)

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


MOST_ROWS = 50
LONGEST_NAME = 120
LONGEST_WHY = 300
_ORDER: tuple[Verdict, ...] = ("noisier", "unknown", "quieter", "same")


@with_config(ConfigDict(extra="forbid"))
class CountedDocument(TypedDict):
    """Number of triggers in a number of hours."""

    events: int
    hours: float
    perHour: float


@with_config(ConfigDict(extra="forbid"))
class WatchedAlertDocument(TypedDict):
    """An alert that the run wrote; null means unknown."""

    ref: str
    before: Annotated[
        int | None, Field(description="Triggers in the same span right before the run.")
    ]
    weekBefore: Annotated[
        int | None, Field(description="Triggers in the same hours a week before.")
    ]
    after: Annotated[int | None, Field(description="Triggers since the run.")]
    perHour: Annotated[float | None, Field(description="Triggers an hour since the run.")]
    base: Annotated[
        CountedDocument | None,
        Field(description="What `after` is compared with: the same hours of days before."),
    ]
    spans: Annotated[int, Field(description="Of how many spans before `base` is.")]
    verdict: Verdict
    p: Annotated[
        float | None,
        Field(
            description="How likely chance alone makes such a difference, corrected for the "
            "number of alerts."
        ),
    ]
    until: Annotated[str, Field(description="Where the span since the run ends for this alert.")]
    cause: Annotated[
        UnknownCause | None, Field(description="Why it is unknown; null where it is not.")
    ]
    note: str


@with_config(ConfigDict(extra="forbid"))
class WatchedSpanDocument(TypedDict):
    """A span of time."""

    since: str
    until: str


@with_config(ConfigDict(extra="forbid"))
class WatchedDocument(TypedDict):
    """Output of `watch --format json`."""

    formatVersion: Literal[1]
    environment: str
    target: str
    run: str
    command: str
    span: WatchedSpanDocument
    level: Annotated[
        float,
        Field(description="How often quieter, and noisier, may be said by chance, of all alerts."),
    ]
    complete: Annotated[
        bool, Field(description="Whether all events could be read; else nothing is said of alerts.")
    ]
    unread: Annotated[str | None, Field(description="Why the events could not be read.")]
    summary: Annotated[dict[str, int], Field(description="How many alerts got which verdict.")]
    alerts: list[WatchedAlertDocument]


def watched_json(found: NoiseWatch, environment: str, target: str) -> str:
    """Return the JSON of schemas/watched.schema.json, ending in a line break."""
    counts = _counts(found)
    document: WatchedDocument = {
        "formatVersion": 1,
        "environment": environment,
        "target": target,
        "run": found.run,
        "command": found.command,
        "span": {"since": found.since, "until": found.until},
        "level": found.level,
        "complete": found.complete,
        "unread": found.unread or None,
        "summary": {verdict: counts[verdict] for verdict in _ORDER},
        "alerts": [_alert_document(alert) for alert in found.alerts],
    }
    return json_text(document)


def _alert_document(alert: WatchedAlert) -> WatchedAlertDocument:
    return {
        "ref": str(alert.ref),
        "before": None if alert.before is None else alert.before.events,
        "weekBefore": None if alert.week_before is None else alert.week_before.events,
        "after": None if alert.after is None else alert.after.events,
        "perHour": None if alert.after is None else round(alert.after.per_hour, 4),
        "base": None if alert.base is None else _counted_document(alert.base),
        "spans": alert.spans,
        "verdict": alert.verdict,
        "p": alert.p,
        "until": alert.until,
        "cause": alert.cause or None,
        "note": describe_cause(alert),
    }


def _counted_document(counted: Counted) -> CountedDocument:
    hours, rate = round(counted.hours, 4), round(counted.per_hour, 4)
    return {"events": counted.events, "hours": hours, "perHour": rate}


def _counts(found: NoiseWatch) -> Counter[Verdict]:
    return Counter(alert.verdict for alert in found.alerts)


_CAUSES: dict[UnknownCause | Literal[""], str] = {
    "": "",
    "too-soon": "too little time has passed since the run, or another run wrote it right after",
    "no-id": "the journal does not know its id",
    "written-before": "another run wrote it at {at}, so that nothing before the run is of one "
    "definition for as long",
    "unread": "its events could not be read",
    "cut": "there are more events than one look asks for",
    "untold": "some events name no alert, or no time",
    "clock": "the clock of the service and that of this machine differ",
}


def describe_cause(alert: WatchedAlert) -> str:
    """Return why an alert has no verdict, "" where it has one."""
    return _CAUSES[alert.cause].format(at=alert.written)


def describe_summary(found: NoiseWatch) -> str:
    """Return in one line how many alerts got which verdict."""
    if not found.alerts:
        return "the run changed no alerts"
    counts = _counts(found)
    parts = [f"{counts[verdict]:,} {verdict}" for verdict in _ORDER if counts[verdict]]
    return f"{plural(len(found.alerts), 'alert')}: {', '.join(parts)}"


def describe_level(found: NoiseWatch) -> str:
    """Return how sure the verdicts are."""
    return (
        f"quieter and noisier are each said by chance alone in at most {found.level:.0%} of looks, "
        "where events come independently of each other"
    )


def watched_text(found: NoiseWatch, style: Style) -> str:
    """Return the report for a terminal, ending in a line break."""
    run = f"run {found.run} ({found.command}) of {found.since}, up to {found.until}"
    lines = list(wrapped(f"{run}: {describe_summary(found)}", style, margin=""))
    figures = ("before", "base/h", "after/h", "after", "p")
    headings = [Heading("verdict", whole=True), Heading("alert")]
    headings += [Heading(title, whole=True, right=True) for title in figures]
    rows = [_row(alert) for alert in _sorted(found)]
    shown = table(headings, rows, style) if rows else ""
    below = [line for note in _notes(found) for line in wrapped(note, style, margin=INDENT)]
    return "\n".join(lines) + "\n" + shown + "".join(f"{line}\n" for line in below)


def _notes(found: NoiseWatch, mark: ValueMark = str) -> Iterator[str]:
    """Yield why alerts have no verdict, and how sure the verdicts are; names are marked."""
    if found.unread:
        yield f"the events could not be read: {mark(found.unread)}"
    for alert in _sorted(found):
        if alert.cause and not found.unread:
            yield f"{mark(str(alert.ref))}: {describe_cause(alert)}"
    if any(alert.p is not None for alert in found.alerts):
        yield describe_level(found)


def _sorted(found: NoiseWatch) -> list[WatchedAlert]:
    return sorted(found.alerts, key=lambda alert: (_ORDER.index(alert.verdict), alert.ref))


def _row(alert: WatchedAlert) -> list[str]:
    return [
        alert.verdict,
        str(alert.ref),
        "" if alert.before is None else f"{alert.before.events:,}",
        "" if alert.base is None else f"{alert.base.per_hour:,.2f}",
        "" if alert.after is None else f"{alert.after.per_hour:,.2f}",
        "" if alert.after is None else f"{alert.after.events:,}",
        "" if alert.p is None else f"{alert.p:.2g}",
    ]


def watched_markdown(found: NoiseWatch, environment: str) -> str:
    """Return the report for a comment or a summary, ending in a line break."""
    since = f"`{safe(found.since)}` to `{safe(found.until)}`"
    lines = [_title(environment), ""]
    lines += [f"{describe_summary(found)} ({since}, run {code(found.run, LONGEST_NAME)}).", ""]
    rows = _sorted(found)
    headings = ("verdict", "alert", "before, an hour:", "since, an hour:", "events:", "p:")
    lines += markdown_table(headings, rows, _markdown_row, MOST_ROWS)
    shown = [f"- {note}" for note in _notes(found, partial(code, longest=LONGEST_WHY))]
    return "\n".join([*lines, *shown[: MOST_ROWS + 1]]).rstrip("\n") + "\n"


def _markdown_row(alert: WatchedAlert) -> tuple[str, ...]:
    verdict = f"**{alert.verdict}**" if alert.verdict == "noisier" else alert.verdict
    _, _, _, base, rate, events, p = _row(alert)
    name = code(str(alert.ref), LONGEST_NAME)
    return verdict, name, base, rate, events, p


BEGINS = "<!-- reconciler-watch -->"
ENDS = "<!-- end of reconciler-watch -->"
_SECTION = re.compile(f"\n?{BEGINS}.*?{ENDS}\n?", re.DOTALL)


def with_watch(body: str, found: NoiseWatch, environment: str, back: str = "") -> str:
    """Return a comment with the report at its end; it replaces the report of an earlier look.

    `back` describes how to roll back. Where the table does not fit, only the counts are shown.
    """
    kept = _SECTION.sub("", body).rstrip("\n")
    advice = f"\n{back}\n" if back else ""
    section = f"{BEGINS}\n{watched_markdown(found, environment)}{advice}{ENDS}\n"
    whole = f"{kept}\n\n{section}"
    if len(whole.encode()) <= COMMENT_BYTES:
        return whole
    short = f"{_title(environment)}\n\n{describe_summary(found)}.\n"
    return f"{kept}\n\n{BEGINS}\n{short}{advice}{ENDS}\n"


def _title(environment: str) -> str:
    return f"### Noise since the apply to {code(environment, LONGEST_NAME)}"
