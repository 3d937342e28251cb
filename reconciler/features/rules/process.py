"""A separate process: started without environment, fed with lines, read line by line, ended.

It receives JSON on stdin and writes JSON on stdout. No file of ours is open in it, and its
environment is empty.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.document import Json

APART = Path(__file__).with_name("cel_worker.py")

_SHARE = 1 << 16
_TIMED = (signal.SIGPROF, signal.SIGXCPU)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that judging may cost: seconds of the processor, seconds in all, bytes.

    `cpu` is for all rules about one document, and again for each rule alone where that was too
    much. `wall` only ends a process that is stopped; `cpu` ends one that works.
    """

    cpu: float = 0.2
    wall: float = 10.0
    in_all: float = 60.0
    memory: int = 512 << 20


class Died(Exception):
    """The process ended before it answered everything; the message says why."""


@dataclass(slots=True)
class Process:
    """A running process. Where it stalls, it is killed."""

    bounds: Bounds
    _process: subprocess.Popen[bytes] = field(init=False)
    _unread: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own file, run by our own Python
            [sys.executable, "-I", "-B", str(APART)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={},
            # Signals to the run are handled by the run, not by this process.
            start_new_session=True,
        )
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None  # noqa: S101 - both are pipes
            os.set_blocking(stream.fileno(), False)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def told(self, line: Json, count: int) -> Iterator[Json]:
        """Send one line to the process, and yield the `count` lines that it answers.

        Raises Died.
        """
        left = memoryview(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None  # noqa: S101 - both are pipes
        assert sink is not None  # noqa: S101 - the same
        with selectors.DefaultSelector() as ready:
            ready.register(source, selectors.EVENT_READ)
            ready.register(sink, selectors.EVENT_WRITE)
            until = time.monotonic() + self.bounds.wall
            while count:
                found = ready.select(max(0.0, until - time.monotonic()))
                if not found:
                    raise Died(self._died())
                for key, _ in found:
                    if key.fileobj is sink:
                        left = self._said(left)
                        if not left:
                            ready.unregister(sink)
                    else:
                        for value in self._heard():
                            count -= 1
                            until = time.monotonic() + self.bounds.wall
                            yield value

    def _said(self, left: memoryview) -> memoryview:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            return left[os.write(self._process.stdin.fileno(), left[:_SHARE]) :]
        except BlockingIOError:
            return left
        except BrokenPipeError:
            # What it wrote before it died is still to be read.
            return left[len(left) :]

    def _heard(self) -> list[Json]:
        """Return the lines that have come. Raises Died where there will be none."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        heard = os.read(self._process.stdout.fileno(), _SHARE)
        if not heard:
            raise Died(self._died())
        self._unread += heard
        *lines, rest = self._unread.split(b"\n")
        self._unread = bytearray(rest)
        return [json.loads(line) for line in lines]

    def _died(self) -> str:
        """Return how the process ended; one that is still running did nothing for too long."""
        if self._process.poll() is None:
            try:
                self._process.wait(0.1)
            except subprocess.TimeoutExpired:
                self._process.kill()
                return f"no answer came in {self.bounds.wall:g} s"
        code = self._process.returncode
        if -code in _TIMED:
            return f"it takes more than the {self.bounds.cpu:g} s that a rule may take"
        if code == -signal.SIGABRT:
            return f"it takes more than the {self.bounds.memory >> 20} MB that a rule may take"
        return "it brought down the process that judges rules"
