"""Signals to a run: the first ends it in good order, the second at once (docs/plan.md).

A hang-up is never taken for the second: a closing terminal may send it twice, and a service manager
sends it right after the first signal.
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
    """Return the exit code of a run that a signal ended."""
    return 128 + number


def is_ignored(number: int) -> bool:
    """Return whether the run was started so that it ignores a signal, as with `nohup`."""
    return signal.getsignal(number) is signal.SIG_IGN


@dataclass(slots=True)
class Interrupts:
    """Signals that came, and their effect: ask the run to stop, then cancel its work."""

    tell: Callable[[str], None]
    loop: asyncio.AbstractEventLoop
    stopping: asyncio.Event
    work: asyncio.Future[Any] | None = None
    codes: list[int] = field(default_factory=list)

    def on_signal(self, number: int, _: FrameType | None) -> None:
        """Handle one signal, between any two steps of the program.

        This only sets state. The message, and cancelling the work, wait for the event loop.
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
        """Return the exit code of the first signal, None where none came."""
        return self.codes[0] if self.codes else None


@asynccontextmanager
async def interrupts(tell: Callable[[str], None]) -> AsyncIterator[Interrupts]:
    """Handle the signals of this process until the end of the block.

    The loop's own handlers would lose a signal that comes in its last turn. Raises CancelledError
    where a signal came before the block.
    """
    import asyncio  # noqa: PLC0415 - most commands run no loop

    taken = Interrupts(tell, asyncio.get_running_loop(), asyncio.Event())
    heard = [number for number in SIGNALS if not is_ignored(number)]
    before = {number: signal.signal(number, taken.on_signal) for number in heard}
    try:
        # The loop answers a signal by cancelling its task, and a task notices that when it waits.
        # The task must notice that here, so that the work itself is not cancelled.
        await asyncio.sleep(0)
        yield taken
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
