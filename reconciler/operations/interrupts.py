"""Signals to a run: the first one ends it in good order, the second at once (docs/plan.md).

A hang-up never counts as the second: a terminal that is closed may send it twice,
and a service manager sends it right after the first.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

ENDING = (signal.SIGTERM, signal.SIGHUP)
SIGNALS = (signal.SIGINT, *ENDING)


def code_of(number: int) -> int:
    """Give the exit code of a run that a signal ended."""
    return 128 + number


def is_ignored(number: int) -> bool:
    """Tell whether the run was started so that a signal means nothing, as `nohup` does."""
    return signal.getsignal(number) is signal.SIG_IGN


@dataclass(slots=True)
class Interrupts:
    """The signals that came, and what they do: ask the run to stop, then cancel its work."""

    tell: Callable[[str], None]
    loop: asyncio.AbstractEventLoop
    stopping: asyncio.Event
    work: asyncio.Future[Any] | None = None
    codes: list[int] = field(default_factory=list)

    def on_signal(self, number: int, _: FrameType | None) -> None:
        """Take one signal, between any two steps of the program.

        Only notes are made here. Words, and what ends the work, wait for the loop's turn.
        """
        if self.codes and number == signal.SIGHUP:
            return
        self.codes.append(code_of(number))
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


@asynccontextmanager
async def interrupts(tell: Callable[[str], None]) -> AsyncIterator[Interrupts]:
    """Take the signals of this process until the end of the block.

    The loop's own handlers would lose a signal that comes in its last turn. Raises
    CancelledError where one came before the block.
    """
    import asyncio  # noqa: PLC0415 - most commands run no loop

    taken = Interrupts(tell, asyncio.get_running_loop(), asyncio.Event())
    heard = [number for number in SIGNALS if not is_ignored(number)]
    before = {number: signal.signal(number, taken.on_signal) for number in heard}
    try:
        # The loop answers a signal by cancelling what it runs, and a task finds that out when
        # it waits: here, where the work cannot be taken for what was cancelled.
        await asyncio.sleep(0)
        yield taken
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
