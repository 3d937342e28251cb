"""Coverage-guided fuzzing of raw bytes: `raw.py CORPUS RUNS SEED FOLDER`.

An input that raises, hangs or eats memory ends the process with a code that is
not 0, and stands in FOLDER.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import atheris  # type: ignore[import-untyped]  # it has no types

with atheris.instrument_imports(include=["reconciler"]):
    from targets import Manifests, scratch

    target = Manifests(scratch())
    # What is imported late is instrumented too.
    target.read(b"a: 1\n")

RSS_MB = 512


def _begun_with() -> int:
    """Give the megabytes that a process is told to have used before it did anything.

    What a process forked from had used counts as used by it.
    """
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


TIMEOUT_SECONDS = 10
LONGEST_INPUT = 4_096


def main() -> None:
    """Fuzz; never returns."""
    corpus, runs, seed, folder, *more = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    options = [
        f"-runs={runs}",
        f"-seed={seed}",
        f"-max_len={LONGEST_INPUT}",
        f"-timeout={TIMEOUT_SECONDS}",
        f"-rss_limit_mb={RSS_MB + _begun_with()}",
        f"-artifact_prefix={Path(folder)}/",
        "-print_final_stats=1",
        *more,
    ]
    atheris.Setup([sys.argv[0], *options, corpus], target.read)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
