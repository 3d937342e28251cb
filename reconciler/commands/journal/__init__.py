"""`reconciler journal`: what was written, whether it can be trusted, and where it is kept."""

from __future__ import annotations

import click

from reconciler.commands.journal.keeping import compact, init, unlock, verify
from reconciler.commands.journal.moving import move
from reconciler.commands.journal.naming import forget, rename, settle, write_ids
from reconciler.commands.journal.showing import history, show
from reconciler.commands.journal.telling import stats
from reconciler.commands.root import Group


@click.group(cls=Group)
def journal() -> None:
    """Show, verify and settle what was written."""


for command in (
    *(init, show, history, stats, verify, compact, unlock),
    *(settle, rename, forget, move, write_ids),
):
    journal.add_command(command)
