"""Time passes: alerts trigger and resolve, incidents and cases follow, data is used.

What happens in a minute depends on the minute and the definitions only, so that one long tick and
many short ticks have the same result. Chance is the same every time: a draw is a function of its
name.

A trigger is an alert event. From P3 on it also opens an incident, from P2 on a case. How often it
happens depends on the priority, the hour and the nature of the alert: some are quiet and some are
noise. Data usage has the rhythm of a shop: less at weekends, more from year to year.
"""

import asyncio
import math
import zlib
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from reconciler.emulator import case_endpoints as cases
from reconciler.emulator import incident_endpoints as incidents
from reconciler.emulator.alert_definition_models import StoredAlertDefinition
from reconciler.emulator.alert_event_endpoints import AlertEvent, keep_alert_event
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Resource
from reconciler.emulator.reading import read, whole
from reconciler.emulator.usage_endpoints import DailyUnits, Units, keep_daily_units
from reconciler.emulator.wire_models import Clock, JsonObject, timestamp


def draw(*name: object) -> float:
    """Return a number from 0 on and below 1."""
    text = ":".join(map(str, name)).encode()
    # Two sums, as one alone gives similar names similar numbers.
    return (zlib.crc32(text) ^ zlib.adler32(text[::-1]) * 2654435761 % 2**32) % 2**32 / 2**32


def waiting_time(mean: float, *name: object) -> float:
    """Return a time of an exponential distribution: many are short, few are long."""
    return -mean * math.log(1 - draw(*name))


def drawn_id(*name: object) -> str:
    """Return a uuid."""
    return str(uuid5(NAMESPACE_URL, ":".join(map(str, name))))


_WEEK = (1.0, 1.04, 1.07, 1.05, 1.02, 0.66, 0.58)  # Monday first
_EPOCH = date(2020, 1, 1)
_YEARLY_GROWTH = 0.18
_SHARES = {
    "blocked_units": 1.1,
    "blocked_metrics_units": 0.2,
    "cpu_profiles_units": 0.4,
    "evaluation_units": 2.3,
    "high_logs_units": 14.0,
    "high_metrics_units": 9.5,
    "high_tracing_units": 6.2,
    "low_logs_units": 21.0,
    "low_session_recording_units": 1.3,
    "low_tracing_units": 3.1,
    "medium_logs_units": 11.4,
    "medium_tracing_units": 2.6,
}  # units on an ordinary day


def fill_usage(store: Store, first: date, now: datetime) -> None:
    """Write each day from the first to today, which is used in part only."""
    day, today = first, now.astimezone(UTC).date()
    while day <= today:
        gone = (now - datetime.combine(day, datetime.min.time(), UTC)).total_seconds() / 86400
        keep_daily_units(store, _units_on(day, min(1.0, gone)))
        day += timedelta(days=1)


def _units_on(day: date, share: float) -> DailyUnits:
    growth = 1 + _YEARLY_GROWTH * (day - _EPOCH).days / 365
    level = growth * _WEEK[day.weekday()] * share
    units = {
        name: round(level * usual * (0.9 + 0.2 * draw("usage", name, day)), 3)
        for name, usual in _SHARES.items()
    }
    used = sum(number for name, number in units.items() if not name.startswith("blocked"))
    values = {name: Units(value=number) for name, number in units.items()}
    return DailyUnits(
        stats_date=f"{day.isoformat()}T00:00:00.000Z",
        total_units=Units(value=round(used, 3)),
        **values,
    )


PEOPLE = tuple(drawn_id("person", name) for name in ("mira", "jonas", "aylin", "tomasz"))
_SEVERITIES = {"P1": "CRITICAL", "P2": "ERROR", "P3": "WARNING"}
_WITH_CASE = ("P1", "P2")
_NOTICED_PER_MINUTE = 0.08
_LEFT_OPEN = 0.1  # share of incidents that wait for a person after the alert resolved


