"""`power`: the power fails at any moment of an apply, and what was not synced may be lost.

A child notes every operation on the journal's files and every request that it sends.
Each prefix of that record is a moment; the disk then holds what was synced, and of the
rest any part that a file system may have written: none, all, a torn end, a longer file
of zeros, an entry of a folder that never came to be. Within one append blocks may reach
the disk in any order, so that the end is there and something before it is zeros.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from harness.stores import journal_on
from invariants import is_write, refs_of
from journal_text import Book, Known, read
from recorded_files import record
from stage import Stage, Tally
from worlds import drawing

from reconciler.errors import JournalError
from reconciler.journal.entries import Entry
from reconciler.journal.file_store import FileStore

BROKEN = 8
READABLE = (0, 4)
"""What `journal verify` says of a sound journal, and of none."""
BLOCKS = (512, 4096)
"""What reaches a disk as one, in bytes: a sector of an old one, a page."""
ORDERS = 4


@dataclass
class Disk:
    """What may be on the disk of one file at a moment of the record."""

    journal: str
    content: bytes = b""
    synced: bytes = b""
    pending: list[list[Any]] = field(default_factory=list)
    lasting: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    sends: int = 0

    def take(self, operation: list[Any]) -> None:
        """Let one operation of the record happen."""
        name, path, *rest = operation
        if name == "send":
            self.sends += 1
        elif name == "create":
            self.unsure.add(path)
        elif name == "fsync":
            # A folder's own sync makes the names in it last.
            self.unsure -= {text for text in self.unsure if str(Path(text).parent) == path}
            if path == self.journal:
                self.synced, self.pending = self.content, []
        elif path == self.journal:
            self.content = applied(self.content, operation)
            self.pending.append([name, path, *rest])

    def states(self, chance: random.Random) -> Iterator[bytes]:
        """Yield contents that the file may have after the power is back."""
        names = {self.journal, *map(str, Path(self.journal).parents)}
        if self.unsure & names:
            yield b""
        for number in range(len(self.pending) + 1):
            content = self.synced
            for operation in self.pending[:number]:
                content = applied(content, operation)
            yield content
            if number and self.pending[number - 1][0] == "write":
                _, _, place, text = self.pending[number - 1]
                torn = chance.randrange(len(text))
                yield content[: place + torn]
                yield content[:place] + b"\0" * len(text)
                yield content[: place + torn] + b"\0" * (len(text) - torn)

    def scattered(self, chance: random.Random) -> Iterator[bytes]:
        """Yield contents in which some blocks of the last append never came; its length did."""
        if not self.pending or self.pending[-1][0] != "write":
            return
        before = self.synced
        for operation in self.pending[:-1]:
            before = applied(before, operation)
        whole = applied(before, self.pending[-1])
        before = before[: len(whole)].ljust(len(whole), b"\0")
        for size in BLOCKS:
            first = self.pending[-1][2] // size * size
            starts = range(first, len(whole), size)
            for _ in range(ORDERS if len(starts) > 1 else 0):
                came = {start: chance.random() < 0.5 for start in starts}
                pieces = ((whole if came[at] else before)[at : at + size] for at in starts)
                yield whole[:first] + b"".join(pieces)


def applied(content: bytes, operation: Sequence[Any]) -> bytes:
    """Give a file's content after a write or a cut."""
    if operation[0] == "truncate":
        size: int = operation[2]
        return content[:size] + b"\0" * (size - len(content))
    place: int = operation[2]
    piece = str(operation[3]).encode("latin-1")
    return content[:place].ljust(place, b"\0") + piece + content[place + len(piece) :]


def lose_power(stage: Stage, count: int, seed: int) -> Tally:
    """Record `count` applies, and let the power fail at every moment of each."""
    tally = Tally()
    chance = drawing(seed)
    for turn in range(count):
        stage.prepare(seed * 1_000 + turn)
        notes = stage.root / "notes"
        step = stage.apply(meddle=partial(record, stage.folder, notes))
        operations = [json.loads(line) for line in notes.read_text("utf-8").splitlines()]
        notes.unlink()
        sent = [refs_of(asked) for asked in step.log if is_write(asked)]
        tally.counts["cases"] += 1
        _fail_at_each(stage, operations, sent, chance, tally)
        stage.clear()
    return tally


def _fail_at_each(
    stage: Stage,
    operations: list[list[Any]],
    sent: list[list[str]],
    chance: random.Random,
    tally: Tally,
) -> None:
    disk = Disk(str(stage.journal), stage.book, stage.book)
    earlier = read(stage.book).known()
    for number, operation in enumerate(operations, 1):
        disk.take(operation)
        for content in disk.states(chance):
            tally.counts["states"] += 1
            case = f"world {stage.world.number}, after {number} of {len(operations)} operations"
            book = read(content)
            tally.counts["torn"] += book.torn
            for ref in lost(book, sent[: disk.sends], earlier):
                tally.fail("I1", f"{case}: {ref} was sent, and the disk does not know it")
            if chance.random() < 0.05:
                _read_by_program(stage, content, case, tally)
        if operation[:2] == ["write", disk.journal]:
            case = f"world {stage.world.number}, within operation {number}"
            for content in disk.scattered(chance):
                _read_out_of_order(stage, disk.content, content, case, tally)


def _read_out_of_order(stage: Stage, whole: bytes, content: bytes, case: str, tally: Tally) -> None:
    """Check that the product reads the beginning of what was written, or refuses the journal.

    Nothing that the last append announces was sent yet: that waits for the disk.
    """
    tally.counts["out of order"] += 1
    expected = _entries(stage, whole)
    assert expected is not None
    found = _entries(stage, content)
    if found is None:
        tally.counts["out of order, refused"] += 1
    elif found != expected[: len(found)]:
        tally.fail("I5", f"{case}: misread as {found[-1]}")


def _entries(stage: Stage, content: bytes) -> list[Entry] | None:
    """Read a journal as the product does; None where it refuses to."""
    stage.journal.write_bytes(content)
    journal = journal_on(
        FileStore(stage.journal), environment="default", target=stage.emulator.base_url
    )
    try:
        journal.load()
    except JournalError:
        return None
    return journal.entries


def lost(book: Book, sent: list[list[str]], earlier: dict[str, Known]) -> list[str]:
    """Give what was sent and is not started in what is left of the journal."""
    known = book.known()
    return [
        ref
        for refs in sent
        for ref in refs
        if known.get(ref, Known()).started <= earlier.get(ref, Known()).started
    ]


def _read_by_program(stage: Stage, content: bytes, case: str, tally: Tally) -> None:
    stage.journal.write_bytes(content)
    # It tells how the journal ended when this run was through, which it then was not.
    stage.journal.with_name(stage.journal.name + ".lock").unlink(missing_ok=True)
    verified = stage.run("journal", "verify")
    tally.counts["read by the program"] += 1
    if verified.code == BROKEN and content.rstrip(b"\0") != content and b"\n" not in content:
        # A first append of zeros: nothing was sent, and a lost journal would look the same.
        tally.counts["refused, nothing sent"] += 1
    elif verified.code not in READABLE:
        said = f"{verified.out}{verified.err}"
        tally.fail("I5", f"{case}: `journal verify` ended with {verified.code}: {said}")
