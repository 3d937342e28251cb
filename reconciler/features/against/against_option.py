"""The option of `plan` for a revision instead of the service."""

from __future__ import annotations

import functools
from typing import Any, cast

import click

from reconciler.cli.options import Command
from reconciler.errors import UsageError


def against(command: Command) -> Command:
    """Add `--against`. Raises UsageError where `--changed-since` is given too."""

    @functools.wraps(command)
    def checked(*, against: str | None, since: str | None, **others: Any) -> Any:
        if against is not None and since is not None:
            raise UsageError(
                "--against compares everything with a revision, so --changed-since has nothing to "
                "leave out: give one of them"
            )
        return command(against=against, since=since, **others)

    option = click.option(
        "--against",
        metavar="REV",
        help="Compare with the manifests of the last commit in common with REV, as "
        "`origin/main`; no service is asked.",
    )
    return option(cast("Command", checked))