@dataclass(frozen=True)
class Trouble:
    """One trigger of one alert, from its beginning to its end."""

    alert: JsonObject
    priority: str
    since: datetime
    labels: dict[str, str]
    happened: Counter[str]

    def begin(self, store: Store) -> None:
        """Open the incident and the case that the priority calls for."""
        if self.priority in _SEVERITIES:
            incidents.open_incident(
                store, self._incident(), self._behind(), now=timestamp(self.since)
            )
            self.happened["incidents"] += 1
        if self.priority in _WITH_CASE:
            cases.keep_case(store, self._case(store))
            self.happened["cases"] += 1

    def be_noticed(self, store: Store, minute: datetime) -> None:
        """Assign the incident and the case to a person, sooner or later."""
        if draw("noticed", self._id, minute) >= _NOTICED_PER_MINUTE:
            return
        now = timestamp(minute)
        incident = incidents.incident_in(store, self._id)
        if incident and incident.status == "INCIDENT_STATUS_TRIGGERED":
            incident.assignments.append(
                incidents.Assignment(assigned_to=incidents.User(user_id=self._person))
            )
            incidents.acknowledge(store, incident, user_id=self._person, now=now)
        case = self._stored_case(store)
        if case and case.status == "CASE_STATUS_OPEN":
            case.status = "CASE_STATUS_ACKNOWLEDGED"
            case.state = "CASE_STATE_ACTIVE"
            case.assignee = cases.Assignee(user_id=self._person)
            case.acknowledge_time = case.update_time = now
            cases.keep_case(store, case)

    def end(self, store: Store, minute: datetime) -> None:
        """Close what the alert opened, unless it is left for a person to close."""
        now = timestamp(minute)
        is_left_open = draw("left open", self._id) < _LEFT_OPEN
        incident = incidents.incident_in(store, self._id)
        if incident and incident.closed_at is None and not is_left_open:
            incidents.close(store, incident, now=now)
            self.happened["closed"] += 1
        case = self._stored_case(store)
        if case:
            for indicator in case.alert_indicators:
                indicator.state = "ALERT_INDICATOR_STATE_RESOLVED"
                indicator.resolve_time = now
            case.update_time = now
            if not is_left_open:
                case.state, case.status = "CASE_STATE_RESOLVED", "CASE_STATUS_CLOSED"
                case.resolution_details = cases.ResolutionDetails(
                    resolve_time=now, resolved_by="CASE_RESOLVER_SYSTEM"
                )
            cases.keep_case(store, case)

    @property
    def _id(self) -> str:
        return drawn_id("incident", self.alert["id"], self.since)

    @property
    def _person(self) -> str:
        return PEOPLE[int(len(PEOPLE) * draw("person", self._id))]

    @property
    def _name(self) -> str:
        return str(self.alert["alertDefProperties"]["name"])

    def _behind(self) -> incidents.AlertBehind:
        properties = self.alert["alertDefProperties"]
        return incidents.AlertBehind(
            self.alert["id"],
            properties["name"],
            properties["entityLabels"],
            tuple(properties["groupByKeys"]),
        )

    def _incident(self) -> incidents.Incident:
        properties = self.alert["alertDefProperties"]
        return incidents.Incident(
            id=self._id,
            name=self._name,
            description=properties["description"],
            severity=f"INCIDENT_SEVERITY_{_SEVERITIES[self.priority]}",
            is_muted=properties["phantomMode"],
            contextual_labels={
                "applicationName": self.labels["application"],
                "subsystemName": self.labels["subsystem"],
                "region": self.labels["region"],
            },
            display_labels={"Region": self.labels["region"]},
            meta_labels=[
                cases.KeyValue(key=key, value=text)
                for key, text in properties["entityLabels"].items()
            ],
        )

    def _case(self, store: Store) -> cases.Case:
        row = store.row("SELECT count(*) FROM cases")
        number = 1001 + (row[0] if row else 0)
        properties = self.alert["alertDefProperties"]
        now = timestamp(self.since)
        priority = f"CASE_PRIORITY_{self.priority}"
        is_security = properties["entityLabels"].get("team") == "security"
        return cases.Case(
            id=drawn_id("case", self._id),
            readable_id=f"CASE-{number}",
            title=f"{self._name} in {self.labels['region']}",
            description=properties["description"],
            category=f"CASE_CATEGORY_{'SECURITY' if is_security else 'AVAILABILITY'}",
            priority=priority,
            priority_details=cases.PriorityDetails(system=priority),
            state="CASE_STATE_CREATED",
            status="CASE_STATUS_OPEN",
            create_time=now,
            update_time=now,
            groupings=[cases.KeyValue(key="region", value=self.labels["region"])],
            labels=[
                cases.KeyValue(key=key, value=text)
                for key, text in properties["entityLabels"].items()
            ],
            alert_indicators=[
                cases.AlertIndicator(
                    alert_id=self.alert["id"],
                    alert_version_id=self.alert["alertVersionId"],
                    groupings=[cases.KeyValue(key="region", value=self.labels["region"])],
                    priority=f"ALERT_PRIORITY_{self.priority}",
                    state="ALERT_INDICATOR_STATE_TRIGGERED",
                    trigger_time=now,
                )
            ],
        )

    def _stored_case(self, store: Store) -> cases.Case | None:
        record = store.find("cases", drawn_id("case", self._id))
        return read(cases.Case, record) if record else None


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
        """Return whether anything can happen in the hour of this minute."""
        active = store.row("SELECT 1 FROM active_alerts WHERE alert_id = ?", self.id)
        return active is not None or self._due(minute) is not None

    def live(self, store: Store, minute: datetime) -> None:
        """Trigger, notice or resolve the alert in one minute."""
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
        """Return the minute at which it triggers in this hour, at most once."""
        hour = int(moment.timestamp()) // 3600
        nature = min(_NOISIEST, 0.2 + waiting_time(1.3, "nature", self.id) ** 2)
        daytime = 0.5 if moment.hour in _NIGHT_HOURS else 1.2
        per_hour = _PER_HOUR.get(self.priority, _PER_HOUR_ELSE) * nature * daytime * self._haste
        if draw("trigger", self.id, hour) >= per_hour:
            return None
        return int(60 * draw("minute", self.id, hour))

    @property
    def _haste(self) -> float:
        """How often it fires, as a factor: the longer the metric has to be bad, the lower.

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
        # Only this field is written: the record here has zero values that the stored record lacks.
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
        """Return the place of a trigger: application, subsystem and region."""
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


LONGEST = timedelta(days=35)  # time before that is left out
_FIRST = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)

LIFE = Resource(
    "active_alerts (alert_id TEXT PRIMARY KEY, since TEXT NOT NULL, until TEXT NOT NULL)",
    "lived (id INTEGER PRIMARY KEY CHECK (id = 1), until TEXT NOT NULL)",
)


@dataclass(frozen=True)
class Happened:
    """The result of one tick, as numbers."""

    events: int
    incidents: int
    closed: int
    cases: int


def tick(store: Store, now: datetime) -> Happened:
    """Simulate the time from the last tick until now; the first time it is an hour.

    `now` needs a time zone. A time before the last tick changes nothing.
    """
    with store.writing():
        return let_pass(store, lived_until(store) or now - _FIRST, now)


async def keep_living(store: Store, clock: Clock, every: float = 5.0) -> None:
    """Tick again and again, so many seconds apart, until cancelled."""
    while True:
        tick(store, clock())
        await asyncio.sleep(every)


def lived_until(store: Store) -> datetime | None:
    """Return the minute of the last tick."""
    row = store.row("SELECT until FROM lived")
    return datetime.fromisoformat(row[0]) if row else None


def let_pass(store: Store, since: datetime, now: datetime) -> Happened:
    """Simulate the time between two moments, inside `store.writing()`."""
    happened: Counter[str] = Counter()
    end = now.astimezone(UTC).replace(second=0, microsecond=0)
    minute = max(since.astimezone(UTC), now - LONGEST).replace(second=0, microsecond=0)
    alerts = [LivingAlert(record, happened) for record in _awake(store)]
    busy: list[LivingAlert] | None = None
    while minute < end:
        if busy is None or minute.minute == 0:
            # Most alerts are quiet most hours: only the others are simulated each minute.
            busy = [alert for alert in alerts if alert.is_busy(store, minute)]
        for alert in busy:
            alert.live(store, minute)
        minute += _MINUTE
    if since <= now:
        fill_usage(store, max(since, now - LONGEST).astimezone(UTC).date(), now)
        store.write("INSERT OR REPLACE INTO lived VALUES (1, ?)", end.isoformat())
    return Happened(
        happened["events"], happened["incidents"], happened["closed"], happened["cases"]
    )


def _awake(store: Store) -> list[dict[str, object]]:
    stored = store.records("alert_definitions")
    records = [whole(StoredAlertDefinition, record) for record in stored]
    return [
        record
        for record in records
        if record["alertDefProperties"]["enabled"] and not record["alertDefProperties"]["deleted"]
    ]
