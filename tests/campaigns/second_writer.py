"""`second-writer`: somebody adds a log policy before any request of an apply.

The service overwrites the list as a whole and has no conditional write: what is added
between the last read and the overwrite is lost, and nobody can see it. That window is
counted. Anywhere else a policy of others is kept, or its loss was planned, allowed and
printed whole.
"""

from __future__ import annotations

import random

from invariants import Step
from live_edits import OVERWRITE, POLICIES, STALE
from stage import Stage, Tally
from watched_emulator import API_ROOT, EDITED, Request
from worlds import drawing, share

from reconciler.emulator.database import Asked

NAME = "intruder"
ADDED: Request = (
    "POST",
    POLICIES + "/bulkCreate",
    {
        "policyRequests": [
            {"name": NAME, "description": "theirs", "priority": "PRIORITY_TYPE_LOW"},
        ]
    },
)
PRINTED = f'"name": "{NAME}"'
GUARDED = 11
WINDOW, LOST = "window", "silent loss"

TAKEN_OVER = ("--override-guard", "takes-over=campaign")
"""Alerts are written unseen; that guard has laws of its own."""


def add_between(stage: Stage, count: int, seed: int) -> Tally:
    """Add a policy at each of some places, half of them right around the overwrite."""
    tally = Tally()
    chance = drawing(seed)
    number = seed * 1_000
    while tally.counts["cases"] < count:
        stage.prepare(number)
        written = _places(stage.apply().log, OVERWRITE)
        few = min(share(count), count - tally.counts["cases"]) if written else 0
        for _ in range(few):
            _add_once(stage, tally, _drawn(chance, written[0] + 1), chance)
        stage.clear()
        number += 1
    return tally


def _drawn(chance: random.Random, overwrite: int) -> int:
    """Draw before which request, counted from 1, the policy comes; the overwrite is one of them."""
    if chance.random() < 0.5:
        return overwrite + chance.randint(-1, 1)
    return chance.randint(1, overwrite + 1)


def _add_once(stage: Stage, tally: Tally, place: int, chance: random.Random) -> None:
    stage.again()
    allowed = chance.random() < 0.7
    stage.emulator.order(edits=[[place, [ADDED]]], look=False)
    # In words, as a person reads them.
    agreed = ["--allow-destroy"] if allowed else []
    step = stage.run("apply", "--new-journal", "--yes", *TAKEN_OVER, *agreed)
    stage.emulator.order(edits=[], look=False)
    what = verdict(step, allowed=allowed)
    tally.counts[what] += 1
    case = f"world {stage.world.number}, a policy before request {place}, {allowed=}"
    if what == LOST:
        tally.fail(
            "second-writer", f"{case}: lost, and not a word: exit {step.code}: {step.out}{step.err}"
        )
    if what == "untold":
        tally.fail(
            "second-writer", f"{case}: read after the write, and not a word: {step.out}{step.err}"
        )
    stage.recover()
    tally.judge(case, stage.evidence())


def verdict(step: Step, *, allowed: bool) -> str:
    """Say what became of a policy that somebody added during an apply.

    `destroyed, told`: the plan had seen it, it was allowed, and it was printed. `window`:
    it came between the last read and the overwrite. `silent loss`: neither. `refused`: by
    the guard. `caught`: the list was left alone, exit 6. `told` and `untold`: it came after
    the overwrite, and the read after it saw it. `not met`: nothing of the run met it.
    """
    log = step.log
    when = next((at for at, asked in enumerate(log) if asked.method == EDITED), len(log))
    written = _places(log, OVERWRITE)
    read = _places(log, POLICIES)
    told = NAME in step.out + step.err
    if any(at > when for at in written):
        if max(at for at in read if at < written[0]) < when:
            return WINDOW
        return "destroyed, told" if allowed and PRINTED in step.err else LOST
    if not any(at > when for at in read):
        return "not met"
    if written:
        return "told" if told and step.code == STALE else "untold"
    return {GUARDED: "refused", STALE: "caught"}.get(step.code, "not met")


def _places(log: tuple[Asked, ...], path: str) -> list[int]:
    """Give where in a log a path was asked for."""
    return [at for at, asked in enumerate(log) if asked.path == API_ROOT + path]
