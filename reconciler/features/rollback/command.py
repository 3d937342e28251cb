"""`reconciler rollback`: restore the state before a run, with a plan like any other."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from reconciler.cli import options
from reconciler.cli.apply import check_asked, consenting
from reconciler.cli.console import (
    data,
    describe_plan,
    report_applied,
    stdout_style,
    words,
)
from reconciler.errors import UsageError, worst
from reconciler.features.rollback.manifests_before import (
    write_manifests,
    written_json,
    written_text,
)
from reconciler.features.rollback.roll_back import before_of
from reconciler.journal.journal import Journal
from reconciler.journal.store import LockTimeout
from reconciler.model import Plan, Ref, RollsBack, Written
from reconciler.operations.added_by_features import wait_before_lock
from reconciler.operations.apply_plan import Consent, plan_and_apply
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session, open_target
from reconciler.operations.plan_and_drift import (
    check_writable,
    failures_of,
    plan_now,
    write_private,
)
from reconciler.report.plan.document import plan_json
from reconciler.report.reasons import after_rollback
from reconciler.report.safe import safe
from reconciler.runtime.advice import from_journal

_OF_PLANS = ("text", "json", "markdown", "html")
_OF_APPLIES = ("text", "json", "junit")
_OF_EDITS = ("text", "json")


def _refs(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[Ref, ...]:
    found = [(text, Ref.parse(text)) for text in given]
    for text, ref in found:
        if ref is None:
            raise click.BadParameter(f"`{text}` is not of the form Kind/name")
    return tuple(ref for _, ref in found if ref is not None)


@click.command
@click.argument("run")
@click.argument("refs", nargs=-1, metavar="[REF]...", callback=_refs)
@options.remembering
@options.formats(*dict.fromkeys((*_OF_APPLIES, *_OF_PLANS)))
@click.option("--dry-run", is_flag=True, help="Show the plan, and write nothing.")
@click.option(
    "--write",
    is_flag=True,
    help="Edit the manifests so that they declare the state before RUN; the "
    "service and the journal are not written.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --dry-run: also write the plan to FILE, so that `rollback --plan "
    "FILE` applies just that plan.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Restore what was live right before the run, instead of what was declared.",
)
@consenting
def rollback(  # noqa: PLR0913 - one parameter a flag
    *,
    run: str,
    refs: tuple[Ref, ...],
    options: Options,
    form: str,
    dry_run: bool,
    write: bool,
    out: Path | None,
    live: bool,
    consent: Consent,
    patience: LockTimeout,
) -> int:
    """Restore what was declared before RUN: all that it wrote, or each REF, a Kind/name.

    RUN is the id of a run as `journal history` shows it, as much of it as identifies it, or
    `last` for the last run that wrote something. Manifests stay as they are: the next apply of
    them brings the change back, unless they say the same by then. With --write the manifests are
    edited so that they do, and nothing else is done. A rollback is a run as well, and can be
    rolled back.
    """
    if write and out is not None:
        raise UsageError("--out is for a plan, and --write makes none")
    if write:
        if form not in _OF_EDITS:
            raise UsageError(f"--format {form} is for a rollback without --write")
        edits = write_manifests(open_target(options), run, refs, live=live, only_shown=dry_run)
        style = stdout_style(verbose=options.verbose)
        text = written_json(edits) if form == "json" else written_text(edits, style)
        return data(text, ending=edits.exit_code)
    if form not in (_OF_PLANS if dry_run else _OF_APPLIES):
        with_or_without = "without" if dry_run else "with"
        raise UsageError(f"--format {form} is for a rollback {with_or_without} --dry-run")
    if out is not None and not dry_run:
        raise UsageError("--out needs --dry-run, which plans and applies nothing")
    prepare = partial(before_of, name=run, refs=refs, live=live)
    if dry_run:
        return _show(open_target(options), prepare, options, form, out)
    check_asked(consent)
    session = replace(open_target(options), prepare=prepare)
    session.journal(needed=True)
    wait_before_lock(session, consent.waits)
    made, applied = plan_and_apply(session, lambda _: consent, "rollback", patience=patience)
    try:
        typed = [run, *map(str, refs), *(["--live"] if live else [])]
        line = from_journal("rollback", shlex.join(typed))
        return report_applied(applied, made, form, verbose=options.verbose, command=line)
    finally:
        outcomes = applied.outcomes if applied is not None else ()
        if not options.quiet and any(isinstance(outcome, Written) for outcome in outcomes):
            _advise(made)


def _show(
    session: Session,
    prepare: Callable[[Session, Journal], Session],
    options: Options,
    form: str,
    out: Path | None,
) -> int:
    if out is not None:
        check_writable(out)
    journal = session.journal(needed=True)
    made = asyncio.run(plan_now(prepare(session, journal), journal.history))
    if out is not None:
        write_private(out, plan_json(made))
    code = worst(failures_of(made))
    if form == "text" and not options.quiet:
        _advise(made)
    return data(describe_plan(made, form, session.project, verbose=options.verbose), ending=code)


def _advise(made: Plan) -> None:
    """Print how to change the manifests, so that the next apply does not undo the rollback."""
    for remark in made.remarks:
        if isinstance(remark, RollsBack):
            words("\n".join(map(safe, after_rollback(remark))))
