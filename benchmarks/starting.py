"""Whole processes that do next to nothing, against a bare interpreter.

`--version` runs in scripts and prompts, `--help` while somebody waits. The floor
is the interpreter of the same environment with nothing to do.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from benchmarks.measuring import cpu_of_process, medians, verdict

ROUNDS = 25
TARGETS = {"--version": 1.2, "--help": 2.5}


def run() -> None:
    """Print the figures."""
    command = str(Path(sys.executable).with_name("reconciler"))
    commands = {
        "floor": [sys.executable, "-c", "pass"],
        "isolated": [sys.executable, "-I", "-S", "-c", "pass"],
        "click": [sys.executable, "-c", "import click"],
        **{flag: [command, flag] for flag in TARGETS},
    }
    took = medians(ROUNDS, {name: partial(cpu_of_process, line) for name, line in commands.items()})
    ms = {name: seconds * 1e3 for name, seconds in took.items()}
    print("starting, whole processes")
    print(f"  floor: python -c pass              {ms['floor']:6.1f} ms")
    print(f"  for information: python -I -S      {ms['isolated']:6.1f} ms")
    print(f"  for information: import click      {ms['click']:6.1f} ms")
    for flag, target in TARGETS.items():
        ratio = ms[flag] / ms["floor"]
        print(
            f"  reconciler {flag:10}              {ms[flag]:6.1f} ms   {ratio:.2f} x the floor "
            f"(target {target:g} x: {verdict(ratio, target)})"
        )
