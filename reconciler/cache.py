"""What a run keeps for the next one, below the user's cache folder. Source: docs/performance.md.

Everything in it can be found out again, so nothing here ever fails a run: what is missing,
damaged, signed by nobody or not ours alone is not there. It is text, never code, and holds no
secret. `RECONCILER_CACHE` names another folder.
"""

from __future__ import annotations

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

from reconciler import __version__

VARIABLE: Final = "RECONCILER_CACHE"
LARGEST_ENTRY: Final = 256 << 20
LARGEST_CACHE: Final = 1 << 30
_KEY: Final = "key"
_ENTRY: Final = ".entry"
_TAG: Final = "CACHEDIR.TAG"
# The first line is the one by which backups know a cache: https://bford.info/cachedir/
_MARK: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# What reconciler keeps for its next run. It may be removed at any time.\n"
)
_UNFINISHED: Final = r"(?:\.\d+\.[0-9a-f]{8})?"
_OF_ENTRIES: Final = re.compile(rf"[0-9a-f]{{64}}\{_ENTRY}{_UNFINISHED}")
_OWN: Final = re.compile(rf"{_OF_ENTRIES.pattern}|(?:{_KEY}|{_TAG}){_UNFINISHED}")
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SIGNED: Final = 64
_SECRET: Final = 64


@dataclass(slots=True)
class Cache:
    """One folder of entries by their keys. `why_not` says why there is none, "" where there is."""

    folder: Path | None = None
    why_not: str = ""
    _secret: bytes = field(default=b"", repr=False)

    @property
    def is_on(self) -> bool:
        """Whether anything is kept."""
        return self.folder is not None

    def sign(self, text: str) -> str:
        """Give what stands for a text here and nowhere else, from which nobody can guess it."""
        return hmac.new(self._secret, text.encode(errors="surrogatepass"), "sha256").hexdigest()

    def get(self, key: str) -> bytes | None:
        """Give what was kept under a key, None where that is nothing, or not as it was kept."""
        if self.folder is None:
            return None
        path = self._place(key)
        content = _read_own(path, LARGEST_ENTRY + _SIGNED)
        if content is None:
            return None
        said, kept = content[:_SIGNED], content[_SIGNED:]
        if not hmac.compare_digest(said, self._signed(key, kept)):
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return kept

    def put(self, key: str, content: bytes) -> None:
        """Keep something under a key, in place of what was there."""
        if self.folder is None or len(content) > LARGEST_ENTRY:
            return
        path = self._place(key)
        if _write_in_place(path, self._signed(key, content) + content):
            self._clean(path)

    def _place(self, key: str) -> Path:
        assert self.folder is not None  # noqa: S101 - asked before
        return self.folder / f"{self.sign(key)}{_ENTRY}"

    def _signed(self, key: str, content: bytes) -> bytes:
        # The key is signed too, so that no entry stands for another one.
        signed = hmac.new(self._secret, key.encode(), "sha256")
        signed.update(hashlib.sha256(content).digest())
        return signed.hexdigest().encode()

    def held(self) -> tuple[int, int]:
        """Give how many entries there are, and how many bytes they take."""
        sizes = [size for _, size, path in self._files() if path.endswith(_ENTRY)]
        return len(sizes), sum(sizes)

    def _files(self) -> Iterator[tuple[float, int, str]]:
        """Yield when each file of an entry was used last, its size and its path."""
        assert self.folder is not None  # noqa: S101 - asked before
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    if _OF_ENTRIES.fullmatch(entry.name):
                        status = entry.stat(follow_symlinks=False)
                        yield status.st_mtime, status.st_size, entry.path

    def _clean(self, newest: Path) -> None:
        """Remove what was not used for longest, until the rest is small enough."""
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
    """Open the cache of this user; one that keeps nothing where that cannot be private.

    What lies in the repository of the project could be written by whoever proposes a change.
    """
    named = _folder(environ)
    if named is None:
        return Cache(why_not=f"there is no folder for it: set {VARIABLE}, or HOME")
    folder = Path(os.path.abspath(named))  # noqa: PTH100 - links are refused, not followed
    why_not = _unfit(folder, project)
    secret = None if why_not else _secret_in(folder)
    if secret is None:
        return Cache(why_not=why_not or f"{folder} cannot be written to")
    return Cache(folder, _secret=secret)


