"""A journal's lines in the commits of their own ref, which is moved by compare-and-swap."""

import contextlib
import json
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from reconciler.errors import JournalError, Locked
from reconciler.journal import store
from reconciler.journal.content import line_of
from reconciler.project.settings import InGit
from reconciler.runtime.advice import from_newest
from reconciler.runtime.failpoints import Point, reached
from reconciler.runtime.git import Git, GitFailed

WHOLE = 1 << 20
"""Up to this many bytes, lines are one file: older programs, which know no parts, can read it."""
_IN_PARTS = b'{"journal":2,"lines":"in parts"'
LINES = "journal.jsonl"
PART = f"{LINES}."
_DIGITS = 15
_EARLIER = "the commit before has it whole (docs/journal.md)"


def in_parts(size: int) -> bytes:
    """Return the content of `journal.jsonl` when all lines are in parts, of `size` bytes in all.

    Programs that know no parts refuse it, and write nothing.
    """
    return line_of({"journal": 2, "lines": "in parts", "bytes": size}, "")[0].encode()


def size_of_parts(lines: bytes) -> int | None:
    """Return the size of all parts in bytes, from the content of `journal.jsonl`.

    0 where it has no size, None where it has the lines themselves.
    """
    if not lines.startswith(_IN_PARTS):
        return None
    try:
        size = json.loads(lines).get("bytes", 0)
    except ValueError:
        return 0
    return size if isinstance(size, int) else 0


@dataclass(frozen=True, slots=True)
class JournalPart:
    """Lines in a separate file: its first byte among all lines, its bytes, and the blob."""

    begins: int
    size: int
    blob: str

    @property
    def name(self) -> str:
        """The name of the file; names sort in the order of the lines."""
        return f"{PART}{self.begins:0{_DIGITS}}"


def kept_parts(parts: Sequence[JournalPart], size: int) -> list[JournalPart]:
    """Return the parts that stay when the lines grow to `size` bytes.

    The rest becomes one new part. Each part stays larger than all after it together, like digits of
    a binary counter. So there are few parts, and a line is written again only about as often as the
    journal doubles.
    """
    for at, part in enumerate(parts):
        if part.size <= size - part.begins - part.size:
            return list(parts[:at])
    return list(parts)


def joined(
    place: str, blobs: Mapping[str, str], content: Callable[[str], bytes], size: int | None
) -> tuple[bytes, list[JournalPart]]:
    """Read all parts of the journal at a place; their size is in the file next to them.

    `blobs` are the files of the commit, and `content` reads a blob. `size` is 0 where it is
    unknown, as from older programs, and None where that file is missing. Raises JournalError where
    a part is missing or out of place, or that file is missing.
    """
    if size is None:
        raise JournalError(
            f"{place}: {LINES} is missing next to the parts of the journal: {_EARLIER}"
        )
    found, parts = bytearray(), []
    for name in sorted(name for name in blobs if name.startswith(PART)):
        lines = content(blobs[name])
        part = JournalPart(len(found), len(lines), blobs[name])
        if part.name != name:
            raise JournalError(f"{place}: a part of the journal is missing before {name}")
        parts.append(part)
        found += lines
    if not found:
        raise JournalError(
            f"{place}: all parts of the journal are missing, as where a program of before there "
            f"were parts took its lock: {_EARLIER}"
        )
    if size and size != len(found):
        raise JournalError(
            f"{place}: the parts of the journal have {len(found):,} bytes, and should have "
            f"{size:,}: {_EARLIER}"
        )
    return bytes(found), parts


_LOCAL = "refs/fetched"
_NEWEST = ".newest"
_LOCAL_NEWEST = "refs/newest"
_PUSHES = 3
_PAUSE = 1.0
# Settings for the server and its credentials. A person's other settings are left out: hooks,
# signing, refs to push along.
_PASSED = ("http.", "credential.", "ssh.", "protocol.")
_PASSED_WHOLE = ("core.sshcommand", "core.askpass", "core.gitproxy")


