"""A journal in one file: append, fsync, mode 0600, a lock that dies with its process.

It is safe for the runs of one machine; two machines must not share it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reconciler.document import Json
from reconciler.errors import InvalidInput, JournalError, Locked
from reconciler.journal.entries import (
    Entry,
    Header,
    entry_document,
    header_document,
    line_of,
    parse_entry,
    parse_header,
    parse_line,
)
from reconciler.journal.history import History
from reconciler.points import Point, reached

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_BEGINNING = b'{"journal":'


@dataclass(slots=True)
class FileJournal:
    """The journal of one environment and target.

    Reading is free; appending needs the lock. `torn` says that the last line
    was cut, as by a crash or a full disk: it is ignored, and removed by the
    next append.
    """

    path: Path
    environment: str
    target: str
    clock: Callable[[], datetime]
    history: History = field(default_factory=History)
    entries: list[Entry] = field(default_factory=list)
    header: Header | None = None
    torn: bool = False
    _sum: str = ""
    _size: int = 0
    _end: int | None = 0
    """Where the file ends, a torn line included; None where a write of ours failed."""

    def load(self) -> None:
        """Read the file, if there is one.

        Raises JournalError where it cannot be trusted, and InvalidInput where
        it is the journal of another environment or target.
        """
        self.history, self.entries, self.header = History(), [], None
        self._sum, self._size, self.torn = "", 0, False
        content = _read(self.path)
        whole, newline, tail = content.rpartition(b"\n")
        self.torn = bool(tail)
        self._size, self._end = len(whole) + len(newline), len(content)
        if not newline and not _may_begin_a_journal(tail):
            raise JournalError(f"{self.path} is not a journal")
        try:
            lines = whole.decode().split("\n") if newline else []
        except UnicodeDecodeError as error:
            raise JournalError(f"{self.path} is not UTF-8") from error
        with self._named():
            for number, line in enumerate(lines, 1):
                document, self._sum = parse_line(line, self._sum, number)
                if number == 1:
                    self.header = parse_header(document)
                else:
                    self.entries.append(parse_entry(document, number))
        self.history.add(self.entries)
        self._check_header()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except JournalError as error:
            raise JournalError(f"{self.path}: {error}") from error

    def _check_header(self) -> None:
        header = self.header
        if header is None or (header.environment, header.target) == (self.environment, self.target):
            return
        raise InvalidInput(
            f"{self.path} is the journal of environment `{header.environment}` at "
            f"{header.target}, not of `{self.environment}` at {self.target}: "
            "give each environment a journal of its own"
        )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, and read again what others wrote before.

        Raises Locked, naming the holder and since when.
        """
        _make_folder(self.path.parent)
        lock = self.path.with_name(self.path.name + ".lock")
        with _os_errors(lock):
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Locked(f"{self.path} is locked by {_holder(descriptor)}") from None
            self._sign(descriptor)
            self.load()
            yield
        finally:
            os.close(descriptor)

    def holder(self) -> str:
        """Say who holds the lock, and "" for nobody. The lock is not taken, nor anything written.

        Raises JournalError where the lock cannot be looked at.
        """
        lock = self.path.with_name(self.path.name + ".lock")
        try:
            descriptor = os.open(lock, os.O_RDONLY | _FLAGS)
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise JournalError(f"{lock}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _holder(descriptor)
        finally:
            os.close(descriptor)
        return ""

    def _sign(self, descriptor: int) -> None:
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": self.now()}
        with _os_errors(self.path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(holder).encode(), 0)

    def now(self) -> str:
        """Give the time as entries carry it: UTC, to the second."""
        return self.clock().strftime("%Y-%m-%dT%H:%M:%SZ")

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries in one append and wait until they are on disk.

        Raises JournalError; what could not be written is saved elsewhere, and
        the message says where.
        """
        documents = [entry_document(entry) for entry in entries]
        header = self.header or Header(self.environment, self.target, self.now())
        if self.header is None:
            documents.insert(0, header_document(header))
        total, text = self._sum, ""
        for document in documents:
            line, total = line_of(document, total)
            text += line
        try:
            self._write(text.encode())
        except OSError as error:
            if error.errno != errno.ESTALE:
                self._end = None
            raise JournalError(
                f"{self.path} cannot be written: {error.strerror}; {_rescue(documents)}"
            ) from error
        self.header, self._sum, self.torn = header, total, False
        self._size += len(text.encode())
        self._end = self._size
        self.entries.extend(entries)
        self.history.add(entries)

    def _write(self, content: bytes) -> None:
        new = not self.path.exists()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | _FLAGS, 0o600)
        try:
            if self._end not in (None, os.fstat(descriptor).st_size):
                raise OSError(errno.ESTALE, "another program wrote to it meanwhile")
            reached(Point.JOURNAL_OPENED)
            os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, self._size)
            os.lseek(descriptor, self._size, os.SEEK_SET)
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            reached(Point.JOURNAL_WRITTEN)
            os.fsync(descriptor)
            reached(Point.JOURNAL_SYNCED)
        finally:
            os.close(descriptor)
        if new:
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _may_begin_a_journal(torn: bytes) -> bool:
    """Tell a header that was cut from a file that holds something else."""
    return torn[: len(_BEGINNING)] == _BEGINNING[: len(torn)]


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _FLAGS)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise JournalError(f"{path} cannot be opened: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise JournalError(f"{path} is not a regular file")
        _check_folder(path.parent)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _make_folder(folder: Path) -> None:
    """Make the folder, and those above it that are missing, for the owner only."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    with _os_errors(folder):
        for one in reversed(missing):
            with contextlib.suppress(FileExistsError):
                one.mkdir(mode=0o700)
    _check_folder(folder)


def _check_folder(folder: Path) -> None:
    with _os_errors(folder):
        mode = folder.stat().st_mode
    if mode & stat.S_IWOTH:
        raise JournalError(f"others can write to {folder}, so a journal there proves nothing")


@contextlib.contextmanager
def _os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from error


def _holder(descriptor: int) -> str:
    try:
        holder = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _rescue(documents: list[dict[str, Json]]) -> str:
    """Save what the journal could not take, secrets sealed as always."""
    text = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    try:
        descriptor, name = tempfile.mkstemp(prefix="reconciler-journal-", suffix=".jsonl")
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError:
        return f"its entries are:\n{text}"
    return f"its entries were saved in {name}"
