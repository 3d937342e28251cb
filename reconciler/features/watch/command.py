"""`reconciler watch`: whether the alerts of a run are noisier since; wait, ask, remember, plan.

Only the journal is written, and only on request.
"""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final
from uuid import uuid4

import click

from reconciler.cli import options
from reconciler.cli.console import data, describe_plan, stdout_style, words
from reconciler.cli.root import SUBCOMMANDS
from reconciler.document import duration_of
from reconciler.errors import ExitCode, UsageError
from reconciler.features.watch.alert_noise import (
    NoiseWatch,
    alerts_of_run,
    look_for_noise,
    watched_json,
    watched_markdown,
    watched_text,
    with_watch,
)
from reconciler.features.watch.watch_settings import Watching
from reconciler.journal.entries import WatchedEntry
from reconciler.journal.history import RunSummary
from reconciler.journal.journal import Journal
from reconciler.journal.line_fields import SeenVerdict
from reconciler.journal.store import LockTimeout
from reconciler.journal.writes import LAST, chosen_run, is_compacted
from reconciler.model import Plan
from reconciler.operations.added_by_features import JobStep, StepReport
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import WAYS_BACK, Session, open_api, open_target
from reconciler.operations.plan_and_drift import plan_now
from reconciler.records.record import moment, stamp
from reconciler.report.plan.formats import plan_text
from reconciler.report.safe import safe
from reconciler.report.table import Style
from reconciler.runtime.advice import from_journal
from reconciler.runtime.progress import Passing

_LONGEST = timedelta(days=7)


def read_duration(text: str) -> timedelta | None:
    """Return the duration that a text such as 90m or 2h means, up to a week; else None."""
    found = duration_of(text.strip(), "smhd")
    return found if found is not None and found <= _LONGEST else None


EVERY = 1.0
"""Seconds between two looks at the clock. The clock may be set, or stop while a laptop sleeps."""


def now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


def watch_now(
    session: Session,
    name: str,
    patience: LockTimeout | None = None,
    *,
    wait: timedelta | None,
    remember: bool,
) -> NoiseWatch:
    """Check a run once, with an API client of its own.

    `name` is the run's id, its beginning, or `last`. With `wait`, the check waits until so much
    time has passed since the run. With `remember`, the verdicts are written to the journal.

    Raises UsageError where there is no such run, where several match, or where the journal no
    longer knows what it wrote. Raises JournalError or Locked where verdicts are to be remembered.
    """
    run = _run(session.journal(needed=True), name)
    if wait is not None:
        begun = moment(run.entry.at)
        if begun is None:
            raise UsageError(
                f"the journal does not say when the run {run.entry.run} was: `{run.entry.at}`"
            )
        _wait(session, begun + wait)
    journal = session.journal()
    if wait is not None:
        # Another run may have written to the journal meanwhile.
        journal.load()
    found = asyncio.run(_look(session, journal, _run(journal, run.entry.run), now()))
    if remember:
        with journal.locked(str(uuid4()), patience):
            verdicts = tuple(
                SeenVerdict(ref=alert.ref, verdict=alert.verdict) for alert in found.alerts
            )
            at = journal.now()
            journal.append([WatchedEntry(at=at, run=found.run, until=found.until, found=verdicts)])
    return found


def _run(journal: Journal, name: str) -> RunSummary:
    run = chosen_run(journal, name)
    if is_compacted(journal.entries, run):
        raise UsageError(
            f"the journal was compacted after the run {run.entry.run}, "
            "and no longer says what it wrote"
        )
    return run


def _wait(session: Session, due: datetime) -> None:
    left = (due - now()).total_seconds()
    if left <= 0:
        return
    session.reporter.say(f"waiting until {safe(stamp(due))}")
    with session.waits.on(Passing(session.waits.clock() + left)):
        while (left := (due - now()).total_seconds()) > 0:
            time.sleep(min(left, EVERY))


async def _look(session: Session, journal: Journal, run: RunSummary, until: datetime) -> NoiseWatch:
    alerts = alerts_of_run(journal.entries, journal.history, run, until)
    async with open_api(session) as api:
        return await look_for_noise(api, run, alerts, until)


