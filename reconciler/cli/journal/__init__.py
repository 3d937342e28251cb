"""`reconciler journal`: show, verify, move and repair the record of writes."""

from __future__ import annotations

import click

from reconciler.cli.journal.maintenance import compact, history, init, move, show, unlock, verify
from reconciler.cli.journal.naming import forget, rename, settle, write_ids
from reconciler.cli.root import Group


@click.group(cls=Group)
def journal() -> None:
    """Show, verify and settle what was written."""


for command in (
    *(init, show, history, verify, compact, unlock),
    *(settle, rename, forget, move, write_ids),
):
    journal.add_command(command)
