"""One world on one emulator: prepare it, run commands on it, gather the evidence."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forks import Ended, Meddle, command, environment, warm
from harness.profiles import as_file
from invariants import Evidence, Live, Step, objects, violations
from journal_text import read
from watched_emulator import Emulator
from worlds import KEY, World, world

from reconciler.runtime import failpoints
from reconciler.runtime.failpoints import Point

OVER = ("--override-guard", "campaign")
APPLY = ("apply", "--new-journal", "--yes", "--allow-destroy", *OVER, "--format", "json")
MOST_TRIES = 8
IN_DOUBT = 7


@dataclass
class Tally:
    """What a campaign counted, and the first faults in words."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def judge(self, case: str, evidence: Evidence) -> None:
        """Count a case, and every law that it breaks."""
        self.counts["cases"] += 1
        self.counts["in doubt"] += any(step.code == IN_DOUBT for step in evidence.steps)
        self.counts["torn"] += any(read(step.journal).torn for step in evidence.steps)
        for said in violations(evidence):
            self.fail(said[:2], f"{case}: {said}")

    def fail(self, law: str, said: str) -> None:
        """Count one fault; the first ones are kept in words."""
        self.counts[f"broken {law}"] += 1
        if len(self.faults) < 20:
            self.faults.append(said)


@dataclass
class Stage:
    """An emulator, a folder, and the world that stands there now."""

    emulator: Emulator
    root: Path
    world: World = field(default_factory=lambda: world(0))
    folder: Path = Path()
    before: Live = field(default_factory=dict)
    book: bytes = b""
    plans: tuple[dict[str, Any], ...] = ()
    steps: list[Step] = field(default_factory=list)
    version: int = 1
    more: dict[str, str] = field(default_factory=dict)
    """Further variables of a command's environment."""

    @property
    def journal(self) -> Path:
        """Where the journal is."""
        return self.folder / ".reconciler" / "journal.jsonl"

    @property
    def around(self) -> dict[str, str]:
        """What a command sees of its environment."""
        return {**environment(self.emulator.base_url), **self.more}

    def kept(self) -> bytes:
        """Give what is in the journal now."""
        return self.journal.read_bytes() if self.journal.exists() else b""

    def prepare(self, number: int) -> None:
        """Make a world; every other one has its first version applied already."""
        self.world = world(number)
        self.folder = self.root / f"world{number}"
        self.folder.mkdir()
        self.emulator.order(
            begin={
                "profile": as_file(self.world.profile),
                "alertIds": self.world.alert_ids,
                "foreign": self.world.foreign,
            }
        )
        if (number // 2) % 2:
            self.world.write(self.folder, 0)
            first = command(self.folder, self.around, *APPLY)
            assert first.code == 0, first
        self.world.write(self.folder, 1)
        shown = command(self.folder, self.around, "plan", "--format", "json")
        assert shown.code == 0, shown
        self.plans = (json.loads(shown.out),)
        self.emulator.order(keep=str(number), look=False)
        self.book = self.kept()
        self.before = self.again()

    def again(self) -> Live:
        """Put everything back to what it was before the case; give what is live then."""
        shutil.rmtree(self.journal.parent, ignore_errors=True)
        if self.book:
            self.journal.parent.mkdir(mode=0o700)
            self.journal.write_bytes(self.book)
            self.journal.chmod(0o600)
        self.steps = []
        return self.emulator.order(restore=str(self.world.number), look=True).live

    def clear(self) -> None:
        """Forget the world."""
        shutil.rmtree(self.folder)

    def run(self, *arguments: str, meddle: Meddle | None = None, idle: bool = False) -> Step:
        """Run one command and note what it did."""
        return self.note(command(self.folder, self.around, *arguments, meddle=meddle), idle=idle)

    def note(self, ended: Ended, *, idle: bool = False) -> Step:
        """Note a command that ended, and all that is to be seen now."""
        seen = self.emulator.look()
        earlier = sum(len(step.log) for step in self.steps)
        self.steps.append(
            Step(
                ended.code,
                ended.out,
                ended.err,
                seen.log[earlier:],
                self.kept(),
                seen.live,
                idle,
            )
        )
        return self.steps[-1]

    def apply(self, meddle: Meddle | None = None, *, idle: bool = False) -> Step:
        """Apply without asking."""
        return self.run(*APPLY, meddle=meddle, idle=idle)

    def recover(self, *, plan: bool = False) -> None:
        """Do what a person does afterwards: apply, settle by looking, apply; then once more."""
        if plan:
            self.run("plan")
        for _ in range(MOST_TRIES):
            step = self.apply()
            if step.code == 0:
                break
            if step.code == IN_DOUBT:
                self._settle(step)
        self.apply(idle=True)

    def _settle(self, step: Step) -> None:
        """Look into the service, as a person would in its web interface, and say what is there."""
        there = {ref: remote_id for ref, remote_id, _ in objects(step.live)}
        for ref, known in read(step.journal).known().items():
            if known.open_creates and ref.startswith(("SLO/", "SavedView/")):
                said = ["--id", there[ref]] if ref in there else ["--never-happened"]
                self.run("journal", "settle", ref, *said)

    def evidence(self) -> Evidence:
        """Give all that was seen since the case began."""
        return Evidence(
            self.world.versions[self.version],
            self.before,
            self.book,
            tuple(self.steps),
            self.plans,
            self.emulator.look().leaks,
        )

    def points(self) -> list[Point]:
        """Run undisturbed once, and give every point that was passed, in order."""
        file = self.root / "points"
        self.apply(meddle=lambda: note_points(file))
        passed = [Point[name] for name in file.read_text(encoding="utf-8").split()]
        file.unlink()
        self.again()
        return passed


def note_points(file: Path) -> None:
    """Write down every point that this process passes."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(point: Point) -> None:
        os.write(descriptor, f"{point.name}\n".encode())

    failpoints.watch(write)


def at_point(number: int, deed: Callable[[], None]) -> Meddle:
    """Give what lets a deed happen at the n-th point from 1."""

    def meddle() -> None:
        passed = 0

        def watcher(_: Point) -> None:
            nonlocal passed
            passed += 1
            if passed == number:
                deed()

        failpoints.watch(watcher)

    return meddle


@contextmanager
def stage() -> Iterator[Stage]:
    """Serve an emulator, warm this process, and give the stage; in memory where there is some."""
    memory = Path("/dev/shm")  # noqa: S108 - the system's own folder in memory
    within = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=within) as folder, Emulator(KEY) as emulator:
        tempfile.tempdir = folder
        made = Stage(emulator, Path(folder))
        made.prepare(0)
        warm(made.folder, made.around)
        made.clear()
        yield made
