"""The entry point: `reconciler` and `python -m reconciler`."""

from __future__ import annotations

import gc
import os
import signal
import sys

from reconciler import __version__
from reconciler.errors import ExitCode
from reconciler.streams import lost_by, take_streams

# What a run reads lives to its end: looking for garbage in it again and again takes a tenth of the
# time of a large `validate`.
GARBAGE_THRESHOLDS = (50_000, 20, 50)


def main() -> None:
    """Run the command line and exit with its code."""
    take_streams()
    if (asked := os.environ.get("_RECONCILER_COMPLETE")) is not None:
        from reconciler.commands.completing import answer as complete  # noqa: PLC0415 - see below

        sys.exit(complete(asked))
    try:
        code = answer(sys.argv[1:])
    except KeyboardInterrupt:
        # It came before anything was begun: what runs takes its signals itself.
        code = ExitCode.INTERRUPTED
    # What the run came to is told: a late signal would end this process with another code.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if code:
        sys.exit(code)


def answer(arguments: list[str]) -> int:
    """Run one command line and give its exit code.

    What scripts and shells ask at every start is answered without importing anything else.
    """
    if arguments == ["--version"]:
        sys.stdout.write(f"reconciler {__version__}\n")
    elif arguments in (["--help"], ["-h"]):
        from reconciler.commands.overview import overview  # noqa: PLC0415 - see above

        sys.stdout.write(overview())
    else:
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        from reconciler.commands.root import run  # noqa: PLC0415 - see above

        return run(arguments)
    sys.stdout.flush()
    if lost_by(sys.stdout) is None:
        return 0
    from reconciler.commands.root import with_loss  # noqa: PLC0415 - only for an error

    return with_loss(0)


if __name__ == "__main__":
    main()
