"""The streams of this process: writing stops no run, and what stdout lost is known at the end.

Whoever reads a run may leave, and a disk may be full. What a run does to a service must
not depend on that, so words that nobody can read are dropped. Data is what a command was
asked for: that it was lost is an exit code of its own. Imports nothing heavy, as it comes
before everything else.
"""

from __future__ import annotations

import io
import os
import select
import sys

# Importing `typing` would take as long as all the rest of `--version`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from typing_extensions import Buffer

STDOUT, STDERR = 1, 2
CLOSED = "it is closed"


class Sink(io.RawIOBase):
    """A descriptor that takes what it can. The first failure is kept, and nothing is raised."""

    def __init__(self, descriptor: int, *, closed: bool = False) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._was_closed = closed
        self.lost: OSError | None = None

    def fileno(self) -> int:
        """Give the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Tell whether a person reads it."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True

    def write(self, content: Buffer, /) -> int:
        """Write all of it, or note why not; gives its length either way."""
        rest = memoryview(content).cast("B")
        size = len(rest)
        try:
            while rest and self.lost is None:
                rest = rest[self._write(rest) :]
        except OSError as error:
            self.lost = error
        return size

    def _write(self, content: memoryview) -> int:
        if self._was_closed:
            raise OSError(CLOSED)
        try:
            return os.write(self._descriptor, content)
        except BlockingIOError:
            # Another program that shares the pipe or terminal made it so.
            select.select([], [self._descriptor], [])
            return 0


def take_streams() -> None:
    """Put sinks in the place of stdout and stderr, and something in that of a closed one.

    What a program put there itself, such as a test, stays.
    """
    closed = [number for number in range(3) if not _is_open(number)]
    for _ in closed:
        # Else a file that is opened later gets this number, and what is printed by others.
        os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)  # noqa: FBT003 - no keyword there
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - to the end
    if sys.stdout is sys.__stdout__:
        sys.stdout = _over(STDOUT, sys.stdout, closed)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _over(STDERR, sys.stderr, closed)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _over(number: int, before: TextIO | None, closed: list[int]) -> TextIO:
    encoding = before.encoding if before is not None else "utf-8"
    return io.TextIOWrapper(
        io.BufferedWriter(Sink(number, closed=number in closed)),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=True,
    )


def write(stream: TextIO, text: str) -> OSError | None:
    """Write a text, whole, and give why it could not be."""
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError as error:
        return error
    return lost_by(stream)


def lost_by(stream: TextIO) -> OSError | None:
    """Give why a stream could not be written to; None where all of it was, as far as is known."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw.lost if isinstance(raw, Sink) else None
