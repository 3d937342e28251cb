"""The files of one run: each is read once, and results are kept if they are needed again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import IO, Final, Generic, TypeVar

from reconciler.document import Json
from reconciler.syntax.diagnostic import Complaint, Finding
from reconciler.syntax.files import (
    LARGEST_AGAIN,
    LARGEST_WORKSPACE,
    File,
    content_of,
    digest_of,
    text_of,
)
from reconciler.syntax.parsed_text import Document, Reading
from reconciler.syntax.read_text import read_text

WORTHWHILE = 4_000_000
"""Below this number of bytes, starting a process takes longer than it saves."""

FIRST = 1_000_000
"""Number of bytes that are read here while the processes start."""

MOST_PROCESSES = 2
"""The other work of this process takes as long as reading, so more processes would wait."""

_START = (
    "import sys; sys.path[:] = sys.argv[1:]; from reconciler.syntax.sources import serve; serve()"
)
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
    """The results that were read ahead, for files that are taken in their order.

    `shares` are the outputs of the processes, by the files that they read.
    """

    shares: dict[Path, IO[bytes]] = field(default_factory=dict)

    def take(self, file: File) -> ReadResult | None:
        """Wait for and return the result for a file; None if no whole result was read ahead."""
        import pickle  # noqa: PLC0415 - short runs need none

        share = self.shares.pop(file.path, None)
        if share is not None:
            # A process that ended early wrote nothing after its last whole result.
            with suppress(EOFError, pickle.UnpicklingError):
                arrived = pickle.load(share)  # noqa: S301 - only our own process writes to the pipe
                assert isinstance(arrived, ReadResult)  # noqa: S101 - `serve` writes nothing else
                return arrived
        return None


@contextmanager
def reading_ahead(files: Sequence[File], roots: Sequence[Path]) -> Iterator[ReadAhead]:
    """Read files in other processes if there are enough cores, and enough to read.

    On two cores, `validate` of 7.4 MB in 1,100 files takes 0.76 of the wall time, and 1.06 of the
    processor's.
    """
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


@contextmanager
def _started(files: Sequence[File], roots: Sequence[Path]) -> Iterator[IO[bytes]]:
    """Start a process that reads some files, and yield its output.

    It is ended afterwards, even if it is not finished.
    """
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
        yield process.stdout
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
            pickle.dump(read_here(file, roots), out, pickle.HIGHEST_PROTOCOL)
            out.flush()


NOBODY_READ: Final = (File(Path(), ""), None)

Judged = TypeVar("Judged")


@dataclass(slots=True)
class Sources(Generic[Judged]):
    """Reader of the files of a run, with size limits. `kept` keeps readings and reports (`Judged`).

    `arrived` is a file with its reading, made ahead by another process; it is used once. `paths`
    are all files that were read, `instead` are the texts that files would have after a repair.
    Values made and files `included` are counted over all environments, because all of them are in
    memory together.
    """

    roots: tuple[Path, ...]
    kept: bool = False
    instead: Mapping[Path, str] = field(default_factory=dict)
    largest: int = LARGEST_WORKSPACE
    size: int = 0
    again: int = 0
    nodes_made: int = 0
    text_made: int = 0
    included: int = 0
    met: set[Path] = field(default_factory=set)
    first_unread: str = ""
    readings: dict[tuple[Path, bool], Reading | Complaint] = field(default_factory=dict)
    paths: set[Path] = field(default_factory=set)
    arrived: tuple[File, ReadResult | None] = NOBODY_READ
    judged: dict[int, tuple[Document, Judged]] = field(default_factory=dict)
    patches: dict[tuple[int, str], tuple[Json, list[Finding], list[Finding]]] = field(
        default_factory=dict
    )
    """Findings about patches of environments, for the validation of `overrides`."""
    digests: dict[Path, tuple[str, str]] | None = None
    """The display name of each file and a digest of its bytes, by path; None if not needed."""
    aside: frozenset[Path] | None = None
    """The real paths of files that settings name, which declare nothing; None if not looked up."""

    def begin(self) -> None:
        """Start another environment, with the same size limit again."""
        self.size, self.again, self.first_unread = 0, 0, ""
        self.met = set()

    def read(self, path: Path, name: str, *, is_json: bool) -> Reading | Complaint:
        """Return the reading of a file, as long as the workspace is not too large.

        A file counts each time that it is used, because each use validates it. From the second time
        on it counts towards a limit that no setting raises.
        """
        if self.size > self.largest or self.again > LARGEST_AGAIN:
            self.first_unread = self.first_unread or name
            most = self.largest if self.size > self.largest else LARGEST_AGAIN
            message = f"the files are larger than {most >> 20} MB in all: from here, unread"
            return Complaint.of_file(self.first_unread, "M115", message)
        self.paths.add(path)
        reading = self.readings.get((path, is_json))
        if reading is None:
            reading = self._read(path, name, is_json=is_json)
            if self.kept:
                self.readings[path, is_json] = reading
        if isinstance(reading, Reading):
            if path in self.met:
                self.again += len(reading.lines.text)
            else:
                self.met.add(path)
                self.size += len(reading.lines.text)
        return reading

    def _read(self, path: Path, name: str, *, is_json: bool) -> Reading | Complaint:
        file, arrived = self.arrived
        if arrived is not None and (file.path, file.is_json) == (path, is_json):
            self.arrived = file, None
            self._note(path, name, arrived.digest)
            return arrived.reading
        text = self.text_of(path, name)
        return text if isinstance(text, Complaint) else read_text(text, is_json=is_json)

    def text_of(self, path: Path, name: str) -> str | Complaint:
        """Return the text of a file, or the text that replaces it."""
        own = self.instead.get(path.resolve()) if self.instead else None
        if own is not None:
            return own
        content = content_of(path, name, self.roots)
        if self.digests is not None:
            self._note(path, name, digest_of(content))
        return text_of(content, name)

    def _note(self, path: Path, name: str, digest: str) -> None:
        if self.digests is not None:
            # A file that changed between two reads gets a digest that never matches.
            known = self.digests.setdefault(path, (name, digest))
            if known[1] != digest:
                self.digests[path] = name, "changed"

    def judge(self, document: Document, judging: Callable[[], Judged]) -> Judged:
        """Return the report on a document that is the same in every environment."""
        known = self.judged.get(id(document))
        if known is not None:
            return known[1]
        judged = judging()
        if self.kept:
            # The document is kept too, so that no other document gets its id.
            self.judged[id(document)] = document, judged
        return judged
