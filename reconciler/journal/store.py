"""The store of a journal's lines, as a protocol, and the end that this machine last saw."""

import contextlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, Self

from reconciler.errors import Locked
from reconciler.runtime import regular_files
from reconciler.runtime.advice import on_journal
from reconciler.runtime.progress import Locking, Waits

_SUM = re.compile(rb',"sum":"([0-9a-f]{1,64})"\}$')
_RUN = b'\n{"entry":"run",'
_LONGEST = 4096
_KEPT = ("end", "run", "header")


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a journal: the sum of the last line, the id of the last run, the header's sum.

    Compacting and moving a journal change all sums and keep the ids of runs. `way_back` is the
    commands that bring a journal with this end back; "" where no copy is known.
    """

    end: str = ""
    run: str = ""
    header: str = ""
    way_back: str = field(default="", compare=False)


def ending_of(lines: bytes | bytearray) -> Ending:
    """Return how a journal ends; only its first line, its last and its last run are read."""
    end = lines.rfind(b"\n")
    if end < 0:
        return Ending()
    last = lines.rfind(b"\n", 0, end) + 1
    begun = lines.rfind(_RUN, 0, end) + 1
    run = json.loads(_line(lines, begun)).get("run", "") if begun else ""
    return Ending(_sum(lines[last:end]), str(run), _sum(_line(lines, 0)))


def _line(lines: bytes | bytearray, start: int) -> bytes:
    return bytes(lines[start : lines.index(b"\n", start)])


def _sum(line: bytes | bytearray) -> str:
    found = _SUM.search(line)
    return found[1].decode() if found is not None else ""


def remembered(file: Path) -> Ending:
    """Return the end that a file has kept; `Ending()` where it cannot be read."""
    try:
        with regular_files.opened(file, os.O_NOFOLLOW) as stream:
            found = json.loads(stream.read(_LONGEST))
        return Ending(**{name: str(found[name]) for name in _KEPT})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Ending()


def remember(file: Path, ending: Ending) -> None:
    """Write how a journal ends; where that fails, the next run does it.

    The new file is renamed over the old, so a link in its place is replaced and not followed.
    """
    if remembered(file) == ending:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump({name: getattr(ending, name) for name in _KEPT}, stream)
            Path(name).replace(file)
        except OSError:
            Path(name).unlink()
            raise


TERM = timedelta(minutes=15)
"""How long a lease lasts without renewal: longer than a run may wait for the service.

It is renewed by the appends of a run, not in the background. No other run takes an expired lease
over by itself: the time only shows a person that the holder may be gone.
"""

RENEWED_AFTER = TERM / 3


def moment(at: datetime) -> str:
    """Return a time as entries and leases have it: UTC, to the second."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One holding of a journal's lock. `owner` is random, so no two holdings are equal."""

    owner: str
    host: str
    pid: int
    since: str
    expires: str
    actor: str = ""
    run: str = ""

    def renewed(self, now: datetime) -> Self:
        """Return the lease after renewal."""
        return replace(self, expires=moment(now + TERM))

    @property
    def words(self) -> str:
        """The holder, and since when, as text."""
        who = f"{self.actor}, " if self.actor else ""
        return f"{who}process {self.pid} on {self.host} since {self.since}"

    @property
    def remedy(self) -> str:
        """The end of the lease, and what to do where its holder is gone, as text."""
        return (
            f", at least until {self.expires}; if that run is gone, take its lock away with "
            f"`{on_journal('unlock', self.owner)}`"
        )


@dataclass(frozen=True, slots=True)
class LockRecord:
    """The content of a lock: its holder if any, and the end of the journal at the last release.

    A journal that no longer has that end is an old copy, or cut.
    """

    lease: Lease | None = None
    ended: str = ""


def record_text(record: LockRecord) -> bytes:
    """Return a record as JSON text."""
    held = asdict(record.lease) if record.lease is not None else {}
    return (json.dumps({**held, "ended": record.ended}) + "\n").encode()


