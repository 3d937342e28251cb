"""A journal's lines in the commits of a ref of their own, moved by compare-and-swap."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from reconciler.errors import JournalError, Locked
from reconciler.git import Git, GitFailed
from reconciler.journal.git_parts import (
    LINES,
    PART,
    WHOLE,
    Part,
    in_parts,
    joined,
    kept_parts,
    size_of_parts,
)
from reconciler.journal.store import Lease, LockRecord, Note, parse_record, record_text
from reconciler.points import Point, reached

_LOCAL = "refs/fetched"
_PUSHES = 3
_PAUSE = 1.0
# What leads to the server and its credentials; all else of a person's settings (hooks, signing,
# what to push along) has no business here.
_PASSED = ("http.", "credential.", "ssh.", "protocol.")
_PASSED_WHOLE = ("core.sshcommand", "core.askpass", "core.gitproxy")


class Lost(Exception):
    """The ref is not what it was, so nothing was pushed."""


class GitRemote:
    """One ref of the remote of the repository around a folder."""

    def __init__(
        self,
        folder: Path,
        ref: str,
        remote: str,
        environ: Mapping[str, str],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._there = Git(folder, environ)
        self._ref = ref
        self._remote = remote
        self._sleep = sleep
        self._url = ""
        self._own: Git | None = None

    @property
    def git(self) -> Git:
        """Git in the repository of our own. Raises GitFailed where there is no remote."""
        if self._own is None:
            self._own = self._opened()
        return self._own

    def _opened(self) -> Git:
        top = self._there.text("rev-parse", "--absolute-git-dir")
        bare = self._there.text("rev-parse", "--is-bare-repository") == "true"
        # An address of a remote may be relative to where its repository stands.
        stand = Path(top if bare else self._there.text("rev-parse", "--show-toplevel"))
        self._url = self._there.text("remote", "get-url", "--push", "--", self._chosen())
        settings = self._settings()
        own = Path(tempfile.mkdtemp(prefix="reconciler-git-"))
        weakref.finalize(self, shutil.rmtree, own, ignore_errors=True)
        environ = {
            name: value
            for name, value in self._there.environ.items()
            if not name.startswith("GIT_CONFIG")
        }
        environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", **settings}
        form = self._there.text("rev-parse", "--show-object-format")
        Git(stand, environ).run(
            "init", "--quiet", "--bare", "--template=", f"--object-format={form}", "--", str(own)
        )
        return Git(stand, environ, (f"--git-dir={own}", "-c", "gc.auto=0"))

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
            raise GitFailed("the repository has no remote")
        raise GitFailed(f"name the remote, as in `{self._ref}@{names[0]}`: {', '.join(names)}")

    def _settings(self) -> dict[str, str]:
        """Give what the repository says of reaching its server, as an environment.

        In an argument, others on the machine could read the token of a job.
        """
        listed = self._there.run("config", "--list", "--null", "--includes").decode(
            errors="surrogateescape"
        )
        pairs = [pair.split("\n", 1) for pair in listed.split("\0") if "\n" in pair]
        passed = [
            (name, value)
            for name, value in pairs
            if name.startswith(_PASSED) or name in _PASSED_WHOLE
        ]
        settings = {"GIT_CONFIG_COUNT": str(len(passed))}
        for number, (name, value) in enumerate(passed):
            settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        return settings

    def fetch(self) -> str:
        """Fetch the ref's last commit and give its id; "" where there is no such ref."""
        try:
            return self._fetched()
        except GitFailed:
            if not self.tip():
                return ""
        # Another run may have made the ref between the two questions.
        return self._fetched()

    def _fetched(self) -> str:
        self.git.run(
            *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"),
            *("--no-recurse-submodules", "--", self._url, f"+{self._ref}:{_LOCAL}"),
        )
        return self.git.text("rev-parse", "--verify", _LOCAL)

    def tip(self) -> str:
        """Ask where the ref stands; "" where there is none."""
        listed = self.git.text("ls-remote", "--quiet", "--", self._url, self._ref)
        # Git lists every ref whose name ends in this one.
        found = (line.partition("\t") for line in listed.splitlines())
        return next((tip for tip, _, name in found if name == self._ref), "")

    def push(self, commit: str, before: str) -> None:
        """Move the ref from `before` ("" for a new ref) to `commit`.

        A push whose answer was lost is looked up, so that it counts as what it
        was. Raises Lost where the ref stood elsewhere, and GitFailed.
        """
        for left in reversed(range(_PUSHES)):
            try:
                self.git.run(
                    *("push", "--quiet", "--no-verify", f"--force-with-lease={self._ref}:{before}"),
                    *("--", self._url, f"{commit}:{self._ref}"),
                )
            except GitFailed:
                there = self.tip()
                if there == commit:
                    return
                if there != before:
                    raise Lost from None
                if not left:
                    raise
                self._sleep(_PAUSE)
            else:
                return


