"""Files read ahead by processes beside this one, so that they are there when they are asked for.

What such a process gives is what this one would have made of the same bytes. Where it gives
nothing, be it that it could not start or was killed, this one reads the file itself.
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
"""Below so many bytes a process is started for longer than it helps."""

FIRST = 1_000_000
"""So many bytes are read here while the processes start."""

MOST_PROCESSES = 2
"""What is left to do here takes as long as reading, so that more would wait."""

_START = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from reconciler.syntax.read_ahead import serve; serve()"
)
_LENGTH = 8
_PIPE = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What became of a file: a digest of its bytes, "" without any, and what they were read as."""

    digest: str
    reading: Reading | Complaint


def read_here(file: File, roots: Sequence[Path]) -> ReadResult:
    """Read a file as its suffix says."""
    content = content_of(file.path, file.name, roots)
    text = text_of(content, file.name)
    reading = text if isinstance(text, Complaint) else read_text(text, is_json=file.is_json)
    return ReadResult(digest_of(content), reading)


@dataclass(slots=True)
class ReadAhead:
    """Gives what was read ahead of each file, as long as the files come in their order."""

    shares: dict[Path, _Share] = field(default_factory=dict)

    def take(self, file: File) -> ReadResult | None:
        """Give what became of a file; None where nobody read it ahead. Waits for it."""
        share = self.shares.pop(file.path, None)
        return share.next() if share is not None else None


@contextmanager
def reading_ahead(files: Sequence[File], roots: Sequence[Path]) -> Iterator[ReadAhead]:
    """Read files in processes of their own where there are cores for it, and enough to read."""
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
    """Give the files that are worth a process, none where all are soon read."""
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
    """Give how many processes can run at once, one where another one may read names otherwise."""
    if sys.getfilesystemencoding() != "utf-8":
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True)
class _Share:
    """What one process tells, file by file."""

    told: IO[bytes]
    is_over: bool = False

    def next(self) -> ReadResult | None:
        """Give what became of the next file, None from the first that did not come whole."""
        size = int.from_bytes(self._bytes(_LENGTH), "big")
        content = self._bytes(size)
        if self.is_over:
            return None
        import pickle  # noqa: PLC0415 - short runs need none

        arrived = pickle.loads(content)  # noqa: S301 - ours: nobody else writes to the pipe
        assert isinstance(arrived, ReadResult)  # noqa: S101 - `serve` writes nothing else
        return arrived

    def _bytes(self, count: int) -> bytes:
        content = b"" if self.is_over else self.told.read(count)
        self.is_over = self.is_over or len(content) < count
        return content


@contextmanager
def _started(files: Sequence[File], roots: Sequence[Path]) -> Iterator[_Share]:
    """Start a process that reads some files, and end it, however far it is."""
    import pickle  # noqa: PLC0415 - short runs need none
    import tempfile  # noqa: PLC0415 - as above

    with tempfile.TemporaryFile() as asked:
        pickle.dump((list(files), list(roots)), asked)
        asked.seek(0)
        process = subprocess.Popen(  # noqa: S603 - our own module, run by our own Python
            [sys.executable, "-I", "-c", _START, *sys.path],
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pipesize=_PIPE,
            env={},
            # A signal to the run is answered by the run.
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
    """Read the files that stdin names, and write what became of each to stdout."""
    import pickle  # noqa: PLC0415 - short runs need none

    # Whoever asked for them has no use for a word of why it ends.
    with suppress(BrokenPipeError), os.fdopen(1, "wb", closefd=False) as out:
        files, roots = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own making
        for file in files:
            content = pickle.dumps(read_here(file, roots), pickle.HIGHEST_PROTOCOL)
            out.write(len(content).to_bytes(_LENGTH, "big") + content)
            out.flush()
