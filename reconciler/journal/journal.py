"""The journal of one environment and target, whatever keeps its lines."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from reconciler.errors import InvalidInput, JournalError, Locked
from reconciler.journal.chain import BEGINNING, line_of, parse_line
from reconciler.journal.compacting import compacted
from reconciler.journal.entries import Entry, Header, RunEntry
from reconciler.journal.entry_documents import (
    entry_document,
    header_document,
    parse_entry,
    parse_header,
)
from reconciler.journal.history import History
from reconciler.journal.lease import RENEWED_AFTER, TERM, Lease, moment
from reconciler.journal.rescue import rescued
from reconciler.journal.runs import words_of
from reconciler.journal.store import Note, Store
from reconciler.journal.waiting import Patience, taken_in_time


@dataclass(slots=True)
class Journal:
    """Header, entries and their sums, over a store.

    Reading is free; appending needs the lock. `torn` says that the last line
    was cut, as by a crash or a full disk: it is ignored, and removed by the
    next append. `tell` takes words for a person.
    """

    store: Store
    environment: str
    target: str
    clock: Callable[[], datetime]
    who: Callable[[], str] = field(default=lambda: "")
    tell: Callable[[str], None] = field(default=lambda _: None)
    monotonic: Callable[[], float] = time.monotonic
    history: History = field(default_factory=History)
    entries: list[Entry] = field(default_factory=list)
    header: Header | None = None
    torn: bool = False
    sums: list[str] = field(default_factory=list)
    _begun: RunEntry | None = None
    _lease: Lease | None = None
    _renewed: float = 0
    _actor: str | None = None

    @property
    def place(self) -> str:
        """What messages call the journal."""
        return self.store.place

    @property
    def actor(self) -> str:
        """Who runs, asked once."""
        if self._actor is None:
            self._actor = self.who()
        return self._actor

    def load(self) -> None:
        """Read what is kept, if anything is.

        Raises JournalError where it cannot be trusted, and InvalidInput where
        it is the journal of another environment or target.
        """
        self.history, self.entries, self.header, self.sums = History(), [], None, []
        whole, newline, tail = self.store.read().rpartition(b"\n")
        self.torn = bool(tail)
        if not newline and not _may_begin_a_journal(tail):
            raise JournalError(f"{self.place} is not a journal")
        try:
            lines = whole.decode().split("\n") if newline else []
        except UnicodeDecodeError as error:
            raise JournalError(f"{self.place} is not UTF-8") from error
        with self._named():
            for number, line in enumerate(lines, 1):
                document, total = parse_line(line, self._sum, number)
                self.sums.append(total)
                if number == 1:
                    self.header = parse_header(document)
                else:
                    self.entries.append(parse_entry(document, number))
        self.history.add(self.entries)
        self._check_header()

    @property
    def _sum(self) -> str:
        return self.sums[-1] if self.sums else ""

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except JournalError as error:
            raise JournalError(f"{self.place}: {error}") from error

    def _check_header(self) -> None:
        header = self.header
        if header is None or (header.environment, header.target) == (self.environment, self.target):
            return
        raise InvalidInput(
            f"{self.place} is the journal of environment `{header.environment}` at "
            f"{header.target}, not of `{self.environment}` at {self.target}: "
            "give each environment a journal of its own"
        )

    @contextlib.contextmanager
    def locked(self, run: str = "", patience: Patience | None = None) -> Iterator[None]:
        """Hold the lock, and read again what others wrote before.

        Raises Locked, naming the holder and since when.
        """
        taken_in_time(lambda: self._take(run), patience or Patience(), self.tell)
        try:
            self.load()
            yield
        finally:
            self._release()

    def _take(self, run: str) -> None:
        now = self.clock()
        lease = Lease(
            owner=uuid4().hex[:12],
            host=socket.gethostname(),
            pid=os.getpid(),
            since=moment(now),
            expires=moment(now + TERM),
            actor=self.actor,
            run=run,
        )
        self.store.lock(lease)
        self._lease, self._renewed = lease, self.monotonic()

    def _release(self) -> None:
        lease, self._lease, self._begun = self._lease, None, None
        if lease is None:
            return
        try:
            self.store.release(lease, self._sum)
        except Locked:
            self.tell(f"the lock of {self.place} was lost before the end of the run")
        except JournalError as error:
            self.tell(
                f"the lock of {self.place} could not be given back ({error}): "
                f"run `reconciler journal unlock {lease.owner}`"
            )

    def holder(self) -> str:
        """Say who holds the lock, and "" for nobody. The lock is not taken, nor anything written.

        Raises JournalError where the lock cannot be looked at.
        """
        lease = self.store.holder()
        return lease.words if lease is not None else ""

    @property
    def is_old_copy(self) -> bool:
        """Whether the end that the last release remembered is missing.

        Raises JournalError where the lock cannot be looked at.
        """
        ended = self.store.ended()
        known = {*self.sums, *([self.header.continues] if self.header is not None else [])}
        return bool(ended) and ended not in known

    def now(self) -> str:
        """Give the time as entries carry it: UTC, to the second."""
        return moment(self.clock())

    def begin(self, run: RunEntry) -> None:
        """Let a run's next append, if there is one, begin with the entry that names the run."""
        self._begun = run

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries in one append and wait until they are kept.

        Raises JournalError, and Locked where the lock is not ours, or no longer.
        What happened and could not be written is saved elsewhere, and the
        message says where.
        """
        if self._begun is not None:
            entries = [self._begun, *entries]
        header = self.header or Header(self.environment, self.target, self.now())
        lines, sums = _lines(None if self.header is not None else header, entries, self._sum)
        try:
            self.store.append(lines, self._held(), Note(words_of(entries), self.actor))
        except (JournalError, Locked) as error:
            raise type(error)(f"{error}{rescued(entries)}") from error
        self.header, self.torn, self._begun = header, False, None
        self.sums.extend(sums)
        self.entries.extend(entries)
        self.history.add(entries)

    def compact(self, run: RunEntry) -> None:
        """Put fewer lines in the place of all, which add up to the same, and the run's own.

        The new header continues the sum of the last line.
        Raises JournalError, and Locked where the lock is not ours, or no longer.
        """
        entries = [*compacted(self.entries, self.now()), run]
        header = Header(self.environment, self.target, self.now(), self._sum)
        lines, sums = _lines(header, entries, "")
        self.store.replace(lines, self._held(), Note(words_of([run]), self.actor))
        self.header, self.torn, self._begun = header, False, None
        self.sums, self.entries, self.history = sums, entries, History()
        self.history.add(entries)

    def _held(self) -> Lease:
        """Give the lease that a write goes under, renewed when a good part of it has passed."""
        if self._lease is None:
            raise Locked(f"{self.place} is not locked by this run, so nothing is written to it")
        if self.monotonic() - self._renewed > RENEWED_AFTER.total_seconds():
            self._lease, self._renewed = self._lease.renewed(self.clock()), self.monotonic()
        return self._lease


def _lines(header: Header | None, entries: Sequence[Entry], total: str) -> tuple[bytes, list[str]]:
    """Give the lines of entries, after a header where there is one, and the sum of each."""
    documents = [] if header is None else [header_document(header)]
    documents.extend(map(entry_document, entries))
    lines, sums = [], []
    for document in documents:
        line, total = line_of(document, total)
        lines.append(line)
        sums.append(total)
    return "".join(lines).encode(), sums


def _may_begin_a_journal(torn: bytes) -> bool:
    """Tell a header that was cut from content that is something else."""
    return torn[: len(BEGINNING)] == BEGINNING[: len(torn)]
