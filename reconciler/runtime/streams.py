"""The streams of this process: writing stops no run, and lost output is known at the end.

The reader of a run may leave, and a disk may be full. What a run does to a service must not depend
on that, so messages that cannot be written are dropped. Data is the output that a command was asked
for: its loss has an exit code of its own. This module imports nothing heavy, because it is loaded
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
    """A descriptor that accepts all output. The first failure is kept, and nothing is raised."""

    def __init__(self, descriptor: int, *, closed: bool = False) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._was_closed = closed
        self.lost: OSError | None = None

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether the descriptor is a terminal."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """Return True, as it can be written to."""
        return True

    def write(self, content: Buffer, /) -> int:
        """Write all of the content, or keep the failure; return its length in both cases."""
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
            # Another program that shares the pipe or terminal made it non-blocking.
            select.select([], [self._descriptor], [])
            return 0


def take_streams() -> None:
    """Replace stdout and stderr by sinks, and open something in place of closed descriptors.

    A stream that a program such as a test has replaced stays.
    """
    closed = [number for number in range(3) if not _is_open(number)]
    for _ in closed:
        # Otherwise a file that is opened later gets this number: a print would write into it.
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
    return io.TextIOWrapper(
        io.BufferedWriter(Sink(number, closed=number in closed)),
        encoding=before.encoding if before is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )


def write(stream: TextIO, text: str) -> OSError | None:
    """Write a whole text; return the error if that fails."""
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError as error:
        return error
    return lost_by(stream)


def lost_by(stream: TextIO) -> OSError | None:
    """Return why a stream could not be written to, or None as far as is known."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw.lost if isinstance(raw, Sink) else None
