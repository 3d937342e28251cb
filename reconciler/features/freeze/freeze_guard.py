"""Freezes: no writes in a window, while incidents are open, or where the freeze is unknown.

What cannot be found out counts as frozen, unless the environment says otherwise. An incident is
open unless it has a closing time. It matches a resource that has the same name, alert, label or
application. An incident without any of these may be about anything, and matches. A run may wait for
the end of a freeze before it takes the journal's lock. Source: docs/freeze.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Final

from reconciler import model
from reconciler.document import Json, value_at
from reconciler.errors import GuardRefused, ReconcilerError, UnreadableReply
from reconciler.features.freeze.freeze_settings import Freeze, Holding, Incidents, holding
from reconciler.journal.store import LockTimeout
from reconciler.kinds import BY_NAME
from reconciler.model import GuardViolation
from reconciler.model.guards import BREAK_GLASS, FROZEN, guard_blocks
from reconciler.model.quoting import listed, quoted
from reconciler.operations.added_by_features import EMERGENCY, AddedOption
from reconciler.operations.apply_plan import refusal
from reconciler.operations.open_project import now
from reconciler.operations.open_session import Session
from reconciler.operations.plan_and_drift import plan_now
from reconciler.planning.guards import PlanUnderGuard
from reconciler.planning.guards.plan_limits import consenting
from reconciler.records.listings import Incident, every_incident, every_incident_event
from reconciler.records.record import PAGE_SIZE, moment
from reconciler.report.safe import safe
from reconciler.runtime.advice import is_in_job
from reconciler.runtime.progress import NamedWait

if TYPE_CHECKING:
    from reconciler.api.client import Api


MOST_PAGES: Final = 200
MOST_EVENT_PAGES: Final = 20
_APPLICATION, _SUBSYSTEM = "application", "subsystem"
_CALLED: Final = {
    "applicationname": _APPLICATION,
    "cxapplicationname": _APPLICATION,
    "subsystemname": _SUBSYSTEM,
    "cxsubsystemname": _SUBSYSTEM,
}

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Stopping:
    """An open incident that freezes the apply, and why it matches; "" where all incidents count."""

    incident: Incident
    why: str = ""


async def open_incidents_of(
    api: Api, plan: model.Plan, wanted: Incidents, now: datetime
) -> list[Stopping]:
    """Return the open incidents that freeze the writes of a plan.

    Raises UnreadableReply where not all of them can be known, and what reading them raises.
    """
    listed, is_whole = await every_incident(api, MOST_PAGES)
    if not is_whole:
        raise UnreadableReply(
            f"there are more than {MOST_PAGES * PAGE_SIZE:,} incidents, and the rest are not read"
        )
    found = [
        incident
        for incident in listed
        if incident.is_open_at(now) and wanted.has(incident.severity)
    ]
    if wanted.scope == "all" or not found:
        return [*map(Stopping, found)]
    touched = [(change, _facts_of(change)) for change in plan.changes if change.action.writes]
    apart = [incident for incident in found if not _why(_reported_by(incident), touched)]
    more = await _named_by_events(api, apart) if apart else {}
    stopping = [
        Stopping(incident, _why(_reported_by(incident) | more.get(incident.id, _Facts()), touched))
        for incident in found
    ]
    return [incident for incident in stopping if incident.why]


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts about an incident, or about a change, in one spelling, so that they can be compared."""

    names: frozenset[str] = frozenset()
    alerts: frozenset[str] = frozenset()
    labels: frozenset[Pair] = frozenset()

    def __or__(self, other: _Facts) -> _Facts:
        return _Facts(
            self.names | other.names, self.alerts | other.alerts, self.labels | other.labels
        )

    def values(self, key: str) -> list[str]:
        return sorted(value for name, value in self.labels if name == key)


def _facts(
    names: Iterable[object], alerts: Iterable[object], labels: Iterable[tuple[object, object]]
) -> _Facts:
    return _Facts(frozenset(_folded(names)), frozenset(_folded(alerts)), _pairs(labels))