class RefMoved(Exception):
    """The ref was moved by another run, so nothing was pushed."""


class GitRemote:
    """One ref of the remote of the repository around a folder, and a mark next to it.

    The mark, `REF.newest`, is the commit of the ref at the last release of its lock. Every later
    commit descends from it. If the ref does not descend from the mark, it was moved back, and the
    mark has the lost commits.
    """

    def __init__(
        self,
        folder: Path,
        ref: str,
        remote: str,
        environ: Mapping[str, str],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._there = Git(folder, environ)
        self._ref, self._mark = ref, f"{ref}{_NEWEST}"
        self._remote = remote
        self._sleep = sleep
        self._url = self._name = ""

    @cached_property
    def git(self) -> Git:
        """Git in the repository of our own. Raises GitFailed where there is no remote."""
        top = self._there.text("rev-parse", "--absolute-git-dir")
        bare = self._there.text("rev-parse", "--is-bare-repository") == "true"
        # An address of a remote may be relative to the folder of its repository.
        top_folder = Path(top if bare else self._there.text("rev-parse", "--show-toplevel"))
        self._name = self._chosen()
        self._url = self._there.text("remote", "get-url", "--push", "--", self._name)
        settings = self._settings()
        try:
            own = Path(tempfile.mkdtemp(prefix="reconciler-git-"))
        except OSError as error:
            message = "make room there, or set TMPDIR to another folder that can be written"
            raise GitFailed(
                f"no temporary folder can be made: {error.strerror}; {message}"
            ) from error
        weakref.finalize(self, shutil.rmtree, own, ignore_errors=True)
        environ = {
            name: value
            for name, value in self._there.environ.items()
            if not name.startswith("GIT_CONFIG")
        }
        environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", **settings}
        form = self._there.text("rev-parse", "--show-object-format")
        Git(top_folder, environ).run(
            "init", "--quiet", "--bare", "--template=", f"--object-format={form}", "--", str(own)
        )
        return Git(top_folder, environ, (f"--git-dir={own}", "-c", "gc.auto=0"))

    def _chosen(self) -> str:
        names = self._there.text("remote").split()
        if self._remote in names:
            return self._remote
        if self._remote:
            listed = ", ".join(names) or "none"
            raise GitFailed(f"there is no remote `{self._remote}` (there are: {listed})")
        if "origin" in names or len(names) == 1:
            return "origin" if "origin" in names else names[0]
        if not names:
            raise GitFailed(
                "the repository has no remote: add one (`git remote add origin URL`), or keep the "
                "journal in a file (`journal: .reconciler/NAME.journal.jsonl` of the environment)"
            )
        raise GitFailed(f"name the remote, as in `{self._ref}@{names[0]}`: {', '.join(names)}")

    def _settings(self) -> dict[str, str]:
        """Return the repository's settings for reaching its server, as variables.

        As arguments of git, any user of the machine could read the token of a job.
        """
        found = self._there.run("config", "--list", "--null", "--includes")
        listed = found.decode(errors="surrogateescape").split("\0")
        passed = [
            (name, value)
            for name, value in (pair.split("\n", 1) for pair in listed if "\n" in pair)
            if name.startswith(_PASSED) or name in _PASSED_WHOLE
        ]
        settings = {"GIT_CONFIG_COUNT": str(len(passed))}
        for number, (name, value) in enumerate(passed):
            settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        return settings

    @property
    def memory(self) -> Path:
        """The file that keeps the last known end of the ref, below the repository's git folder."""
        _ = self.git  # finds the remote
        there = self._there.folder / self._there.text("rev-parse", "--git-common-dir")
        named = sha256(f"{self._ref}\0{self._name}".encode()).hexdigest()[:32]
        return there.resolve() / "reconciler" / f"{named}.json"

    @property
    def from_mark(self) -> str:
        """The commands that move the ref to where the mark is."""
        _ = self.git  # finds the remote
        return from_newest(self._name, self._mark, self._ref)

    def fetch(self) -> tuple[str, str]:
        """Fetch the last commits of ref and mark, and return their ids; "" for none."""
        try:
            return self._fetched(f"+{self._ref}:{_LOCAL}")
        except GitFailed:
            listed = self._listed()
            if not listed:
                return "", ""
        if self._ref not in listed:
            # The ref is gone, whatever was fetched of it before.
            return "", self._fetched()[1]
        # Another run may have made the ref between fetching and listing.
        return self._fetched(f"+{self._ref}:{_LOCAL}")

    def _fetched(self, *refs: str) -> tuple[str, str]:
        # A pattern may match nothing, so a missing mark is no error, and needs no second request.
        mark = f"+{self._ref}{_NEWEST[:-1]}*:{_LOCAL_NEWEST[:-1]}*"
        self.git.run(
            *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"),
            *("--no-recurse-submodules", "--", self._url, *refs, mark),
        )
        listed = self.git.text("for-each-ref", "--format=%(refname) %(objectname)")
        found = dict(line.split() for line in listed.splitlines())
        return found.get(_LOCAL, ""), found.get(_LOCAL_NEWEST, "")

    def tip(self) -> str:
        """Return the commit of the ref on the remote; "" where there is none."""
        return self._listed().get(self._ref, "")

    def _listed(self) -> dict[str, str]:
        """Return the commits of ref and mark on the remote, as far as they are there."""
        names = (self._ref, self._mark)
        listed = self.git.text("ls-remote", "--quiet", "--", self._url, *names)
        # Git lists every ref with a name that ends in one of these.
        found = (line.partition("\t") for line in listed.splitlines())
        return {name: tip for tip, _, name in found if name in names}

    def push(self, commit: str, before: str, *, marked: bool = False) -> None:
        """Move the ref from `before` ("" for a new ref) to `commit`, or remove it for "".

        With `marked` the mark is moved too. After a failed push the ref is read: an answer may have
        been lost. Raises RefMoved where another run moved the ref, and GitFailed.
        """
        mark = [f"+{commit}:{self._ref}{_NEWEST}"] if marked else []
        for left in reversed(range(_PUSHES)):
            try:
                self.git.run(
                    *("push", "--quiet", "--no-verify", f"--force-with-lease={self._ref}:{before}"),
                    *("--", self._url, f"{commit}:{self._ref}", *mark),
                )
            except GitFailed:
                there = self.tip()
                if there == commit:
                    return
                if there != before:
                    raise RefMoved from None
                if not left:
                    raise
                self._sleep(_PAUSE)
            else:
                return


_LOCK = "lock.json"
_TRIES = 20


class GitStore(store.Store):
    """The lines of a journal in a git ref. `place` is its name in messages."""

    is_shared = True

    def __init__(self, remote: GitRemote, place: str) -> None:
        self._remote = remote
        self.place = place
        self._tip: str | None = None
        self._lines = bytearray()
        self._parts: list[JournalPart] = []
        self._lock = b""
        self._newest = store.Ending()

    def read(self) -> bytes:
        """Fetch the lines; while the lock is ours, they are what we pushed last."""
        if self._tip is None or not self._lock:
            self._fetch()
        return bytes(self._lines)

    def holder(self) -> store.Lease | None:
        """Fetch who holds the lock."""
        self._fetch()
        return self._lease

    def seen(self) -> Sequence[store.Ending]:
        """Return the end at the mark, if the ref lacks it, and the end that this machine saw."""
        with self._errors("read"):
            way_back = self._remote.from_mark if self._newest.end else ""
            return replace(self._newest, way_back=way_back), store.remembered(self._remote.memory)

    def note_seen(self) -> None:
        """Write the end of the lines into a file of this machine."""
        if self._lines:
            with self._errors("read"):
                store.remember(self._remote.memory, store.ending_of(self._lines))

    @property
    def _lease(self) -> store.Lease | None:
        return store.parse_record(self._lock).lease

    def append(self, lines: bytes, lease: store.Lease, note: store.Note) -> None:
        """Push a commit with these lines after the others."""
        self._write(self._lines, lines, lease, note)

    def replace(self, lines: bytes, lease: store.Lease, note: store.Note) -> None:
        """Push a commit with only these lines; the earlier lines stay in its ancestors."""
        self._write(bytearray(), lines, lease, note)

    def _write(self, before: bytearray, lines: bytes, lease: store.Lease, note: store.Note) -> None:
        self._check(lease)
        try:
            self._commit(before, lines, lease, note)
        except RefMoved:
            self._lost()
        self.note_seen()

    def _check(self, lease: store.Lease) -> None:
        if self._lease is None or self._lease.owner != lease.owner:
            self._lost()

    def lock(self, lease: store.Lease) -> None:
        """Push a commit with the lock. Raises Locked where there is a lock."""
        if self._tip is None:
            self._fetch()
        for _ in range(_TRIES):
            if self._lease is not None:
                self._fetch()
            if self._lease is not None:
                raise store.locked_by(self, self._lease)
            try:
                self._commit(
                    self._lines, b"", lease, store.Note(f"locked by {lease.words}", lease.actor)
                )
            except RefMoved:
                self._fetch()
            else:
                return
        raise Locked(f"{self.place} is written to by others all the time")

    def release(self, lease: store.Lease, ended: str) -> None:
        """Push a commit without the lock; remove the ref, where no line was ever written.

        Where the journal ends as it should, the mark moves too.
        """
        self._check(lease)
        if not self._lines and self._removed():
            return
        is_newest = bool(ended) and store.ending_of(self._lines).end == ended
        try:
            self._commit(
                self._lines, b"", None, store.Note("unlocked", lease.actor), marked=is_newest
            )
        except RefMoved:
            self._lost()
        if is_newest:
            self.note_seen()

    def _removed(self) -> bool:
        """Remove a ref that a run made for its lock without writing a line.

        Returns whether it is gone: a remote may refuse that.
        """
        try:
            self._remote.push("", self._tip or "")
        except (RefMoved, GitFailed):
            return False
        self._tip, self._lock, self._parts = "", b"", []
        return True

    def unlock(self, owner: str) -> store.Lease | None:
        """Push a commit without the lock that another run took."""
        self._fetch()
        held = self._lease
        if held is None:
            return None
        if held.owner != owner:
            raise store.locked_by(self, held)
        try:
            self._commit(self._lines, b"", None, store.Note(f"lock taken from {held.words}", ""))
        except RefMoved:
            raise Locked(f"{self.place} changed meanwhile; look again") from None
        return held

    def _lost(self) -> NoReturn:
        self._fetch()
        held = self._lease
        # What was read before may no longer be the base of a write.
        self._tip, self._lock = None, b""
        now = f"it is locked by {held.words}" if held is not None else "it was unlocked meanwhile"
        raise Locked(f"the lock of {self.place} was lost, so nothing is written: {now}")

    def _fetch(self) -> None:
        with self._errors("read"):
            tip, newest = self._remote.fetch()
            blobs = self._blobs(tip) if tip else {}
            self._lock = self._content(blobs[_LOCK]) if _LOCK in blobs else b""
            lines, self._parts = self._joined(blobs)
            self._lines = bytearray(lines)
            self._tip = tip
            marked = self._blobs(newest) if newest not in ("", tip) else {}
            # The mark's lines may be those of these files.
            is_beyond = not marked.items() <= blobs.items()
            self._newest = store.ending_of(self._joined(marked)[0]) if is_beyond else store.Ending()

    def _joined(self, blobs: Mapping[str, str]) -> tuple[bytes, list[JournalPart]]:
        """Read the lines of a commit, and the parts that they are in, from its files."""
        lines = self._content(blobs[LINES]) if LINES in blobs else b""
        size = size_of_parts(lines)
        if size is not None or (not lines and any(name.startswith(PART) for name in blobs)):
            return joined(self.place, blobs, self._content, size)
        return lines, []

    def _blobs(self, commit: str) -> dict[str, str]:
        listed = self._remote.git.run("ls-tree", "-z", commit).decode(errors="surrogateescape")
        named = (part.partition("\t") for part in listed.split("\0") if part)
        return {name: mode.split()[2] for mode, _, name in named}

    def _content(self, blob: str) -> bytes:
        return self._remote.git.run("cat-file", "blob", blob)

    def _commit(
        self,
        before: bytearray,
        more: bytes,
        lease: store.Lease | None,
        note: store.Note,
        *,
        marked: bool = False,
    ) -> None:
        """Push one commit after the last, with these lines and more.

        `marked` moves the mark too. Raises RefMoved where that is no longer the last commit.
        """
        lock = store.record_text(store.LockRecord(lease)) if lease is not None else b""
        tip = self._tip or ""
        with self._errors("written"):
            parts = self._grown(before, more)
            files = {part.name: part.blob for part in parts}
            lines = in_parts(len(before) + len(more)) if parts else bytes(before) + more
            for name, content in ((LINES, lines), (_LOCK, lock)):
                if content:
                    files[name] = self._blob(content)
            tree = "".join(f"100644 blob {blob}\t{name}\n" for name, blob in files.items())
            made = self._remote.git.run("mktree", given=tree.encode()).decode().strip()
            parents = ["-p", tip] if tip else []
            arguments = ("commit-tree", made, *parents, "-F", "-")
            message, more_environ = printable(note.words).encode(), _signature(note.actor)
            written = self._remote.git.run(*arguments, given=message, more=more_environ)
            commit = written.decode().strip()
            reached(Point.JOURNAL_WRITTEN)
            self._remote.push(commit, tip, marked=marked)
            reached(Point.JOURNAL_SYNCED)
        # The state changes only after the push; a copy at each append would copy all lines each
        # time.
        before += more
        self._tip, self._lines, self._parts = commit, before, parts
        self._lock = lock

    def _grown(self, before: bytearray, more: bytes) -> list[JournalPart]:
        """Return the parts of the lines once there are more; none while one file is enough."""
        size = len(before) + len(more)
        if size <= WHOLE:
            return []
        known = self._parts if before is self._lines else []
        if known and not more:
            return known
        kept = kept_parts(known, size)
        begins = kept[-1].begins + kept[-1].size if kept else 0
        blob = self._blob(bytes(before[begins:]) + more)
        return [*kept, JournalPart(begins, size - begins, blob)]

    def _blob(self, content: bytes) -> str:
        return self._remote.git.run("hash-object", "-w", "--stdin", given=content).decode().strip()

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except GitFailed as error:
            raise JournalError(f"{self.place} cannot be {what}: {error}") from error


def printable(text: str) -> str:
    """Return a text without characters that break a line, hide text or reorder it."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _signature(actor: str) -> dict[str, str]:
    """Return the author and committer of a commit: the actor; the name may be an address."""
    name = printable(actor).translate(str.maketrans("<>", "()")).strip(" .,:;\"'")
    email = name if "@" in name and " " not in name else ""
    signature = {"NAME": name or "reconciler", "EMAIL": email}
    return {
        f"GIT_{role}_{part}": text
        for role in ("AUTHOR", "COMMITTER")
        for part, text in signature.items()
    }


def opened(place: InGit, root: Path) -> GitStore:
    """Return the store in a ref of a remote of the repository around this folder."""
    named = f"git:{place.ref}@{place.remote}" if place.remote else f"git:{place.ref}"
    return GitStore(GitRemote(root, place.ref, place.remote, os.environ), named)
