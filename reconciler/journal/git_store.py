"""A journal's lines in the commits of their own ref, which is moved by compare-and-swap."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from reconciler.errors import JournalError, Locked
from reconciler.journal.git_parts import (
    LINES,
    PART,
    WHOLE,
    JournalPart,
    in_parts,
    joined,
    kept_parts,
    size_of_parts,
)
from reconciler.journal.git_remote import GitRemote, RefMoved
from reconciler.journal.last_seen import Ending, ending_of, remember, remembered
from reconciler.journal.store import Lease, LockRecord, Note, parse_record, record_text
from reconciler.runtime.failpoints import Point, reached
from reconciler.runtime.git import GitFailed

_LOCK = "lock.json"
_TRIES = 20


class GitStore:
    """The lines of a journal in a git ref. `place` is its name in messages."""

    is_shared = True

    def __init__(self, remote: GitRemote, place: str) -> None:
        self._remote = remote
        self._place = place
        self._tip: str | None = None
        self._lines = bytearray()
        self._parts: list[JournalPart] = []
        self._lock = b""
        self._newest = Ending()

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
        """Return nothing: lock and lines are in one commit, so they have the same age."""
        return ""

    def seen(self) -> Sequence[Ending]:
        """Return the end at the mark, if the ref lacks it, and the end that this machine saw."""
        with self._errors("read"):
            way_back = self._remote.from_mark if self._newest.end else ""
            return replace(self._newest, way_back=way_back), remembered(self._remote.memory)

    def note_seen(self) -> None:
        """Write the end of the lines into a file of this machine."""
        if self._lines:
            with self._errors("read"):
                remember(self._remote.memory, ending_of(self._lines))

    @property
    def _lease(self) -> Lease | None:
        return parse_record(self._lock).lease

    def append(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Push a commit with these lines after the others."""
        self._write(self._lines, lines, lease, note)

    def replace(self, lines: bytes, lease: Lease, note: Note) -> None:
        """Push a commit with only these lines; the earlier lines stay in its ancestors."""
        self._write(bytearray(), lines, lease, note)

    def _write(self, before: bytearray, lines: bytes, lease: Lease, note: Note) -> None:
        self._check(lease)
        try:
            self._commit(before, lines, lease, note)
        except RefMoved:
            self._lost()
        self.note_seen()

    def _check(self, lease: Lease) -> None:
        if self._lease is None or self._lease.owner != lease.owner:
            self._lost()

    def lock(self, lease: Lease) -> None:
        """Push a commit with the lock. Raises Locked where there is a lock."""
        if self._tip is None:
            self._fetch()
        for _ in range(_TRIES):
            held = self._lease
            if held is not None:
                self._fetch()
                held = self._lease
            if held is not None:
                raise Locked(f"{self.place} is locked by {held.words}{held.remedy}")
            try:
                self._commit(self._lines, b"", lease, Note(f"locked by {lease.words}", lease.actor))
            except RefMoved:
                self._fetch()
            else:
                return
        raise Locked(f"{self.place} is written to by others all the time")

    def release(self, lease: Lease, ended: str) -> None:
        """Push a commit without the lock; remove the ref, where no line was ever written.

        Where the journal ends as it should, the mark moves too.
        """
        self._check(lease)
        if not self._lines and self._removed():
            return
        is_newest = bool(ended) and ending_of(self._lines).end == ended
        try:
            self._commit(self._lines, b"", None, Note("unlocked", lease.actor), marked=is_newest)
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

    def unlock(self, owner: str) -> Lease | None:
        """Push a commit without the lock that another run took."""
        self._fetch()
        held = self._lease
        if held is None:
            return None
        if held.owner != owner:
            raise Locked(f"{self.place} is locked by {held.words}{held.remedy}")
        try:
            self._commit(self._lines, b"", None, Note(f"lock taken from {held.words}", ""))
        except RefMoved:
            raise Locked(f"{self.place} changed meanwhile; look again") from None
        return held

    @property
    def _is_locked(self) -> bool:
        return bool(self._lock)

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
            self._newest = self._beyond(blobs, newest) if newest not in ("", tip) else Ending()

    def _joined(self, blobs: Mapping[str, str]) -> tuple[bytes, list[JournalPart]]:
        """Read the lines of a commit, and the parts that they are in, from its files."""
        lines = self._content(blobs[LINES]) if LINES in blobs else b""
        size = size_of_parts(lines)
        if size is not None or (not lines and any(name.startswith(PART) for name in blobs)):
            return joined(self._place, blobs, self._content, size)
        return lines, []

    def _beyond(self, blobs: Mapping[str, str], newest: str) -> Ending:
        """Return the end of the mark's lines; nothing where they are those of these files."""
        marked = self._blobs(newest)
        if marked.items() <= blobs.items():
            return Ending()
        return ending_of(self._joined(marked)[0])

    def _blobs(self, commit: str) -> dict[str, str]:
        """Return the blob of each file of a commit."""
        listed = self._remote.git.run("ls-tree", "-z", commit).decode(errors="surrogateescape")
        named = (part.partition("\t") for part in listed.split("\0") if part)
        return {name: mode.split()[2] for mode, _, name in named}

    def _content(self, blob: str) -> bytes:
        return self._remote.git.run("cat-file", "blob", blob)

    def _commit(
        self,
        before: bytearray,
        more: bytes,
        lease: Lease | None,
        note: Note,
        *,
        marked: bool = False,
    ) -> None:
        """Push one commit after the last, with these lines and more.

        `marked` moves the mark too. Raises RefMoved where that is no longer the last commit.
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
            self._remote.push(commit.decode().strip(), tip, marked=marked)
            reached(Point.JOURNAL_SYNCED)
        # The state changes only after the push; a copy at each append would copy all lines each
        # time.
        before += more
        self._tip, self._lines, self._parts = commit.decode().strip(), before, parts
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