def _unfit(folder: Path, project: Path) -> str:
    """Say why a folder cannot be made a private cache, "" where it is one by now."""
    real = Path(os.path.realpath(folder))
    if real.is_relative_to(_repository_around(project.resolve())):
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
    """Mark a folder as a cache of ours; say why not where it holds anything else.

    In a marked one files are removed and replaced, so nothing of others may be in it before.
    """
    tag, key = folder / _TAG, folder / _KEY
    mark = _read_own(tag, len(_MARK))
    if mark == _MARK:
        return ""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names alone
    except OSError as error:
        return f"{folder} cannot be read: {error.strerror}"
    # A mark of ours may have been cut short.
    others_tag = _TAG in names and (mark is None or not _MARK.startswith(mark))
    others_key = _KEY in names and _known_secret(key) is None
    if others_tag or others_key or not all(map(_OWN.fullmatch, names)):
        return f"{folder} holds other files: set {VARIABLE} to a folder that is empty or not there"
    return "" if _write_in_place(tag, _MARK) else f"{folder} cannot be written to"


def _folder(environ: Mapping[str, str]) -> Path | None:
    if own := environ.get(VARIABLE):
        return Path(own)
    shared = environ.get("XDG_CACHE_HOME")
    top = Path(shared) if shared else Path(environ.get("HOME", "")) / ".cache"
    return top / "reconciler" if top.is_absolute() else None


def _repository_around(root: Path) -> Path:
    around = (parent for parent in (root, *root.parents) if (parent / ".git").exists())
    return next(around, root)


def _secret_in(folder: Path) -> bytes | None:
    """Give the secret that entries are signed with, made where there is none."""
    path = folder / _KEY
    known = _known_secret(path)
    if known is not None:
        return known
    beside = folder / f"{_KEY}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        _write_new(beside, secrets.token_hex(32).encode())
        if not path.exists():
            # Of several that begin at once, the first one's holds.
            with suppress(FileExistsError):
                os.link(beside, path)
            beside.unlink()
        else:
            beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
    return _known_secret(path)


def _known_secret(path: Path) -> bytes | None:
    content = _read_own(path, _SECRET)
    made = content is not None and re.fullmatch(rb"[0-9a-f]{%d}" % _SECRET, content)
    return content if made else None


def _read_own(path: Path, most: int) -> bytes | None:
    """Read a file that only this user can have written; None for anything else."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        # A folder can be opened as a file, and is none for what reads files.
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                return None
            if status.st_mode & 0o077 or status.st_size > most:
                return None
            return stream.read(most + 1)
    except OSError:
        return None


def _write_in_place(path: Path, content: bytes) -> bool:
    """Write a file of ours, in place of what was there; tell whether that was possible."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _write_new(beside, content)
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        return False
    return True


def _write_new(path: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as stream:
        stream.write(content)


@cache
def program() -> str:
    """Give what changes with the program and with what it is built on.

    Of a wheel that is what its list of files says, so that the same one, installed for another
    job, is the same program; else it is when each file was changed.
    """
    folder = Path(__file__).parent
    listed = _listed_in_wheel(folder)
    own = [
        (os.path.relpath(place, folder), name, status.st_size, listed or status.st_mtime_ns)
        for place, _, names in os.walk(folder)
        for name in sorted(names)
        if name.endswith(".py")
        for status in [os.stat(os.path.join(place, name))]  # noqa: PTH116, PTH118 - hundreds
    ]
    installed = [
        (text, _versions_in(text) if listed else os.stat(text).st_mtime_ns)  # noqa: PTH116 - as above
        for text in sys.path
        if text.endswith("-packages") and os.path.isdir(text)  # noqa: PTH112 - never raises
    ]
    about = repr([__version__, sys.version, sorted(own), installed])
    return hashlib.sha256(about.encode()).hexdigest()


def _listed_in_wheel(folder: Path) -> str:
    """Give a digest of the list of files, with theirs, of the wheel that a package came in.

    "" where it came in none.
    """
    own = f"{folder.name}/{Path(__file__).name},sha256="
    for record in folder.parent.glob("*reconciler-*.dist-info/RECORD"):
        with suppress(OSError, ValueError):
            text = record.read_text(encoding="utf-8")
            if own in text:
                return hashlib.sha256(text.encode()).hexdigest()
    return ""


def _versions_in(folder: str) -> list[str]:
    """Name what is installed in a folder, with the version of each."""
    return sorted(one for one in os.listdir(folder) if one.endswith(".dist-info"))  # noqa: PTH208 - names alone
