"""The data of the emulator: one SQLite file, or memory.

A write is committed before its answer leaves. Several processes may use one
file in turn; each write holds the file for itself.
"""

import errno
import json
import os
import sqlite3
import stat
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_APPLICATION = 0x72636E6C  # marks a file as ours, see "PRAGMA application_id"


class UnreadableDataError(Exception):
    """The data file cannot be used; the message names it."""


class Store:
    """A connection with the few methods that the resources need."""

    def __init__(self, data: Path | None, tables: Iterable[str]) -> None:
        self._connection = _connection(data)
        self._close = weakref.finalize(self, self._connection.close)
        try:
            self._prepare(tables)
        except sqlite3.DatabaseError as problem:
            self.close()
            raise UnreadableDataError(f"cannot keep data in {data}: {problem}") from None

    def _prepare(self, tables: Iterable[str]) -> None:
        self._connection.execute("PRAGMA busy_timeout = 10000")
        mark = self.row("PRAGMA application_id")
        if mark != (_APPLICATION,) and self.row("SELECT 1 FROM sqlite_schema") is not None:
            raise sqlite3.DatabaseError("it belongs to another program")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self.writing():
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            for table in tables:
                self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table} STRICT")

    def row(self, query: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        found: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        return found

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return self._connection.execute(query, values).fetchall()

    def find(self, table: str, key: object, column: str = "id") -> dict[str, Any] | None:
        """Return the record with this key, or None."""
        found = self.row(f"SELECT record FROM {table} WHERE {column} = ?", key)  # noqa: S608 - names of ours
        return json.loads(found[0]) if found else None

    def records(
        self, table: str, rest: str = "ORDER BY id", *values: object
    ) -> list[dict[str, Any]]:
        """Return the records of a table; `rest` is the end of the query."""
        query = f"SELECT record FROM {table} {rest}"  # noqa: S608 - names of ours
        return [json.loads(record) for (record,) in self.rows(query, *values)]

    def write(self, statement: str, *values: object) -> int:
        """Change one row, inside `writing()`, and return the id of an added row."""
        return self._connection.execute(statement, values).lastrowid or 0

    def keep(self, table: str, *values: object) -> None:
        """Store a row, inside `writing()`; an earlier row with the same key is replaced."""
        marks = ", ".join("?" * len(values))
        self.write(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", *values)  # noqa: S608 - names of ours

    def copy(self) -> "Store":
        """Return a copy of all data, in memory."""
        other = Store(None, ())
        self._connection.backup(other._connection)
        return other

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run all writes inside as one: all are kept, or none after an exception."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._close()


def _connection(data: Path | None) -> sqlite3.Connection:
    """Return a connection to the file, which is created if missing. Raises UnreadableDataError."""
    try:
        if data is not None:
            _make_private(data)
        return sqlite3.connect(data or ":memory:", isolation_level=None, check_same_thread=False)
    except OSError as problem:
        raise UnreadableDataError(f"cannot keep data in {data}: {problem.strerror}") from None
    except (sqlite3.Error, ValueError) as problem:
        # A name that holds a zero byte is a ValueError.
        raise UnreadableDataError(f"cannot keep data in {data}: {problem}") from None


def _make_private(data: Path) -> None:
    """Create the file and its missing folders for the owner only, whatever the umask.

    SQLite gives its other files next to it the same rights.
    """
    missing = [folder for folder in data.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(data, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(data))
    finally:
        os.close(descriptor)


class StaleReads:
    """Reads that do not see the latest write yet, as of a service with replicas."""

    def __init__(self, live: Store, reads: int) -> None:
        self._live = live
        self._reads = reads
        self._before: Store | None = None
        self._answered: Counter[str] = Counter()

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Keep a copy of all data as it is now, and run all writes inside as one."""
        if self._reads:
            if self._before is not None:
                self._before.close()
            self._before = self._live.copy()
            self._answered.clear()
        with self._live.writing():
            yield self._live

    def store_for(self, address: str) -> Store:
        """Return the store that a read of this address sees, and count the read."""
        if self._before is None or self._answered[address] >= self._reads:
            return self._live
        self._answered[address] += 1
        return self._before