def describe_way_back(found: NoiseWatch) -> str:
    """Return the line with the command that rolls the noisier alerts back."""
    refs = (str(alert.ref) for alert in found.noisier)
    line = from_journal("rollback", shlex.join([found.run, *refs]))
    return f"the way back is planned, and nothing was applied: `{line}`"


def way_back(session: Session, found: NoiseWatch) -> Plan | None:
    """Plan the rollback of the noisier alerts, where the environment asks for that.

    Return None where it does not, or where no alert is noisier. Nothing is applied.
    """
    wish = session.environment.setting("watch", Watching)
    if wish is None or wish.on_noisier not in WAYS_BACK or not found.noisier:
        return None
    refs = tuple(alert.ref for alert in found.noisier)
    journal = session.journal()
    back = WAYS_BACK.load(wish.on_noisier)(replace(session, whole=False), journal, found.run, refs)
    return asyncio.run(plan_now(back, journal.history))


def read_wait(text: str) -> timedelta | None:
    """Return the duration of the input `watch-for`; None for "". Raises UsageError."""
    found = read_duration(text)
    if text and found is None:
        raise UsageError(f"`watch-for` is a duration up to 7d, as 90m or 2h, not `{text}`")
    return found


def _run_step(
    session: Session, given: Mapping[str, str], *, remember: bool
) -> Iterator[StepReport]:
    found = watch_now(session, LAST, wait=read_wait(given["watch-for"]), remember=remember)
    yield _report(found, session.name)
    data(watched_text(found, stdout_style(verbose=False)))
    if (made := way_back(session, found)) is not None:
        remedy = describe_way_back(found)
        yield _report(found, session.name, remedy)
        data(plan_text(made, stdout_style(verbose=False)))
        words(remedy)


def _report(found: NoiseWatch, environment: str, back: str = "") -> StepReport:
    shown = (watched_markdown(found, environment), f"{back}\n" if back else "")
    return StepReport(
        differs=bool(found.noisier),
        summary="\n".join(shown),
        commit=found.commit,
        added_to=partial(with_watch, found=found, environment=environment, back=back),
    )


WATCH: Final = JobStep(run=_run_step, deed="noise is remembered")


def _duration(_: click.Context, __: click.Parameter, text: str | None) -> timedelta | None:
    found = read_duration(text) if text is not None else None
    if text is not None and found is None:
        raise click.BadParameter(f"`{text}` is not a duration up to 7d, as 90m or 2h")
    return found


FORMATS: Final[Mapping[str, Callable[[NoiseWatch, Session, Style], str]]] = {
    "text": lambda found, _, style: watched_text(found, style),
    "json": lambda found, session, _: watched_json(found, session.name, session.target.name),
    "markdown": lambda found, session, _: watched_markdown(found, session.name),
}


@click.command
@click.argument("run")
@options.remembering
@options.formats(*FORMATS)
@click.option(
    "--for",
    "wait",
    metavar="DURATION",
    callback=_duration,
    help="Wait until this much time has passed since the run, as 2h; by default look now.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("noisier",)),
    help="Exit with 2 if an alert fires more often than before.",
)
@click.option(
    "--remember",
    is_flag=True,
    help="Write the result to the journal"
    + ", for `journal stats`" * ("journal stats" in SUBCOMMANDS)
    + ".",
)
@options.lock_timeout
def watch(
    *,
    run: str,
    options: Options,
    form: str,
    wait: timedelta | None,
    fail_on: str | None,
    remember: bool,
    patience: LockTimeout,
) -> int:
    """Show whether the alerts that RUN wrote fire more or less than before.

    RUN is the id of a run as `journal history` shows it, or the beginning of only that id, or
    `last`. The events since the run are compared with the same hours of the seven days before. Days
    from before an earlier run that wrote the alert are left out. Nothing is written without
    --remember.
    """
    session = open_target(options)
    found = watch_now(session, run, patience, wait=wait, remember=remember)
    code = ExitCode.DIFFERENT if fail_on and found.noisier else ExitCode.DONE
    data(FORMATS[form](found, session, stdout_style(verbose=options.verbose)), ending=code)
    if (made := way_back(session, found)) is not None:
        words(describe_plan(made, "text", session.project, verbose=options.verbose), laid_out=True)
        words(describe_way_back(found))
    return code
