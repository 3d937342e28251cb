"""What one alert definition does in one minute: trigger, be noticed, resolve.

A trigger is an alert event. From P3 on it also opens an incident, from P2 on a
case. How often it happens depends on the priority, the hour and the nature of
the alert: some are quiet and some are noise.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from reconciler.emulator.alert_events import keep_alert_event
from reconciler.emulator.alert_incident import Trouble
from reconciler.emulator.chance import draw, drawn_id, waiting_time
from reconciler.emulator.clock import timestamp
from reconciler.emulator.models.alert_event import AlertEvent
from reconciler.emulator.models.wire import JsonObject
from reconciler.emulator.store import Store

TABLE = """active_alerts (
    alert_id TEXT PRIMARY KEY, since TEXT NOT NULL, until TEXT NOT NULL
)"""
_COMPANY_ID = 1001
_PER_HOUR = {"P1": 0.002, "P2": 0.005, "P3": 0.02, "P4": 0.06}  # by priority, before its nature
_PER_HOUR_ELSE = 0.2
_NOISIEST = 6
_LASTS_MINUTES = 35
_NIGHT_HOURS = range(7)
_REGIONS = ("eu-central-1", "eu-central-1", "eu-west-1", "us-east-1")


@dataclass(frozen=True)
class LivingAlert:
    """A stored alert definition."""

    record: JsonObject
    happened: Counter[str]

    def is_busy(self, store: Store, minute: datetime) -> bool:
        """Whether anything can happen in the hour of this minute."""
        active = store.row("SELECT 1 FROM active_alerts WHERE alert_id = ?", self.id)
        return active is not None or self._due(minute) is not None

    def live(self, store: Store, minute: datetime) -> None:
        """Let one minute pass."""
        row = store.row("SELECT since, until FROM active_alerts WHERE alert_id = ?", self.id)
        if row is None:
            if self._due(minute) == minute.minute:
                self._trigger(store, minute)
        elif timestamp(minute) >= row[1]:
            self._resolve(store, datetime.fromisoformat(row[0]), minute)
        else:
            self._trouble(datetime.fromisoformat(row[0])).be_noticed(store, minute)

    @property
    def id(self) -> str:
        """The id of the definition."""
        return str(self.record["id"])

    @property
    def priority(self) -> str:
        """Its priority, as `P1`."""
        whole: str = self.record["alertDefProperties"]["priority"]
        return whole.removeprefix("ALERT_DEF_PRIORITY_")[:2]

    def _due(self, moment: datetime) -> int | None:
        """Give the minute at which it triggers in this hour, at most once."""
        hour = int(moment.timestamp()) // 3600
        nature = min(_NOISIEST, 0.2 + waiting_time(1.3, "nature", self.id) ** 2)
        daytime = 0.5 if moment.hour in _NIGHT_HOURS else 1.2
        per_hour = _PER_HOUR.get(self.priority, _PER_HOUR_ELSE) * nature * daytime * self._haste
        if draw("trigger", self.id, hour) >= per_hour:
            return None
        return int(60 * draw("minute", self.id, hour))

    @property
    def _haste(self) -> float:
        """How soon it fires: less often the longer its metric has to be beyond the threshold.

        The usual half of the time is 1, and the whole time a twentieth.
        """
        match self.record["alertDefProperties"]:
            case {"metricThreshold": {"rules": [{"condition": {"forOverPct": int(share)}}, *_]}}:
                return max(0.05, (100 - share) / 50)
            case _:
                return 1.0

    def _trigger(self, store: Store, minute: datetime) -> None:
        lasts = timedelta(minutes=2 + waiting_time(_LASTS_MINUTES, "lasts", self.id, minute))
        moment = minute + timedelta(seconds=int(60 * draw("second", self.id, minute)))
        store.write(
            "INSERT INTO active_alerts VALUES (?, ?, ?)",
            self.id,
            timestamp(moment),
            timestamp(moment + lasts),
        )
        # Only this is new: the record here is whole, and the stored one may not be.
        store.write(
            "UPDATE alert_definitions SET record = json_set(record, '$.lastTriggeredTime', ?)"
            " WHERE id = ?",
            timestamp(moment),
            self.id,
        )
        self._emit(store, "triggered", moment, since=moment)
        self._trouble(moment).begin(store)

    def _resolve(self, store: Store, since: datetime, minute: datetime) -> None:
        store.write("DELETE FROM active_alerts WHERE alert_id = ?", self.id)
        self._emit(store, "resolved", minute, since=since)
        self._trouble(since).end(store, minute)

    def _emit(self, store: Store, kind: str, moment: datetime, *, since: datetime) -> None:
        """Add an alert event; both of one trigger share their dedup key."""
        properties = self.record["alertDefProperties"]
        version = self.record["alertVersionId"]
        event = AlertEvent(
            company_id=_COMPANY_ID,
            cx_event_key=drawn_id("event", kind, self.id, moment),
            cx_event_dedup_key=drawn_id("trigger", self.id, since),
            cx_event_labels=self.labels_at(since),
            cx_event_metadata={"alertId": self.id, "alertVersionId": version},
            cx_event_payload={
                "alertId": self.id,
                "alertVersionId": version,
                "name": properties["name"],
                "priority": properties["priority"],
                "status": kind,
                "triggeredAt": timestamp(since),
            },
            cx_event_payload_type="alert",
            cx_event_timestamp=str(int(moment.timestamp())),
            cx_event_type=f"alert_{kind}",
        )
        keep_alert_event(store, event, version_id=version)
        self.happened["events"] += 1

    def labels_at(self, since: datetime) -> dict[str, str]:
        """Give where it happened: application, subsystem and region."""
        declared = self.record["alertDefProperties"]["entityLabels"]
        region = _REGIONS[int(len(_REGIONS) * draw("region", self.id, since))]
        return {
            "application": declared.get("application", "shop"),
            "subsystem": declared.get("subsystem", "web"),
            "region": region,
        }

    def _trouble(self, since: datetime) -> Trouble:
        labels = self.labels_at(since)
        return Trouble(self.record, self.priority, since, labels, self.happened)
