"""What a journal asks of the place where its lines are kept, and who may write there now."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Protocol

from reconciler.advice import on_journal
from reconciler.document import Json
from reconciler.errors import Locked
from reconciler.journal.last_seen import Ending
from reconciler.progress import Locking, Waits

TERM = timedelta(minutes=15)
"""How long a lease lasts without renewal: longer than a run may wait for the service.

It is renewed by the appends of a run, not in the background: nothing takes an
expired lease over by itself, so that expiry only tells a person that the holder
may be gone.
"""

RENEWED_AFTER = TERM / 3


def moment(at: datetime) -> str:
    """Give a time as entries and leases carry it: UTC, to the second."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One holding of a journal. `owner` is random, so no two holdings are alike."""

    owner: str
    host: str
    pid: int
    since: str
    expires: str
    actor: str = ""
    run: str = ""

    def renewed(self, now: datetime) -> Lease:
        """Give the lease as it is after renewal."""
        return replace(self, expires=moment(now + TERM))

    @property
    def words(self) -> str:
        """Say who holds it, and since when."""
        who = f"{self.actor}, " if self.actor else ""
        return f"{who}process {self.pid} on {self.host} since {self.since}"

    @property
    def way_out(self) -> str:
        """Say until when it lasts, and what to do where its holder is gone."""
        return (
            f", at least until {self.expires}; if that run is gone, take its lock away with "
            f"`{on_journal('unlock', self.owner)}`"
        )


@dataclass(frozen=True, slots=True)
class LockRecord:
    """What is kept of a lock: its holder if any, and how the journal ended at the last release.

    A journal that no longer has that end is an old copy, or cut.
    """

    lease: Lease | None = None
    ended: str = ""


def record_text(record: LockRecord) -> bytes:
    """Give a record's JSON text."""
    held = asdict(record.lease) if record.lease is not None else {}
    return (json.dumps({**held, "ended": record.ended}) + "\n").encode()


def parse_record(text: bytes) -> LockRecord:
    """Read a record; what cannot be read holds nothing and remembers nothing."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return LockRecord()
    if not isinstance(document, dict):
        return LockRecord()
    return LockRecord(_lease(document), str(document.get("ended", "")))


def _lease(document: Mapping[str, Json]) -> Lease | None:
    pid = document.get("pid")
    if not isinstance(pid, int):
        return None
    named = {field.name for field in fields(Lease)} - {"pid"}
    return Lease(pid=pid, **{name: str(document.get(name, "")) for name in named})


FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class LockTimeout:
    """How long to wait for a lock, in seconds, and by which clock."""

    seconds: float = 0
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @classmethod
    def of(cls, text: str) -> LockTimeout:
        """Read `30`, `30s`, `5m` or `2h`. Raises ValueError for what is none, or above a day."""
        match = _DURATION.fullmatch(text.strip())
        seconds = int(match[1]) * _SECONDS[match[2]] if match is not None else _LONGEST + 1
        if seconds > _LONGEST:
            raise ValueError(f"`{text}` is not a duration up to 24h, as 30s or 5m")
        return cls(seconds)


_DURATION = re.compile(r"([0-9]{1,5})(s|m|h)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, None: 1}
_LONGEST = 24 * 3600


def taken_in_time(
    take: Callable[[], None],
    patience: LockTimeout,
    tell: Callable[[str], None],
    waits: Waits | None = None,
) -> None:
    """Take a lock, asking again and again until the patience is at an end.

    Who holds it is told once for each holder. Raises the last Locked.
    """
    waits = waits or Waits()
    deadline = patience.monotonic() + patience.seconds
    pause, told = FIRST_PAUSE, ""
    with ExitStack() as noted:
        while True:
            try:
                take()
            except Locked as error:
                left = deadline - patience.monotonic()
                if left <= 0:
                    raise
                if str(error) != told:
                    told = str(error)
                    tell(f"{told}; waiting for at most {left:.0f} s")
                    noted.close()
                    noted.enter_context(waits.on(Locking(told)))
                patience.sleep(min(pause, left))
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                return


@dataclass(frozen=True, slots=True)
class Note:
    """What an append is about, for a store that keeps words beside the lines."""

    words: str
    actor: str


class Store(Protocol):
    """The lines of one journal, and its lock.

    A store rests each write on what it read or wrote last: where that is no
    longer what is kept, the write changes nothing and raises. Every method
    raises JournalError where the place cannot be used.
    """

    @property
    def place(self) -> str:
        """What messages call it."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether several machines may use it; its lock then outlives a process."""
        ...

    def read(self) -> bytes:
        """Give all lines; nothing where there is no journal. A last line may be torn."""
        ...

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Add lines after those read, and wait until they are kept.

        A renewed lease is recorded with them. Raises Locked where the lease is lost.
        """
        ...

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Put lines in the place of all those read, at once. Raises Locked as `append` does."""
        ...

    def lock(self, lease: Lease) -> None:
        """Take the lock. Raises Locked where another holds it."""
        ...

    def release(self, lease: Lease, ended: str) -> None:
        """Give the lock back, and remember how the journal ended.

        Raises Locked where it was lost meanwhile.
        """
        ...

    def holder(self) -> Lease | None:
        """Tell who holds the lock now, without taking it."""
        ...

    def ended(self) -> str:
        """Give the `ended` of the last release; "" where this store does not remember it."""
        ...

    def seen(self) -> Sequence[Ending]:
        """Return further ends that the journal had, of which none may be missing.

        An end that is kept elsewhere too says how to bring it back.
        """
        ...

    def note_seen(self) -> None:
        """Remember on this machine how what was read or written last ends."""
        ...

    def unlock(self, owner: str) -> Lease | None:
        """Take the lock from the holding with this id; give whose it was.

        None where nobody holds it. Raises Locked where another holding has it.
        """
        ...
