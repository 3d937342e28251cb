"""`reconciler apply`: make the service hold what the manifests declare."""

from __future__ import annotations

import re
from pathlib import Path

import click

from reconciler.applying.run import Applied
from reconciler.commands import options
from reconciler.commands.waiting import lock_timeout
from reconciler.console import applied_words, data, is_terminal, tell_applied, words
from reconciler.errors import UsageError
from reconciler.journal.store import Patience
from reconciler.report.reasons import not_applied
from reconciler.session.applying import Consent, plan_and_apply
from reconciler.session.opening import open_bench
from reconciler.session.planning import read_plan_file
from reconciler.session.projects import Asked

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


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
        return data(applied_words(Applied(), made, form, verbose=False) if form != "text" else "")
    return tell_applied(applied, made, form, verbose=asked.verbose)
