"""A journal in git that was moved back, and what shows it."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.repositories import git, repository
from harness.stores import REF, git_store, journal_on
from journals import AT, WRITE, refused

from reconciler.journal.entries import RunEntry
from reconciler.journal.journal import Became, Journal, JournalMove, move
from reconciler.journal.store import LockTimeout

MARK = f"{REF}.newest"
pytestmark = pytest.mark.promise("S54")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return repository(tmp_path / "git")


@pytest.fixture
def other(checkout: Path) -> Path:
    """Give the checkout of another machine."""
    folder = checkout.parent / "other"
    git(checkout.parent, "clone", "--quiet", "remote.git", str(folder))
    return folder


def named(run: str) -> RunEntry:
    return RunEntry(run=run, at=AT, actor="someone", commit="", digest="", command="apply")


def ran(checkout: Path, run: str, *, accepts: bool = False) -> str:
    """Write a run into the journal, and return the commit that the ref has then."""
    journal = journal_on(git_store(checkout))
    journal.is_accepted = accepts
    with journal.locked():
        journal.begin(named(run))
        journal.append(WRITE)
        journal.append([refused()])
    return tip(checkout)


def tip(checkout: Path, ref: str = REF) -> str:
    return git(remote_of(checkout), "rev-parse", ref)


def remote_of(checkout: Path) -> Path:
    return checkout.parent / "remote.git"


def rewound(checkout: Path, commit: str) -> None:
    """Move the ref back as a force push of it does; to nothing for ""."""
    arguments = [REF, commit] if commit else ["-d", REF]
    git(remote_of(checkout), "update-ref", *arguments)


def restored(checkout: Path, commit: str) -> None:
    """Move ref and mark back, as a mirror does that was restored whole."""
    rewound(checkout, commit)
    git(remote_of(checkout), "update-ref", *([MARK, commit] if commit else ["-d", MARK]))


def read(checkout: Path) -> Journal:
    journal = journal_on(git_store(checkout))
    journal.load()
    return journal


def compact(checkout: Path) -> None:
    journal = journal_on(git_store(checkout))
    with journal.locked():
        journal.compact(named("run-compact"))


@pytest.mark.parametrize("back", [rewound, restored])
@pytest.mark.parametrize("runs", [1, 3])
def test_moved_back(checkout: Path, back: Callable[[Path, str], None], runs: int) -> None:
    """A journal that was moved back by one run, or by many, is an old copy at every read."""
    before = ran(checkout, "run-0")
    for run in range(runs):
        ran(checkout, f"run-{run + 1}")

    back(checkout, before)

    assert [read(checkout).is_old_copy for _ in range(2)] == [True, True]


@pytest.mark.parametrize("back", [rewound, restored])
def test_deleted(checkout: Path, back: Callable[[Path, str], None]) -> None:
    """A journal of which the ref was deleted is gone."""
    ran(checkout, "run-0")

    back(checkout, "")

    assert read(checkout).is_gone


def test_moved_back_to_an_empty_one(checkout: Path) -> None:
    """A journal that was moved back to its first line, without a run, is an old copy."""
    journal = journal_on(git_store(checkout))
    with journal.locked():
        journal.append([])
    empty = tip(checkout)
    ran(checkout, "run-0")

    restored(checkout, empty)

    assert read(checkout).is_old_copy


def test_a_machine_that_only_read(checkout: Path, other: Path) -> None:
    """A machine that read a newer journal, and wrote nothing, knows the old one by it."""
    before = ran(checkout, "run-0")
    ran(checkout, "run-1")
    assert not read(other).is_old_copy

    restored(checkout, before)

    assert read(other).is_old_copy


def test_the_mark_counts_further(checkout: Path, other: Path) -> None:
    """A machine that never read the journal knows by the mark that it was moved back."""
    before = ran(checkout, "run-0")
    newest = ran(checkout, "run-1")
    rewound(checkout, before)

    assert read(other).is_old_copy
    git(remote_of(checkout), "update-ref", REF, newest)
    assert not read(other).is_old_copy


def test_restored_whole(checkout: Path, other: Path) -> None:
    """A remote that was restored whole looks to a machine that never saw more like any other."""
    before = ran(checkout, "run-0")
    ran(checkout, "run-1")

    restored(checkout, before)

    assert not read(other).is_old_copy


def test_a_newer_tip(checkout: Path, other: Path) -> None:
    """What another machine wrote in between is no sign of an old copy, in turns."""
    for run in range(2):
        for machine in (checkout, other):
            assert not read(machine).is_old_copy
            ran(machine, f"run-{run}")

    assert not read(checkout).is_old_copy


def test_between_two_releases(checkout: Path, other: Path) -> None:
    """While a run holds the lock, or was killed with it, its lines are not old to others."""
    ran(checkout, "run-0")
    journal = journal_on(git_store(checkout))
    with journal.locked():
        journal.append([refused()])

        assert not read(other).is_old_copy


@pytest.mark.parametrize("times", [1, 2])
def test_compacted(checkout: Path, other: Path, times: int) -> None:
    """A journal that another machine wrote to and compacted is accepted, and compacted again."""
    ran(checkout, "run-0")
    ran(other, "run-1")
    for _ in range(times):
        compact(other)

    assert not read(checkout).is_old_copy


def test_a_compacting_moved_back(checkout: Path) -> None:
    """A journal that was moved back behind its compacting is an old copy."""
    before = ran(checkout, "run-0")
    compact(checkout)

    restored(checkout, before)

    assert read(checkout).is_old_copy


def test_moved_away_and_back(checkout: Path, other: Path) -> None:
    """A journal that was moved to another ref and back is accepted where it was read before."""
    ran(checkout, "run-0")
    assert not read(other).is_old_copy
    away = "refs/reconciler/elsewhere"
    for run, (origin, to) in enumerate([(REF, away), (away, REF)]):
        here, there = (journal_on(git_store(checkout, one)) for one in (origin, to))
        here.read()
        way = JournalMove(origin=f"git:{origin}", to=f"git:{to}", target=here.target)
        assert move(here, there, way, named(f"run-move-{run}"), LockTimeout()) is Became.MOVED

    assert not read(checkout).is_old_copy
    assert not read(other).is_old_copy


def test_only_a_person_accepts(checkout: Path, other: Path) -> None:
    """An old copy stays one for all, whatever is written to it, until a person accepts it."""
    before = ran(checkout, "run-0")
    ran(checkout, "run-1")
    newest = tip(checkout, f"{REF}.newest")
    rewound(checkout, before)
    with journal_on(git_store(checkout)).locked():
        pass
    ran(checkout, "run-2")
    assert read(checkout).is_old_copy
    assert read(other).is_old_copy
    assert tip(checkout, f"{REF}.newest") == newest

    ran(checkout, "run-3", accepts=True)

    assert not read(checkout).is_old_copy
    assert not read(other).is_old_copy


def test_begun_again(checkout: Path, other: Path) -> None:
    """A new journal in place of one that was deleted counts for other machines too."""
    ran(checkout, "run-0")
    rewound(checkout, "")
    journal = journal_on(git_store(checkout))
    with journal.locked():
        assert journal.is_gone
        journal.append([])

    assert not read(checkout).is_old_copy
    assert not read(other).is_old_copy


def test_a_remote_without_marks(checkout: Path) -> None:
    """A remote that refuses the mark takes the journal, which this machine knows all the same."""
    hook = remote_of(checkout) / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in *.newest) exit 1;; esac\n')
    hook.chmod(0o755)
    before = ran(checkout, "run-0")
    ran(checkout, "run-1")
    assert read(checkout).holder() == ""
    assert git(remote_of(checkout), "for-each-ref", MARK) == ""

    rewound(checkout, before)

    assert read(checkout).is_old_copy


def test_private_memory(checkout: Path) -> None:
    """What this machine remembers is private, and holds sums and an id alone."""
    ran(checkout, "run-0")

    folder = checkout / ".git" / "reconciler"
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert set(file.read_text()[1:-1].replace('"', "").split(": ")) >= {"end", "run-0, header"}


@pytest.mark.parametrize("damaged", [b"", b"[]", b'{"end": 1}', b"\xff"])
def test_damaged_memory(checkout: Path, damaged: bytes) -> None:
    """A damaged file remembers nothing, stops nothing, and the next read writes it again."""
    ran(checkout, "run-0")
    (file,) = (checkout / ".git" / "reconciler").iterdir()
    whole = file.read_bytes()
    file.write_bytes(damaged)

    assert not read(checkout).is_old_copy
    assert file.read_bytes() == whole
