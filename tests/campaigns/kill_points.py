"""`kill`: kill -9 at every point of a run, in every world, and recovery by new processes."""

from __future__ import annotations

import os
import random
import signal

from stage import Stage, Tally, at_point
from worlds import drawing, share


def die() -> None:
    """End this process without a word."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at_points(stage: Stage, count: int, seed: int) -> Tally:
    """Kill `count` runs, each at another point: a few of each world, or all where that is many."""
    tally = Tally()
    chance = drawing(seed)
    few = share(count)
    number = seed * 1_000
    while tally.counts["cases"] < count:
        stage.prepare(number)
        points = range(1, len(stage.points()) + 1)
        chosen = points if few >= len(points) else sorted(chance.sample(points, few))
        for point in chosen[: count - tally.counts["cases"]]:
            _kill_once(stage, point, chance, tally)
        stage.clear()
        number += 1
    return tally


def _kill_once(stage: Stage, point: int, chance: random.Random, tally: Tally) -> None:
    stage.again()
    killed = stage.apply(meddle=at_point(point, die))
    tally.counts["killed"] += killed.code == -signal.SIGKILL
    if chance.random() < 0.2:
        stage.apply(meddle=at_point(chance.randint(1, 60), die))
    stage.recover(plan=chance.random() < 0.2)
    tally.judge(f"world {stage.world.number}, point {point}", stage.evidence())
