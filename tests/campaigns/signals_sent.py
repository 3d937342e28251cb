"""`signal`: SIGINT and SIGTERM, once or twice, at any point and at any moment of an apply."""

from __future__ import annotations

import os
import signal
from types import FrameType

from forks import Meddle
from invariants import Step
from journal_text import read
from stage import Stage, Tally
from worlds import drawing

from reconciler.runtime import failpoints
from reconciler.runtime.failpoints import Point

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
LONGEST = 0.12  # seconds; an apply of these worlds takes about half of it


def send_at(places: list[int], number: signal.Signals) -> Meddle:
    """Let a signal come at each of some points, counted from 1."""

    def meddle() -> None:
        passed = 0

        def watcher(_: Point) -> None:
            nonlocal passed
            passed += 1
            if passed in places:
                os.kill(os.getpid(), number)

        failpoints.watch(watcher)

    return meddle


def send_after(seconds: float, number: signal.Signals) -> Meddle:
    """Let a signal come after some time, wherever the run is then."""

    def send(_: int, __: FrameType | None) -> None:
        os.kill(os.getpid(), number)

    def meddle() -> None:
        signal.signal(signal.SIGALRM, send)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    return meddle


def send_signals(stage: Stage, count: int, seed: int) -> Tally:
    """Interrupt applies: half of them at points, half of them at moments."""
    tally = Tally()
    chance = drawing(seed)
    passed = 1
    for turn in range(count):
        if turn % 20 == 0:
            stage.prepare(seed * 1_000 + turn // 20)
            passed = len(stage.points())
        stage.again()
        number = chance.choice((signal.SIGINT, signal.SIGTERM))
        if turn % 2:
            place = chance.randint(1, passed)
            twice = chance.random() < 0.4
            second = [place + chance.randint(1, 6)] if twice else []
            case = f"{number.name} at {[place, *second]}"
            step = stage.apply(send_at([place, *second], number))
            _check(tally, f"world {stage.world.number}, {case}", step, number, once=not twice)
        else:
            seconds = chance.uniform(0.001, LONGEST)
            case = f"{number.name} after {seconds:.4f} s"
            step = stage.apply(send_after(seconds, number))
            _check(
                tally, f"world {stage.world.number}, {case}", step, number, once=True, may_end=True
            )
        stage.recover()
        tally.judge(f"world {stage.world.number}, {case}", stage.evidence())
    return tally


def _check(
    tally: Tally,
    case: str,
    step: Step,
    number: signal.Signals,
    *,
    once: bool,
    may_end: bool = False,
) -> None:
    tally.counts[f"exit {step.code}"] += 1
    allowed = {CODES[number], *([0] if may_end else [])}
    if step.code not in allowed:
        tally.fail("signal", f"{case}: exit {step.code}: {step.err[-300:]}")
    if "Traceback" in step.err:
        tally.fail("signal", f"{case}: a traceback: {step.err[-1500:]}")
    left = [ref for ref, one in read(step.journal).known().items() if one.open_writes]
    if once and left:
        tally.fail("signal", f"{case}: after one signal {left} are open")
