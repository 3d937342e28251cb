"""Waiting for a lock that another run holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from reconciler.errors import Locked
from reconciler.waits import Locking, Waits

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a lock, in seconds, and by which clock."""

    seconds: float = 0
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def taken_in_time(
    take: Callable[[], None],
    patience: Patience,
    tell: Callable[[str], None],
    waits: Waits | None = None,
) -> None:
    """Take a lock, asking again and again until the patience is at an end.

    Who holds it is told once for each holder. Raises the last Locked.
    """
    waits = waits or Waits()
    deadline = patience.monotonic() + patience.seconds
    pause, told = FIRST_PAUSE, ""
    with ExitStack() as noted:
        while True:
            try:
                take()
            except Locked as error:
                left = deadline - patience.monotonic()
                if left <= 0:
                    raise
                if str(error) != told:
                    told = str(error)
                    tell(f"{told}; waiting for at most {left:.0f} s")
                    noted.close()
                    noted.enter_context(waits.on(Locking(told)))
                patience.sleep(min(pause, left))
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                return
