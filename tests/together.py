"""Runs that happen at once, each in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor


def at_once(run: Callable[[str], None], names: Sequence[str]) -> None:
    """Let a run of each name go, wait for all of them, and raise all that they raised.

    What the runs wait for has to end by itself.
    """
    with ThreadPoolExecutor(len(names)) as pool:
        ended = [pool.submit(run, name) for name in names]
    raised = [error for one in ended if (error := one.exception()) is not None]
    if raised:
        raise BaseExceptionGroup("runs failed", raised)
