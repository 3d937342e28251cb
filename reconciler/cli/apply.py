"""`reconciler apply`: bring the service to the state that the manifests declare."""

from __future__ import annotations

from dataclasses import replace

import click

from reconciler.applying.run import Applied
from reconciler.cli import options
from reconciler.cli.consent_options import check_asked, consenting
from reconciler.cli.console import EventConsole, data, describe_applied, report_applied, words
from reconciler.journal.store import LockTimeout
from reconciler.operations.added_by_features import wait_before_lock
from reconciler.operations.apply_plan import Consent, plan_and_apply
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import begin_session
from reconciler.operations.plan_and_drift import as_reviewed, part_asked_for
from reconciler.planning.guards.consent import UnderReview
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
def apply(*, options: Options, form: str, consent: Consent, patience: LockTimeout) -> int:
    """Plan again, ask, and write. The service is read again just before each write.

    Without a terminal, one of --yes, --expect and --plan is needed.
    """
    check_asked(consent)
    if form == "jsonl":
        options = replace(options, reporter=EventConsole())
    consent = replace(consent, part=part_asked_for(options, consent.reviewed))
    session = begin_session(as_reviewed(options, consent.reviewed))
    if (reviewed := consent.reviewed) is not None:
        session = replace(session, review=UnderReview(listed=lambda _: listed_in(reviewed)))
    wait_before_lock(session, consent.waits)
    made, applied = plan_and_apply(
        session,
        lambda _: consent,
        "apply",
        verbose=options.verbose,
        quiet=options.quiet,
        patience=patience,
    )
    if applied is None:
        words(not_applied(made.digest), laid_out=True)
        return data(
            describe_applied(Applied(), made, form, verbose=False) if form != "text" else ""
        )
    return report_applied(applied, made, form, verbose=options.verbose)
