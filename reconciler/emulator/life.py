"""Time passes: alerts trigger and resolve, incidents and cases follow, data is used.

What happens in a minute depends on the minute and the definitions only, so that
one long tick and many short ones give the same.
"""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from reconciler.emulator.alert_life import TABLE, LivingAlert
from reconciler.emulator.clock import Clock
from reconciler.emulator.endpoint import Resource
from reconciler.emulator.models.alert_definition import StoredAlertDefinition
from reconciler.emulator.reading import whole
from reconciler.emulator.store import Store
from reconciler.emulator.usage_life import fill_usage

LONGEST = timedelta(days=35)  # what was before is not made up for
_FIRST = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)

LIFE = Resource(
    tables=(TABLE, "lived (id INTEGER PRIMARY KEY CHECK (id = 1), until TEXT NOT NULL)"),
    endpoints=(),
)


@dataclass(frozen=True)
class Happened:
    """What one tick brought, as numbers."""

    events: int
    incidents: int
    closed: int
    cases: int


def tick(store: Store, now: datetime) -> Happened:
    """Let the time from the last tick until now pass; the first time it is an hour.

    `now` has to know its zone. A time before the last tick changes nothing.
    """
    with store.writing():
        return let_pass(store, lived_until(store) or now - _FIRST, now)


async def keep_living(store: Store, clock: Clock, every: float = 5.0) -> None:
    """Tick again and again, so many seconds apart, until cancelled."""
    while True:
        tick(store, clock())
        await asyncio.sleep(every)


def lived_until(store: Store) -> datetime | None:
    """Give the minute of the last tick."""
    row = store.row("SELECT until FROM lived")
    return datetime.fromisoformat(row[0]) if row else None


def let_pass(store: Store, since: datetime, now: datetime) -> Happened:
    """Let the time between two moments pass, inside `store.writing()`."""
    happened: Counter[str] = Counter()
    end = now.astimezone(UTC).replace(second=0, microsecond=0)
    minute = max(since.astimezone(UTC), now - LONGEST).replace(second=0, microsecond=0)
    alerts = [LivingAlert(record, happened) for record in _awake(store)]
    busy: list[LivingAlert] | None = None
    while minute < end:
        if busy is None or minute.minute == 0:
            # Most alerts are quiet most hours: only the others are asked each minute.
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
    rows = store.rows("SELECT record FROM alert_definitions ORDER BY id")
    records = [whole(StoredAlertDefinition, json.loads(record)) for (record,) in rows]
    return [
        record
        for record in records
        if record["alertDefProperties"]["enabled"] and not record["alertDefProperties"]["deleted"]
    ]
