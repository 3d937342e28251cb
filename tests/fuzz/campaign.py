"""Fuzzing at length: `make fuzz`, with FUZZ_INPUTS of each sort, FUZZ_SEED, FUZZ_SECONDS.

Prints what was run and how fast, and every failure with the way to repeat it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from batches import HERE, Batch, Tally, child_environment, run_batch, scratch
from hostile_yaml import manifest_text

BATCH = 5_000
SEED_INPUTS = 300
EXAMPLES = HERE.parents[1] / "examples"


def run_target(target: str, inputs: int, seed: int, folder: Path, seconds: float) -> Tally:
    """Run one target in batches, until it had its inputs or its time is over."""
    tally, begin = Tally(), time.monotonic()
    while _counted(tally) < inputs and time.monotonic() - begin < seconds:
        tally.add(run_batch(Batch(target, seed, tally.inputs, min(BATCH, inputs)), folder))
        if tally.failures:
            break
    return tally


def _counted(tally: Tally) -> int:
    """Of mutated answers each counts; a run asks for several."""
    return tally.notes.get("answers", tally.inputs)


def run_raw(inputs: int, seed: int, folder: Path, seconds: float) -> Tally:
    """Run the coverage-guided fuzzer on raw bytes, from examples and made manifests."""
    folder.mkdir(parents=True, exist_ok=True)
    tally, begin = Tally(), time.monotonic()
    with tempfile.TemporaryDirectory() as place, scratch() as memory:
        for number, content in enumerate(_corpus(seed)):
            (Path(place) / str(number)).write_bytes(content)
        command = [sys.executable, str(HERE / "raw.py"), place, str(inputs), str(seed), str(folder)]
        command += [f"-max_total_time={int(seconds)}"] if seconds < float("inf") else []
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, env=child_environment(memory)
        )
    tally.seconds = time.monotonic() - begin
    tally.inputs = _figure("number_of_executed_units", ended.stderr)
    tally.peak_mb = _figure("peak_rss_mb", ended.stderr)
    if ended.returncode != 0:
        tally.failures.append(f"raw seed={seed}: {(ended.stdout + ended.stderr)[-3_000:]}")
    return tally


def _corpus(seed: int) -> Iterator[bytes]:
    for file in sorted(EXAMPLES.rglob("*.yaml")):
        yield file.read_bytes()[:4_096]
    for number in range(SEED_INPUTS):
        yield manifest_text(Random(f"{seed}:{number}"))  # noqa: S311 - repeatable, not secret


def _figure(name: str, text: str) -> int:
    found = re.search(rf"{name}:\s+(\d+)", text)
    return int(found[1]) if found else 0


Runner = Callable[[int, int, Path, float], Tally]
RUNNERS: dict[str, Runner] = {
    "manifests": lambda inputs, seed, folder, seconds: run_target(
        "manifests", inputs, seed, folder, seconds
    ),
    "raw": run_raw,
    "answers": lambda inputs, seed, folder, seconds: run_target(
        "answers", inputs, seed, folder, seconds
    ),
    "foreign": lambda inputs, seed, folder, seconds: run_target(
        "foreign", inputs, seed, folder, seconds
    ),
}


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run what was asked for, all without arguments; 1 where something failed."""
    inputs = int(os.environ.get("FUZZ_INPUTS", "1000000"))
    seed = int(os.environ.get("FUZZ_SEED", "1"))
    seconds = float(os.environ.get("FUZZ_SECONDS", "inf"))
    folder = Path(os.environ.get("FUZZ_FAILURES", "fuzz-failures")).absolute()
    failed = False
    _say(f"seed {seed}, up to {inputs:,} inputs each; what fails is saved in {folder.name}/")
    for name in sys.argv[1:] or list(RUNNERS):
        tally = RUNNERS[name](inputs, seed, folder, seconds)
        rate = _counted(tally) / max(tally.seconds, 0.001)
        _say(
            f"{name}: {_counted(tally):,} inputs, {rate:,.0f} a second, "
            f"peak {tally.peak_mb} MB, {len(tally.failures)} failures"
        )
        _say("  " + ", ".join(f"{key} {count:,}" for key, count in sorted(tally.notes.items())))
        for failure in tally.failures:
            _say(failure)
        failed |= bool(tally.failures)
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
