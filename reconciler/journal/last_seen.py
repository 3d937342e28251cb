"""How a journal ended when this machine saw it last, in a private file of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

_SUM = re.compile(rb',"sum":"([0-9a-f]{1,64})"\}$')
_RUN = b'\n{"entry":"run",'
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Ending:
    """The sum of the last line, the id of the last run, and the sum of the first line.

    Compacting and moving write all lines again: other sums, and the runs stay.
    """

    end: str = ""
    run: str = ""
    header: str = ""


def ending_of(lines: bytes | bytearray) -> Ending:
    """Return how lines end, of which only the first, the last and the last run's are read."""
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
    """Read what a file remembers; nothing where it cannot be read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = json.loads(os.read(descriptor, _LONGEST))
        finally:
            os.close(descriptor)
        return Ending(**{name: str(found[name]) for name in ("end", "run", "header")})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Ending()


def remember(file: Path, ending: Ending) -> None:
    """Write how a journal ends; where there is no room, the next one that sees it does.

    The file takes the place of what is there at once, so that a link is not followed.
    """
    if remembered(file) == ending:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(asdict(ending), stream)
            Path(name).replace(file)
        except OSError:
            Path(name).unlink()
            raise
