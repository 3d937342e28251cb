"""Look whether the alerts of a run are noisier since: wait, ask once, remember, plan the way back.

Nothing is written but the journal, and that only where it is asked for.
"""

from __future__ import annotations

import asyncio
import shlex
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from reconciler.advice import from_journal
from reconciler.errors import UsageError
from reconciler.insights.alert_noise import alerts_of_run, watch
from reconciler.journal.before import is_compacted
from reconciler.journal.entries import WatchedEntry
from reconciler.journal.journal import Journal
from reconciler.journal.line_fields import SeenVerdict
from reconciler.journal.runs import RunSummary
from reconciler.journal.store import LockTimeout
from reconciler.model import Plan
from reconciler.model.noise import NoiseWatch
from reconciler.operations.open_session import Session, open_api
from reconciler.operations.plan_and_drift import plan_now
from reconciler.operations.roll_back import ToRollBack, before_of, chosen_run
from reconciler.progress import Passing
from reconciler.records.record import moment, stamp
from reconciler.report.safe import safe

EVERY = 1.0
"""Seconds between two looks at the clock, which may be set, or stand still while a lid is shut."""


def now() -> datetime:
    """Give the time of day, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToWatch:
    """Which run is looked at, by its id, the beginning of it, or `last`.

    With `wait` the look is not before so much time has passed since the run; with
    `remember` the verdicts are kept in the journal.
    """

    run: str
    wait: timedelta | None = None
    remember: bool = False


def watch_now(
    bench: Session,
    wanted: ToWatch,
    patience: LockTimeout | None = None,
) -> NoiseWatch:
    """Look once, over a door of its own.

    Raises UsageError where there is no such run, it is not the only one, or the journal does
    not know any more what it wrote; JournalError or Locked where it is to be remembered.
    """
    run = _run(bench.journal(), wanted.run)
    if wanted.wait is not None:
        _wait(bench, _time_of(run) + wanted.wait)
    # Another run may have come meanwhile.
    journal = bench.journal() if wanted.wait is None else _read_again(bench)
    found = asyncio.run(_look(bench, journal, _run(journal, run.run), now()))
    if wanted.remember:
        with journal.locked(str(uuid4()), patience):
            journal.append([_remembered(found, journal.now())])
    return found


def _read_again(bench: Session) -> Journal:
    journal = bench.journal()
    journal.load()
    return journal


def _run(journal: Journal, name: str) -> RunSummary:
    run = chosen_run(journal, name)
    if is_compacted(journal.entries, run):
        raise UsageError(
            f"the journal was compacted after the run {run.run}, and no longer says what it wrote"
        )
    return run


def _time_of(run: RunSummary) -> datetime:
    found = moment(run.at)
    if found is None:
        raise UsageError(f"the journal does not tell when the run {run.run} was: `{run.at}`")
    return found


def _wait(bench: Session, due: datetime) -> None:
    left = (due - now()).total_seconds()
    if left <= 0:
        return
    bench.voice.say(f"waiting until {safe(stamp(due))}")
    with bench.waits.on(Passing(bench.waits.clock() + left)):
        while (left := (due - now()).total_seconds()) > 0:
            time.sleep(min(left, EVERY))


async def _look(bench: Session, journal: Journal, run: RunSummary, until: datetime) -> NoiseWatch:
    alerts = alerts_of_run(journal.entries, journal.history, run, until)
    async with open_api(bench) as api:
        return await watch(api, run, alerts, until)


def _remembered(found: NoiseWatch, at: str) -> WatchedEntry:
    verdicts = tuple(SeenVerdict(ref=alert.ref, verdict=alert.verdict) for alert in found.alerts)
    return WatchedEntry(at=at, run=found.run, until=found.until, found=verdicts)


def back_words(wanted: ToRollBack) -> str:
    """Name the command that goes the way back."""
    line = from_journal("rollback", shlex.join([wanted.run, *map(str, wanted.refs)]))
    return f"the way back is planned, and nothing was applied: `{line}`"


def way_back(bench: Session, found: NoiseWatch) -> tuple[ToRollBack, Plan] | None:
    """Plan what takes back the alerts that are noisier, where the environment asks for that.

    None where it does not, or none is noisier. Nothing is applied.
    """
    if bench.environment.watch.on_noisier != "rollback" or not found.noisier:
        return None
    wanted = ToRollBack(run=found.run, refs=tuple(alert.ref for alert in found.noisier))
    journal = bench.journal()
    back = before_of(replace(bench, whole=False), journal, wanted)
    return wanted, asyncio.run(plan_now(back, journal.history))
