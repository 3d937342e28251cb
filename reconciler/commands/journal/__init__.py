"""`reconciler journal`: what was written, whether it can be trusted, what is unsettled."""

from __future__ import annotations

import click

from reconciler.commands.journal.keeping import compact, unlock, verify
from reconciler.commands.journal.settling import settle, write_ids
from reconciler.commands.journal.showing import history, show


@click.group(no_args_is_help=False)
def journal() -> None:
    """Show, verify and settle what was written."""


for command in (show, history, verify, compact, unlock, settle, write_ids):
    journal.add_command(command)
