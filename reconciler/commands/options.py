"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from reconciler.commands.opening import Asked

Command = TypeVar("Command", bound=Callable[..., Any])

paths = click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
environment = click.option(
    "-e", "--environment", metavar="NAME", help="The environment of reconciler.yaml to use."
)
project = click.option(
    "--project",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The project file; else reconciler.yaml is looked for upward to the git root.",
)
verbose = click.option("-v", "--verbose", is_flag=True, help="Show everything, nothing folded.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Print no words beside the data.")


def formats(*names: str) -> Callable[[Command], Command]:
    """Offer `--format` with the given names; any other is a usage error."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(names),
        default=names[0],
        show_default=True,
        help="How the result is printed.",
    )


def reading(command: Command) -> Command:
    """Give a command the arguments of everything that reads manifests."""
    for option in (quiet, verbose, project, environment, paths):
        command = option(command)
    return command


def connected(command: Command) -> Command:
    """Give a command the options of everything that only talks to the service, as `asked`."""

    @functools.wraps(command)
    def gathered(
        *, environment: str | None, project: Path | None, verbose: bool, quiet: bool, **own: Any
    ) -> Any:
        return command(asked=Asked((), environment, project, verbose, quiet), **own)

    for option in (quiet, verbose, project, environment):
        gathered = option(gathered)
    return cast("Command", gathered)
