"""`reconciler drift`: find changes since the last apply."""

import click

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style
from reconciler.journal.store import LockTimeout
from reconciler.model import DriftReport
from reconciler.operations.open_project import Options, made_now
from reconciler.operations.open_session import Session, begin_session
from reconciler.operations.plan_and_drift import drift_now, exit_code_of
from reconciler.report.drift_formats import drift_json, drift_markdown, drift_text
from reconciler.report.table import Style
from reconciler.runtime.progress import Deed


@click.command
@options.reading
@options.selecting
@options.formats("text", "json", "markdown", "html")
@click.option(
    "--remember",
    is_flag=True,
    help="Write the drift to the journal, so that the next `drift` shows what is new.",
)
@options.lock_timeout
def drift(*, options: Options, form: str, remember: bool, patience: LockTimeout) -> int:
    """Compare live with what was last applied; exit with 2 where it differs.

    Edits of manifests that were not applied yet are no drift: `plan` shows those. What cannot be
    read is counted: alert definitions and saved views, unless `api: reads:` says how. Nothing is
    written, except with --remember. Exits with 8 where the journal is gone, or there is none and a
    declared resource has an id: then no drift can be seen.
    """
    session = begin_session(options, may_lack=True)
    look = drift_now(session, remember=remember, patience=patience)
    with options.waits.step(Deed.REPORTING):
        text = shown(look, form, session, stdout_style(verbose=options.verbose))
        return data(text, ending=exit_code_of(look))


def shown(found: DriftReport, form: str, session: Session, style: Style) -> str:
    """Return a drift report in a format by its name."""
    match form:
        case "json":
            return drift_json(found, session.name, session.target.name)
        case "markdown":
            return drift_markdown(found, session.name)
        case "html":
            from reconciler.report.html import drift_html  # noqa: PLC0415 - for this format only

            return drift_html(found, session.name, session.target.name, made_now(session.project))
        case _:
            return drift_text(found, style)
