"""Long journals in git, which are kept in parts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

import pytest
from harness.repositories import git, repository
from harness.stores import REF, git_store, journal_on
from hypothesis import given
from hypothesis import strategies as st
from journals import WRITE, refused

from reconciler.errors import JournalError
from reconciler.journal.content import read_content
from reconciler.journal.git_store import LINES, JournalPart, in_parts, joined, kept_parts

SMALL = 400


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=300))
def test_work_is_not_quadratic(appends: list[int]) -> None:
    """However lines come, all are in few parts, and each byte is written about log2 times."""
    parts: list[JournalPart] = []
    size = written = 0
    for more in appends:
        size += more
        kept = kept_parts(parts, size)
        begins = kept[-1].begins + kept[-1].size if kept else 0
        parts = [*kept, JournalPart(begins, size - begins, "")]
        written += size - begins

    assert [part.begins for part in parts] == [
        sum(p.size for p in parts[:i]) for i in range(len(parts))
    ]
    assert sum(part.size for part in parts) == size
    assert len(parts) <= size.bit_length() + 1
    assert written <= size * (size.bit_length() + 1)


def test_parts_are_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal in parts reads as if it were one file, elsewhere too, and compacted it is one."""
    monkeypatch.setattr("reconciler.journal.git_store.WHOLE", SMALL)
    checkout = repository(tmp_path / "git")
    journal = journal_on(git_store(checkout))
    with journal.locked():
        for _ in range(9):
            journal.append([*WRITE, refused()])

    remote = checkout.parent / "remote.git"
    names = git(remote, "ls-tree", "--name-only", REF).split()
    other = journal_on(git_store(checkout))
    with other.locked():
        other.append(WRITE)
    again = journal_on(git_store(checkout))
    again.load()
    assert len([name for name in names if name.startswith(f"{LINES}.")]) > 1
    assert again.entries == other.entries == [*journal.entries, *WRITE]

    monkeypatch.setattr("reconciler.journal.git_store.WHOLE", 1 << 20)
    with again.locked():
        again.compact(again.run_entry("run-2", "compact"))
    assert git(remote, "ls-tree", "--name-only", REF).split() == [LINES]


def test_missing_part() -> None:
    """A journal that lacks a part is refused, never read as a shorter one."""
    contents = ("one\n" * 100, "two\n" * 20, "three\n")
    begins = (0, *accumulate(map(len, contents)))
    names = [JournalPart(at, 0, "").name for at in begins[:-1]]
    files = dict(zip(names, contents, strict=True))
    size = begins[-1]

    def read(left: Iterable[str], told: int | None) -> bytes:
        there = {name: name for name in left}
        lines, _ = joined("here", there, lambda one: files[one].encode(), told)
        return lines

    assert read(names, size) == "".join(contents).encode()
    for left, told in (
        (names[1:], "is missing before"),
        (names[:-1], "should have"),
        (names[:1], "should have"),
        ([], "all parts"),
    ):
        with pytest.raises(JournalError, match=told):
            read(left, size)
    # One of before the size was told is read as it stands.
    assert len(read(names, 0)) == size


@pytest.mark.parametrize("command", ["load", "begin"])
def test_parts_without_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Parts beside which their file is missing are a damaged journal, never none."""
    monkeypatch.setattr("reconciler.journal.git_store.WHOLE", SMALL)
    checkout = repository(tmp_path / "git")
    journal = journal_on(git_store(checkout))
    with journal.locked():
        for _ in range(9):
            journal.append([*WRITE, refused()])
    store = git_store(checkout)
    files = store._blobs(store._remote.fetch()[0])
    tree = "".join(f"100644 blob {blob}\t{name}\n" for name, blob in files.items() if name != LINES)
    remote = store._remote.git
    made = remote.run("mktree", given=tree.encode()).decode().strip()
    tip = store._remote.tip()
    who = ("-c", "user.name=a", "-c", "user.email=a")
    commit = remote.text(*who, "commit-tree", made, "-p", tip, "-m", "x")
    store._remote.push(commit, tip)
    damaged = journal_on(git_store(checkout))

    with pytest.raises(JournalError, match="is missing next to the parts"):
        damaged.load() if command == "load" else damaged.locked().__enter__()


def test_programs_from_before_refuse_parts() -> None:
    """What stands in the file that older programs read is a journal of no version they know."""
    with pytest.raises(JournalError, match="not the header of a journal of this version"):
        read_content(in_parts(9), "here")
