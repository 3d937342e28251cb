"""`reconciler watch`: check whether the alerts of a run are noisier since."""

from __future__ import annotations

from datetime import timedelta

import click

from reconciler.cli import options
from reconciler.cli.console import data, describe_plan, stdout_style, words
from reconciler.cli.root import SUBCOMMANDS
from reconciler.errors import ExitCode
from reconciler.features.watch.noise_formats import watched_json, watched_markdown, watched_text
from reconciler.features.watch.watch_alerts import (
    ToWatch,
    describe_way_back,
    read_duration,
    watch_now,
    way_back,
)
from reconciler.journal.store import LockTimeout
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import open_target


def _duration(_: click.Context, __: click.Parameter, text: str | None) -> timedelta | None:
    found = read_duration(text) if text is not None else None
    if text is not None and found is None:
        raise click.BadParameter(f"`{text}` is not a duration up to 7d, as 90m or 2h")
    return found


@click.command
@click.argument("run")
@options.remembering
@options.formats("text", "json", "markdown")
@click.option(
    "--for",
    "wait",
    metavar="DURATION",
    callback=_duration,
    help="Wait until this much time has passed since the run, as 2h; by default look now.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("noisier",)),
    help="Exit with 2 if an alert fires more often than before.",
)
@click.option(
    "--remember",
    is_flag=True,
    help="Write the result to the journal"
    + ", for `journal stats`" * ("journal stats" in SUBCOMMANDS)
    + ".",
)
@options.lock_timeout
def watch(
    *,
    run: str,
    options: Options,
    form: str,
    wait: timedelta | None,
    fail_on: str | None,
    remember: bool,
    patience: LockTimeout,
) -> int:
    """Show whether the alerts that RUN wrote fire more or less than before.

    RUN is the id of a run as `journal history` shows it, as much of it as identifies it, or
    `last`. What they fired since is compared with the same hours of the seven days before, as
    far as no other run wrote them then. Nothing is written, but for --remember.
    """
    session = open_target(options)
    found = watch_now(session, ToWatch(run=run, wait=wait, remember=remember), patience)
    code = ExitCode.DIFFERENT if fail_on and found.noisier else ExitCode.DONE
    match form:
        case "json":
            text = watched_json(found, session.name, session.target.name)
        case "markdown":
            text = watched_markdown(found, session.name)
        case _:
            text = watched_text(found, stdout_style(verbose=options.verbose))
    data(text, ending=code)
    if (made := way_back(session, found)) is not None:
        words(describe_plan(made, "text", session.project, verbose=options.verbose), laid_out=True)
        words(describe_way_back(found))
    return code
