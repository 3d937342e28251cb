"""The one door to object stores: get, list, and writes that happen only under a condition.

Importing it fails without the extra `remote`.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from reconciler.addresses import proxies_beyond
from reconciler.errors import JournalError

if TYPE_CHECKING:
    from obstore import UpdateVersion
    from obstore.store import ObjectStore

_AT_ONCE = 16
_QUERY = re.compile(r"\?[^\s]*")
_LONGEST_WORDS = 300
_ENVIRONMENT = threading.Lock()


class Refused(Exception):
    """The condition of a write does not hold, so nothing was written."""


@dataclass(frozen=True, slots=True)
class Held:
    """An object as it was read: its content, and which of its versions that is."""

    content: bytes
    version: UpdateVersion


class Bucket:
    """All objects below one prefix, `s3://BUCKET/PREFIX`.

    Credentials, region and endpoint come from the environment, by the names
    that the provider's own tools use. Every method raises JournalError.
    """

    def __init__(self, url: str, environ: Mapping[str, str]) -> None:
        self.url = url.rstrip("/")
        self._plain = environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true")
        self._store: ObjectStore | None = None

    @property
    def _opened(self) -> ObjectStore:
        if self._store is None:
            self._store = _open(self.url, plain=self._plain)
        return self._store

    def get(self, name: str) -> Held | None:
        """Read one object; None where there is none."""
        with self._errors("read"):
            try:
                found = obstore.get(self._opened, name)
                content = bytes(found.bytes())
            except FileNotFoundError:
                return None
            return Held(content, _version(found.meta["e_tag"], found.meta["version"]))

    def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        """Read many objects, several at once."""
        if not names:
            return []
        with ThreadPoolExecutor(min(_AT_ONCE, len(names))) as pool:
            found = pool.map(self.get, names)
            return [None if held is None else held.content for held in found]

    def names(self, prefix: str) -> list[str]:
        """List what begins with a prefix, in order."""
        with self._errors("read"):
            return sorted(one["path"] for one in obstore.list(self._opened, prefix).collect())

    def create(self, name: str, content: bytes) -> None:
        """Write an object that must not be there yet. Raises Refused where it is, by another."""
        self._put(name, content, None)

    def update(self, name: str, content: bytes, version: UpdateVersion) -> None:
        """Write an object over a version of it. Raises Refused where that is not the last."""
        self._put(name, content, version)

    def _put(self, name: str, content: bytes, version: UpdateVersion | None) -> None:
        """Write under a condition.

        Where the answer to a first attempt was lost, the second one meets what
        the first wrote: that is success, and its content tells.
        """
        with self._errors("written"):
            try:
                obstore.put(self._opened, name, content, mode=version or "create")
            except (AlreadyExistsError, PreconditionError):
                held = self.get(name)
                if held is None or held.content != content:
                    raise Refused from None

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects."""
        with self._errors("written"):
            obstore.delete(self._opened, names)

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            raise JournalError(f"{self.url} cannot be {what}: {_words(error)}") from error


def _open(url: str, *, plain: bool) -> ObjectStore:
    """Open a store. Its client takes the proxies from the process when it is made."""
    try:
        with _past_proxies():
            return from_url(
                url,
                client_options={"timeout": "30s", "connect_timeout": "10s", "allow_http": plain},
                retry_config={"max_retries": 4, "retry_timeout": timedelta(seconds=60)},
            )
    except (BaseError, ValueError) as error:
        raise JournalError(f"{url} cannot be opened: {_words(error)}") from error


@contextlib.contextmanager
def _past_proxies() -> Iterator[None]:
    """Keep the proxies of the environment out of what is asked of this machine.

    The environment is the whole process's, so one client is made after the other:
    a second one would take what the first put there for the person's own.
    """
    with _ENVIRONMENT:
        meant = proxies_beyond(os.environ)
        before = {name: os.environ.get(name) for name in meant}
        os.environ.update(meant)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def _version(e_tag: str | None, version: str | None) -> UpdateVersion:
    known: UpdateVersion = {}
    if e_tag is not None:
        known["e_tag"] = e_tag
    if version is not None:
        known["version"] = version
    return known


def _words(error: Exception) -> str:
    """Give the first line of an error without the queries of addresses, which may be signed."""
    first = str(error).split("\n", 1)[0]
    return _QUERY.sub("", first)[:_LONGEST_WORDS]
