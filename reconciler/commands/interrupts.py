"""Signals to a run: the first one ends it in good order, the second at once (R6)."""

from __future__ import annotations

import asyncio
import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TextIO

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Interrupts:
    """The signals that came, and what they do: ask the run to stop, then cancel its work."""

    tell: Callable[[str], None]
    loop: asyncio.AbstractEventLoop
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    work: asyncio.Future[Any] | None = None
    codes: list[int] = field(default_factory=list)

    def on_signal(self, number: int, _: FrameType | None) -> None:
        """Take one signal, between any two steps of the program.

        Only notes are made here. Words, and what ends the work, wait for the loop's turn.
        """
        self.codes.append(128 + number)
        self.stopping.set()
        self.loop.call_soon_threadsafe(self._first if len(self.codes) == 1 else self._further)

    def _first(self) -> None:
        self.tell("stopping after the request in flight; again to leave now")

    def _further(self) -> None:
        if self.work is not None:
            self.work.cancel()

    @property
    def code(self) -> int | None:
        """The exit code of the first signal, None where none came."""
        return self.codes[0] if self.codes else None


@contextmanager
def interrupts(tell: Callable[[str], None]) -> Iterator[Interrupts]:
    """Take the signals of this process until the end of the block; needs a running loop.

    The loop's own handlers would lose a signal that comes in its last turn.
    """
    taken = Interrupts(tell, asyncio.get_running_loop())
    before = {number: signal.signal(number, taken.on_signal) for number in SIGNALS}
    try:
        yield taken
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def line_or_signal(stream: TextIO) -> str:
    """Read a line of a terminal, "" at its end; a signal is heard whenever it comes.

    One that came right before a plain read would be heard after the line only.
    """
    heard, rings = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.set_wakeup_fd(rings)
    try:
        # A signal rings, and its own handler runs as soon as this returns.
        select.select([stream.fileno(), heard], [], [])
        return stream.readline()
    finally:
        signal.set_wakeup_fd(before)
        os.close(heard)
        os.close(rings)
