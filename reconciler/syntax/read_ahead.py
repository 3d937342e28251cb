"""Files read ahead by other processes, so that they are available when they are needed.

The result of such a process equals the result of reading the same bytes here. If there is none,
because the process could not start or was killed, this process reads the file itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import IO

from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.files import File, content_of, digest_of, text_of
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import read_text

WORTHWHILE = 4_000_000
"""Below this number of bytes, starting a process takes longer than it saves."""

FIRST = 1_000_000
"""Number of bytes that are read here while the processes start."""

MOST_PROCESSES = 2
"""The other work of this process takes as long as reading, so more processes would wait."""

_START = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from reconciler.syntax.read_ahead import serve; serve()"
)
_LENGTH = 8
_PIPE = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result for a file: a digest of its bytes, or "", and the reading or a complaint."""

    digest: str
    reading: Reading | Complaint


def read_here(file: File, roots: Sequence[Path]) -> ReadResult:
    """Read a file in the format of its suffix."""
    content = content_of(file.path, file.name, roots)
    text = text_of(content, file.name)
    reading = text if isinstance(text, Complaint) else read_text(text, is_json=file.is_json)
    return ReadResult(digest_of(content), reading)


@dataclass(slots=True)
class ReadAhead:
    """The results that were read ahead, for files that are taken in their order."""

    shares: dict[Path, _Share] = field(default_factory=dict)

    def take(self, file: File) -> ReadResult | None:
        """Wait for and return the result for a file, or None if it was not read ahead."""
        share = self.shares.pop(file.path, None)
        return share.next() if share is not None else None


@contextmanager
def reading_ahead(files: Sequence[File], roots: Sequence[Path]) -> Iterator[ReadAhead]:
    """Read files in other processes if there are enough cores, and enough to read."""
    with ExitStack() as started:
        ahead = ReadAhead()
        rest = _behind_the_first(files)
        count = min(MOST_PROCESSES, _cores() - 1) if rest else 0
        for nth in range(count):
            mine = rest[nth::count]
            with suppress(OSError):
                share = started.enter_context(_started(mine, roots))
                ahead.shares |= dict.fromkeys((file.path for file in mine), share)
        yield ahead


def _behind_the_first(files: Sequence[File]) -> Sequence[File]:
    """Return the files for other processes, or none if all are read quickly."""
    ends = list(accumulate(map(_size, files)))
    if not ends or ends[-1] < WORTHWHILE:
        return ()
    return [file for file, end in zip(files, ends, strict=True) if end > FIRST]


def _size(file: File) -> int:
    try:
        return os.stat(file.path).st_size  # noqa: PTH116 - for each of ten thousand
    except (OSError, ValueError):
        return 0


def _cores() -> int:
    """Return how many processes can run at once, or 1 if others could decode names differently."""
    if sys.getfilesystemencoding() != "utf-8":
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True)
class _Share:
    """The results of one process, file by file."""

    told: IO[bytes]
    is_over: bool = False

    def next(self) -> ReadResult | None:
        """Return the result for the next file; None from the first incomplete result on."""
        size = int.from_bytes(self._bytes(_LENGTH), "big")
        content = self._bytes(size)
        if self.is_over:
            return None
        import pickle  # noqa: PLC0415 - short runs need none

        arrived = pickle.loads(content)  # noqa: S301 - only our own process writes to the pipe
        assert isinstance(arrived, ReadResult)  # noqa: S101 - `serve` writes nothing else
        return arrived

    def _bytes(self, count: int) -> bytes:
        content = b"" if self.is_over else self.told.read(count)
        self.is_over = self.is_over or len(content) < count
        return content


@contextmanager
def _started(files: Sequence[File], roots: Sequence[Path]) -> Iterator[_Share]:
    """Start a process that reads some files; end it afterwards, even if it is not finished."""
    import pickle  # noqa: PLC0415 - short runs need none
    import tempfile  # noqa: PLC0415 - as above

    with tempfile.TemporaryFile() as request:
        pickle.dump((list(files), list(roots)), request)
        request.seek(0)
        process = subprocess.Popen(  # noqa: S603 - our own module, run by our own Python
            [sys.executable, "-I", "-c", _START, *sys.path],
            stdin=request,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pipesize=_PIPE,
            env={},
            # Only the run itself handles signals.
            start_new_session=True,
        )
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    try:
        yield _Share(process.stdout)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def serve() -> None:
    """Read the files that stdin names, and write the result for each to stdout."""
    import pickle  # noqa: PLC0415 - short runs need none

    # The parent process does not need the reason for an early end.
    with suppress(BrokenPipeError), os.fdopen(1, "wb", closefd=False) as out:
        files, roots = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own making
        for file in files:
            content = pickle.dumps(read_here(file, roots), pickle.HIGHEST_PROTOCOL)
            out.write(len(content).to_bytes(_LENGTH, "big") + content)
            out.flush()
