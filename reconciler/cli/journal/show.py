"""Content of a journal: its entries, and the runs that wrote them."""

from __future__ import annotations

import click

from reconciler.cli import options
from reconciler.cli.console import data, json_data, stdout_style, words
from reconciler.cli.journal.open_journal import opened_journal, ref_of
from reconciler.errors import UsageError
from reconciler.journal.entries import Entry
from reconciler.journal.runs import runs_of
from reconciler.model import Ref
from reconciler.operations.open_project import Options
from reconciler.report.journal_formats import (
    entries_document,
    history_document,
    history_text,
    journal_text,
)


@click.command
@click.argument("ref", required=False)
@click.option("--ref", "flag", metavar="REF", help="Only the entries of this Kind/name.")
@options.remembering
@options.formats("text", "json")
def show(*, ref: str | None, flag: str | None, options: Options, form: str) -> int:
    """Print the entries, oldest first: all, or those of one Kind/name."""
    if ref is not None and flag is not None:
        raise UsageError("give the Kind/name once")
    wanted = ref_of(ref or flag) if ref or flag else None
    journal = opened_journal(options)
    entries = [entry for entry in journal.entries if wanted is None or _is_about(entry, wanted)]
    if form == "json":
        json_data(entries_document(entries))
    else:
        data(journal_text(entries, journal.history, stdout_style(verbose=options.verbose)))
    if journal.torn and not options.quiet:
        words("the last line is torn, as by a crash; the next write removes it")
    return 0


def _is_about(entry: Entry, wanted: Ref) -> bool:
    return wanted in (getattr(entry, "ref", None), getattr(entry, "was", None))


@click.command
@click.argument("ref", required=False)
@options.remembering
@options.formats("text", "json")
def history(*, ref: str | None, options: Options, form: str) -> int:
    """Print the runs, oldest first: who applied what, when, from which commit.

    With a Kind/name, only the runs that were about it, and what became of it.
    """
    wanted = ref_of(ref) if ref is not None else None
    runs = runs_of(opened_journal(options).entries)
    if wanted is not None:
        runs = [run for run in runs if wanted in run.outcomes]
    if form == "json":
        json_data(history_document(runs, wanted))
    else:
        data(history_text(runs, wanted, stdout_style(verbose=options.verbose)))
    return 0
