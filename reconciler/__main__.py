"""The entry point: `reconciler` and `python -m reconciler`."""

from __future__ import annotations

import gc
import os
import sys

from reconciler import __version__
from reconciler.streams import lost_by, take_streams

# What a run reads lives to its end: looking for garbage in it again and again takes a tenth of the
# time of a large `validate`.
GARBAGE_THRESHOLDS = (50_000, 20, 50)


def main() -> None:
    """Run the command line and exit with its code."""
    take_streams()
    if (asked := os.environ.get("_RECONCILER_COMPLETE")) is not None:
        from reconciler.cli.complete import answer as complete  # noqa: PLC0415 - see below

        sys.exit(complete(asked))
    try:
        code = answer(sys.argv[1:])
    except KeyboardInterrupt:
        from reconciler.errors import ExitCode  # noqa: PLC0415 - see below

        # It came before anything was begun: what runs takes its signals itself.
        code = _told(ExitCode.INTERRUPTED)
    if code:
        sys.exit(code)


def answer(arguments: list[str]) -> int:
    """Run one command line and give its exit code.

    What scripts and shells ask at every start is answered without importing anything else.
    """
    if arguments == ["--version"]:
        sys.stdout.write(f"reconciler {__version__}\n")
    elif arguments in (["--help"], ["-h"]):
        from reconciler.cli.overview import overview  # noqa: PLC0415 - see above

        sys.stdout.write(overview())
    else:
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        from reconciler.cli.root import run  # noqa: PLC0415 - see above

        return _told(run(arguments))
    sys.stdout.flush()
    if lost_by(sys.stdout) is None:
        return 0
    from reconciler.cli.root import with_loss  # noqa: PLC0415 - only for an error

    return with_loss(0)


def _told(code: int) -> int:
    """Give the code of what is over: a late signal would end this process with another one."""
    import signal  # noqa: PLC0415 - a third of what `--version` takes

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return code


if __name__ == "__main__":
    main()
