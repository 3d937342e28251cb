"""`lost`, `storm` and `cut`: answers that are lost, cut or wrong, for every write of a world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from invariants import is_write
from stage import Stage, Tally
from watched_emulator import API_ROOT
from worlds import drawing, share

LOST: tuple[dict[str, Any], ...] = (
    {"drop": "after"},
    {"drop": "before"},
    {"status": 500, "commit": True},
    {"status": 502, "commit": True, "html": True},
    {"status": 503, "commit": False},
    {"status": 504, "commit": True},
    {"status": 429, "retryAfter": "0"},
    {"html": True},
    {"truncate": 0, "declared": "whole"},
    {"truncate": 9},
    {"truncate": 9, "declared": "whole"},
    {"body": ""},
    {"body": "[]"},
    {"drip": {"size": 64, "every": 0.001}},
)
ALLOWED = frozenset((0, 3, 6, 7, 9))
"""A lost answer ends a run in doubt, in part, or not at all; it never looks like something else."""


@dataclass(frozen=True)
class Target:
    """The n-th request of a method to a path, and how long its answer is."""

    method: str
    path: str
    nth: int
    size: int

    def rule(self, fault: dict[str, Any]) -> dict[str, Any]:
        """Let a fault strike it."""
        return {"method": self.method, "path": self.path, "nth": self.nth, "fault": fault}


def targets(stage: Stage, *, reads: bool) -> list[Target]:
    """Give what an undisturbed apply of this world sends."""
    stage.apply()
    seen = stage.emulator.look()
    stage.again()
    count: Counter[tuple[str, str]] = Counter()
    found = []
    writes = {
        (asked.method, asked.path.removeprefix(API_ROOT)) for asked in seen.log if is_write(asked)
    }
    for method, path, size in seen.sizes:
        count[method, path] += 1
        if reads or (method, path) in writes:
            found.append(Target(method, path, count[method, path], size))
    return found


def _struck(stage: Stage, tally: Tally, case: str, rules: list[dict[str, Any]], seed: int) -> None:
    """Apply under faults, recover without them, and judge."""
    stage.again()
    stage.emulator.order(faults={"seed": seed, "rules": rules}, look=False)
    step = stage.apply()
    if step.code not in ALLOWED:
        tally.fail("lost", f"{case}: exit {step.code}: {step.err[-400:]}")
    stage.emulator.order(faults=None, look=False)
    stage.recover()
    tally.judge(f"world {stage.world.number}, {case}", stage.evidence())


def _worlds(stage: Stage, tally: Tally, count: int, seed: int) -> Iterator[int]:
    number = seed * 1_000
    while tally.counts["cases"] < count:
        stage.prepare(number)
        yield number
        stage.clear()
        number += 1


def lose_answers(stage: Stage, count: int, seed: int) -> Tally:
    """`lost`: lose the answer to each write, in each way; sometimes the look-up after it too.

    Of each world the creates whose answer is dropped after the deed come first.
    """
    tally = Tally()
    chance = drawing(seed)
    for number in _worlds(stage, tally, count, seed):
        cases = [(target, fault) for target in targets(stage, reads=False) for fault in LOST]
        chance.shuffle(cases)
        cases.sort(key=lambda case: (case[0].method, case[1]) != ("POST", LOST[0]))
        few = min(share(count), count - tally.counts["cases"])
        for target, fault in cases[:few]:
            rules = [target.rule(fault)]
            if chance.random() < 0.2:
                rules.append({"method": "GET", "probability": 0.3, "fault": {"drop": "before"}})
            case = f"{target.method} {target.path} #{target.nth} {fault}"
            _struck(stage, tally, case, rules, number)
    return tally


def storm(stage: Stage, count: int, seed: int) -> Tally:
    """`storm`: a third of all answers is an error, some of them after the deed."""
    tally = Tally()
    for number in _worlds(stage, tally, count, seed):
        for turn in range(min(share(count), count - tally.counts["cases"])):
            rules = [
                {"probability": 0.15, "fault": {"status": 503}},
                {"probability": 0.1, "fault": {"status": 502, "commit": True}},
                {"probability": 0.08, "fault": {"drop": "after"}},
            ]
            _struck(stage, tally, f"storm {turn}", rules, number * 100 + turn)
    return tally


def cut_answers(stage: Stage, count: int, seed: int) -> Tally:
    """`cut`: every kind of answer, cut at every byte, its length told whole or as cut."""
    tally = Tally()
    chance = drawing(seed)
    for number in _worlds(stage, tally, count, seed):
        cases = [
            (target, place, declared)
            for target in targets(stage, reads=True)
            for place in range(target.size)
            for declared in ("cut", "whole")
        ]
        few = min(share(count), count - tally.counts["cases"], len(cases))
        for target, place, declared in chance.sample(cases, few):
            rules = [target.rule({"truncate": place, "declared": declared})]
            case = f"{target.method} {target.path} #{target.nth} at {place} ({declared})"
            _struck(stage, tally, case, rules, number)
    return tally
