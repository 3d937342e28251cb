"""One batch: `child.py TARGET SEED FIRST COUNT FOLDER PLACE`. Prints its tally as JSON."""

from __future__ import annotations

import dataclasses
import json
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from random import Random
from types import FrameType

from batches import Place, Tally
from targets import TARGETS, Target

ADDRESS_SPACE = 2 << 30
SECONDS_AN_INPUT = 1.0


class Hang(BaseException):
    """An input took a second of processor time; no `except Exception` may eat this."""


def _hang(_: int, __: FrameType | None) -> None:
    raise Hang("more than a second of processor time")


def input_of(target: Target, seed: int, number: int) -> bytes:
    """Make one input; the same for ever."""
    return target.make(Random(f"{seed}:{number}"))  # noqa: S311 - repeatable, not secret


def main() -> None:
    """Run the batch."""
    name, seed, first, count, folder, place = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.signal(signal.SIGPROF, _hang)
    target = TARGETS[name]()
    # Imports are no fault of the first input.
    target.read(input_of(target, 0, 0))
    mark, tally, begin = Place(Path(place)), Tally(), time.monotonic()
    for number in range(int(first), int(first) + int(count)):
        mark.set(number)
        content = input_of(target, int(seed), number)
        try:
            signal.setitimer(signal.ITIMER_PROF, SECONDS_AN_INPUT)
            target.read(content)
        except BaseException:  # noqa: BLE001 - whatever it is, it is what we look for
            signal.setitimer(signal.ITIMER_PROF, 0)
            tally.failures.append(_saved(Path(folder), f"{name}-{seed}-{number}", content))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    tally.inputs = int(count)
    tally.seconds = time.monotonic() - begin
    tally.peak_mb = _peak_mb()
    tally.notes = dict(getattr(target, "notes", {}))
    sys.stdout.write(json.dumps(dataclasses.asdict(tally)) + "\n")


def _peak_mb() -> int:
    """Give the most memory that this process had, in MB, without that of the one that began it."""
    # What `getrusage` says is no less than what the parent had when it began this process.
    status = Path("/proc/self/status")
    if status.exists():
        _, _, rest = status.read_text(encoding="ascii").partition("VmHWM:")
        return int(rest.split()[0]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _saved(folder: Path, name: str, content: bytes) -> str:
    """Save an input that failed, and say why and where."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return f"{folder / name}: {traceback.format_exc()[-3_000:]}"


if __name__ == "__main__":
    main()
