"""Options that several commands share, and the display of a run's waits.

The display is the last line of a terminal, or lines of a log where progress is turned on. Another
thread draws it, as the waiting thread is blocked.
"""

import functools
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, RLock, Thread
from typing import Any, Final, TypeVar, cast

import click

from reconciler.cli.console import Console, giving_way, redacted, words
from reconciler.journal.store import LockTimeout
from reconciler.operations.open_project import Options
from reconciler.project import Shard, read_shard
from reconciler.report.table import DEFAULT_WIDTH
from reconciler.report.wait_lines import timing_lines, waiting_line
from reconciler.runtime.progress import Waits
from reconciler.runtime.rows import Rows
from reconciler.runtime.streams import write
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


PROGRESS = "RECONCILER_PROGRESS"
"""`1` shows progress in a log, `0` shows none at all."""

SILENT_SECONDS = 0.5
LOG_SECONDS = 1.0
TICK_SECONDS = 0.1
LEAVING_SECONDS = 1.0
CLEAR = "\r\x1b[K"


def read_patience(_: click.Context, __: click.Parameter, text: str) -> LockTimeout:
    """Read a duration, as 30s or 5m. Raises BadParameter."""
    try:
        return LockTimeout.of(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


lock_timeout = click.option(
    "--lock-timeout",
    "patience",
    metavar="DURATION",
    default="0",
    callback=read_patience,
    help="How long to wait while another run has the lock of the journal, as 30s "
    "or 5m; by default the command ends at once.",
)


@dataclass(slots=True)
class Shown:
    """Display of a run's waits. `width` is that of the terminal, None for a log."""

    waits: Waits
    width: Callable[[], int] | None
    _drawn: str = ""
    _busy_since: float | None = None
    _logged_at: float = -math.inf
    _turn: RLock = field(default_factory=RLock)

    def tick(self) -> None:
        """Show the present state, once a step has lasted half a second."""
        with self._turn:
            now = self.waits.now()
            self._busy_since = self._since(now.since)
            is_long = self._busy_since is not None and now.at - self._busy_since >= SILENT_SECONDS
            if self.width is not None:
                self._draw(waiting_line(now, redacted, self.width()) if is_long else "")
                return
            is_due = is_long and now.at - self._logged_at >= LOG_SECONDS
            if is_due and (line := waiting_line(now, redacted)):
                write(sys.stderr, f"{redacted(line)}\n")
                self._logged_at = now.at

    def _since(self, oldest: float | None) -> float | None:
        """Return the time since which every tick found the run busy, None where it is idle."""
        if oldest is None or self._busy_since is None:
            return oldest
        return min(oldest, self._busy_since)

    def _draw(self, line: str) -> None:
        if line != self._drawn:
            write(sys.stderr, f"{CLEAR}{redacted(line)}")
            self._drawn = line

    @contextmanager
    def away(self) -> Iterator[None]:
        """Clear the line, and draw none until the end of the block."""
        if self.width is None:
            # A log has nothing to clear, and a reader that hangs must not block other output.
            yield
            return
        with self._turn:
            self._draw("")
            yield


def shown_on(
    waits: Waits, environ: Mapping[str, str], *, quiet: bool, terminal: bool
) -> Shown | None:
    """Return the display of a run's waits, None for no display."""
    progress = environ.get(PROGRESS, "")
    if quiet or progress == "0":
        return None
    if terminal and environ.get("TERM") != "dumb":
        return Shown(waits, _width)
    return Shown(waits, None) if progress else None


def _width() -> int:
    """Return the usable columns: a full line would wrap, and could not be cleared."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or DEFAULT_WIDTH) - 1


@contextmanager
def waiting(*, quiet: bool, timings: bool = False) -> Iterator[Waits]:
    """Display a run's waits until the end of the block, if a display is wanted.

    With `timings`, print at the end how long its parts took.
    """
    waits = Waits()
    begun, start = waits.clock(), time.process_time()
    try:
        with _shown(waits, quiet=quiet):
            yield waits
    finally:
        if timings:
            wall, spent = waits.clock() - begun, time.process_time()
            words("\n".join(timing_lines(waits, start, wall, spent)), laid_out=True)


@contextmanager
def _shown(waits: Waits, *, quiet: bool) -> Iterator[None]:
    shown = shown_on(waits, os.environ, quiet=quiet, terminal=sys.stderr.isatty())
    if shown is None:
        yield
        return
    leaving = Event()
    thread = Thread(target=_tick_until, args=(leaving, shown), daemon=True)
    with giving_way(shown.away):
        thread.start()
        try:
            yield
        finally:
            try:
                leaving.set()
                # With a limit: stderr may have no reader any longer.
                thread.join(LEAVING_SECONDS)
            finally:
                with shown.away():
                    pass


def _tick_until(leaving: Event, shown: Shown) -> None:
    # A signal must wake the waiting thread, not this thread.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while not leaving.wait(TICK_SECONDS):
        shown.tick()
