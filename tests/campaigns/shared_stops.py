"""`stop-git` and `stop-s3`: a holder stands still, loses its lock, and wakes up.

A person takes the lock away as its refusal says, and applies on another machine. What
stays open after that is left to the holder, which may be alive: nobody settles before it
has ended.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from unittest import mock

from forks import Child, Ended, Meddle, start
from invariants import FORBIDDEN, STOPPED, Step, made, refs_of
from journal_text import read
from races import LOCKED, stand_still
from shared_races import GIT, OBJECTS, SharedStage, on_bucket, on_git
from stage import APPLY, IN_DOUBT, Stage, Tally, at_point
from worlds import drawing

BROKEN, STALE = 8, 6
MOST_POINTS = 80
"""No run of these worlds passes many more."""


def stop_on_git(stage: Stage, count: int, seed: int) -> Tally:
    """Stop holders of a journal in a git ref."""
    with on_git(stage) as made:
        return _stop(made, GIT, count, seed)


def stop_on_bucket(stage: Stage, count: int, seed: int) -> Tally:
    """Stop holders of a journal in a bucket."""
    with on_bucket(stage) as made:
        return _stop(made, OBJECTS, count, seed)


def _stop(stage: SharedStage, place: str, count: int, seed: int) -> Tally:
    tally = Tally()
    chance = drawing(seed)
    turn = 0
    while tally.counts["cases"] < count:
        stage.move(seed * 1_000 + turn, f"{place}{turn}", applied=turn % 2 > 0)
        _stop_once(stage, chance.randint(1, MOST_POINTS), tally, expired=turn % 4 > 1)
        turn += 1
    return tally


def _stop_once(stage: SharedStage, point: int, tally: Tally, *, expired: bool) -> None:
    stop = at_point(point, stand_still)
    holder = start(stage.folder, stage.around, APPLY, _after(_expire, stop) if expired else stop)
    if not _stands(holder):
        tally.counts["not reached"] += 1
        holder.end()
        return
    _settle(stage)
    stood = stage.note(Ended(APPLY, STOPPED, "", ""))
    case = f"world {stage.world.number}, holder stopped at point {point} on {stage.place}"
    pause = Pause(stage, tally, case, stage.lock_owner(), stood)
    stage.folder = stage.machines[1]
    try:
        second = pause.taken_over()
    finally:
        os.kill(holder.process, signal.SIGCONT)
    first = stage.note(holder.end())
    pause.check(second, first)
    stage.recover()
    if pause.is_made_twice(second, first):
        # No client can see this; it is counted.
        tally.counts["cases"] += 1
        tally.counts["made twice in flight"] += 1
        return
    tally.judge(case, stage.evidence())


def _settle(stage: SharedStage) -> None:
    """Wait until what was sent before the stop has come to all: a busy machine is late with it."""
    before: tuple[int, bytes] | None = None
    while (now := (len(stage.emulator.look().log), stage.kept())) != before:
        before = now
        time.sleep(0.05)


def _after(one: Meddle, other: Meddle) -> Meddle:
    def both() -> None:
        one()
        other()

    return both


def _expire() -> None:
    """Let leases of this process end at once, and each write renew them, as after a long pause."""
    for place in ("lease", "journal"):
        mock.patch(f"reconciler.journal.{place}.TERM", timedelta()).start()
    mock.patch("reconciler.journal.journal.RENEWED_AFTER", timedelta(-1)).start()


def _stands(child: Child) -> bool:
    """Wait until a command stands still or has ended; tell which. It can still be waited for."""
    found = os.waitid(os.P_PID, child.process, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert found is not None
    return found.si_code == os.CLD_STOPPED


@dataclass(frozen=True)
class Pause:
    """One holder that stands still: whose lock there was then, and what there was to see."""

    stage: SharedStage
    tally: Tally
    case: str
    owner: str
    stood: Step

    def fail(self, said: str, law: str = "stop") -> None:
        """Count a fault of this case."""
        self.tally.fail(law, f"{self.case}: {said}")

    def taken_over(self) -> Step:
        """Do what a person at another machine does: be refused, take the lock away, apply."""
        step = self.stage.apply()
        if self.owner:
            if step.code != LOCKED or step.log or f" {self.owner}`" not in step.err:
                self.fail(f"not refused: exit {step.code}, {step.log}: {step.err}")
            unlocked = self.stage.run("journal", "unlock", self.owner)
            if unlocked.code != 0:
                self.fail(f"no unlock: exit {unlocked.code}: {unlocked.err}")
            step = self.stage.apply()
        self.tally.counts["taken over" if self.owner else "lock not held"] += 1
        if step.code not in (0, IN_DOUBT):
            self.fail(f"the second machine ended with {step.code}: {step.err}")
        return step

    def check(self, second: Step, first: Step) -> None:
        """Check that the holder sends only what was in flight, once, and that its code says so."""
        known = read(self.stood.journal).known().items()
        started = {ref for ref, one in known if one.open_writes}
        late = [ref for write in first.writes for ref in refs_of(write)]
        in_flight = started & {
            *late,
            *(ref for write in self.stood.writes for ref in refs_of(write)),
        }
        self.tally.counts["sent late"] += len(first.writes)
        self.tally.counts["several late"] += len(first.writes) > 1
        self.tally.counts[f"exit {first.code}"] += 1
        if Counter(late) - Counter(started):
            self.fail(f"the holder sent {late}, and {sorted(started)} was in flight")
        saved = self._saved(first.err)
        if not in_flight <= saved:
            self.fail(f"{sorted(in_flight)} was in flight, saved was {saved}: {first.err}")
        if first.code not in self._codes(second, in_flight, saved):
            self.fail(f"the holder ended with {first.code}: {first.err[-400:]}")

    def _codes(self, second: Step, in_flight: set[str], saved: set[str]) -> set[int]:
        if in_flight:
            return {BROKEN}
        if not self.owner:
            return {0}
        # An object that is there, but whose lock was lost by the look after it, is saved again.
        again = {BROKEN} if saved and self.stage.place.startswith("s3:") else set()
        # What the other wrote it finds moved before it tries to write. Where nothing was left
        # to write, it only finds that there is no lock to give back.
        return again | ({LOCKED, STALE} if second.writes else {0, LOCKED})

    def is_made_twice(self, second: Step, first: Step) -> bool:
        """Tell whether both made a dashboard, and the service could not know that it was one."""
        profile = self.stage.world.profile
        if (profile.get("requestIds"), profile.get("duplicateSlug")) != ("ignored", "suffixed"):
            return False
        ours, theirs = (
            {ref for write in step.writes if made(write) for ref in refs_of(write)}
            for step in (first, second)
        )
        return any(ref.startswith("Dashboard/") for ref in ours & theirs)

    def _saved(self, said: str) -> set[str]:
        """Give what emergency files tell of; the error names each, and none holds a secret."""
        files = list(self.stage.root.glob("reconciler-journal-*.jsonl"))
        text = "".join(file.read_text("utf-8") for file in files)
        for file in files:
            file.unlink()
            if str(file) not in said:
                self.fail(f"{file} is not named: {said}")
        if any(form in text for form in FORBIDDEN):
            self.fail("a secret was in an emergency file", "I8")
        return {ref for line in text.splitlines() if (ref := json.loads(line).get("ref"))}
