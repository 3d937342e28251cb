"""How long a plan of 1,000 resources waits for a slow service: by the clock, not the processor.

Each answer takes 50 ms and 16 requests go side by side, so N * 50 ms / 16 is the least. What
answers is a replay of the emulator, whose own work would be waited for too.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from benchmarks.measuring import figures
from benchmarks.planning import get_all
from benchmarks.replaying import replayed
from benchmarks.worlds import KEY, world_of
from reconciler.api.wire import make_transport
from reconciler.model.assumptions import REQUESTS_AT_ONCE
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import begin_session
from reconciler.operations.plan_and_drift import plan_now

COUNT = 1_000
LATENCY = 0.05
ROUNDS = 3
TARGET = 1.10


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with world_of(COUNT, folder / "world") as world:
            os.environ |= world.environ
            bench = begin_session(
                Options(
                    paths=(world.folder,), environment=None, project=None, verbose=False, quiet=True
                )
            )
            history = bench.journal().history
            answers = {url.removeprefix(world.base_url): _answer(url) for url in world.urls}
        base_url = world.base_url
        with replayed(answers, folder, httpx.URL(base_url).port or 0, LATENCY):
            least = len(answers) * LATENCY / REQUESTS_AT_ONCE
            took = figures(
                ROUNDS,
                lambda: least,
                {
                    "gets": lambda: _clock(lambda: get_all(world.urls, make_transport(base_url))),
                    "plan": lambda: _clock(lambda: asyncio.run(plan_now(bench, history))),
                },
            )
    print(f"a plan at {LATENCY * 1e3:.0f} ms an answer, {REQUESTS_AT_ONCE} at once, by the clock")
    floor = f"{len(answers)} x {LATENCY * 1e3:.0f} ms / {REQUESTS_AT_ONCE}"
    print(took["gets"].text("the GETs alone, by the same client", floor, None))
    print(took["plan"].text(f"a plan of {COUNT:,} resources", floor, TARGET))


def _answer(url: str) -> bytes:
    return httpx.get(url, headers={"Authorization": KEY}).raise_for_status().content


def _clock(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
