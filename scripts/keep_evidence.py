"""Run a command, and keep what it prints as docs/evidence/NAME.md, with its command and its place.

    python scripts/keep_evidence.py small -- python -m benchmarks small

`make bench KEEP=NAME` does so, and so do the other targets that measure.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "docs" / "evidence"
GIVEN: Final = ("CAMPAIGN", "CANARY_", "CONFORMANCE_", "FOREIGN_", "FUZZ_", "GROWTH", "POLICY_")
"""How variables begin that change what such a command does."""


def page(name: str, command: Sequence[str], printed: str, ended: int) -> str:
    """Return the page of a run: the command, where and when it ran, and its output unchanged."""
    program, *arguments = command
    given = [f"{key}={value}" for key, value in os.environ.items() if key.startswith(GIVEN)]
    line = " ".join((*sorted(given), shlex.join((Path(program).name, *arguments))))
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=7"],  # noqa: S607 - git of the PATH
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    ).stdout.strip()
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    return (
        f"# {name}\n\nWritten by `{line}` on {time.strftime('%Y-%m-%d', time.gmtime())}, at commit "
        f"{commit or 'unknown'}, {machine}; it ended with {ended}.\n\n"
        f"```text\n{printed.rstrip()}\n```\n"
    )


def main(name: str, command: Sequence[str]) -> int:
    """Run the command, print its output as it comes, write the page, and end as the command did."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        for text in running.stdout or ():
            sys.stdout.write(text)
            sys.stdout.flush()
            lines.append(text)
    FOLDER.mkdir(exist_ok=True)
    kept = page(name, command, "".join(lines), running.returncode)
    (FOLDER / f"{name}.md").write_text(kept, encoding="utf-8")
    return running.returncode


if __name__ == "__main__":
    _, said_name, _, *said_command = sys.argv
    sys.exit(main(said_name, said_command))
