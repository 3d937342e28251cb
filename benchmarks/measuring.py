"""CPU time of things that take turns, so that a busy machine slows them alike."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

Measure = Callable[[], float]


def cpu_of(work: Callable[[], object]) -> float:
    """CPU seconds of this process for one call, garbage of earlier calls not counted."""
    gc.collect()
    started = time.process_time()
    work()
    return time.process_time() - started


def cpu_of_process(command: Sequence[str]) -> float:
    """CPU seconds of a whole process, its start included."""
    # Where bytecode is never kept, each start would compile the program again.
    environ = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environ)  # noqa: S603 - ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(rounds: int, measures: Mapping[str, Measure]) -> dict[str, float]:
    """Median seconds of each measure; all are taken once in each round, in turn."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            taken[name].append(measure())
    return {name: median(seconds) for name, seconds in taken.items()}


def verdict(value: float, target: float, *, at_least: bool = False) -> str:
    """Say whether a target is met."""
    met = value >= target if at_least else value <= target
    return "met" if met else "MISSED"
