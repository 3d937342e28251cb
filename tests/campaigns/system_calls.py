"""`calls`: faults at real system calls of the unmodified program, by tracing its process."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forks import Ended
from invariants import Step
from stage import APPLY, Stage, Tally
from worlds import drawing

TRACER = "strace"
BROKEN = 8
KILLED = -9
JOURNAL_CALLS = ("write", "fsync", "ftruncate", "openat", "fchmod")
ERRORS = ("EIO", "ENOSPC")
WIRE_CALLS = ("sendto", "sendmsg")
WIRE_CODES = frozenset((0, 3, 6, 7, 9))


@dataclass(frozen=True)
class Injection:
    """What happens at the n-th call of a name; `path` limits it to one file."""

    call: str
    what: str
    when: int
    path: Path | None = None

    def words(self, log: Path) -> list[str]:
        """Give the tracer's command line before that of the program."""
        files = ["-P", str(self.path)] if self.path else []
        inject = f"inject={self.call}:{self.what}:when={self.when}"
        return [
            TRACER,
            "-f",
            "-qq",
            "-o",
            str(log),
            *files,
            "-e",
            f"trace={self.call}",
            "-e",
            inject,
        ]


def why_not() -> str:
    """Say why this machine cannot trace, "" where it can."""
    if shutil.which(TRACER) is None:
        return f"needs Debian package {TRACER}"
    tried = subprocess.run(
        [TRACER, "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False, text=True
    )
    return "" if tried.returncode == 0 else "this machine does not let a process be traced"


def injections(stage: Stage, chance: random.Random) -> Iterator[Injection]:
    """Yield faults without end: every call of the journal's files, and of the wire."""
    while True:
        path = chance.choice((stage.journal, stage.journal, stage.journal.parent))
        what = chance.choice((*(f"error={error}" for error in ERRORS), "signal=KILL"))
        yield Injection(chance.choice(JOURNAL_CALLS), what, chance.randint(1, 10), path)
        what = chance.choice(("error=EPIPE", "error=ECONNRESET", "signal=KILL"))
        yield Injection(chance.choice(WIRE_CALLS), what, chance.randint(1, 24))
        path = stage.journal
        what = chance.choice((*(f"error={error}" for error in ERRORS), "signal=KILL"))
        yield Injection(chance.choice(("write", "fsync")), what, chance.randint(1, 10), path)


def break_calls(stage: Stage, count: int, seed: int) -> Tally:
    """Trace `count` applies whose fault struck; recover each, and judge."""
    tally = Tally()
    chance = drawing(seed)
    number = seed * 1_000
    while tally.counts["cases"] < count:
        stage.prepare(number)
        faults = injections(stage, chance)
        for _ in range(min(25, max(1, count // 6))):
            if tally.counts["cases"] < count:
                _break_once(stage, next(faults), tally)
        stage.clear()
        number += 1
    return tally


def _break_once(stage: Stage, injection: Injection, tally: Tally) -> None:
    stage.again()
    log = stage.root / "calls"
    traced = subprocess.run(
        [*injection.words(log), sys.executable, "-m", "reconciler", *APPLY],
        cwd=stage.folder,
        env=stage.around,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    struck = any(word in log.read_text("utf-8", "replace") for word in ("INJECTED", "killed by"))
    if not struck:
        tally.counts["not reached"] += 1
        return
    case = f"world {stage.world.number}, {injection.call} #{injection.when} {injection.what}"
    code = KILLED if traced.returncode in (KILLED, 128 - KILLED) else traced.returncode
    step = stage.note(Ended(APPLY, code, traced.stdout, traced.stderr))
    tally.counts[f"exit {code}"] += 1
    if not _fits(injection, step):
        tally.fail("calls", f"{case}: exit {code}: {traced.stderr[-400:]}")
    stage.recover()
    tally.judge(case, stage.evidence())


def _fits(injection: Injection, step: Step) -> bool:
    """Tell whether the exit code is the one for the fault."""
    if injection.what == "signal=KILL":
        return step.code == KILLED
    if injection.path is None:
        return step.code in WIRE_CODES
    return step.code == BROKEN and "Traceback" not in step.err