_LOCK = "lock.json"
_TRIES = 20


class GitStore:
    """The lines of a journal in a git ref. `place` is what messages call it."""

    is_shared = True

    def __init__(self, remote: GitRemote, place: str) -> None:
        self._remote = remote
        self._place = place
        self._tip: str | None = None
        self._lines = bytearray()
        self._parts: list[Part] = []
        self._lock = b""

    @property
    def place(self) -> str:
        """The ref, as in the project file."""
        return self._place

    def read(self) -> bytes:
        """Fetch the lines; while the lock is ours, they are what we pushed last."""
        if self._tip is None or not self._is_locked:
            self._fetch()
        return bytes(self._lines)

    def holder(self) -> Lease | None:
        """Fetch who holds the lock."""
        self._fetch()
        return self._lease

    def ended(self) -> str:
        """Remember nothing: lock and lines are of one commit, so they are of one age."""
        return ""

    @property
    def _lease(self) -> Lease | None:
        return parse_record(self._lock).lease

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Push a commit with these lines after the others."""
        self._write(self._lines, lines, lease, note)

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Push a commit with these lines only; the earlier ones stay in its ancestors."""
        self._write(bytearray(), lines, lease, note)

    def _write(self, before: bytearray, lines: bytes, lease: Lease, note: Note) -> None:
        self._check(lease)
        try:
            self._commit(before, lines, lease, note)
        except Lost:
            self._lost()

    def _check(self, lease: Lease) -> None:
        if self._lease is None or self._lease.owner != lease.owner:
            self._lost()

    def lock(self, lease: Lease) -> None:
        """Push a commit with the lock. Raises Locked where there is one."""
        if self._tip is None:
            self._fetch()
        for _ in range(_TRIES):
            held = self._lease
            if held is not None:
                self._fetch()
                held = self._lease
            if held is not None:
                raise Locked(f"{self.place} is locked by {held.words}{held.way_out}")
            try:
                self._commit(self._lines, b"", lease, Note(f"locked by {lease.words}", lease.actor))
            except Lost:
                self._fetch()
            else:
                return
        raise Locked(f"{self.place} is written to by others all the time")

    def release(self, lease: Lease, ended: str) -> None:
        """Push a commit without the lock."""
        del ended
        self._check(lease)
        try:
            self._commit(self._lines, b"", None, Note("unlocked", lease.actor))
        except Lost:
            self._lost()

    def unlock(self, owner: str) -> Lease | None:
        """Push a commit without the lock that another run took."""
        self._fetch()
        held = self._lease
        if held is None:
            return None
        if held.owner != owner:
            raise Locked(f"{self.place} is locked by {held.words}{held.way_out}")
        try:
            self._commit(self._lines, b"", None, Note(f"lock taken from {held.words}", ""))
        except Lost:
            raise Locked(f"{self.place} changed meanwhile; look again") from None
        return held

    @property
    def _is_locked(self) -> bool:
        return bool(self._lock)

    def _lost(self) -> NoReturn:
        self._fetch()
        held = self._lease
        # What was read before is no ground to write on any more.
        self._tip, self._lock = None, b""
        now = f"it is locked by {held.words}" if held is not None else "it was unlocked meanwhile"
        raise Locked(f"the lock of {self.place} was lost, so nothing is written: {now}")

    def _fetch(self) -> None:
        with self._errors("read"):
            tip = self._remote.fetch()
            blobs = self._blobs(tip) if tip else {}
            self._lock = self._content(blobs[_LOCK]) if _LOCK in blobs else b""
            lines = self._content(blobs[LINES]) if LINES in blobs else b""
            self._parts = []
            size = size_of_parts(lines)
            if size is not None or (not lines and any(name.startswith(PART) for name in blobs)):
                lines, self._parts = joined(self._place, blobs, self._content, size)
            self._lines = bytearray(lines)
            self._tip = tip

    def _blobs(self, commit: str) -> dict[str, str]:
        """Give the blob of each file of a commit."""
        listed = self._remote.git.run("ls-tree", "-z", commit).decode(errors="surrogateescape")
        named = (one.partition("\t") for one in listed.split("\0") if one)
        return {name: mode.split()[2] for mode, _, name in named}

    def _content(self, blob: str) -> bytes:
        return self._remote.git.run("cat-file", "blob", blob)

    def _commit(self, before: bytearray, more: bytes, lease: Lease | None, note: Note) -> None:
        """Push one commit after the last, with these lines and more.

        Raises Lost where that is no longer the last.
        """
        lock = record_text(LockRecord(lease)) if lease is not None else b""
        tip = self._tip or ""
        with self._errors("written"):
            parts = self._grown(before, more)
            files = {part.name: part.blob for part in parts}
            size = len(before) + len(more)
            lines = in_parts(size) if parts else bytes(before) + more
            files |= {
                name: self._blob(held) for name, held in ((LINES, lines), (_LOCK, lock)) if held
            }
            tree = "".join(f"100644 blob {blob}\t{name}\n" for name, blob in files.items())
            made = self._remote.git.run("mktree", given=tree.encode()).decode().strip()
            parents = ["-p", tip] if tip else []
            commit = self._remote.git.run(
                *("commit-tree", made, *parents, "-F", "-"),
                given=printable(note.words).encode(),
                more=_signature(note.actor),
            )
            reached(Point.JOURNAL_WRITTEN)
            self._remote.push(commit.decode().strip(), tip)
            reached(Point.JOURNAL_SYNCED)
        # Only what was pushed counts; a copy at each append would be all lines each time.
        before += more
        self._tip, self._lines, self._parts = commit.decode().strip(), before, parts
        self._lock = lock

    def _grown(self, before: bytearray, more: bytes) -> list[Part]:
        """Give the parts that lines are in once there are more; none while one file will do."""
        size = len(before) + len(more)
        if size <= WHOLE:
            return []
        known = self._parts if before is self._lines else []
        if known and not more:
            return known
        kept = kept_parts(known, size)
        begins = kept[-1].begins + kept[-1].size if kept else 0
        blob = self._blob(bytes(before[begins:]) + more)
        return [*kept, Part(begins, size - begins, blob)]

    def _blob(self, content: bytes) -> str:
        return self._remote.git.run("hash-object", "-w", "--stdin", given=content).decode().strip()

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except GitFailed as error:
            raise JournalError(f"{self.place} cannot be {what}: {error}") from error


def printable(text: str) -> str:
    """Give a text of which no character breaks a line, hides or reorders."""
    return "".join(one if one.isprintable() else "?" for one in text)


def _signature(actor: str) -> dict[str, str]:
    """Give who a commit says it is by: the actor, whose name may be an address."""
    name = printable(actor).translate(str.maketrans("<>", "()")).strip(" .,:;\"'")
    email = name if "@" in name and " " not in name else ""
    signature = {"NAME": name or "reconciler", "EMAIL": email}
    return {
        f"GIT_{role}_{part}": said
        for role in ("AUTHOR", "COMMITTER")
        for part, said in signature.items()
    }
