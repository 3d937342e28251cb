"""`reconciler apply`: make the service hold what the manifests declare."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import click

from reconciler.applying.run import Applied, Run
from reconciler.commands import options
from reconciler.commands.consent import Consent, ask, check
from reconciler.commands.interrupts import interrupts
from reconciler.commands.journal_opening import applied_commit
from reconciler.commands.opening import Asked, Bench, is_terminal, open_api, open_bench
from reconciler.commands.output import data, stderr_style, stdout_style, words
from reconciler.commands.plan import plan_now
from reconciler.commands.waiting import lock_timeout
from reconciler.errors import InvalidInput, UsageError, worst
from reconciler.journal.entries import Override, RunEntry
from reconciler.journal.journal import Journal
from reconciler.journal.store import Patience
from reconciler.report.applied import applied_json, applied_junit, applied_text, outcome_line
from reconciler.report.plan.document import PlanDocument, read_plan
from reconciler.report.reasons import not_applied, words_of
from reconciler.report.safe import safe
from reconciler.report.words import lost_json, plural
from reconciler.resource import (
    Action,
    InDoubt,
    LostUnseen,
    Outcome,
    Plan,
    Refused,
    Skipped,
    Unconfirmed,
)

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
LARGEST_PLAN_FILE = 256 << 20
MOST_SKIPPED = 20


@click.command
@options.reading
@options.formats("text", "json", "junit")
@click.option("--expect", metavar="DIGEST", help="Apply only a plan with this digest.")
@click.option(
    "--plan",
    "plan_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Apply only the plan that `plan --out FILE` wrote.",
)
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@click.option("--allow-destroy", is_flag=True, help="Allow what cannot be brought back.")
@click.option(
    "--override-guard", "override", metavar="REASON", help="Apply more than the guard allows."
)
@click.option(
    "--new-journal",
    is_flag=True,
    help="Begin a journal where there is none; where there is one, this changes nothing.",
)
@lock_timeout
def apply(  # noqa: PLR0913 - one parameter a flag
    *,
    asked: Asked,
    form: str,
    expect: str | None,
    plan_file: Path | None,
    yes: bool,
    allow_destroy: bool,
    override: str | None,
    new_journal: bool,
    patience: Patience,
) -> int:
    """Plan again, ask, and write. The service is read again just before each write.

    Without a terminal, one of --yes, --expect and --plan is needed.
    """
    if expect is not None and plan_file is not None:
        raise UsageError("--expect and --plan exclude each other")
    if override is not None and not override.strip():
        raise UsageError("--override-guard needs a reason, which is kept in the journal")
    if expect is not None and not _DIGEST.fullmatch(expect):
        raise UsageError("--expect takes the digest of a plan, as sha256:…: 64 digits of 0-9, a-f")
    reviewed = read_plan_file(plan_file) if plan_file is not None else None
    consent = Consent(expect, reviewed, yes, allow_destroy, override, new_journal)
    if not consent.given and not is_terminal():
        raise UsageError("nobody can be asked here: give --yes, --expect DIGEST or --plan FILE")
    made, applied = plan_and_apply(
        open_bench(asked),
        lambda _: consent,
        "apply",
        verbose=asked.verbose,
        quiet=asked.quiet,
        patience=patience,
    )
    if applied is None:
        words(not_applied(made.digest), laid_out=True)
        return data(_told(Applied(), made, form, verbose=False) if form != "text" else "")
    return tell(applied, made, form, verbose=asked.verbose)


def plan_and_apply(
    bench: Bench,
    agree: Callable[[Plan], Consent],
    command: str,
    *,
    verbose: bool,
    quiet: bool,
    begin: Callable[[], None] = lambda: None,
    patience: Patience | None = None,
) -> tuple[Plan, Applied | None]:
    """Plan, check what was agreed to, ask where nothing was, and apply, all under the lock.

    Where a person who was asked says no, nothing was applied, which is None.
    `agree` is shown the plan before that, and `begin` is called when nothing
    stands in the way any more. `command` is what the journal calls it. Raises
    Locked, and what planning, `agree` and `check` raise; nothing was applied then.
    """
    journal, name = bench.journal(), str(uuid4())
    with journal.locked(name, patience):
        try:
            made = asyncio.run(plan_now(bench, journal.history))
            consent = agree(made)
            check(made, consent, verbose=verbose)
            does_work = made.has_changes or made.is_noted
            if not consent.given and does_work and not ask(made, verbose=verbose):
                return made, None
        except KeyboardInterrupt:
            words("\nnothing was applied")
            raise
        begin()
        journal.begin(_run_entry(bench, journal, name, made, command))
        if consent.override is not None:
            journal.append([Override(journal.now(), consent.override.strip())])
        return made, asyncio.run(_apply_now(bench, journal, name, made, quiet=quiet))


def _run_entry(bench: Bench, journal: Journal, name: str, made: Plan, command: str) -> RunEntry:
    commit = applied_commit(bench.project)
    return RunEntry(name, journal.now(), journal.actor, commit, made.digest, command)


def read_plan_file(file: Path) -> PlanDocument:
    """Read what `plan --out` wrote.

    Raises InvalidInput for anything else, and UsageError for the plan of a part.
    """
    read = _read_plan_file(file)
    if read.not_examined:
        raise UsageError(
            f"{file} is the plan of a part: {plural(read.not_examined, 'resource')} not examined. "
            "Make one without --changed-since to apply it"
        )
    return read


def _read_plan_file(file: Path) -> PlanDocument:
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_PLAN_FILE + 1)
        if len(content) > LARGEST_PLAN_FILE:
            raise InvalidInput(f"{file} is larger than {LARGEST_PLAN_FILE >> 20} MB")
        return read_plan(content.decode("utf-8"), str(file))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not a plan: it is not UTF-8") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error


async def _apply_now(
    bench: Bench, journal: Journal, name: str, made: Plan, *, quiet: bool
) -> Applied:
    for change in made.changes:
        if change.lost:
            words(
                f"{change.ref} destroys, kept here to restore by hand: {lost_json(change)}",
                laid_out=True,
            )
            for reason in change.reasons:
                if isinstance(reason, LostUnseen):
                    words(f"{change.ref}: {safe(words_of(reason, change.ref))}")
    progress = _Progress(made, quiet=quiet)
    with interrupts(words) as taken:
        async with open_api(bench) as api:
            run = Run(api, journal, name, progress.tell, taken.stopping)
            taken.work = asyncio.ensure_future(run.apply(made))
            with suppress(asyncio.CancelledError):
                await taken.work
            if taken.work.cancelled():
                run.leave(made)
    run.applied.signal_code = taken.code
    return run.applied


class _Progress:
    """Says what became of each change, as soon as that is known."""

    def __init__(self, made: Plan, *, quiet: bool) -> None:
        self.quiet = quiet
        self.total = sum(change.action is not Action.KEEP for change in made.changes)
        self.done = self.skipped = 0
        self.style = stderr_style(verbose=False)

    def tell(self, outcome: Outcome) -> None:
        """Say one outcome; the closing words name what was skipped, so of many only the first.

        Why a write was refused, or nobody knows of it, stands nowhere else, and is always said.
        """
        self.done += 1
        self.skipped += isinstance(outcome, Skipped)
        needed = isinstance(outcome, Refused | Unconfirmed | InDoubt)
        if self.quiet and not needed:
            return
        if isinstance(outcome, Skipped) and self.skipped > MOST_SKIPPED:
            return
        count = f"[{self.done:>{len(str(self.total))}}/{self.total}]"
        words(f"{count}{outcome_line(outcome, self.style)[1:]}")


def tell(applied: Applied, made: Plan, form: str, *, verbose: bool) -> int:
    """Print what an apply did, and give its exit code."""
    code = worst(applied.exit_codes)
    try:
        return data(_told(applied, made, form, verbose=verbose), ending=code)
    finally:
        if applied.stopped_by is not None:
            words(f"error: {safe(str(applied.stopped_by))}")


def _told(applied: Applied, made: Plan, form: str, *, verbose: bool) -> str:
    match form:
        case "json":
            return applied_json(applied.outcomes, made.digest)
        case "junit":
            return applied_junit(made, applied.outcomes)
        case _:
            style = stdout_style(verbose=verbose)
            return applied_text(applied.outcomes, applied.rewritten, style, applied.overtaken)
