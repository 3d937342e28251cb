"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click

from reconciler.cli.console import Console
from reconciler.cli.lock_wait import waiting
from reconciler.operations.open_project import Options
from reconciler.project import Shard, read_shard
from reconciler.runtime.rows import Rows
from reconciler.workspace.selection import EVERYTHING, Selection, read_selection

Command = TypeVar("Command", bound=Callable[..., Any])

FEATURE_OPTIONS: Final = Rows[Callable[[Any], Any]]("options")
"""Decorators of commands, by the name of the command and the option, as `plan --option`."""

paths = click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
environment = click.option(
    "-e",
    "--environment",
    metavar="NAME",
    help="The environment of the project file to use, as `production`.",
)
project = click.option(
    "--project",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The project file; by default reconciler.yaml in this folder or one above"
    " it, up to the root of the git repository.",
)
place = click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Find the project file and its journal from this path, as `plan PATH` does.",
)
verbose = click.option(
    "-v", "--verbose", is_flag=True, help="Show every entry and field; nothing is folded or cut."
)
quiet = click.option(
    "-q", "--quiet", is_flag=True, help="Print only data and errors, no progress and no hints."
)
no_cache = click.option(
    "--no-cache",
    is_flag=True,
    help="Read every file again instead of using the cache, and do not write the cache.",
)

timings = click.option(
    "--timings", is_flag=True, help="Print at the end how long each part of the run took."
)
shard = click.option(
    "--shard",
    metavar="K/N",
    callback=lambda _context, _option, text: None if text is None else read_shard(text),
    help="Use the journal of this shard, as 2/4, if `journal:` in the project file"
    " contains `{shard}`.",
)


def together(*flags: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator that adds several options, in their order."""

    def added(command: Command) -> Command:
        for flag in reversed(flags):
            command = flag(command)
        return command

    return added


selecting = together(
    click.option(
        "--select",
        metavar="EXPR",
        multiple=True,
        help="Only the resources that match every term, joined by commas: `Kind/name`,"
        " `kind=SLO`, `label.team=payments`, `file=checkout/*`. Repeat it to add "
        "the resources of other terms.",
    ),
    click.option(
        "--exclude",
        metavar="EXPR",
        multiple=True,
        help="Leave out the resources that match; the terms are those of --select.",
    ),
)
"""Options of a command that reads manifests, as `options.selection`."""


def of_features(name: str) -> Callable[[Command], Command]:
    """Add the options that features give to the command of this name; values keep their names."""
    keys = [key for key in FEATURE_OPTIONS if key.rpartition(" ")[0] == name]
    return together(*map(FEATURE_OPTIONS.load, keys))


def formats(*names: str) -> Callable[[Command], Command]:
    """Add `--format` with the given names; any other is a usage error."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(names),
        default=names[0],
        show_default=True,
        help="The format of the output.",
    )


def _selection(select: tuple[str, ...], exclude: tuple[str, ...]) -> Selection:
    if not select and not exclude:
        return EVERYTHING
    from reconciler.kinds import BY_NAME  # noqa: PLC0415 - where something is selected only

    return read_selection(select, exclude, BY_NAME)


def _asking(*flags: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds arguments to a command, which gets them as `options`."""

    def asking(command: Command) -> Command:
        @functools.wraps(command)
        def gathered(  # noqa: PLR0913 - one for each flag
            *,
            environment: str | None = None,
            project: Path | None,
            verbose: bool,
            quiet: bool,
            paths: tuple[Path, ...] = (),
            select: tuple[str, ...] = (),
            exclude: tuple[str, ...] = (),
            no_cache: bool | None = None,
            timings: bool = False,
            shard: Shard | None = None,
            **own: Any,
        ) -> Any:
            selection = _selection(select, exclude)
            with waiting(quiet=quiet, timings=timings) as waits:
                options = Options(
                    paths=paths,
                    environment=environment,
                    project=project,
                    verbose=verbose,
                    quiet=quiet,
                    waits=waits,
                    reporter=Console(verbose, quiet),
                    selection=selection,
                    cached=no_cache is False,
                    journal_of_shard=shard,
                )
                return command(options=options, **own)

        return together(*flags)(cast("Command", gathered))

    return asking


reading = _asking(paths, environment, project, verbose, quiet, no_cache, timings)
"""Arguments of a command that reads manifests."""

locating = _asking(paths, project, verbose, quiet)
"""Arguments of a command that needs only the project file."""

connected = _asking(environment, project, shard, verbose, quiet)
"""Options of a command that only talks to the service."""

remembering = _asking(environment, project, place, shard, verbose, quiet)
"""Options of a command that needs only a journal."""

recalling = _asking(paths, environment, project, shard, verbose, quiet, no_cache, timings)
"""Arguments of a command that reads manifests and a journal."""

adopting = _asking(environment, project, place, verbose, quiet)
"""Options of a command that changes manifests and journal."""
