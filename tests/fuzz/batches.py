"""Fuzzing in batches, each in a child process, so that a crash or a hang is seen."""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
MOST_MB = 512
MOST_FAILURES = 5
# Of one child: a second of processor time an input is the child's own watch, this is ours.
WALL_SECONDS = 120.0


@dataclass(frozen=True)
class Batch:
    """Inputs number `first` to `first + count` of one target under one seed."""

    target: str
    seed: int
    first: int
    count: int


@dataclass
class Tally:
    """What came of some batches; a failure is a line that says how to repeat it."""

    inputs: int = 0
    seconds: float = 0.0
    peak_mb: int = 0
    failures: list[str] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Count another tally in."""
        self.inputs += other.inputs
        self.seconds += other.seconds
        self.peak_mb = max(self.peak_mb, other.peak_mb)
        self.failures += other.failures
        for name, count in other.notes.items():
            self.notes[name] = self.notes.get(name, 0) + count


def run_batch(batch: Batch, folder: Path) -> Tally:
    """Run a batch in a child; after a crash or a hang, go on behind the input that did it.

    Inputs that fail are saved in `folder`. After a few such ends the rest is left.
    """
    tally = Tally()
    first, end = batch.first, batch.first + batch.count
    while first < end and len(tally.failures) < MOST_FAILURES:
        part = Batch(batch.target, batch.seed, first, end - first)
        done, at = _run_child(part, folder)
        tally.add(done)
        first = at + 1
    if tally.peak_mb > MOST_MB:
        tally.failures.append(f"{batch}: {tally.peak_mb} MB of memory")
    return tally


def _run_child(batch: Batch, folder: Path) -> tuple[Tally, int]:
    """Give what a child did, and the number of its last input."""
    with tempfile.NamedTemporaryFile() as place, scratch() as memory:
        place.write(bytes(8))
        place.flush()
        command = [sys.executable, str(HERE / "child.py"), batch.target]
        command += [str(batch.seed), str(batch.first), str(batch.count), str(folder), place.name]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment(memory),
            text=True,
        ) as child:
            before, out, err = -1, "", ""
            while True:
                try:
                    out, err = child.communicate(timeout=WALL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    at = _number(Path(place.name))
                    if at == before:
                        child.kill()
                    before = at
        at = _number(Path(place.name))
    if child.returncode == 0:
        return Tally(**json.loads(out.splitlines()[-1])), batch.first + batch.count - 1
    why = f"ended with {child.returncode}: {err[-2_000:]}"
    failure = f"{batch.target} seed={batch.seed} number={at}: {why}"
    return Tally(at - batch.first + 1, failures=[failure]), at


def _number(place: Path) -> int:
    return int.from_bytes(place.read_bytes(), "little")


def scratch() -> tempfile.TemporaryDirectory[str]:
    """Give a folder for a child, in memory where there is such a place."""
    memory = Path("/dev/shm")  # noqa: S108 - only a hint where to put the folder
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)


def child_environment(folder: str) -> dict[str, str]:
    """Give the environment of a child: where the tests are, and nothing of this machine's."""
    tests = HERE.parent
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # Hashing must not differ between the run that fails and the one that looks why.
    return {
        **kept,
        "PYTHONPATH": f"{tests}:{tests.parent}",
        "PYTHONHASHSEED": "0",
        "FUZZ_SCRATCH": folder,
    }


class Place:
    """Where a child says which input it is at, in memory that outlives it."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 8)

    def set(self, number: int) -> None:
        """Say that an input begins."""
        self._map[:] = number.to_bytes(8, "little")
