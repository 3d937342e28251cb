"""How long a plan of 1,000 resources waits for a slow service: by the clock, not the processor.

Each answer takes 50 ms and 16 requests go side by side, so N * 50 ms / 16 is the least.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import figures
from benchmarks.worlds import world_of
from reconciler.assumptions import REQUESTS_AT_ONCE
from reconciler.session.opening import open_bench
from reconciler.session.planning import plan_now
from reconciler.session.projects import Asked

COUNT = 1_000
LATENCY = 0.05
ROUNDS = 3
TARGET = 1.10


def run() -> None:
    """Print the figures."""
    with (
        tempfile.TemporaryDirectory() as name,
        world_of(COUNT, Path(name) / "world", latency=LATENCY) as world,
    ):
        os.environ |= world.environ
        bench = open_bench(Asked((world.folder,), None, None, verbose=False, quiet=True))
        history = bench.journal().history
        least = len(world.urls) * LATENCY / REQUESTS_AT_ONCE
        took = figures(
            ROUNDS,
            lambda: least,
            {"plan": lambda: _clock(lambda: asyncio.run(plan_now(bench, history)))},
        )
    print(f"a plan at {LATENCY * 1e3:.0f} ms an answer, {REQUESTS_AT_ONCE} at once, by the clock")
    floor = f"{len(world.urls)} x {LATENCY * 1e3:.0f} ms / {REQUESTS_AT_ONCE}"
    print(took["plan"].text(f"a plan of {COUNT:,} resources", floor, TARGET))


def _clock(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
