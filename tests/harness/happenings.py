"""What happened at an emulator, planted into its data: firings of alerts, and incidents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from reconciler.emulator import create_app
from reconciler.emulator.database import Store
from reconciler.emulator.record_endpoints import (
    AlertBehind,
    AlertEvent,
    Incident,
    keep_alert_event,
    open_incident,
)
from reconciler.emulator.wire import timestamp

PLACE: Mapping[str, str] = {"application": "checkout", "subsystem": "cart"}


@dataclass(frozen=True)
class Happenings:
    """The events and incidents of one emulator; `ago` is before now."""

    store: Store
    now: datetime

    def fire(
        self,
        alert: str,
        ago: timedelta,
        *,
        lasted: timedelta | None = None,
        labels: Mapping[str, str] = PLACE,
    ) -> None:
        """Let an alert fire, and be over after a while where that is given."""
        key = uuid4().hex
        self._emit(alert, "triggered", self.now - ago, key, labels)
        if lasted is not None:
            self._emit(alert, "resolved", self.now - ago + lasted, key, labels)

    def _emit(
        self, alert: str, turn: str, at: datetime, key: str, labels: Mapping[str, str]
    ) -> None:
        event = AlertEvent(
            company_id=1001,
            cx_event_key=uuid4().hex,
            cx_event_dedup_key=key,
            cx_event_labels=dict(labels),
            cx_event_metadata={"alertId": alert} if alert else {},
            cx_event_payload={"status": turn},
            cx_event_timestamp=str(int(at.timestamp())),
            cx_event_type=f"alert_{turn}",
        )
        keep_alert_event(self.store, event, version_id=f"version-{alert}")

    def open(self, alert: str, ago: timedelta, name: str = "Checkout errors") -> None:
        """Open an incident of an alert."""
        incident = Incident(
            id=str(uuid4()),
            name=name,
            description="",
            severity="INCIDENT_SEVERITY_ERROR",
            is_muted=False,
            contextual_labels={},
            display_labels={},
            meta_labels=[],
        )
        behind = AlertBehind(alert, name, {})
        open_incident(self.store, incident, behind, now=timestamp(self.now - ago))


@contextmanager
def happenings_at(data: Path) -> Iterator[Happenings]:
    """Open the data of an emulator, to plant what happened there."""
    data.parent.mkdir(parents=True, exist_ok=True)
    app = create_app(data)
    store: Store = app.state.store
    try:
        with store.writing():
            yield Happenings(store, datetime.now(UTC))
    finally:
        store.close()
