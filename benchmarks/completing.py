"""Completion in a whole process: what somebody waits for after the Tab key, at 1,000 manifests."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from benchmarks.measuring import cpu_of_process, medians, verdict

ROUNDS = 15
TARGET_MS = 150.0
MANIFEST = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {{name: s{number}, labels: {{team: t{team}}}}}
spec:
  name: S {number}
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {{goodEvents: {{query: good}}, totalEvents: {{query: all}}}}
"""
ASKED = {
    "a command": "reconciler pl",
    "a name": "reconciler adopt SLO/s99",
    "a label": "reconciler plan --select label.team=t1",
}


def run() -> None:
    """Print the figures."""
    command = str(Path(sys.executable).with_name("reconciler"))
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "reconciler.yaml").write_text("environments: {local: {}}\n", encoding="utf-8")
        for number in range(1000):
            text = MANIFEST.format(number=number, team=number % 20)
            (root / f"s{number}.yaml").write_text(text, encoding="utf-8")
        os.chdir(root)
        lines = {"floor": [sys.executable, "-c", "pass"], **{name: [command] for name in ASKED}}
        took = medians(ROUNDS, {name: partial(_took, line, name) for name, line in lines.items()})
        os.chdir(os.path.sep)
    print("completing, whole processes, 1,000 manifests in as many files")
    print(f"  floor: python -c pass    {took['floor'] * 1e3:6.1f} ms")
    for name in ASKED:
        ms = took[name] * 1e3
        said = verdict(ms, TARGET_MS)
        print(f"  {name:22}   {ms:6.1f} ms (target {TARGET_MS:g} ms: {said})")


def _took(line: Sequence[str], name: str) -> float:
    """Give the CPU seconds of a process that is asked for words."""
    words = ASKED.get(name, "")
    asked = {"_RECONCILER_COMPLETE": "bash_complete", "COMP_WORDS": words}
    asked["COMP_CWORD"] = str(len(words.split()) - 1)
    with patch.dict(os.environ, asked):
        return cpu_of_process(line)
