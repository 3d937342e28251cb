"""`reconciler adopt`: write live edits into the manifests, and keep comments."""

from __future__ import annotations

import click

from reconciler.cli import options
from reconciler.cli.console import data, stdout_style
from reconciler.errors import UsageError
from reconciler.features.adopt.adopt_live import ToAdopt, wanted_refs
from reconciler.features.adopt.adopt_live import adopt as adopt_now
from reconciler.features.adopt.adoption import Side
from reconciler.features.adopt.adoption_formats import adopted_json, adopted_markdown, adopted_text
from reconciler.journal.store import LockTimeout
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import begin_session


@click.command
@click.argument("refs", nargs=-1, metavar="[REF]...")
@options.adopting
@options.selecting
@options.formats("text", "json", "markdown")
@click.option("--all", "every", is_flag=True, help="Adopt every resource that was edited live.")
@click.option("--dry-run", is_flag=True, help="Show what would be edited, and edit nothing.")
@click.option(
    "--ours", is_flag=True, help="Where both git and live changed a field, keep the value of git."
)
@click.option(
    "--theirs",
    is_flag=True,
    help="Where both git and live changed a field, take the value of live.",
)
@options.lock_timeout
def adopt(  # noqa: PLR0913 - one parameter a flag
    *,
    refs: tuple[str, ...],
    options: Options,
    form: str,
    every: bool,
    dry_run: bool,
    ours: bool,
    theirs: bool,
    patience: LockTimeout,
) -> int:
    """Write what was edited live into the manifests, each REF a Kind/name.

    Only the lines that change are written: comments, order, quotes and
    expressions stay. Where git changed the same field since the last apply, no
    manifest of that resource is touched, and the command ends with 3.
    """
    every = every or (bool(options.selection) and not refs)
    if bool(refs) == every:
        raise UsageError("name what to adopt, as Kind/name, or give --all")
    if ours and theirs:
        raise UsageError("--ours and --theirs exclude each other")
    side = Side.OURS if ours else Side.THEIRS if theirs else None
    session = begin_session(options, may_lack=True)
    wanted = ToAdopt(refs=wanted_refs(session, refs), every=every, side=side, only_shown=dry_run)
    made = adopt_now(session, options, wanted, patience)
    match form:
        case "json":
            text = adopted_json(made)
        case "markdown":
            text = adopted_markdown(made)
        case _:
            text = adopted_text(made, stdout_style(verbose=options.verbose))
    return data(text, ending=made.exit_code)
