"""The end of a journal as this machine read it last, kept in a private file."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

_SUM = re.compile(rb',"sum":"([0-9a-f]{1,64})"\}$')
_RUN = b'\n{"entry":"run",'
_LONGEST = 4096
_KEPT = ("end", "run", "header")


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a journal: the sum of the last line, the id of the last run, the header's sum.

    Compacting and moving a journal change all sums and keep the ids of runs. `way_back` is the
    commands that bring a journal with this end back; "" where no copy is known.
    """

    end: str = ""
    run: str = ""
    header: str = ""
    way_back: str = field(default="", compare=False)


def ending_of(lines: bytes | bytearray) -> Ending:
    """Return how a journal ends; only its first line, its last and its last run are read."""
    end = lines.rfind(b"\n")
    if end < 0:
        return Ending()
    last = lines.rfind(b"\n", 0, end) + 1
    begun = lines.rfind(_RUN, 0, end) + 1
    run = json.loads(_line(lines, begun)).get("run", "") if begun else ""
    return Ending(_sum(lines[last:end]), str(run), _sum(_line(lines, 0)))


def _line(lines: bytes | bytearray, start: int) -> bytes:
    return bytes(lines[start : lines.index(b"\n", start)])


def _sum(line: bytes | bytearray) -> str:
    found = _SUM.search(line)
    return found[1].decode() if found is not None else ""


def remembered(file: Path) -> Ending:
    """Return the end that a file has kept; `Ending()` where it cannot be read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = json.loads(os.read(descriptor, _LONGEST))
        finally:
            os.close(descriptor)
        return Ending(**{name: str(found[name]) for name in _KEPT})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Ending()


def remember(file: Path, ending: Ending) -> None:
    """Write how a journal ends; where that fails, the next run does it.

    The new file is renamed over the old, so a link in its place is replaced and not followed.
    """
    if remembered(file) == ending:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump({name: getattr(ending, name) for name in _KEPT}, stream)
            Path(name).replace(file)
        except OSError:
            Path(name).unlink()
            raise
