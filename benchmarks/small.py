"""What people run by hand all day, as whole processes, against a bare interpreter."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.manifests import alert
from benchmarks.measuring import cpu_of_process, figures
from benchmarks.worlds import COMMAND

ROUNDS = 9
TARGETS = {"`validate` of one file": 12.0, "`plan` of examples/, embedded emulator": 25.0}
EXAMPLES = Path(__file__).parent.parent / "examples"


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "alert.yaml"
        file.write_text(alert(1), encoding="utf-8")
        examples = Path(name) / "examples"
        shutil.copytree(EXAMPLES, examples, ignore=shutil.ignore_patterns(".reconciler"))
        subprocess.run(  # noqa: S603 - our own command
            [COMMAND, "apply", "--yes", "--new-journal", "--quiet", str(examples)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        commands = (
            [COMMAND, "validate", "--quiet", str(file)],
            [COMMAND, "plan", "--quiet", str(examples)],
        )
        named = zip(TARGETS, commands, strict=True)
        more = {"RECONCILER_CACHE": f"{name}/cache"}
        took = figures(
            ROUNDS,
            partial(cpu_of_process, [sys.executable, "-c", "pass"]),
            {what: partial(cpu_of_process, command, more) for what, command in named},
            floors=5,
        )
    print("small runs, whole processes")
    for what, figure in took.items():
        print(figure.text(what, "python -c pass", TARGETS[what]))
