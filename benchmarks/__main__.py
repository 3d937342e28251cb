"""Run the benchmarks that are named, or all of them."""

from __future__ import annotations

import gc
import os
import platform
import sys
from importlib import import_module

from reconciler.__main__ import GARBAGE_THRESHOLDS

NAMES = (
    *("reading", "formatting", "merging", "starting", "planning"),
    *("importing", "ruling", "completing", "alerting"),
    *("small", "unchanged", "waiting", "journaling", "growing", "lengthy", "peers"),
)


def main() -> None:
    """Print the machine, then each benchmark with its floor beside it."""
    names = sys.argv[1:] or list(NAMES)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise SystemExit(f"no benchmark {unknown[0]}: there are {', '.join(NAMES)}")
    # As in the command itself.
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; CPU time, medians")
    for name in names:
        print(flush=True)
        import_module(f"benchmarks.{name}").run()


main()
