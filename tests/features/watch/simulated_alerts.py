"""Alerts with known rates, made by a seeded chance, and how often a verdict is said of them.

`python tests/features/watch/simulated_alerts.py 20000` prints the figures of docs/watch.md.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from reconciler.features.watch.alert_noise import ReportedEvents, Touched, joined, judged
from reconciler.model import Ref
from reconciler.records.listings import AlertEvent

RUN = datetime(2026, 3, 11, 9, 30, tzinfo=UTC)
DAY = timedelta(days=1)
Rate = Callable[[datetime], float]
"""Events an hour at a moment."""


@dataclass(frozen=True)
class Simulated:
    """How many alerts are watched for how long, and how their rate moves."""

    rate: float
    factor: float = 1.0
    hours: float = 3.0
    alerts: int = 1
    daily: bool = False
    burst: float = 1.0
    """Mean events that come together; more than one is over-dispersed."""


def verdicts(simulated: Simulated, chance: random.Random) -> Counter[str]:
    """Give how often which verdict is said of the alerts of one run."""
    alerts = [alert(number, simulated.hours) for number in range(simulated.alerts)]
    events = [event for touched in alerts for event in _events(touched, simulated, chance)]
    found = judged(alerts, ReportedEvents(events=tuple(events)))
    return Counter(one.verdict for one in found)


def alert(number: int, hours: float, written: datetime | None = None) -> Touched:
    """Give an alert that a run wrote so many hours ago."""
    return Touched(
        ref=Ref("AlertDefinition", f"alert-{number}"),
        remote_id=f"id-{number}",
        names=frozenset(),
        versions=frozenset(),
        all_versions=False,
        at=RUN,
        until=RUN + timedelta(hours=hours),
        written=written,
    )


def event(of: Touched, at: datetime, key: str = "") -> AlertEvent:
    """Give a trigger of an alert."""
    return AlertEvent.model_construct(
        cx_event_type="alert_triggered",
        cx_event_timestamp=f"{at.timestamp():.3f}",
        cx_event_metadata={"alertId": of.remote_id},
        cx_event_key=key,
    )


def _events(of: Touched, simulated: Simulated, chance: random.Random) -> list[AlertEvent]:
    """Make the events of every hour that anything is held against."""
    spans = of.spans
    assert spans is not None
    found = []
    for span in (spans.after, *joined((spans.right_before, *spans.base))):
        hours = (span.until - span.since) / timedelta(hours=1)
        middle = span.since + (span.until - span.since) / 2
        rate = simulated.rate * (simulated.factor if span.since >= RUN else 1)
        if simulated.daily:
            rate *= 1 + 0.9 * math.sin(2 * math.pi * middle.hour / 24)
        for _ in range(_poisson(rate * hours / simulated.burst, chance)):
            together = 1 if simulated.burst == 1 else 1 + _poisson(simulated.burst - 1, chance)
            at = span.since + timedelta(hours=chance.random() * hours * 0.999)
            found += [event(of, at)] * together
    return found


def _poisson(mean: float, chance: random.Random) -> int:
    """Draw a count: how many waiting times fit."""
    count, left = 0, mean
    while (left := left - chance.expovariate(1)) > 0:
        count += 1
    return count


def share(simulated: Simulated, verdict: str, runs: int, seed: int) -> float:
    """Give the share of runs in which a verdict is said of any alert."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    return sum(verdicts(simulated, chance)[verdict] > 0 for _ in range(runs)) / runs


CALM = (
    Simulated(rate=10),
    Simulated(rate=1),
    Simulated(rate=10, daily=True),
    Simulated(rate=10, alerts=10),
    Simulated(rate=2, hours=24),
)
DOUBLED = Simulated(rate=10, factor=2)
BURSTS = (Simulated(rate=10, burst=2), Simulated(rate=10, burst=5))


def lines(runs: int) -> Iterator[str]:
    """Say how often each verdict is said, a line each."""
    for one in (*CALM, DOUBLED, *BURSTS):
        said = (f"{name} {share(one, name, runs, 1):.4f}" for name in ("noisier", "quieter"))
        yield f"{one}: {', '.join(said)}\n"


if __name__ == "__main__":
    sys.stdout.writelines(lines(int(sys.argv[1])))
