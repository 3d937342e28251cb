"""CPU time of things that take turns, so that a busy machine slows them alike."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Measure = Callable[[], float]


def cpu_of(work: Callable[[], object]) -> float:
    """CPU seconds of this process for one call, garbage of earlier calls not counted."""
    gc.collect()
    started = time.process_time()
    work()
    return time.process_time() - started


def cpu_of_process(command: Sequence[str], more: Mapping[str, str] | None = None) -> float:
    """CPU seconds of a whole process, its start included; `more` is added to its environment."""
    # Where bytecode is never kept, each start would compile the program again.
    environ = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
    environ |= more or {}
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


@dataclass(frozen=True, slots=True)
class Figure:
    """Ours beside its floor, both in seconds, with the ratio of each round."""

    floor: float
    ours: float
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median of the ratios: what slows a whole round is in none of them."""
        return median(self.ratios)

    def text(self, what: str, floor: str, target: float | None) -> str:
        """Give a row: ours, the floor, the ratio with its spread, and the target."""
        said = "" if target is None else f", target {target:g}: {verdict(self.ratio, target)}"
        spread = f"{min(self.ratios):.2f} to {max(self.ratios):.2f}"
        return (
            f"  {what:44} {self.ours * 1e3:10,.1f} ms  {self.ratio:7.2f} x ({spread}{said})\n"
            f"    floor: {floor:37} {self.floor * 1e3:10,.1f} ms"
        )


def figures(
    rounds: int, floor: Measure, measures: Mapping[str, Measure], floors: int = 1
) -> dict[str, Figure]:
    """Hold measures against a floor that is taken anew, so many times, in each round."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    bare: list[float] = []
    for _ in range(rounds):
        bare.append(median(floor() for _ in range(floors)))
        for name, measure in measures.items():
            taken[name].append(measure())
    return {
        name: Figure(
            median(bare),
            median(seconds),
            tuple(ours / least for ours, least in zip(seconds, bare, strict=True)),
        )
        for name, seconds in taken.items()
    }


def peak_of_process(command: Sequence[str], environ: Mapping[str, str]) -> tuple[float, float]:
    """CPU seconds of a whole process, and the most memory that it held, in MB."""
    with subprocess.Popen(  # noqa: S603 - ours
        command, stdout=subprocess.DEVNULL, env={**os.environ, **environ}
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:3])} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
