"""The journal of one environment and target, over any store, and its moves.

A move to another place, or with its service to another address, can be stopped between any two
writes: at every moment exactly one journal counts (see `check_place`), and repeating the move
finishes it.
"""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from functools import cached_property
from uuid import uuid4

from reconciler.errors import InvalidInput, JournalError, Locked
from reconciler.journal import entries as journaled
from reconciler.journal.content import (
    Content,
    StoreOpener,
    check_place,
    content_at,
    entry_document,
    has_left,
    header_document,
    line_of,
    read_content,
    rescued,
)
from reconciler.journal.history import History, compacted, words_of
from reconciler.journal.store import (
    RENEWED_AFTER,
    TERM,
    Ending,
    Lease,
    LockTimeout,
    Note,
    Store,
    moment,
    taken_in_time,
)
from reconciler.model.guards import NEW_JOURNAL
from reconciler.runtime.advice import bring_back, lead_back, on_journal
from reconciler.runtime.progress import Keeping, Waits


@dataclass(kw_only=True)
class Journal:
    """Header, entries and their sums, over a store.

    Reading needs no lock; appending does. A last line that was cut, as by a crash or a full disk,
    is ignored, and removed by the next append. `tell` receives messages for a person. `look` opens
    the place that a journal was moved from. `waits` records what it waits for. `is_warned_of` is
    set once a person was warned of its lost end, and `is_accepted` once a person accepts that the
    entries missing in this old copy are lost. `begun_by` goes into the header of a journal that
    begins now.
    """

    store: Store
    environment: str
    target: str
    clock: Callable[[], datetime]
    who: Callable[[], str] = field(default=lambda: "")
    tell: Callable[[str], None] = field(default=lambda _: None)
    monotonic: Callable[[], float] = time.monotonic
    look: StoreOpener | None = None
    waits: Waits = field(default_factory=Waits)
    history: History = field(default_factory=History)
    content: Content = field(default_factory=Content)
    is_warned_of: bool = False
    is_accepted: bool = False
    begun_by: str = ""
    _begun: journaled.RunEntry | None = None
    _lease: Lease | None = None
    _renewed: float = 0
    _wrote: bool = False

    @property
    def place(self) -> str:
        """The name of the journal in messages."""
        return self.store.place

    @cached_property
    def actor(self) -> str:
        """The actor of the run, looked up once."""
        return self.who()

    @property
    def header(self) -> journaled.Header | None:
        """The first line; None where there is no journal."""
        return self.content.header

    @property
    def entries(self) -> list[journaled.Entry]:
        """All lines after the first."""
        return self.content.entries

    @property
    def torn(self) -> bool:
        """Return whether the last line was cut."""
        return self.content.torn

    @property
    def salt(self) -> str:
        """The salt of the seals of secrets: environment and target."""
        sealed_for = self.header.sealed_for if self.header is not None else ""
        return f"{self.environment}\0{sealed_for or self.target}"

    def load(self) -> None:
        """Read the journal, if there is one, and check that it is ours.

        Raises JournalError and InvalidInput, as `read` and `check` do.
        """
        self.read()
        self.check()
        if not self.is_old_copy:
            with self._waiting_for_store():
                self.store.note_seen()

    def read(self) -> None:
        """Read the journal, whatever its environment and target.

        Raises JournalError where it cannot be trusted.
        """
        self.history, self.content = History(seed=uuid4().hex), Content()
        with self._waiting_for_store():
            kept = self.store.read()
        self.content = read_content(kept, self.place)
        self.history.add(self.content.entries)
        self.history.begun = self.header is not None
        self.history.begun_by = self.header.begun_by if self.header is not None else ""
        with self._waiting_for_store():
            missing = self._missing_ends()
        self.history.old = bool(missing)
        lead_back(next((ending.way_back for ending in missing if ending.way_back), ""))

    def check(self) -> None:
        """Raise InvalidInput for the journal of another environment or target, or one that moved.

        Raises JournalError where the place that it was moved from cannot be read.
        """
        check_place(self.content, self.place, self.environment, self.look)
        header = self.header
        if header is None or (header.environment, header.target) == (self.environment, self.target):
            return
        raise InvalidInput(
            f"{self.place} is the journal of environment `{header.environment}` at "
            f"{header.target}, not of `{self.environment}` at {self.target}: "
            f"give each environment a journal of its own{self._how_to_move(header)}"
        )

    def _how_to_move(self, header: journaled.Header) -> str:
        addresses = all("://" in target for target in (header.target, self.target))
        if header.environment != self.environment or not addresses:
            return ""
        return (
            ". If both are addresses of one service, take it along with "
            f"`{on_journal('move', f'--base-url {self.target}')}`"
        )

    @contextlib.contextmanager
    def locked(
        self, run: str = "", patience: LockTimeout | None = None, *, as_it_is: bool = False
    ) -> Iterator[None]:
        """Hold the lock, and read again what others wrote before.

        With `as_it_is` the journal is not checked. Raises Locked, naming the holder and since when.
        """
        taken_in_time(lambda: self._take(run), patience or LockTimeout(), self.tell, self.waits)
        try:
            self.read()
            if not as_it_is:
                self.check()
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
        with self._waiting_for_store():
            self.store.lock(lease)
        self._lease, self._renewed, self._wrote = lease, self.monotonic(), False

    def _release(self) -> None:
        lease, self._lease, self._begun = self._lease, None, None
        if lease is None:
            return
        try:
            with self._waiting_for_store():
                # A run that could not read the journal does not change the stored end. Nor does a
                # run on an old copy: only a person can say that what came after it is lost.
                is_old = self.is_old_copy and not self.is_accepted
                is_less = is_old or (not self._wrote and bool(self._missing_ends()))
                ended = self.store.ended() if is_less else self.content.end
                self.store.release(lease, ended)
        except Locked:
            self.tell(f"the lock of {self.place} was lost before the end of the run")
        except JournalError as error:
            self.tell(
                f"the lock of {self.place} could not be given back ({error}): "
                f"run `{on_journal('unlock', lease.owner)}`"
            )

    def holder(self) -> str:
        """Return who holds the lock; "" where it is free. Neither takes the lock nor writes.

        Raises JournalError where the lock cannot be read.
        """
        lease = self.store.holder()
        return lease.words if lease is not None else ""

    @property
    def is_old_copy(self) -> bool:
        """Return whether an end that the journal had was missing when it was read."""
        return self.history.old

    def _missing_ends(self) -> list[Ending]:
        """Return the missing ends, of the last release and of what this machine saw.

        Raises JournalError where the lock cannot be read.
        """
        known = [Ending(self.store.ended()), *self.store.seen()]
        return [ending for ending in known if not self.content.goes_on_from(ending)]

    @property
    def is_gone(self) -> bool:
        """Return whether there was a journal here, and none when it was read."""
        return self.header is None and self.is_old_copy

    def refuse_gone(self) -> None:
        """Raise JournalError where there was a journal, and none when it was read."""
        if self.is_gone:
            raise JournalError(self.why_missing)

    @property
    def why_missing(self) -> str:
        """Return that there is no journal here, and how to bring it back; "" where there is one."""
        if self.header is not None:
            return ""
        if self.is_gone:
            known = f"the journal at {self.place} is gone: the last run left one there"
            return f"{known}; {bring_back()}"
        return (
            f"there is no journal at {self.place}: if resources were applied before, "
            f"{bring_back()}; else nothing was applied yet"
        )

    def now(self) -> str:
        """Return the time as entries have it: UTC, to the second."""
        return moment(self.clock())

    def run_entry(
        self, run: str, command: str, commit: str = "", digest: str = ""
    ) -> journaled.RunEntry:
        """Return the entry of a run that begins now; `digest` is that of its plan."""
        return journaled.RunEntry(
            run=run,
            at=self.now(),
            actor=self.actor,
            commit=commit,
            digest=digest,
            command=command,
        )

    def begin(self, run: journaled.RunEntry) -> None:
        """Set the entry that names the run: the first entry of the run's next append."""
        self._begun = run

    def append(
        self, entries: Sequence[journaled.Entry], *, unproved: Sequence[journaled.Entry] = ()
    ) -> None:
        """Write entries in one append and wait until they are stored.

        Raises JournalError, and Locked where the lock is not, or no longer, ours. Entries about
        what happened that could not be written are saved in a file, and with them the `unproved`
        entries, which would have been written later. The message names the file.
        """
        if self._begun is not None:
            entries = [self._begun, *entries]
        new = None
        if self.header is None:
            new = journaled.Header(
                environment=self.environment,
                target=self.target,
                created=self.now(),
                begun_by=self.begun_by,
            )
            self.history.begun_by = new.begun_by
            # Whether an earlier journal may be lost is in the header from now on.
            self.is_accepted = True
        lines, sums = _lines(new, entries, self.content.end)
        try:
            with self._waiting_for_store():
                self.store.append(lines, self._held(), Note(words_of(entries), self.actor))
        except (JournalError, Locked) as error:
            raise type(error)(f"{error}{rescued([*entries, *unproved])}") from error
        self.content.header, self.content.torn, self._begun = self.header or new, False, None
        self._wrote = True
        self.content.entries += entries
        self.content.sums += sums
        self.history.begun = True
        self.history.add(entries)

    def compact(self, run: journaled.RunEntry) -> None:
        """Replace all lines by fewer lines with the same meaning, and the entry of the run.

        The new header continues the sum of the last line. Raises JournalError, and Locked where the
        lock is not, or no longer, ours.
        """
        header = self.header or journaled.Header(
            environment=self.environment, target=self.target, created=""
        )
        header = replace(header, created=self.now(), continues=self.content.end)
        self.replace(header, [*compacted(self.entries, self.now()), run])

    def replace(self, header: journaled.Header, entries: Sequence[journaled.Entry]) -> None:
        """Replace all that is stored by a journal, in one write.

        The last entry is the message of the write. Raises JournalError, and Locked where the lock
        is not, or no longer, ours.
        """
        lines, sums = _lines(header, entries, "")
        with self._waiting_for_store():
            self.store.replace(lines, self._held(), Note(words_of(entries[-1:]), self.actor))
        self.content, self._begun = Content(header, list(entries), sums), None
        self._wrote = True
        self.history = History(
            begun=True, old=self.history.old, seed=self.history.seed, begun_by=header.begun_by
        )
        self.history.add(entries)

    def _waiting_for_store(self) -> contextlib.AbstractContextManager[object]:
        return self.waits.on(Keeping(self.place))

    def _held(self) -> Lease:
        """Return the lease of a write, renewed once a good part of it has passed."""
        if self._lease is None:
            raise Locked(f"{self.place} is not locked by this run, so nothing is written to it")
        if self.monotonic() - self._renewed > RENEWED_AFTER.total_seconds():
            self._lease, self._renewed = self._lease.renewed(self.clock()), self.monotonic()
        return self._lease


