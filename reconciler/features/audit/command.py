"""`reconciler audit`: compare declared resources with recorded events."""

from __future__ import annotations

import click

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style, words
from reconciler.errors import ExitCode
from reconciler.features.audit.audit_rule import Audit
from reconciler.operations.open_project import Options, made_now
from reconciler.operations.open_session import Session, begin_session
from reconciler.report.table import Style
from reconciler.syntax.diagnostic import Severity
from reconciler.syntax.files import folder_in_repository

DAYS = 90
MOST_DAYS = 365


@click.command
@options.reading
@options.selecting
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=DAYS,
    show_default=True,
    help="How many days to look back.",
)
@options.formats("text", "json", "sarif", "markdown", "html")
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    help="Exit with 2 if a finding has this severity or a higher one.",
)
def audit(*, options: Options, days: int, form: str, fail_on: str | None) -> int:
    """Compare what is declared with what happened: hygiene of alerts, SLOs and policies.

    Each finding has a code, its place and its evidence. What the service does not
    show is named, and what rests on it is not judged. Nothing is written.
    """
    from reconciler.features.audit.audit_workspace import audit_now  # noqa: PLC0415 - heavy

    session = begin_session(options, may_lack=True)
    made = audit_now(session, options, days)
    shown = _shown(made, form, session, stdout_style(verbose=options.verbose))
    if options.verbose:
        from reconciler.features.audit.audit_formats import describe_requests  # noqa: PLC0415 - heavy

        words(describe_requests(made))
    counts_all = fail_on == Severity.WARNING.value
    failing = [complaint for complaint in made.complaints if complaint.is_error or counts_all]
    failed = fail_on is not None and failing
    return data(shown, ending=ExitCode.DIFFERENT if failed else ExitCode.DONE)


def _shown(made: Audit, form: str, session: Session, style: Style) -> str:
    """Return an audit in a format by its name."""
    from reconciler.features.audit import audit_formats  # noqa: PLC0415 - heavy

    match form:
        case "json":
            return audit_formats.audit_json(made, session.name, session.target.name)
        case "sarif":
            folder = folder_in_repository(session.project.root)
            return audit_formats.audit_sarif(made, folder, session.name)
        case "markdown":
            return audit_formats.audit_markdown(made, session.name)
        case "html":
            from reconciler.features.audit.audit_page import audit_html  # noqa: PLC0415 - for this format only

            summary = audit_formats.audit_summary(made)
            where = session.name, session.target.name
            return audit_html(made, *where, summary, made_now(session.project))
        case _:
            return audit_formats.audit_text(made, style)