def _reported_by(incident: Incident) -> _Facts:
    labels: list[tuple[object, object]] = [
        *incident.contextual_labels.items(),
        *incident.display_labels.items(),
        *((meta_label.key, meta_label.value) for meta_label in incident.meta_labels),
    ]
    return _facts([incident.name], (), labels)


async def _named_by_events(api: Api, incidents: list[Incident]) -> dict[str, _Facts]:
    """Map incidents to the facts about their alerts, from their events.

    Raises UnreadableReply where the alert of an incident is unknown: it may be any alert.
    """
    incident_of = {
        event.id: incident.id for incident in incidents for event in incident.events if event.id
    }
    facts: dict[str, _Facts] = {}
    events, is_whole = await every_incident_event(api, MOST_EVENT_PAGES)
    for event in events:
        inner, known = event.incident_event, event.incident_event_extended_metadata
        if inner is None or known is None or inner.id not in incident_of:
            continue
        own = incident_of[inner.id]
        labels = ((alert_label.key, alert_label.value) for alert_label in known.alert_labels)
        facts[own] = facts.get(own, _Facts()) | _facts([known.alert_name], [known.alert_id], labels)
    # Labels say what an incident is about. A name alone does not identify its alert.
    unseen = [
        incident.id
        for incident in incidents
        if not facts.get(incident.id, _Facts()).alerts
        and not (is_whole and _reported_by(incident).labels)
    ]
    if unseen:
        read = f"the {MOST_EVENT_PAGES * PAGE_SIZE:,} events that are read"
        among = "the events that are listed" if is_whole else read
        raise UnreadableReply(
            f"the alert of the open incident {unseen[0][:80]} is not among {among}"
        )
    return facts


def _facts_of(change: model.Change) -> _Facts:
    kind = BY_NAME[change.ref.kind]
    known = change.observation
    before = known.document if isinstance(known, model.Seen | model.Remembered) else {}
    documents: tuple[Json, ...] = (before, change.body)
    names = [change.ref.name, *(value_at(document, kind.title) for document in documents)]
    labels: list[tuple[object, object]] = [*change.labels.items()]
    for document in documents:
        for path in kind.bearing.label_maps:
            found = value_at(document, path)
            labels.extend(found.items() if isinstance(found, Mapping) else ())
    return _facts(names, [change.remote_id], labels)


def _why(told: _Facts, touched: Iterable[tuple[model.Change, _Facts]]) -> str:
    """Return why an incident is about a change; "" where it is about none."""
    if not (told.names or told.alerts or told.labels):
        return "it has neither a name, nor a label, nor an alert"
    return next(filter(None, (_shared(told, change, own) for change, own in touched)), "")


def _shared(told: _Facts, change: model.Change, own: _Facts) -> str:
    """Return the surest fact that an incident shares with a change, in words; "" for none."""
    if own.alerts & told.alerts:
        return f"raised by `{change.ref}`"
    if names := sorted(told.names & own.names):
        return f"`{change.ref}` has the name {quoted(names[0])} too"
    if labels := sorted(told.labels & own.labels):
        key, value = labels[0]
        return f"`{change.ref}` has the label {quoted(f'{key}: {value}')} too"
    takes_logs_of = BY_NAME[change.ref.kind].bearing.takes_logs_of
    for application in told.values(_APPLICATION):
        for subsystem in told.values(_SUBSYSTEM) or ("",):
            if takes_logs_of(change, application, subsystem):
                log = f"{application}/{subsystem}" if subsystem else application
                return f"`{change.ref}` takes logs of {quoted(log)}"
    return ""


def _folded(texts: Iterable[object]) -> Iterator[str]:
    """Yield texts in one spelling, without values that are no text or empty."""
    return (text.strip().casefold() for text in texts if isinstance(text, str) and text.strip())


def _pairs(labels: Iterable[tuple[object, object]]) -> frozenset[Pair]:
    """Return labels in one spelling; application and subsystem have several label names."""
    found = set()
    for key, value in labels:
        if isinstance(key, str) and isinstance(value, str) and value.strip():
            name = "".join(filter(str.isalnum, key)).casefold()
            found.add((_CALLED.get(name, name), value.strip().casefold()))
    return frozenset(found)


