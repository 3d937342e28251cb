"""A journal's lines in an object store, each append an object of its own.

`PREFIX/entries/NUMBER.jsonl` is created only where it does not exist, and that is
the compare-and-swap: who comes second writes nothing. Compacting is such an append
too, of lines that begin with a header: the journal is what follows the last header,
and what stands before it is only then removed. The lock, `PREFIX/lock.json`, is
never removed: each change of it names the version that it replaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from reconciler.errors import JournalError, Locked
from reconciler.journal.buckets import Bucket, Held, Refused
from reconciler.journal.chain import BEGINNING
from reconciler.journal.lease import Lease, LockRecord, parse_record, record_text
from reconciler.journal.store import Note
from reconciler.points import Point, reached

_ENTRIES = "entries"
_LOCK = "lock.json"
_READS = 5


class ObjectStore:
    """The lines of a journal in a bucket."""

    is_shared = True

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._last = 0

    @property
    def place(self) -> str:
        """The address, as in the project file."""
        return self._bucket.url

    def read(self) -> bytes:
        """List the objects and read them from the last header on.

        Raises JournalError where one is missing.
        """
        for _ in range(_READS):
            numbers = self._numbers()
            contents = self._bucket.get_all([_name(number) for number in numbers])
            begun = _last_header(contents)
            whole = [content for content in contents[begun:] if content is not None]
            if not numbers or len(whole) == numbers[-1] - numbers[begun] + 1:
                self._last = numbers[-1] if numbers else 0
                return b"".join(whole)
            # What a compacting removed between the list and the read is not needed any more.
        raise JournalError(f"{self.place}: objects are missing, and with them part of the journal")

    def _numbers(self) -> list[int]:
        """Give the numbers of all appends; a foreign object is none of ours."""
        names = set(self._bucket.names(_ENTRIES))
        digits = (name.removeprefix(f"{_ENTRIES}/").removesuffix(".jsonl") for name in names)
        numbers = (int(one) for one in digits if one.isascii() and one.isdigit())
        return sorted(number for number in numbers if _name(number) in names)

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Create the next object.

        The lock is looked at before, so that a lost one writes nothing, and
        after, as it may have been lost in between: only where it is still ours
        then was it ours at the moment of the write.
        """
        del note
        self._check(lease)
        reached(Point.JOURNAL_OPENED)
        try:
            self._bucket.create(_name(self._last + 1), lines)
        except Refused:
            self._lost()
        reached(Point.JOURNAL_WRITTEN)
        self._check(lease)
        self._last += 1

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Append lines that begin a journal, then remove what stands before them."""
        self.append(lines, lease, note)
        old = [_name(number) for number in self._numbers() if number < self._last]
        if old:
            self._bucket.delete(old)

    def _check(self, lease: Lease) -> None:
        """Raise Locked unless the lock is ours; record a renewed lease."""
        held = self._bucket.get(_LOCK)
        record = _record(held)
        if held is None or record.lease is None or record.lease.owner != lease.owner:
            self._lost()
        if record.lease != lease:
            self._write_lock(LockRecord(lease, record.ended), held)

    def _write_lock(self, record: LockRecord, held: Held | None) -> None:
        try:
            if held is None:
                self._bucket.create(_LOCK, record_text(record))
            else:
                self._bucket.update(_LOCK, record_text(record), held.version)
        except Refused:
            self._lost()

    def _lost(self) -> NoReturn:
        held = self.holder()
        now = f"it is locked by {held.words}" if held is not None else "nobody has it locked"
        raise Locked(f"another run wrote to {self.place}, so nothing is written here: {now}")

    def lock(self, lease: Lease) -> None:
        """Write the lock, if nobody has it."""
        held = self._bucket.get(_LOCK)
        record = _record(held)
        holder = record.lease
        if holder is None:
            try:
                self._write_lock(LockRecord(lease, record.ended), held)
            except Locked:
                holder = self.holder()
            else:
                return
        said = holder.words + holder.way_out if holder is not None else "others"
        raise Locked(f"{self.place} is locked by {said}")

    def release(self, lease: Lease, ended: str) -> None:
        """Write that nobody has the lock, where it is still ours."""
        held = self._bucket.get(_LOCK)
        found = _record(held).lease
        if found is None or found.owner != lease.owner:
            self._lost()
        self._write_lock(LockRecord(None, ended), held)

    def holder(self) -> Lease | None:
        """Read who holds the lock."""
        return _record(self._bucket.get(_LOCK)).lease

    def ended(self) -> str:
        """Read what the lock says of the last release."""
        return _record(self._bucket.get(_LOCK)).ended

    def unlock(self, owner: str) -> Lease | None:
        """Write that nobody has the lock, where the holding with this id has it."""
        held = self._bucket.get(_LOCK)
        record = _record(held)
        if record.lease is None:
            return None
        if record.lease.owner != owner:
            raise Locked(f"{self.place} is locked by {record.lease.words}{record.lease.way_out}")
        self._write_lock(LockRecord(None, record.ended), held)
        return record.lease


def _record(held: Held | None) -> LockRecord:
    return parse_record(held.content) if held is not None else LockRecord()


def _name(number: int) -> str:
    return f"{_ENTRIES}/{number:010}.jsonl"


def _last_header(contents: Sequence[bytes | None]) -> int:
    """Give where the journal begins; at the first object, where none of them begins one."""
    begun = (at for at, content in enumerate(contents) if (content or b"").startswith(BEGINNING))
    return max(begun, default=0)
