"""The beginning of a journal."""

from __future__ import annotations

import click

from reconciler.commands import options
from reconciler.commands.journal.opening import unread_journal
from reconciler.commands.waiting import lock_timeout
from reconciler.console import words
from reconciler.journal.journal import Journal
from reconciler.journal.store import Patience
from reconciler.report.safe import safe
from reconciler.report.words import plural
from reconciler.session.opening import Asked


@click.command
@options.remembering
@lock_timeout
def init(*, asked: Asked, patience: Patience) -> int:
    """Begin an empty journal, where this environment has none.

    So a person says that nothing was applied to the target before, or that what
    was applied is not to be remembered. Where there is a journal, it stays as it is.
    """
    journal = unread_journal(asked)
    journal.load()
    if journal.header is None:
        with journal.locked(patience=patience):
            if journal.header is None:
                return _begun(journal, asked)
    if not asked.quiet:
        there = f"there is a journal at {safe(journal.place)} already"
        words(f"{there}, of {plural(len(journal.entries), 'entry', 'entries')}: it stays as it is")
    return 0


def _begun(journal: Journal, asked: Asked) -> int:
    if journal.is_old_copy:
        words(
            f"warning: there was a journal at {safe(journal.place)}, and it is gone: if you can, "
            "bring it back in place of this new one"
        )
    journal.append([])
    if not asked.quiet:
        words(
            f"{safe(journal.place)} is the journal of `{journal.environment}` at {journal.target}"
        )
    return 0