def parse_record(text: bytes) -> LockRecord:
    """Read a record; an unreadable text has no holder and no end."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return LockRecord()
    if not isinstance(document, dict):
        return LockRecord()
    pid, lease = document.get("pid"), None
    if isinstance(pid, int):
        named = {field.name for field in fields(Lease)} - {"pid"}
        lease = Lease(pid=pid, **{name: str(document.get(name, "")) for name in named})
    return LockRecord(lease, str(document.get("ended", "")))


FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class LockTimeout:
    """The time to wait for a lock, in seconds, and its clock."""

    seconds: float = 0
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @classmethod
    def of(cls, text: str) -> Self:
        """Read `30`, `30s`, `5m` or `2h`.

        Raises ValueError for any other text, and above a day.
        """
        match = _DURATION.fullmatch(text.strip())
        seconds = int(match[1]) * _SECONDS[match[2]] if match is not None else _MOST_SECONDS + 1
        if seconds > _MOST_SECONDS:
            raise ValueError(f"`{text}` is not a duration up to 24h, as 30s or 5m")
        return cls(seconds)


_DURATION = re.compile(r"([0-9]{1,5})(s|m|h)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, None: 1}
_MOST_SECONDS = 24 * 3600


def taken_in_time(
    take: Callable[[], None],
    patience: LockTimeout,
    tell: Callable[[str], None],
    waits: Waits | None = None,
) -> None:
    """Call `take` for a lock, and try again until the patience is over.

    The holder is reported once for each holder. Raises the last Locked.
    """
    waits = waits or Waits()
    deadline = patience.monotonic() + patience.seconds
    pause, shown = FIRST_PAUSE, ""
    with ExitStack() as noted:
        while True:
            try:
                take()
            except Locked as error:
                left = deadline - patience.monotonic()
                if left <= 0:
                    raise
                if str(error) != shown:
                    shown = str(error)
                    tell(f"{shown}; waiting for at most {left:.0f} s")
                    noted.close()
                    noted.enter_context(waits.on(Locking(shown)))
                patience.sleep(min(pause, left))
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                return


@dataclass(frozen=True, slots=True)
class Note:
    """The subject of an append, for a store that keeps a message with the lines."""

    words: str
    actor: str


class Store(Protocol):
    """The lines of one journal, and its lock.

    Each write checks that the stored lines are still those that this store read or wrote last; if
    they are not, the write changes nothing and raises. Every method raises JournalError where the
    place cannot be used.
    """

    is_shared: bool
    """Whether several machines may use it; its lock then outlives a process."""

    place: str
    """The name of the place in messages."""

    def read(self) -> bytes:
        """Return all lines; nothing where there is no journal. A last line may be torn."""

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Add lines after those read, and wait until they are stored.

        A renewed lease is written with them. Raises Locked where the lease is lost.
        """

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Replace all lines that were read, at once. Raises Locked as `append` does."""

    def lock(self, lease: Lease) -> None:
        """Lock the journal. Raises Locked where another holds it."""

    def release(self, lease: Lease, ended: str) -> None:
        """Release the lock, and store how the journal ended.

        Raises Locked where the lock was lost meanwhile.
        """

    def holder(self) -> Lease | None:
        """Return who holds the lock now, without taking it."""

    def ended(self) -> str:
        """Return the `ended` of the last release; "" where this store does not keep it."""
        return ""

    def seen(self) -> Sequence[Ending]:
        """Return other ends that the journal had; it must still contain each of them.

        An end that is also stored elsewhere has a `way_back`.
        """
        return ()

    def note_seen(self) -> None:
        """Store on this machine the end of what was read or written last."""
        return

    def unlock(self, owner: str) -> Lease | None:
        """Remove the lock of the holding with this id; return that holding.

        None where the lock is free. Raises Locked where another holding has it.
        """


def locked_by(store: Store, lease: Lease) -> Locked:
    """Return the refusal of a lock that another run holds."""
    return Locked(f"{store.place} is locked by {lease.words}{lease.remedy}")
