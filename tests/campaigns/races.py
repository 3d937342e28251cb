"""`race` and `stop`: applies that race for one journal, and a holder that stands still."""

from __future__ import annotations

import os
import selectors
import signal
from pathlib import Path

from forks import Child, Ended, Meddle, start
from invariants import STOPPED
from stage import APPLY, Stage, Tally, at_point
from worlds import drawing

from reconciler.runtime import failpoints
from reconciler.runtime.failpoints import Point

LOCKED = 5


def wait_to_send(arrived: int, go: int) -> Meddle:
    """Tell before the first request, and send it only when told to."""

    def meddle() -> None:
        waited = False

        def watcher(point: Point) -> None:
            nonlocal waited
            if point is Point.BEFORE_SEND and not waited:
                waited = True
                os.write(arrived, b"x")
                os.read(go, 1)

        failpoints.watch(watcher)

    return meddle


def race(stage: Stage, count: int, seed: int) -> Tally:
    """`race`: 2 to 16 applies at once; the one that holds the journal waits for all others."""
    tally = Tally()
    chance = drawing(seed)
    for turn in range(count):
        _in_world(stage, turn, seed)
        runners = chance.choice((2, 2, 2, 3, 4, 8, 16)) if count > 100 else 2 + turn % 3
        _race_once(stage, runners, tally)
    return tally


def _in_world(stage: Stage, turn: int, seed: int) -> None:
    """Stay in a world for ten cases."""
    if turn % 10:
        stage.again()
    else:
        stage.prepare(seed * 1_000 + turn // 10)
        stage.again()


def _race_once(stage: Stage, runners: int, tally: Tally) -> None:
    case = f"world {stage.world.number}, {runners} at once"
    started = rivals(stage, [stage.folder] * runners, tally, case)
    stage.recover()
    tally.judge(case, stage.evidence())
    tally.counts["winners"] += started


def rivals(stage: Stage, folders: list[Path], tally: Tally, case: str) -> int:
    """Apply from all folders at once; give how many won, which must be one."""
    came, arrived = os.pipe()
    go, told = os.pipe()
    children = [start(folder, stage.around, APPLY, wait_to_send(arrived, go)) for folder in folders]
    ended = _all_but_one(children, came)
    held = [child for child in children if child.process not in ended]
    for one in ended.values():
        stage.note(one)
    os.write(told, b"x" * len(folders))
    winners = [stage.note(child.end()) for child in held]
    for descriptor in (came, arrived, go, told):
        os.close(descriptor)
    codes = sorted(step.code for step in stage.steps)
    if codes != [0] + [LOCKED] * (len(folders) - 1):
        said = [step.err[-200:] for step in stage.steps]
        tally.fail("race", f"{case}: exits {codes}: {said}")
    holder = f"process {held[0].process} on" if held else "nobody"
    for one in ended.values():
        # It may have taken the lock, and not yet signed it.
        tally.counts["holder named"] += holder in one.err
        if "is locked by" not in one.err:
            tally.fail("race", f"{case}: a loser does not name {holder}: {one.err}")
    tally.counts["losers"] += len(ended)
    return len(winners)


def _all_but_one(children: list[Child], came: int) -> dict[int, Ended]:
    """Wait until one apply stands before its first request, and all others have ended."""
    ended: dict[int, Ended] = {}
    standing = 0
    with selectors.DefaultSelector() as watching:
        watching.register(came, selectors.EVENT_READ)
        for child in children:
            watching.register(os.pidfd_open(child.process), selectors.EVENT_READ, child)
        while standing + len(ended) < len(children):
            for key, _ in watching.select():
                if key.data is None:
                    standing += len(os.read(came, 64))
                    continue
                child = key.data
                watching.unregister(key.fileobj)
                os.close(key.fd)
                ended[child.process] = child.end()
        for key in list(watching.get_map().values()):
            if key.data is not None:
                os.close(key.fd)
    return ended


def stop_holders(stage: Stage, count: int, seed: int) -> Tally:
    """`stop`: the holder is stopped at any point; nobody takes over, and it ends its work later."""
    tally = Tally()
    chance = drawing(seed)
    passed = 1
    for turn in range(count):
        _in_world(stage, turn, seed)
        if turn % 10 == 0:
            passed = len(stage.points())
        _stop_once(stage, chance.randint(1, passed), tally)
    return tally


def stand_still() -> None:
    """Stop this process until somebody lets it go on."""
    os.kill(os.getpid(), signal.SIGSTOP)


def _stop_once(stage: Stage, point: int, tally: Tally) -> None:
    holder = start(stage.folder, stage.around, APPLY, at_point(point, stand_still))
    _, status = os.waitpid(holder.process, os.WUNTRACED)
    assert os.WIFSTOPPED(status), os.waitstatus_to_exitcode(status)
    stage.note(Ended(APPLY, STOPPED, "", ""))
    second = stage.apply()
    case = f"world {stage.world.number}, holder stopped at point {point}"
    if second.code != LOCKED:
        tally.fail("stop", f"{case}: the second apply ended with {second.code}")
    os.kill(holder.process, signal.SIGCONT)
    first = stage.note(holder.end())
    if first.code != 0:
        tally.fail("stop", f"{case}: the holder ended with {first.code}")
    stage.recover()
    tally.judge(case, stage.evidence())