MOST_CLOCKS_DIFFER: Final = 300.0
"""Seconds by which the service's clock and ours may differ."""

MOST_NAMED: Final = 5
LONGEST_BEGAN: Final = 30


async def with_freeze(asked: PlanUnderGuard) -> model.Plan:
    """Return the plan with the objections of a freeze. They come first.

    Incidents are listed only where the environment names them.
    """
    plan, freeze = asked.plan, asked.environment.setting("freeze", Freeze)
    if freeze is None or not plan.has_changes:
        return plan
    violations: list[model.GuardViolation] = []
    remarks: list[model.Remark] = []
    unknown: list[str] = []
    if freeze.incidents is not None:
        try:
            stopping = await open_incidents_of(asked.api, plan, freeze.incidents, asked.now)
            if stopping:
                violations.append(_while_open(stopping, plan.environment))
        except ReconcilerError as error:
            unknown.append(f"its open incidents are unknown: {error}")
    held = holding(freeze.windows, asked.now)
    if held is not None:
        violations.insert(0, _in_window(held, plan.environment))
    elif freeze.windows and not asked.same_clock:
        # The clock comes last: the answers to earlier requests have the time of the service.
        remarks, doubts = _clock_doubts(asked.api.clock_difference)
        unknown.extend(doubts)
    if freeze.on_unknown == "allow":
        remarks.extend(map(model.FreezeUnknown, unknown))
    else:
        violations.extend(_unreported(why, plan.environment) for why in unknown)
    return replace(plan, guarded=(*violations, *plan.guarded), remarks=(*plan.remarks, *remarks))


def _clock_doubts(seconds: float | None) -> tuple[list[model.Remark], list[str]]:
    """Compare our clock with that of the service, if known. By our clock no window is active."""
    if seconds is None:
        return [model.ClockUnchecked()], []
    if abs(seconds) <= MOST_CLOCKS_DIFFER:
        return [], []
    minutes, way = round(abs(seconds) / 60), "behind" if seconds > 0 else "ahead of"
    return [], [f"the clock of this machine is {minutes:,} minutes {way} that of the service"]


def _in_window(held: Holding, environment: str) -> model.GuardViolation:
    reasons = "; ".join(dict.fromkeys(window.reason.strip() for window in held.windows))
    if held.until is None:
        message = f"`{environment}` is frozen, and no end is in sight within a year: {reasons}"
        later = "change the windows: `freeze:` in reconciler.yaml, in an earlier merge"
        return _violation(message, later)
    until = format_moment(held.until, held.windows[0].zone, held.windows[0].timezone)
    later = f"apply again after that, or {_how_to_wait()}"
    message = f"`{environment}` is frozen until {until}: {reasons}"
    return replace(_violation(message, later), until=held.until.isoformat())


def _violation(message: str, *remedies: str) -> model.GuardViolation:
    glass = f"in an emergency, {consenting(BREAK_GLASS, 'REASON')}, which the journal keeps"
    return model.GuardViolation(said=message, remedies=(*remedies, glass), code=FROZEN)


def format_moment(at: datetime, zone: tzinfo, name: str) -> str:
    """Return a moment as text, in the time of a zone and in UTC."""
    there, here = (
        at.astimezone(clock_zone).strftime("%Y-%m-%d %H:%M") for clock_zone in (zone, UTC)
    )
    return f"{there} {name} ({here} UTC)" if name != "UTC" else f"{here} UTC"


def _while_open(stopping: Sequence[Stopping], environment: str) -> model.GuardViolation:
    named = listed([*map(_name, stopping)], MOST_NAMED)
    noun = "incident is" if len(stopping) == 1 else "incidents are"
    message = f"`{environment}` is frozen while {len(stopping)} {noun} open: {named}"
    closed = "apply again once they are closed (`reconciler incidents list --open`)"
    return _violation(message, f"{closed}, or {_how_to_wait()}")


