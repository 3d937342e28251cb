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

from reconciler.emulator import record_endpoints as records
from reconciler.emulator.alert_definition_endpoints import StoredAlertDefinition
from reconciler.emulator.database import Store
from reconciler.emulator.endpoint import Resource
from reconciler.emulator.wire import Clock, read, timestamp


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
        records.keep_daily_units(store, _units_on(day, min(1.0, gone)))
        day += timedelta(days=1)


def _units_on(day: date, share: float) -> records.DailyUnits:
    growth = 1 + _YEARLY_GROWTH * (day - _EPOCH).days / 365
    level = growth * _WEEK[day.weekday()] * share
    units = {
        name: round(level * usual * (0.9 + 0.2 * draw("usage", name, day)), 3)
        for name, usual in _SHARES.items()
    }
    used = sum(number for name, number in units.items() if not name.startswith("blocked"))
    values = {name: records.Units(value=number) for name, number in units.items()}
    return records.DailyUnits(
        stats_date=f"{day.isoformat()}T00:00:00.000Z",
        total_units=records.Units(value=round(used, 3)),
        **values,
    )


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

    store: Store
    definition: StoredAlertDefinition
    happened: Counter[str]

    @property
    def id(self) -> str:
        """The id of the definition."""
        return self.definition.id

    @property
    def priority(self) -> str:
        """Its priority, as `P1`."""
        return self.definition.alert_def_properties.priority.removeprefix("ALERT_DEF_PRIORITY_")[:2]

    def is_busy(self, minute: datetime) -> bool:
        """Return whether anything can happen in the hour of this minute."""
        active = self.store.row("SELECT 1 FROM active_alerts WHERE alert_id = ?", self.id)
        return active is not None or self._due(minute) is not None

    def live(self, minute: datetime) -> None:
        """Trigger, notice or resolve the alert in one minute."""
        query = "SELECT since, until FROM active_alerts WHERE alert_id = ?"
        row = self.store.row(query, self.id)
        if row is None:
            if self._due(minute) == minute.minute:
                self._trigger(minute)
            return
        trouble = Trouble(self, datetime.fromisoformat(row[0]))
        if timestamp(minute) < row[1]:
            trouble.be_noticed(minute)
            return
        self.store.write("DELETE FROM active_alerts WHERE alert_id = ?", self.id)
        trouble.emit("resolved", minute)
        trouble.end(minute)

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

        It is 1 if the metric must be bad half of the time, as usual; 1/20 if it must be bad all the
        time.
        """
        match self.definition.alert_def_properties.metric_threshold:
            case {"rules": [{"condition": {"forOverPct": int(share)}}, *_]}:
                return max(0.05, (100 - share) / 50)
            case _:
                return 1.0

    def _trigger(self, minute: datetime) -> None:
        lasts = timedelta(minutes=2 + waiting_time(_LASTS_MINUTES, "lasts", self.id, minute))
        since = minute + timedelta(seconds=int(60 * draw("second", self.id, minute)))
        self.store.keep("active_alerts", self.id, timestamp(since), timestamp(since + lasts))
        # Only this field is written: the record here has zero values that the stored record lacks.
        self.store.write(
            "UPDATE alert_definitions SET record = json_set(record, '$.lastTriggeredTime', ?)"
            " WHERE id = ?",
            timestamp(since),
            self.id,
        )
        trouble = Trouble(self, since)
        trouble.emit("triggered", since)
        trouble.begin()


PEOPLE = tuple(drawn_id("person", name) for name in ("mira", "jonas", "aylin", "tomasz"))
_SEVERITIES = {"P1": "CRITICAL", "P2": "ERROR", "P3": "WARNING"}
_WITH_CASE = ("P1", "P2")
_NOTICED_PER_MINUTE = 0.08
_LEFT_OPEN = 0.1  # share of incidents that wait for a person after the alert resolved


@dataclass(frozen=True)
class Trouble:
    """One trigger of one alert, from its beginning to its end."""

    alert: LivingAlert
    since: datetime

    @property
    def _id(self) -> str:
        return drawn_id("incident", self.alert.id, self.since)

    @property
    def _person(self) -> str:
        return PEOPLE[int(len(PEOPLE) * draw("person", self._id))]

    @property
    def _labels(self) -> dict[str, str]:
        """The place of the trigger: application, subsystem and region."""
        declared = self.alert.definition.alert_def_properties.entity_labels
        return {
            "application": declared.get("application", "shop"),
            "subsystem": declared.get("subsystem", "web"),
            "region": _REGIONS[int(len(_REGIONS) * draw("region", self.alert.id, self.since))],
        }

    @property
    def _entity_labels(self) -> list[records.KeyValue]:
        declared = self.alert.definition.alert_def_properties.entity_labels
        return [records.KeyValue(key=key, value=text) for key, text in declared.items()]

    def emit(self, kind: str, moment: datetime) -> None:
        """Add an alert event; the two events of a trigger have the same dedup key."""
        alert, definition = self.alert, self.alert.definition
        version = definition.alert_version_id
        event = records.AlertEvent(
            company_id=_COMPANY_ID,
            cx_event_key=drawn_id("event", kind, definition.id, moment),
            cx_event_dedup_key=drawn_id("trigger", definition.id, self.since),
            cx_event_labels=self._labels,
            cx_event_metadata={"alertId": definition.id, "alertVersionId": version},
            cx_event_payload={
                "alertId": definition.id,
                "alertVersionId": version,
                "name": definition.alert_def_properties.name,
                "priority": definition.alert_def_properties.priority,
                "status": kind,
                "triggeredAt": timestamp(self.since),
            },
            cx_event_payload_type="alert",
            cx_event_timestamp=str(int(moment.timestamp())),
            cx_event_type=f"alert_{kind}",
        )
        records.keep_alert_event(alert.store, event, version_id=version)
        alert.happened["events"] += 1

    def begin(self) -> None:
        """Open the incident and the case that the priority calls for."""
        if self.alert.priority in _SEVERITIES:
            self._open_incident()
            self.alert.happened["incidents"] += 1
        if self.alert.priority in _WITH_CASE:
            records.keep_case(self.alert.store, self._case())
            self.alert.happened["cases"] += 1

    def be_noticed(self, minute: datetime) -> None:
        """Assign the incident and the case to a person, sooner or later."""
        if draw("noticed", self._id, minute) >= _NOTICED_PER_MINUTE:
            return
        store, now = self.alert.store, timestamp(minute)
        incident = records.incident_in(store, self._id)
        if incident and incident.status == "INCIDENT_STATUS_TRIGGERED":
            person = records.User(user_id=self._person)
            incident.assignments.append(records.Assignment(assigned_to=person))
            records.acknowledge(store, incident, user_id=self._person, now=now)
        case = self._stored_case()
        if case and case.status == "CASE_STATUS_OPEN":
            case.status = "CASE_STATUS_ACKNOWLEDGED"
            case.state = "CASE_STATE_ACTIVE"
            case.assignee = records.Assignee(user_id=self._person)
            case.acknowledge_time = case.update_time = now
            records.keep_case(store, case)

    def end(self, minute: datetime) -> None:
        """Close what the alert opened, unless it is left for a person to close."""
        store, now = self.alert.store, timestamp(minute)
        is_left_open = draw("left open", self._id) < _LEFT_OPEN
        incident = records.incident_in(store, self._id)
        if incident and incident.closed_at is None and not is_left_open:
            records.close(store, incident, now=now)
            self.alert.happened["closed"] += 1
        case = self._stored_case()
        if case:
            for indicator in case.alert_indicators:
                indicator.state = "ALERT_INDICATOR_STATE_RESOLVED"
                indicator.resolve_time = now
            case.update_time = now
            if not is_left_open:
                case.state, case.status = "CASE_STATE_RESOLVED", "CASE_STATUS_CLOSED"
                case.resolution_details = records.ResolutionDetails(
                    resolve_time=now, resolved_by="CASE_RESOLVER_SYSTEM"
                )
            records.keep_case(store, case)

    def _open_incident(self) -> None:
        declared, labels = self.alert.definition.alert_def_properties, self._labels
        incident = records.Incident(
            id=self._id,
            name=declared.name,
            description=declared.description,
            severity=f"INCIDENT_SEVERITY_{_SEVERITIES[self.alert.priority]}",
            is_muted=declared.phantom_mode,
            contextual_labels={
                "applicationName": labels["application"],
                "subsystemName": labels["subsystem"],
                "region": labels["region"],
            },
            display_labels={"Region": labels["region"]},
            meta_labels=self._entity_labels,
        )
        behind = records.AlertBehind(
            self.alert.id,
            declared.name,
            declared.entity_labels,
            declared.group_by_keys,
        )
        records.open_incident(self.alert.store, incident, behind, now=timestamp(self.since))

    def _case(self) -> records.Case:
        ((number,),) = self.alert.store.rows("SELECT count(*) FROM cases")
        declared, region = self.alert.definition.alert_def_properties, self._labels["region"]
        now = timestamp(self.since)
        priority = f"CASE_PRIORITY_{self.alert.priority}"
        is_security = declared.entity_labels.get("team") == "security"
        groupings = [records.KeyValue(key="region", value=region)]
        return records.Case(
            id=drawn_id("case", self._id),
            readable_id=f"CASE-{1001 + number}",
            title=f"{declared.name} in {region}",
            description=declared.description,
            category=f"CASE_CATEGORY_{'SECURITY' if is_security else 'AVAILABILITY'}",
            priority=priority,
            priority_details=records.PriorityDetails(system=priority),
            state="CASE_STATE_CREATED",
            status="CASE_STATUS_OPEN",
            create_time=now,
            update_time=now,
            groupings=groupings,
            labels=self._entity_labels,
            alert_indicators=[
                records.AlertIndicator(
                    alert_id=self.alert.id,
                    alert_version_id=self.alert.definition.alert_version_id,
                    groupings=groupings,
                    priority=f"ALERT_PRIORITY_{self.alert.priority}",
                    state="ALERT_INDICATOR_STATE_TRIGGERED",
                    trigger_time=now,
                )
            ],
        )

    def _stored_case(self) -> records.Case | None:
        record = self.alert.store.find("cases", drawn_id("case", self._id))
        return read(records.Case, record) if record else None


LONGEST = timedelta(days=35)  # time before that is left out

LIFE = Resource(
    "active_alerts (alert_id TEXT PRIMARY KEY, since TEXT NOT NULL, until TEXT NOT NULL)",
    "lived (id INTEGER PRIMARY KEY CHECK (id = 1), until TEXT NOT NULL)",
)


def tick(store: Store, now: datetime) -> Counter[str]:
    """Simulate the time from the last tick until now; the first time it is an hour.

    `now` needs a time zone. A time before the last tick changes nothing.
    """
    with store.writing():
        return let_pass(store, lived_until(store) or now - timedelta(hours=1), now)


async def keep_living(store: Store, clock: Clock, every: float = 5.0) -> None:
    """Tick again and again, so many seconds apart, until cancelled."""
    while True:
        tick(store, clock())
        await asyncio.sleep(every)


def lived_until(store: Store) -> datetime | None:
    """Return the minute of the last tick."""
    row = store.row("SELECT until FROM lived")
    return datetime.fromisoformat(row[0]) if row else None


def let_pass(store: Store, since: datetime, now: datetime) -> Counter[str]:
    """Simulate the time between two moments, inside `store.writing()`."""
    happened = Counter[str]()
    end = now.astimezone(UTC).replace(second=0, microsecond=0)
    begin = max(since, now - LONGEST).astimezone(UTC)
    minute = begin.replace(second=0, microsecond=0)
    definitions = [
        read(StoredAlertDefinition, stored) for stored in store.records("alert_definitions")
    ]
    awake = [
        LivingAlert(store, definition, happened)
        for definition in definitions
        if definition.alert_def_properties.enabled and not definition.alert_def_properties.deleted
    ]
    busy: list[LivingAlert] | None = None
    while minute < end:
        if busy is None or minute.minute == 0:
            # Most alerts are quiet most hours: only the others are simulated each minute.
            busy = [alert for alert in awake if alert.is_busy(minute)]
        for alert in busy:
            alert.live(minute)
        minute += timedelta(minutes=1)
    if since <= now:
        fill_usage(store, begin.date(), now)
        store.keep("lived", 1, end.isoformat())
    return happened
