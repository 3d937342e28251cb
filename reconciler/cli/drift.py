"""`reconciler drift`: find changes since the last apply."""

from collections.abc import Callable, Mapping

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


def _page(look: DriftReport, session: Session) -> str:
    from reconciler.report.html import drift_html  # noqa: PLC0415 - for this format only

    return drift_html(look, session.name, session.target.name, made_now(session.project))


FORMATS: Mapping[str, Callable[[DriftReport, Session, Style], str]] = {
    "text": lambda look, _, style: drift_text(look, style),
    "json": lambda look, session, _: drift_json(look, session.name, session.target.name),
    "markdown": lambda look, session, _: drift_markdown(look, session.name),
    "html": lambda look, session, _: _page(look, session),
}


@click.command
@options.reading
@options.selecting
@options.formats(*FORMATS)
@click.option(
    "--remember",
    is_flag=True,
    help="Write the drift to the journal, so that the next `drift` shows what is new.",
)
@options.lock_timeout
def drift(*, options: Options, form: str, remember: bool, patience: LockTimeout) -> int:
    """Compare live with what was last applied; exit with 2 where it differs.

    Edits of manifests that were not applied yet are no drift: `plan` shows those.
    What cannot be read is counted: alert definitions and saved views, unless
    `api: reads:` says how. Nothing is written, but for --remember.
    Exits with 8 where the journal is gone, or there is none and a declared
    resource has an id: then no drift can be seen.
    """
    session = begin_session(options, may_lack=True)
    look = drift_now(session, remember=remember, patience=patience)
    with options.waits.step(Deed.REPORTING):
        text = FORMATS[form](look, session, stdout_style(verbose=options.verbose))
        return data(text, ending=exit_code_of(look))
