"""The entry point: `reconciler` and `python -m reconciler`."""

from __future__ import annotations

import gc
import os
import sys

from reconciler import __version__
from reconciler.runtime.streams import lost_by, take_streams

# Objects of a run live to its end: searching them for garbage again and again takes a tenth of the
# time of a large `validate`.
GARBAGE_THRESHOLDS = (50_000, 20, 50)


def main() -> None:
    """Run the command line and exit with its code."""
    if (request := os.environ.get("_RECONCILER_COMPLETE")) is not None:
        _leave_silently()
        take_streams()
        from reconciler.cli.complete import answer as complete  # noqa: PLC0415 - see below

        sys.exit(complete(request))
    take_streams()
    try:
        code = answer(sys.argv[1:])
    except KeyboardInterrupt:
        from reconciler.errors import ExitCode  # noqa: PLC0415 - see below

        # The signal came before anything began: a running command handles signals itself.
        code = _reported(ExitCode.INTERRUPTED)
    if code:
        sys.exit(code)


def answer(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Requests that scripts and shells make at every start are answered without other imports.
    """
    if arguments == ["--version"]:
        sys.stdout.write(f"reconciler {__version__}\n")
    elif arguments in (["--help"], ["-h"]):
        from reconciler.cli.overview import overview  # noqa: PLC0415 - see above

        sys.stdout.write(overview())
    else:
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        from reconciler.cli.root import run  # noqa: PLC0415 - see above

        return _reported(run(arguments))
    sys.stdout.flush()
    if lost_by(sys.stdout) is None:
        return 0
    from reconciler.cli.root import with_loss  # noqa: PLC0415 - only for an error

    return with_loss(0)


def _leave_silently() -> None:
    """End at once where a person interrupts: a traceback would appear inside the typed line."""
    import signal  # noqa: PLC0415 - not for `--version`

    from reconciler.errors import ExitCode  # noqa: PLC0415 - with it

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: os._exit(ExitCode.INTERRUPTED))


def _reported(code: int) -> int:
    """Ignore further signals and return the code: a late signal would change the exit code."""
    import signal  # noqa: PLC0415 - a third of what `--version` takes

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return code


if __name__ == "__main__":
    main()
