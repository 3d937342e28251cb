"""What happens to an incident: it is opened, acknowledged, closed.

Each step is written twice, as the service does: short into the incident, and
extended into the list of events with the incident as it was then.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import NAMESPACE_URL, uuid5

from reconciler.emulator.models.case import KeyValue
from reconciler.emulator.models.incident import (
    ExtendedIncidentEvent,
    Incident,
    IncidentEvent,
    IncidentEventMetadata,
    User,
)
from reconciler.emulator.models.wire import Empty
from reconciler.emulator.reading import read
from reconciler.emulator.rendering import as_text
from reconciler.emulator.store import Store

INCIDENT_TABLES = (
    "incidents (id TEXT PRIMARY KEY, alert TEXT NOT NULL, record TEXT NOT NULL)",
    """incident_events (
        key TEXT PRIMARY KEY, incident_id TEXT NOT NULL, at TEXT NOT NULL, record TEXT NOT NULL
    )""",
)


@dataclass(frozen=True)
class AlertBehind:
    """The alert an incident came from."""

    id: str
    name: str
    labels: dict[str, str]
    group_by: tuple[str, ...] = ()

    def as_text(self) -> str:
        """Write it for the store."""
        return json.dumps([self.id, self.name, self.labels, self.group_by])


def incident_in(store: Store, incident_id: str) -> Incident | None:
    """Give a stored incident."""
    row = store.row("SELECT record FROM incidents WHERE id = ?", incident_id)
    return read(Incident, json.loads(row[0])) if row else None


def open_incident(store: Store, incident: Incident, alert: AlertBehind, *, now: str) -> None:
    """Store a new incident with its first event."""
    incident.created_at = now
    incident.state = "INCIDENT_STATE_TRIGGERED"
    incident.status = "INCIDENT_STATUS_TRIGGERED"
    _note(store, incident, alert, "OPEN", now=now)


def acknowledge(store: Store, incident: Incident, *, user_id: str, now: str) -> None:
    """Say that a person has seen it."""
    incident.status = "INCIDENT_STATUS_ACKNOWLEDGED"
    _note(store, incident, _alert_of(store, incident), "ACKNOWLEDGE", now=now, user_id=user_id)


def close(store: Store, incident: Incident, *, now: str, user_id: str | None = None) -> Incident:
    """End an incident: by a person, or by itself when nobody is named."""
    incident.state = "INCIDENT_STATE_RESOLVED"
    incident.status = "INCIDENT_STATUS_RESOLVED"
    incident.closed_at = now
    incident.duration = f"{_seconds_between(incident.created_at or now, now)}s"
    _note(store, incident, _alert_of(store, incident), "CLOSE", now=now, user_id=user_id)
    return incident


def _note(
    store: Store,
    incident: Incident,
    alert: AlertBehind,
    step: str,
    *,
    now: str,
    user_id: str | None = None,
) -> None:
    event = IncidentEvent(
        id=str(uuid5(NAMESPACE_URL, f"{incident.id}:{len(incident.events)}")),
        incident_event_type=f"INCIDENT_EVENT_TYPE_{step}",
        originator_type="ORIGINATOR_TYPE_USER" if user_id else "ORIGINATOR_TYPE_AUTOMATIC",
        administrative_event=User(user_id=user_id) if user_id else None,
        close=Empty() if step == "CLOSE" else None,
    )
    incident.events.append(event)
    incident.last_state_update_time = now
    incident.last_state_update_key = event.id
    store.write(
        "INSERT OR REPLACE INTO incidents VALUES (?, ?, ?)",
        incident.id,
        alert.as_text(),
        as_text(incident),
    )
    store.write(
        "INSERT INTO incident_events VALUES (?, ?, ?, ?)",
        event.id,
        incident.id,
        now,
        as_text(_extended(incident, event, alert, now)),
    )


def _extended(
    incident: Incident, event: IncidentEvent, alert: AlertBehind, now: str
) -> ExtendedIncidentEvent:
    return ExtendedIncidentEvent(
        cx_event_key=event.id,
        cx_event_timestamp=now,
        incident_event=event,
        incident_event_extended_metadata=IncidentEventMetadata(
            alert_group_by_fields=list(alert.group_by),
            alert_id=alert.id,
            alert_labels=[KeyValue(key=key, value=text) for key, text in alert.labels.items()],
            alert_name=alert.name,
            incident_permutation=Empty(),
            incident_severity=incident.severity,
            incident_state=incident.state,
            incident_status=incident.status,
            is_muted=incident.is_muted,
        ),
    )


def _alert_of(store: Store, incident: Incident) -> AlertBehind:
    row = store.row("SELECT alert FROM incidents WHERE id = ?", incident.id)
    alert_id, name, labels, group_by = json.loads(row[0] if row else '["", "", {}, []]')
    return AlertBehind(alert_id, name, labels, tuple(group_by))


def _seconds_between(start: str, end: str) -> int:
    lasted = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    return max(0, int(lasted.total_seconds()))