def _name(stopping: Stopping) -> str:
    """Return the name of an incident for a sentence, with its severity, start and match."""
    incident = stopping.incident
    severity = incident.severity.removeprefix("INCIDENT_SEVERITY_").lower()
    began, at = incident.created_at, moment(incident.created_at)
    if at is not None:
        began = format_moment(at, UTC, "UTC")
    since = f"since {began[:LONGEST_BEGAN]}" if began else ""
    about = ", ".join(filter(None, (severity[:20], since, stopping.why)))
    return quoted(incident.name or incident.id) + (f" ({about})" if about else "")


def _unreported(why: str, environment: str) -> model.GuardViolation:
    setting = f"`freeze: {{onUnknown: allow}}` of `{environment}` in reconciler.yaml"
    message = f"it is unknown whether `{environment}` is frozen: {why}"
    remedy = f"in an earlier merge, set {setting}"
    return _violation(message, "fix that, and apply again", remedy)


def _how_to_wait() -> str:
    how = "input `wait-freeze`" if is_in_job() else "`--wait-freeze DURATION`"
    return f"let the apply wait: {how}"


BROKEN_GLASS: Final = EMERGENCY
FREEZE_WAIT: Final = AddedOption(
    help="How long to wait for the end of a freeze, as 30m or 2h; by default the "
    "command ends at once.",
    in_job="With `apply`: how long to wait for the end of a freeze, as 30m or 2h.",
)


POLL_SECONDS = 60.0
"""Seconds between two checks of the incidents and of the clock; an operator may set the clock."""


@dataclass(frozen=True, slots=True)
class Thawing(NamedWait):
    """The run waits until the environment is no longer frozen; `said` is the reason."""

    what = "the end of a freeze"


def wait_for_thaw(session: Session, patience: LockTimeout) -> None:
    """Return once the session's plan is not frozen. The caller plans again before it applies.

    Nothing is locked meanwhile, so that other runs can work. Raises GuardRefused where the freeze
    lasts longer than `patience`, at once where its windows show that; and what planning raises.
    """
    deadline = patience.monotonic() + patience.seconds
    shown = ""
    with ExitStack() as noted:
        try:
            while frozen := _frozen(session):
                left = deadline - patience.monotonic()
                # The known end is that of windows; incidents and failed reads have no known end.
                ends = [
                    datetime.fromisoformat(violation.until)
                    for violation in frozen
                    if violation.until
                ]
                until = max(ends, default=None)
                is_later = until is not None and _seconds_to(until) > left
                if is_later or _is_endless(session):
                    session.reporter.say(
                        "the freeze ends later than that, so nothing is waited for"
                    )
                    left = 0
                if left <= 0:
                    raise GuardRefused(*map(refusal, guard_blocks(frozen)))
                messages = "; ".join(violation.message for violation in frozen)
                if messages != shown:
                    shown = messages
                    noted.close()
                    session.reporter.say(f"{safe(messages)}; waiting for at most {left:.0f} s")
                    noted.enter_context(session.waits.on(Thawing(messages)))
                _sleep_until(until, min(left, POLL_SECONDS), patience)
        except KeyboardInterrupt:
            session.reporter.say("\nnothing was applied")
            raise


def _frozen(session: Session) -> list[GuardViolation]:
    journal = session.journal()
    made = asyncio.run(plan_now(session.prepare(session, journal), journal.history))
    return [violation for violation in made.guarded if violation.code == FROZEN]


def _is_endless(session: Session) -> bool:
    """Return whether freeze windows are active that have no known end."""
    freeze = session.environment.setting("freeze", Freeze)
    held = holding(freeze.windows, now()) if freeze is not None else None
    return held is not None and held.until is None


def _seconds_to(at: datetime) -> float:
    return (at - now()).total_seconds()


def _sleep_until(until: datetime | None, pause: float, patience: LockTimeout) -> None:
    """Sleep until the freeze windows end; without a known end, for one pause."""
    patience.sleep(pause if until is None else min(pause, max(1.0, _seconds_to(until))))
    while until is not None and (left := _seconds_to(until)) > 0:
        patience.sleep(min(left, POLL_SECONDS))
