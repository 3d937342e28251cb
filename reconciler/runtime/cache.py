"""Cache of a run for later runs, in the user's cache folder. Source: docs/performance.md.

Everything in it can be computed again, so the cache never fails a run: an entry that is missing,
damaged, not signed or not private is ignored. Entries are text, never code, and contain no secrets.
`RECONCILER_CACHE` names another folder.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from reconciler.runtime import regular_files

VARIABLE: Final = "RECONCILER_CACHE"
LARGEST_ENTRY: Final = 256 << 20
LARGEST_CACHE: Final = 1 << 30
_KEY: Final = "key"
_ENTRY: Final = ".entry"
_TAG: Final = "CACHEDIR.TAG"
# Backup programs recognise a cache by the first line: https://bford.info/cachedir/
_MARK: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# What reconciler keeps for its next run. It may be removed at any time.\n"
)
_UNFINISHED: Final = r"(?:\.\d+\.[0-9a-f]{8})?"
_OF_ENTRIES: Final = re.compile(rf"[0-9a-f]{{64}}\{_ENTRY}{_UNFINISHED}")
_OWN: Final = re.compile(rf"{_OF_ENTRIES.pattern}|(?:{_KEY}|{_TAG}){_UNFINISHED}")
_SIGNED: Final = 64
_SECRET: Final = 64


@dataclass(slots=True)
class Cache:
    """A folder of entries by their keys. `why_not` says why there is none, or is ""."""

    folder: Path | None = None
    why_not: str = ""
    _secret: bytes = field(default=b"", repr=False)

    @property
    def is_on(self) -> bool:
        """Return whether anything is kept."""
        return self.folder is not None

    def sign(self, text: str) -> str:
        """Return a signature of a text, valid only in this cache, that does not reveal the text."""
        return hmac.new(self._secret, text.encode(errors="surrogatepass"), "sha256").hexdigest()

    def get(self, key: str) -> bytes | None:
        """Return the content kept under a key, or None if there is none, or it was changed."""
        if self.folder is None:
            return None
        path = self._place(key)
        content = _read_own(path, LARGEST_ENTRY + _SIGNED)
        if content is None:
            return None
        signature, kept = content[:_SIGNED], content[_SIGNED:]
        if not hmac.compare_digest(signature, self._signed(key, kept)):
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return kept

    def put(self, key: str, content: bytes) -> None:
        """Keep content under a key, in place of the old content."""
        if self.folder is None or len(content) > LARGEST_ENTRY:
            return
        path = self._place(key)
        if _write_in_place(path, self._signed(key, content) + content):
            self._clean(path)

    def _place(self, key: str) -> Path:
        assert self.folder is not None  # noqa: S101 - checked before
        return self.folder / f"{self.sign(key)}{_ENTRY}"

    def _signed(self, key: str, content: bytes) -> bytes:
        # The key is signed too, so that an entry is valid for its own key only.
        signed = hmac.new(self._secret, key.encode(), "sha256")
        signed.update(hashlib.sha256(content).digest())
        return signed.hexdigest().encode()

    def held(self) -> tuple[int, int]:
        """Return the number of entries, and their size in bytes."""
        sizes = [size for _, size, path in self._files() if path.endswith(_ENTRY)]
        return len(sizes), sum(sizes)

    def _files(self) -> Iterator[tuple[float, int, str]]:
        """Yield the time of last use, the size and the path of each file of an entry."""
        assert self.folder is not None  # noqa: S101 - checked before
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    if _OF_ENTRIES.fullmatch(entry.name):
                        status = entry.stat(follow_symlinks=False)
                        yield status.st_mtime, status.st_size, entry.path

    def _clean(self, newest: Path) -> None:
        """Remove the entries that were not used for longest, until the rest is small enough."""
        found = sorted(self._files())
        total = sum(size for _, size, _ in found)
        for _, size, path in found:
            if total <= LARGEST_CACHE:
                return
            if path != str(newest):
                with suppress(OSError):
                    os.unlink(path)  # noqa: PTH108 - one of very many
                total -= size


NO_CACHE: Final = Cache(why_not="it was not asked for")


def open_cache(environ: Mapping[str, str], project: Path) -> Cache:
    """Open the cache of this user; it is off if it cannot be private.

    Files in the project's repository could come from any author of a proposed change.
    """
    shared = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME", "")) / ".cache"
    named = Path(environ.get(VARIABLE) or Path(shared) / "reconciler")
    if not (environ.get(VARIABLE) or named.is_absolute()):
        return Cache(why_not=f"there is no folder for it: set {VARIABLE}, or HOME")
    folder = Path(os.path.abspath(named))  # noqa: PTH100 - links are refused, not followed
    why_not = _unfit(folder, project)
    secret = None if why_not else _secret_in(folder)
    if secret is None:
        return Cache(why_not=why_not or f"{folder} cannot be written to")
    return Cache(folder, _secret=secret)


def _unfit(folder: Path, project: Path) -> str:
    """Return why a folder cannot be a private cache, or "" once it is one."""
    real = Path(os.path.realpath(folder))
    root = project.resolve()
    around = (parent for parent in (root, *root.parents) if (parent / ".git").exists())
    if real.is_relative_to(next(around, root)):
        return f"{folder} is inside the project: set {VARIABLE} to a folder outside"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        return f"{folder} cannot be made: {error.strerror}"
    if not stat.S_ISDIR(status.st_mode):
        return f"{folder} is not a folder"
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        return f"{folder} is not of this user alone: make it so with `chmod 700`"
    return _claimed(folder)


def _claimed(folder: Path) -> str:
    """Mark a folder as a cache of ours; return why not if it contains anything else.

    Files in a marked folder are removed and replaced, so it must contain no other files before.
    """
    tag, key = folder / _TAG, folder / _KEY
    mark = _read_own(tag, len(_MARK))
    if mark == _MARK:
        return ""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names alone
    except OSError as error:
        return f"{folder} cannot be read: {error.strerror}"
    # A mark of ours may be incomplete.
    others_tag = _TAG in names and (mark is None or not _MARK.startswith(mark))
    others_key = _KEY in names and _known_secret(key) is None
    if others_tag or others_key or not all(map(_OWN.fullmatch, names)):
        return f"{folder} holds other files: set {VARIABLE} to a folder that is empty or not there"
    return "" if _write_in_place(tag, _MARK) else f"{folder} cannot be written to"


def _secret_in(folder: Path) -> bytes | None:
    """Return the secret that signs entries; create it if there is none."""
    path = folder / _KEY
    if _known_secret(path) is None:
        _write_in_place(path, secrets.token_hex(32).encode(), is_first=not path.exists())
    return _known_secret(path)


def _known_secret(path: Path) -> bytes | None:
    content = _read_own(path, _SECRET)
    made = content is not None and re.fullmatch(rb"[0-9a-f]{%d}" % _SECRET, content)
    return content if made else None


def _read_own(path: Path, most: int) -> bytes | None:
    """Return the content of a file that only this user can have written; otherwise None."""
    try:
        with regular_files.opened(path, os.O_NOFOLLOW) as stream:
            status = os.fstat(stream.fileno())
            is_own = status.st_uid == os.geteuid() and not status.st_mode & 0o077
            return stream.read(most + 1) if is_own and status.st_size <= most else None
    except OSError:
        return None


def _write_in_place(path: Path, content: bytes, *, is_first: bool = False) -> bool:
    """Replace a file of ours; return whether that was possible.

    With `is_first` there was no such file, and one that another run writes meanwhile stays.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as stream:
            stream.write(content)
        if is_first:
            with suppress(FileExistsError):
                os.link(temporary, path)
            temporary.unlink()
        else:
            temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        return False
    return True


@cache
def program() -> str:
    """Return a digest that changes with the program and its dependencies.

    It is made of our own files, and of the names and versions of all installed packages. So the
    same wheel installed for another job is the same program.
    """
    folder = Path(__file__).parents[1]
    installed = [
        sorted(name for name in os.listdir(text) if name.endswith(".dist-info"))  # noqa: PTH208 - names alone
        for text in sys.path
        if text.endswith("-packages") and os.path.isdir(text)  # noqa: PTH112 - never raises
    ]
    about = hashlib.sha256(repr([sys.version, installed]).encode())
    for file in sorted(folder.rglob("*.py")):
        about.update(f"\0{file.relative_to(folder)}\0".encode())
        about.update(file.read_bytes())
    return about.hexdigest()
