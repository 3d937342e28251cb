"""`reconciler apply`: bring the service to the state that the manifests declare."""

from __future__ import annotations

from dataclasses import replace

import click

from reconciler.applying.run import Applied
from reconciler.cli import options
from reconciler.cli.consent_options import check_asked, consenting
from reconciler.console import EventConsole, applied_words, data, tell_applied, words
from reconciler.guards.undone_rollbacks import UnderReview
from reconciler.journal.store import LockTimeout
from reconciler.operations.apply_plan import Consent, plan_and_apply
from reconciler.operations.freeze_wait import wait_for_thaw
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import open_bench
from reconciler.operations.plan_and_drift import as_reviewed, part_asked_for
from reconciler.report.plan.document import listed_in
from reconciler.report.unplanned import not_applied


@click.command
@options.reading
@options.selecting
@options.formats("text", "json", "jsonl", "junit")
@consenting
@click.option(
    "--new-journal",
    is_flag=True,
    help="Begin a journal where there is none; where there is one, this changes nothing.",
)
def apply(
    *, asked: Options, form: str, consent: Consent, patience: LockTimeout, thaw: LockTimeout
) -> int:
    """Plan again, ask, and write. The service is read again just before each write.

    Without a terminal, one of --yes, --expect and --plan is needed.
    """
    check_asked(consent)
    if form == "jsonl":
        asked = replace(asked, voice=EventConsole())
    consent = replace(consent, part=part_asked_for(asked, consent.reviewed))
    bench = open_bench(as_reviewed(asked, consent.reviewed))
    if (reviewed := consent.reviewed) is not None:
        bench = replace(bench, review=UnderReview(listed=lambda _: listed_in(reviewed)))
    if thaw.seconds:
        wait_for_thaw(bench, thaw)
    made, applied = plan_and_apply(
        bench,
        lambda _: consent,
        "apply",
        verbose=asked.verbose,
        quiet=asked.quiet,
        patience=patience,
    )
    if applied is None:
        words(not_applied(made.digest), laid_out=True)
        return data(applied_words(Applied(), made, form, verbose=False) if form != "text" else "")
    return tell_applied(applied, made, form, verbose=asked.verbose)
