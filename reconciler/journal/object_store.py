"""A journal's lines in an object store: each append is a separate object, written once."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from reconciler.errors import JournalError, Locked
from reconciler.journal import store
from reconciler.journal.content import BEGINNING
from reconciler.project.settings import InObjects
from reconciler.runtime.connection import proxies_beyond, with_variables
from reconciler.runtime.failpoints import Point, reached

if TYPE_CHECKING:
    from obstore import UpdateVersion
    from obstore.store import ObjectStore as ServiceClient

_AT_ONCE = 16
_QUERY = re.compile(r"\?[^\s]*")
_LONGEST_WORDS = 300
_ENVIRONMENT = threading.Lock()


class ConditionFailed(Exception):
    """The condition of a write does not hold, so nothing was written."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as it was read: its content and its version."""

    content: bytes
    version: UpdateVersion


class Bucket:
    """All objects below one prefix, `s3://BUCKET/PREFIX`.

    Credentials, region and endpoint come from the environment, by the names that the provider's own
    tools use. Every method raises JournalError.
    """

    def __init__(self, url: str, environ: Mapping[str, str]) -> None:
        self.url = url.rstrip("/")
        self._plain = environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true")

    @cached_property
    def _opened(self) -> ServiceClient:
        # The client reads the proxies from the environment, which belongs to the whole process.
        # So clients are made one after the other: a second client would take the changed proxies
        # for the user's own.
        try:
            with _ENVIRONMENT, with_variables(proxies_beyond(os.environ)):
                return from_url(
                    self.url,
                    client_options={
                        "timeout": "30s",
                        "connect_timeout": "10s",
                        "allow_http": self._plain,
                    },
                    retry_config={"max_retries": 4, "retry_timeout": timedelta(seconds=60)},
                )
        except (BaseError, ValueError) as error:
            raise JournalError(f"{self.url} cannot be opened: {_describe(error)}") from error

    def get(self, name: str) -> StoredObject | None:
        """Read one object; None where there is none."""
        with self._errors("read"):
            try:
                found = obstore.get(self._opened, name)
                content = bytes(found.bytes())
            except FileNotFoundError:
                return None
            return StoredObject(content, _version(found.meta["e_tag"], found.meta["version"]))

    def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        """Read many objects, several at once."""
        if not names:
            return []
        with ThreadPoolExecutor(min(_AT_ONCE, len(names))) as pool:
            found = pool.map(self.get, names)
            return [None if held is None else held.content for held in found]

    def names(self, prefix: str) -> list[str]:
        """Return the names that begin with a prefix, in order."""
        with self._errors("read"):
            return sorted(entry["path"] for entry in obstore.list(self._opened, prefix).collect())

    def put(self, name: str, content: bytes, version: UpdateVersion | None = None) -> None:
        """Write a new object, or over one of its versions.

        Raises ConditionFailed where another object has the name, or where that version is not the
        last. Where the answer to a first attempt was lost, the second attempt finds what the first
        wrote: equal content means success.
        """
        with self._errors("written"):
            try:
                obstore.put(self._opened, name, content, mode=version or "create")
            except (AlreadyExistsError, PreconditionError):
                held = self.get(name)
                if held is None or held.content != content:
                    raise ConditionFailed from None

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects."""
        with self._errors("written"):
            obstore.delete(self._opened, names)

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            raise JournalError(f"{self.url} cannot be {what}: {_describe(error)}") from error


def _version(e_tag: str | None, version: str | None) -> UpdateVersion:
    known: UpdateVersion = {}
    if e_tag is not None:
        known["e_tag"] = e_tag
    if version is not None:
        known["version"] = version
    return known


def _describe(error: Exception) -> str:
    """Return the first line of an error without the queries of addresses, which may be signed."""
    first = str(error).split("\n", 1)[0]
    return _QUERY.sub("", first)[:_LONGEST_WORDS]


_ENTRIES = "entries"
_LOCK = "lock.json"
_READS = 5


class ObjectStore(store.Store):
    """The lines of a journal in a bucket."""

    is_shared = True

    def __init__(self, bucket: Bucket) -> None:
        self.place = bucket.url
        self._bucket = bucket
        self._last = 0

    def read(self) -> bytes:
        """List the objects and read them from the last header on.

        Raises JournalError where an object is missing.
        """
        for _ in range(_READS):
            numbers = self._numbers()
            contents = self._bucket.get_all([_name(number) for number in numbers])
            # Where no object has a header, the journal begins with the first.
            headers = (
                at for at, held in enumerate(contents) if (held or b"").startswith(BEGINNING)
            )
            begun = max(headers, default=0)
            whole = [content for content in contents[begun:] if content is not None]
            if not numbers or len(whole) == numbers[-1] - numbers[begun] + 1:
                self._last = numbers[-1] if numbers else 0
                return b"".join(whole)
            # Objects that compacting removed between list and read are no longer needed.
        raise JournalError(f"{self.place}: objects are missing, and with them part of the journal")

    def _numbers(self) -> list[int]:
        """Return the numbers of all appends; objects with other names are ignored."""
        names = set(self._bucket.names(_ENTRIES))
        digits = (name.removeprefix(f"{_ENTRIES}/").removesuffix(".jsonl") for name in names)
        numbers = (int(digit) for digit in digits if digit.isascii() and digit.isdigit())
        return sorted(number for number in numbers if _name(number) in names)

    def append(self, lines: bytes, lease: store.Lease, note: store.Note) -> None:
        """Create the next object.

        The lock is checked before the write, so that nothing is written without it. It is checked
        again after the write: if both checks succeed, we had the lock in between.
        """
        del note
        self._check(lease)
        reached(Point.JOURNAL_OPENED)
        try:
            self._bucket.put(_name(self._last + 1), lines)
        except ConditionFailed:
            self._lost()
        reached(Point.JOURNAL_WRITTEN)
        self._check(lease)
        self._last += 1

    def replace(self, lines: bytes, lease: store.Lease, note: store.Note) -> None:
        """Append lines that begin a journal, then remove the objects before them."""
        self.append(lines, lease, note)
        old = [_name(number) for number in self._numbers() if number < self._last]
        if old:
            self._bucket.delete(old)

    def _locked(self) -> tuple[StoredObject | None, store.LockRecord]:
        held = self._bucket.get(_LOCK)
        return held, store.parse_record(held.content) if held is not None else store.LockRecord()

    def _own(self, lease: store.Lease) -> tuple[StoredObject | None, store.LockRecord]:
        """Return the lock. Raises Locked unless it is ours."""
        held, record = self._locked()
        if record.lease is None or record.lease.owner != lease.owner:
            self._lost()
        return held, record

    def _check(self, lease: store.Lease) -> None:
        """Raise Locked unless the lock is ours; write a renewed lease."""
        held, record = self._own(lease)
        if record.lease != lease:
            self._write_lock(store.LockRecord(lease, record.ended), held)

    def _write_lock(self, record: store.LockRecord, held: StoredObject | None) -> None:
        version = held.version if held is not None else None
        try:
            self._bucket.put(_LOCK, store.record_text(record), version)
        except ConditionFailed:
            self._lost()

    def _lost(self) -> NoReturn:
        held = self.holder()
        now = f"it is locked by {held.words}" if held is not None else "no run has it locked"
        raise Locked(f"another run wrote to {self.place}, so nothing is written here: {now}")

    def lock(self, lease: store.Lease) -> None:
        """Write the lock, if it is free."""
        held, record = self._locked()
        holder = record.lease
        if holder is None:
            try:
                self._write_lock(store.LockRecord(lease, record.ended), held)
            except Locked:
                holder = self.holder()
            else:
                return
        if holder is None:
            raise Locked(f"{self.place} is locked by others")
        raise store.locked_by(self, holder)

    def release(self, lease: store.Lease, ended: str) -> None:
        """Write that the lock is free, if it is still ours."""
        held, _ = self._own(lease)
        self._write_lock(store.LockRecord(None, ended), held)

    def holder(self) -> store.Lease | None:
        """Return who holds the lock."""
        return self._locked()[1].lease

    def ended(self) -> str:
        """Return the end of the journal at the last release, from the lock."""
        return self._locked()[1].ended

    def unlock(self, owner: str) -> store.Lease | None:
        """Free the lock if the lease with this id has it, and return that lease.

        Return None where the lock is free. Raises Locked where another lease has it.
        """
        held, record = self._locked()
        if record.lease is None:
            return None
        if record.lease.owner != owner:
            raise store.locked_by(self, record.lease)
        self._write_lock(store.LockRecord(None, record.ended), held)
        return record.lease


def _name(number: int) -> str:
    return f"{_ENTRIES}/{number:010}.jsonl"


def opened(place: InObjects, _: Path) -> ObjectStore:
    """Return the store below a prefix of a bucket."""
    return ObjectStore(Bucket(place.url, os.environ))
