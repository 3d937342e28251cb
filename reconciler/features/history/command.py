"""`reconciler journal stats`: how many applied changes were reverted, hot-fixed or noisier."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import click

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style, words
from reconciler.cli.journal_commands import opened_journal
from reconciler.errors import ReconcilerError
from reconciler.features.history.change_stats import TEAM, stats_json, stats_of, stats_text
from reconciler.model import Ref
from reconciler.operations.open_project import Options, made_now, now, open_project, today
from reconciler.operations.open_session import read_workspace
from reconciler.project import choose_environment
from reconciler.records.record import read_moment
from reconciler.report.safe import safe
from reconciler.workspace.expression_scope import Scope


def _since(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return read_moment(text.strip(), "hdw", now())
    except (ValueError, OverflowError):
        message = f"`{text}` is neither a duration, as 90d or 12w, nor an ISO 8601 date"
        raise click.BadParameter(message) from None


@click.command
@options.remembering
@options.formats("text", "json", "html")
@click.option(
    "--since",
    metavar="DURATION|DATE",
    callback=_since,
    help="Count only runs since then: a duration as 90d or 12w, or an ISO 8601 "
    "date; by default all runs.",
)
def stats(*, options: Options, form: str, since: datetime | None) -> int:
    """Count what was applied, and how much of it was reverted, hot-fixed or noisier within a day.

    By the label `team` of the manifests as they are now, else by what the journal remembers.
    Noisier is what `watch --remember` has found.
    """
    journal = opened_journal(options)
    found = stats_of(journal.entries, _teams(options), now(), since)
    match form:
        case "json":
            return data(stats_json(found, journal.environment))
        case "html":
            from reconciler.features.history.stats_page import stats_html  # noqa: PLC0415 - this format only

            made = made_now(open_project(options))
            return data(stats_html(found, journal.environment, journal.target, made))
        case _:
            return data(stats_text(found, stdout_style(verbose=options.verbose)))


def _teams(options: Options) -> Mapping[Ref, str]:
    """Return the teams of the manifests; none, with a message, if they cannot be read."""
    try:
        project = open_project(options)
        name, environment = choose_environment(project, options.environment)
        scope = Scope(name, environment.variables, today=today())
        manifests = read_workspace(options, project, scope).manifests
    except ReconcilerError as error:
        words(f"teams are those that the journal remembers: {safe(str(error).splitlines()[0])}")
        return {}
    return {
        manifest.ref: manifest.labels[TEAM] for manifest in manifests if TEAM in manifest.labels
    }
