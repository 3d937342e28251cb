"""Which open incidents a freeze is about: all of a severity, or those of what would be written.

An incident is open unless it tells when it was closed. It matches what is written by a name, an
alert, a label or an application that both have; one that tells none of these may be of anything,
and matches. Source: docs/freeze.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from reconciler.document import Json, value_at
from reconciler.errors import UnreadableReply
from reconciler.kinds import BY_NAME
from reconciler.model import Change, Plan, Ref, Remembered, Seen
from reconciler.project.freeze import Incidents
from reconciler.quoting import quoted
from reconciler.records.incident_records import Incident, every_incident, every_incident_event
from reconciler.records.record import PAGE_SIZE

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
    """An open incident that lets nothing be written, and what of it is so, "" for any one."""

    incident: Incident
    why: str = ""


async def open_incidents_of(
    api: Api, plan: Plan, wanted: Incidents, now: datetime
) -> list[Stopping]:
    """Give the open incidents that let nothing of a plan be written.

    Raises UnreadableReply where not all of them can be known, and what reading them raises.
    """
    listed, is_whole = await every_incident(api, MOST_PAGES)
    if not is_whole:
        raise UnreadableReply(
            f"there are more than {MOST_PAGES * PAGE_SIZE:,} incidents, and no more are read"
        )
    found = [
        incident
        for incident in listed
        if incident.is_open_at(now) and wanted.has(incident.severity)
    ]
    if wanted.scope == "all" or not found:
        return [*map(Stopping, found)]
    touched = [_marks_of(change) for change in plan.changes if change.action.writes]
    told = [_told_by(incident) for incident in found]
    why = [_why(one, touched) for one in told]
    apart = [incident for incident, said in zip(found, why, strict=True) if not said]
    if apart:
        more = await _told_by_events(api, apart)
        why = [
            said or _why(_with(one, more.get(incident.id)), touched)
            for incident, one, said in zip(found, told, why, strict=True)
        ]
    return [Stopping(incident, said) for incident, said in zip(found, why, strict=True) if said]


@dataclass(frozen=True, slots=True)
class _Told:
    """What is known of an incident; all of it in one spelling."""

    names: frozenset[str] = frozenset()
    alerts: frozenset[str] = frozenset()
    labels: frozenset[Pair] = frozenset()

    def values(self, key: str) -> Iterator[str]:
        """Yield the values of a label."""
        return (value for name, value in self.labels if name == key)


@dataclass(frozen=True, slots=True)
class _Marks:
    """What incidents of a change may bear."""

    ref: Ref
    names: frozenset[str]
    alerts: frozenset[str]
    labels: frozenset[Pair]
    takes_logs_of: Callable[[str, str], bool] = field(compare=False)


def _told_by(incident: Incident) -> _Told:
    labels: list[tuple[object, object]] = [
        *incident.contextual_labels.items(),
        *incident.display_labels.items(),
        *((meta_label.key, meta_label.value) for meta_label in incident.meta_labels),
    ]
    return _Told(frozenset(_folded([incident.name])), frozenset(), _pairs(labels))


def _with(told: _Told, more: _Told | None) -> _Told:
    if more is None:
        return told
    return _Told(told.names | more.names, told.alerts | more.alerts, told.labels | more.labels)


async def _told_by_events(api: Api, incidents: list[Incident]) -> dict[str, _Told]:
    """Map incidents to what their events tell of their alerts.

    Raises UnreadableReply where the alert of an incident is not told: it may be any.
    """
    incident_of = {
        event.id: incident.id for incident in incidents for event in incident.events if event.id
    }
    told: dict[str, _Told] = {}
    events, is_whole = await every_incident_event(api, MOST_EVENT_PAGES)
    for event in events:
        inner, known = event.incident_event, event.incident_event_extended_metadata
        if inner is None or known is None or inner.id not in incident_of:
            continue
        own = incident_of[inner.id]
        labels = _pairs((alert_label.key, alert_label.value) for alert_label in known.alert_labels)
        more = _Told(
            frozenset(_folded([known.alert_name])), frozenset(_folded([known.alert_id])), labels
        )
        told[own] = _with(more, told.get(own))
    untold = [
        incident
        for incident in incidents
        if incident.id not in told or not told[incident.id].alerts
    ]
    # Labels say what an incident is about; of a name alone nobody knows whose it is.
    unseen = [incident.id for incident in untold if not (is_whole and _told_by(incident).labels)]
    if unseen:
        read = f"the {MOST_EVENT_PAGES * PAGE_SIZE:,} events that are read"
        among = "the events that are told" if is_whole else read
        raise UnreadableReply(
            f"the alert of the open incident {unseen[0][:80]} is not among {among}"
        )
    return told


def _marks_of(change: Change) -> _Marks:
    kind = BY_NAME[change.ref.kind]
    known = change.observation
    before = known.document if isinstance(known, Seen | Remembered) else {}
    documents: tuple[Json, ...] = (before, change.body)
    names = [change.ref.name, *(value_at(document, kind.title) for document in documents)]
    labels: list[tuple[object, object]] = [*change.labels.items()]
    for document in documents:
        for path in kind.bearing.label_maps:
            found = value_at(document, path)
            labels.extend(found.items() if isinstance(found, Mapping) else ())
    return _Marks(
        change.ref,
        frozenset(_folded(names)),
        frozenset(_folded([change.remote_id])),
        _pairs(labels),
        lambda application, subsystem: kind.bearing.takes_logs_of(change, application, subsystem),
    )


def _why(told: _Told, touched: Iterable[_Marks]) -> str:
    """Say by what an incident is about any of what is touched, "" where it is about none."""
    if not (told.names or told.alerts or told.labels):
        return "it tells neither a name, nor a label, nor an alert"
    return next(filter(None, (_shared(told, marks) for marks in touched)), "")


def _shared(told: _Told, marks: _Marks) -> str:
    """Say what an incident has in common with one change; the surest first, "" for nothing."""
    if marks.alerts & told.alerts:
        return f"it is of `{marks.ref}`"
    if names := sorted(told.names & marks.names):
        return f"`{marks.ref}` has the name {quoted(names[0])} too"
    if labels := sorted(told.labels & marks.labels):
        key, value = labels[0]
        return f"`{marks.ref}` has the label {quoted(f'{key}: {value}')} too"
    for application in sorted(told.values(_APPLICATION)):
        for subsystem in sorted(told.values(_SUBSYSTEM)) or ("",):
            if marks.takes_logs_of(application, subsystem):
                log = f"{application}/{subsystem}" if subsystem else application
                return f"`{marks.ref}` takes logs of {quoted(log)}"
    return ""


def _folded(texts: Iterable[object]) -> Iterator[str]:
    """Yield texts in one spelling; what is no text, or empty, tells nothing."""
    return (text.strip().casefold() for text in texts if isinstance(text, str) and text.strip())


def _pairs(labels: Iterable[tuple[object, object]]) -> frozenset[Pair]:
    """Give labels in one spelling; an application and a subsystem have several names."""
    found = set()
    for key, value in labels:
        if isinstance(key, str) and isinstance(value, str) and value.strip():
            name = "".join(filter(str.isalnum, key)).casefold()
            found.add((_CALLED.get(name, name), value.strip().casefold()))
    return frozenset(found)
