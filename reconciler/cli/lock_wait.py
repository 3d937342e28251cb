"""Waiting: the time limit for a journal's lock, and the display meanwhile.

The display is the last line of a terminal, or lines of a log where progress is turned on.
Another thread draws it, as the waiting thread is blocked.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, RLock, Thread

import click

from reconciler.cli.console import giving_way, redacted, words
from reconciler.journal.store import LockTimeout
from reconciler.report.table import DEFAULT_WIDTH
from reconciler.report.wait_lines import timing_lines, waiting_line
from reconciler.runtime.progress import Waits
from reconciler.runtime.streams import write

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
        """Return since when the run is busy without a pause that was shown."""
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