def confirmed_beginning(journal: Journal) -> journaled.OverrideEntry:
    """Return the entry of a person who confirms that no journal before this one is lost."""
    reason = f"the journal that `{journal.history.begun_by}` began is the first, or is to count"
    return journaled.OverrideEntry(at=journal.now(), reason=reason, codes=(NEW_JOURNAL,))


def _lines(
    header: journaled.Header | None, entries: Sequence[journaled.Entry], total: str
) -> tuple[bytes, list[str]]:
    """Return the lines of entries, after the header if there is one, and the sum of each line."""
    documents = [] if header is None else [header_document(header)]
    documents.extend(map(entry_document, entries))
    lines, sums = [], []
    for document in documents:
        line, total = line_of(document, total)
        lines.append(line)
        sums.append(total)
    return "".join(lines).encode(), sums


class Became(Enum):
    """The result of a move."""

    MOVED = "moved"
    FINISHED = "finished"
    ALREADY = "already"


@dataclass(frozen=True, slots=True)
class JournalMove:
    """Origin and destination, as the project file writes them, and the target after the move."""

    origin: str
    to: str
    target: str


def move(
    here: Journal, there: Journal, way: JournalMove, run: journaled.RunEntry, patience: LockTimeout
) -> Became:
    """Copy all entries to another store, and end this journal with a line that it moved.

    Raises Locked, JournalError, and InvalidInput where there is no journal here, or another journal
    there.
    """
    # A place that holds something else gets no lock file.
    there.read()
    with (
        here.locked(run.run, patience, as_it_is=True),
        there.locked(run.run, patience, as_it_is=True),
    ):
        header = _header(here)
        match here.entries[-1:]:
            case [journaled.Moved(run=left)]:
                return _finished(here, there, left, run)
            case _:
                here.check()
        if not _gives_way(there.content, here.content):
            raise InvalidInput(
                f"there is a journal of its own at {there.place} already: name a place where "
                "there is none, or take that one away first"
            )
        arrived = journaled.MovedIn(at=here.now(), run=run.run, origin=way.origin)
        there.replace(_at(header, way.target, here), [*here.entries, arrived])
        here.append([journaled.Moved(at=here.now(), run=run.run, to=way.to)])
        there.append([run])
        return Became.MOVED


