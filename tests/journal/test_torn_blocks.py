"""An append of which a power cut let some blocks reach the disk, in any order."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from journals import WRITE, filled, read, refused, started

from reconciler.document import Json
from reconciler.errors import JournalError
from reconciler.journal.entries import Entry
from reconciler.model import Ref

LONG: dict[str, Json] = {"name": "x" * 800}
BATCH: list[Entry] = [started(Ref("SLO", f"slo{number}"), declared=LONG) for number in range(4)]
ALL: list[Entry] = [*WRITE, *BATCH]


def contents(before: bytes, whole: bytes, size: int) -> dict[tuple[bool, ...], bytes]:
    """Give every content of the new length in which some blocks are zeros, by those that came."""
    first = len(before) // size * size
    starts = range(first, len(whole), size)
    old = before.ljust(len(whole), b"\0")
    found = {}
    for came in product((True, False), repeat=len(starts)):
        pieces = (
            (whole if here else old)[start : start + size]
            for start, here in zip(starts, came, strict=True)
        )
        found[came] = whole[:first] + b"".join(pieces)
    return found


@pytest.mark.parametrize("size", [1024, 4096])
def test_blocks_in_any_order(tmp_path: Path, size: int) -> None:
    """Whatever blocks of an append came, what was there before is read, or the journal refused."""
    file = tmp_path / "own" / "journal.jsonl"
    journal = filled(file)
    before = file.read_bytes()
    with journal.locked():
        journal.append(BATCH)
    refusals = 0
    torn = contents(before, file.read_bytes(), size)
    for came, content in torn.items():
        file.write_bytes(content)
        try:
            entries = read(file).entries
        except JournalError:
            refusals += 1
            assert not all(came)
        else:
            assert entries == ALL[: len(entries)]
            assert len(entries) >= len(WRITE)

    assert len(torn) >= 4
    assert 0 < refusals < len(torn) - 1


def test_append_after_blocks_that_never_came(tmp_path: Path) -> None:
    """Where the end of an append is zeros, the next one goes where its lines would have gone."""
    file = tmp_path / "own" / "journal.jsonl"
    filled(file)
    before = file.read_bytes()
    file.write_bytes(before + b"\0" * 700)
    journal = read(file)
    with journal.locked():
        journal.append([refused()])

    assert file.read_bytes().startswith(before + b"{")
    assert read(file).entries == [*WRITE, refused()]
