"""`reconciler apply`: make the service hold what the manifests declare."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import click

from reconciler.applying.run import Applied, Run
from reconciler.commands import options
from reconciler.commands.opening import Asked, Bench, is_terminal, open_api, open_bench
from reconciler.commands.output import data, stderr_style, stdout_style, words
from reconciler.commands.plan import plan_now
from reconciler.errors import GuardRefused, InvalidInput, Stale, Unsettled, UsageError, worst
from reconciler.guards import objections
from reconciler.journal.entries import Override
from reconciler.journal.file_store import FileJournal
from reconciler.report.applied import applied_json, applied_text, outcome_line
from reconciler.report.plan_document import PlanDocument, read_plan
from reconciler.report.plan_text import plan_text
from reconciler.report.review import changed_since
from reconciler.report.safe import safe
from reconciler.report.words import lost_json, summary
from reconciler.resource import Action, Outcome, Plan

LARGEST_PLAN_FILE = 256 << 20


@dataclass(frozen=True, slots=True)
class Consent:
    """What the flags agree to beforehand."""

    expect: str | None
    reviewed: PlanDocument | None
    yes: bool
    allow_destroy: bool
    override: str | None

    @property
    def given(self) -> bool:
        """Whether nobody needs to be asked."""
        return self.yes or self.expect is not None or self.reviewed is not None


@click.command
@options.reading
@options.formats("text", "json")
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
def apply(  # noqa: PLR0913 - one parameter a flag
    *,
    paths: tuple[Path, ...],
    environment: str | None,
    project: Path | None,
    verbose: bool,
    quiet: bool,
    form: str,
    expect: str | None,
    plan_file: Path | None,
    yes: bool,
    allow_destroy: bool,
    override: str | None,
) -> int:
    """Plan again, ask, and write. The service is read again just before each write.

    Without a terminal, one of --yes, --expect and --plan is needed.
    """
    if expect is not None and plan_file is not None:
        raise UsageError("--expect and --plan exclude each other")
    if override is not None and not override.strip():
        raise UsageError("--override-guard needs a reason, which is kept in the journal")
    reviewed = _read_plan_file(plan_file) if plan_file is not None else None
    consent = Consent(expect, reviewed, yes, allow_destroy, override)
    if not consent.given and not is_terminal():
        raise UsageError("nobody can be asked here: give --yes, --expect DIGEST or --plan FILE")
    bench = open_bench(Asked(paths, environment, project, verbose, quiet))
    journal = bench.journal()
    with journal.locked():
        made = asyncio.run(plan_now(bench, journal.history))
        _check(made, bench, consent, verbose=verbose)
        if not consent.given and made.has_changes:
            _ask(made, verbose=verbose)
        if override is not None:
            journal.append([Override(now_text(journal), override.strip())])
        applied = asyncio.run(_apply_now(bench, journal, made, quiet=quiet))
    return _tell(applied, made, form, verbose=verbose)


def now_text(journal: FileJournal) -> str:
    """Give the time as the journal writes it."""
    return journal.now()


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


def _check(made: Plan, bench: Bench, consent: Consent, *, verbose: bool) -> None:
    """Refuse before anything is written. Source: failure-cases.md, I7."""
    if made.unsettled:
        names = ", ".join(str(one.ref) for one in made.unsettled)
        raise Unsettled(
            f"the answer to the create of {names} was lost: look for it, then run "
            "`reconciler journal settle REF --id ID` or `--never-happened`"
        )
    expected = consent.reviewed.digest if consent.reviewed is not None else consent.expect
    if expected is not None and expected != made.digest:
        raise Stale(_stale_words(made, expected, consent, verbose=verbose))
    guards = bench.environment.guards
    found = objections(
        made,
        guards,
        allow_destroy=consent.allow_destroy,
        override=consent.override is not None,
    )
    if found:
        lines = [f"{one.message}\n  to do it all the same: {one.way_out}" for one in found]
        raise GuardRefused("\n".join(lines))


def _stale_words(made: Plan, expected: str, consent: Consent, *, verbose: bool) -> str:
    lines = [f"the plan is no longer the reviewed one: expected {expected}, is {made.digest}"]
    if consent.reviewed is not None:
        lines.extend(f"  {line}" for line in changed_since(consent.reviewed, made))
    else:
        words(plan_text(made, stderr_style(verbose=verbose)))
        lines.append("  the plan as it is now stands above; review it, then apply its digest")
    return "\n".join(lines)


def _ask(made: Plan, *, verbose: bool) -> None:
    """Show the plan and wait for `yes`. Raises click.Abort for anything else."""
    style = stderr_style(verbose=verbose)
    words(plan_text(made, style))
    where = safe(f"{made.environment} ({made.target})")
    answer = click.prompt(
        f"Apply to {where}: {summary(made)}? Only `yes` is taken",
        default="no",
        show_default=False,
        err=True,
    )
    if answer.strip() != "yes":
        words("nothing was applied")
        raise click.Abort


async def _apply_now(bench: Bench, journal: FileJournal, made: Plan, *, quiet: bool) -> Applied:
    style = stderr_style(verbose=False)
    total = sum(change.action is not Action.KEEP for change in made.changes)
    done = 0

    def tell(outcome: Outcome) -> None:
        nonlocal done
        done += 1
        if not quiet:
            words(f"[{done:>{len(str(total))}}/{total}]{outcome_line(outcome, style)[1:]}")

    for change in made.changes:
        if change.lost:
            words(f"{change.ref} destroys, kept here to restore by hand: {lost_json(change)}")
    stopping = asyncio.Event()
    async with open_api(bench) as api:
        run = Run(api, journal, str(uuid4()), tell, stopping)
        work = asyncio.ensure_future(run.apply(made))
        caught = _stop_gently(stopping, work)
        with suppress(asyncio.CancelledError):
            await work
    if caught:
        run.applied.signal_code = caught[0]
    return run.applied


def _stop_gently(stopping: asyncio.Event, work: asyncio.Future[Applied]) -> list[int]:
    """Let the first signal finish the request in flight and the second leave now (R6)."""
    caught: list[int] = []
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        if caught:
            work.cancel()
        else:
            words("stopping after the request in flight; again to leave now")
        caught.append(128 + number)
        stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    return caught


def _tell(applied: Applied, made: Plan, form: str, *, verbose: bool) -> int:
    if form == "json":
        data(applied_json(applied.outcomes, made.digest))
    else:
        style = stdout_style(verbose=verbose)
        data(applied_text(applied.outcomes, applied.rewritten, style))
    if applied.stopped_by is not None:
        words(f"error: {safe(str(applied.stopped_by))}")
    sys.stdout.flush()
    return worst(applied.exit_codes)
