"""The entry point: `reconciler` and `python -m reconciler`."""

from __future__ import annotations

import gc
import sys

from reconciler import __version__

# What a run reads lives to its end: looking for garbage in it again and again takes a tenth of the
# time of a large `validate`.
GARBAGE_THRESHOLDS = (50_000, 20, 50)


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["--version"]:
        # Asked by scripts at every start, so nothing else is imported for it.
        sys.stdout.write(f"reconciler {__version__}\n")
        return
    if sys.argv[1:] in (["--help"], ["-h"]):
        from reconciler.commands.overview import overview  # noqa: PLC0415 - see above

        sys.stdout.write(overview())
        return
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    from reconciler.commands.root import run  # noqa: PLC0415 - see above

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
