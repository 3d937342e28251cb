"""The data of the emulator: one SQLite file, or memory; and the log of its requests.

A write is committed before its answer leaves. Several processes may use one
file in turn; each write holds the file for itself. The log as a file has one JSON object a line,
and never a key in it.
"""

import errno
import json
import os
import sqlite3
import stat
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reconciler.emulator.wire import JsonObject, timestamp, utc_now

_APPLICATION = 0x72636E6C  # marks a file as ours, see "PRAGMA application_id"


class UnreadableDataError(Exception):
    """The data file cannot be used; the message names it."""


class Store:
    """The SQLite database of the emulator, with the methods that its resources need."""

    def __init__(self, data: Path | None, tables: Iterable[str]) -> None:
        try:
            if data is not None:
                _make_private(data)
            self._connection = sqlite3.connect(
                data or ":memory:", isolation_level=None, check_same_thread=False
            )
            self._close = weakref.finalize(self, self._connection.close)
            self._prepare(tables)
        except (OSError, sqlite3.Error, ValueError) as problem:
            # A name that holds a zero byte is a ValueError.
            why = problem.strerror if isinstance(problem, OSError) else problem
            raise UnreadableDataError(f"cannot keep data in {data}: {why}") from None

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


API_ROOT = "/mgmt/openapi/latest"
HEALTH_PATH = "/healthz"
OPENAPI_PATH = "/openapi.json"
PAGE_PATH = "/"
_UNNOTED = (HEALTH_PATH, OPENAPI_PATH, PAGE_PATH)
BODY = "reconciler.emulator.body"  # in the scope: the parsed body
FAULT = "reconciler.emulator.fault"  # in the scope: the fault that strikes the request


class Asked(NamedTuple):
    """One request; `body` is the parsed JSON, None when there was none to read.

    `status` is that of the service, also when the client saw something else;
    0 when the request was dropped before it was carried out.
    """

    method: str
    path: str
    status: int
    body: object


class RequestRecord:
    """The last requests, the newest last; `write` gets each of them too.

    `times` are of the clock of this machine, not of the clock of the service.
    """

    def __init__(self, kept: int, write: Callable[[JsonObject, Scope], None] | None = None) -> None:
        self.requests: deque[Asked] = deque(maxlen=kept)
        self.times: deque[str] = deque(maxlen=kept)
        self._write = write

    def note(self, scope: Scope, status: int) -> None:
        """Note a request with its status."""
        asked = Asked(scope["method"], scope["path"], status, scope.get(BODY))
        now = timestamp(utc_now())
        self.requests.append(asked)
        self.times.append(now)
        if self._write:
            query = scope["query_string"].decode("latin-1")
            line = {"at": now, "query": query, "fault": scope.get(FAULT), **asked._asdict()}
            self._write(line, scope)


@dataclass
class RequestLog:
    """Notes each request once its answer begins; paths outside the API are left out."""

    app: ASGIApp
    record: RequestRecord

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note its status."""
        if scope["type"] != "http" or scope["path"] in _UNNOTED:
            await self.app(scope, receive, send)
            return

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.record.note(scope, message["status"])
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception:
            self.record.note(scope, 500)
            raise


_BEGINS = b'{"at":"'


def _is_foreign(path: Path) -> bool:
    """Return whether a file has other content than a log, which must not be appended to."""
    with suppress(OSError):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as stream:
                return stream.read(len(_BEGINS)) not in (b"", _BEGINS)
    return False


class LogFile:
    """A file for the owner only, added to at its end; each request is one write."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        # A pipe that replaces the file in between must not make us wait.
        flags |= os.O_NONBLOCK
        if path.is_fifo():
            raise OSError(errno.EINVAL, "it is a pipe: name a file", str(path))
        if _is_foreign(path):
            message = "it is there, and not such a log: remove it first, or name another file"
            raise OSError(errno.EEXIST, message, str(path))
        self._descriptor = os.open(path, flags, 0o600)
        weakref.finalize(self, os.close, self._descriptor)

    def write(self, line: JsonObject, scope: Scope) -> None:
        """Add a request; its key is masked wherever it occurs."""
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        key = Headers(scope=scope).get("authorization", "").strip()
        for secret in {key, key.partition(" ")[2].strip()} - {""}:
            # As it is inside JSON text, without the quotes around it.
            text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], "***")
        os.write(self._descriptor, text.encode("utf-8", "backslashreplace") + b"\n")