def _finished(here: Journal, there: Journal, left: str, run: journaled.RunEntry) -> Became:
    """Finish a move that already has its last line here."""
    arrived = [
        entry
        for entry in there.entries
        if isinstance(entry, journaled.MovedIn) and entry.run == left
    ]
    if not arrived:
        here.check()
    if there.entries[-1:] != arrived:
        return Became.ALREADY
    there.append([run])
    return Became.FINISHED


def stay(here: Journal, run: journaled.RunEntry, patience: LockTimeout) -> Became:
    """Activate a copy at its place, where its origin no longer exists.

    Raises InvalidInput where the journal at its origin is in use.
    """
    with here.locked(run.run, patience, as_it_is=True):
        _header(here)
        match here.entries[-1:]:
            case [journaled.MovedIn(origin=origin) as arrived]:
                left = content_at(origin, here.look)
                if left.header is not None and not has_left(left, arrived):
                    here.check()
                here.append([run])
                return Became.FINISHED
            case _:
                here.check()
                return Became.ALREADY


def readdress(here: Journal, target: str, run: journaled.RunEntry, patience: LockTimeout) -> Became:
    """Write into the journal that its target has another address, in one write."""
    with here.locked(run.run, patience, as_it_is=True):
        header = _header(here)
        check_place(here.content, here.place, here.environment, here.look)
        if (header.environment, header.target) == (here.environment, target):
            return Became.ALREADY
        here.check()
        here.replace(_at(header, target, here), [*here.entries, run])
        return Became.MOVED


def _header(journal: Journal) -> journaled.Header:
    if journal.header is None:
        raise InvalidInput(f"there is no journal at {journal.place}")
    return journal.header


def _at(header: journaled.Header, target: str, journal: Journal) -> journaled.Header:
    """Return the header after a move; seals of secrets stay valid."""
    sealed_for = header.sealed_for or header.target
    return replace(
        header,
        target=target,
        continues=journal.content.end,
        sealed_for="" if sealed_for == target else sealed_for,
    )


def _gives_way(there: Content, here: Content) -> bool:
    """Return whether a journal may replace what is there without any loss.

    That is: nothing at all; the same lines; the copy of an unfinished move from here; or the
    journal that this one was moved from.
    """
    if there.header is None:
        return True
    match there.entries[-1:]:
        case [journaled.MovedIn()]:
            return here.had(there.header.continues)
        case [journaled.Moved(run=run)]:
            return any(
                isinstance(entry, journaled.MovedIn) and entry.run == run for entry in here.entries
            )
        case _:
            return there.sums == here.sums
