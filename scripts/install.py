"""`pip install`, and how far it is: for `make`, as pip says either nothing or far too much.

    python scripts/install.py --require-hashes -r requirements/runtime.txt

What pip said is printed where it fails. Needs nothing but pip.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install")
SECONDS = 1.0
_FETCHED = re.compile(r"Collecting ([A-Za-z0-9._-]+)")
_INSTALLING = "Installing collected packages: "


def packages_in(arguments: Sequence[str]) -> int:
    """Count the packages that the locks among the arguments pin; some are for other machines."""
    files = [Path(one) for before, one in pairwise(arguments) if before == "-r"]
    pins = {pin for file in files for pin in re.findall(r"^\S+==", file.read_text(), re.MULTILINE)}
    return len(pins)


def steps(lines: Iterable[str], total: int, clock: Callable[[], float]) -> Iterator[str]:
    """Say what pip fetches, at most once a second, and what it does last."""
    fetched, told = 0, float("-inf")
    for line in lines:
        found = _FETCHED.match(line)
        fetched += found is not None
        if found is not None and clock() - told >= SECONDS:
            told = clock()
            yield f"  fetching {found[1]}: {fetched} of at most {total}"
        if line.startswith(_INSTALLING):
            yield f"  putting {line.count(',') + 1} packages in place"


def main(arguments: Sequence[str]) -> int:
    """Install. Gives pip's exit code."""
    said: list[str] = []

    def kept(lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            said.append(line)
            yield line

    command = [*PIP, "--progress-bar", "off", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None  # noqa: S101 - it is a pipe
        for step in steps(kept(pip.stdout), packages_in(arguments), time.monotonic):
            print(step, flush=True)
    if pip.returncode:
        sys.stderr.write("".join(said))
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
