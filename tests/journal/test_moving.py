"""A journal that is carried to another store."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from harness.stores import STORES
from journals import WRITE, refused, started
from moves import (
    LEASE,
    LOST,
    PAIRS,
    Places,
    in_files,
    made,
    run_entry,
)

from reconciler.errors import InvalidInput, Locked, ReconcilerError
from reconciler.journal.entries import Moved, MovedIn
from reconciler.journal.journal import Became
from reconciler.model import Ref

pytestmark = pytest.mark.promise("P17")


@pytest.fixture(params=PAIRS, ids="-".join)
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    """Give two places of any two kinds, `a` and `b`."""
    return made(request, tmp_path, request.param)


@pytest.fixture(params=[("file", "git"), ("git", "s3"), ("s3", "file")], ids="-".join)
def some_places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    """Give two places, each kind once as origin and once as end."""
    return made(request, tmp_path, request.param)


def test_carried(places: Places) -> None:
    """Every entry is at the new place and adds up to the same; the old one refuses and names it."""
    history = places.fill("a")

    assert places.move() is Became.MOVED

    there = places.read("b")
    assert there.history == history
    assert [entry for entry in there.entries if entry in WRITE] == WRITE
    assert not there.is_old_copy
    with there.locked():
        there.append([refused()])
    old = places.journal("a")
    with pytest.raises(InvalidInput, match=r"was moved to b .*write `journal: b`"):
        old.load()
    with pytest.raises(InvalidInput, match="was moved to b"), old.locked():
        pass
    assert places.counting() == ["b"]


def test_copied_back(tmp_path: Path) -> None:
    """A copy of the old journal refuses wherever it is put."""
    places = in_files(tmp_path)
    places.fill("a")
    places.move()

    (tmp_path / "c").write_bytes((tmp_path / "a").read_bytes())

    with pytest.raises(InvalidInput, match="was moved to b"):
        places.read("c")


def test_there_and_back(some_places: Places) -> None:
    """A journal moves back to where it was, compacted or not, with all that was added."""
    places = some_places
    places.fill("a")
    places.move()
    there = places.read("b")
    with there.locked():
        there.append([started(Ref("SLO", "added"))])
        there.compact(run_entry("compact"))
    history = places.read("b").history

    assert places.move("b", "a") is Became.MOVED

    assert places.read("a").history == history
    assert places.counting() == ["a"]


def test_not_over_another(some_places: Places) -> None:
    """Another journal at the new place is left alone: both stay as they are."""
    places = some_places
    places.fill("a")
    places.fill("b", [started(LOST)])
    before = [places.openings[name]().read() for name in "ab"]

    with pytest.raises(InvalidInput, match="a journal of its own"):
        places.move()

    assert [places.openings[name]().read() for name in "ab"] == before
    assert places.counting() == ["a", "b"]


def test_not_over_a_longer_copy(tmp_path: Path) -> None:
    """A copy that went on by itself is another journal; one with the same lines is none."""
    places = in_files(tmp_path)
    places.fill("a")
    (tmp_path / "b").write_bytes((tmp_path / "a").read_bytes())
    (tmp_path / "c").write_bytes((tmp_path / "a").read_bytes())
    places.fill("b", [started(LOST)])

    with pytest.raises(InvalidInput, match="a journal of its own"):
        places.move()
    assert places.move(to="c") is Became.MOVED


def test_not_over_what_is_none(tmp_path: Path) -> None:
    """What is no journal at the new place is left alone: exit 8."""
    places = in_files(tmp_path)
    places.fill("a")
    (tmp_path / "b").write_text("something else\n")

    with pytest.raises(ReconcilerError) as refusal:
        places.move()

    assert refusal.value.exit_code == 8
    assert (tmp_path / "b").read_text() == "something else\n"
    assert places.counting() == ["a"]


@pytest.mark.parametrize("held", ["a", "b"])
def test_locked(some_places: Places, held: str) -> None:
    """While another run holds either of the two, nothing is moved: exit 5."""
    places = some_places
    places.fill("a")
    holder = places.openings[held]()
    holder.lock(LEASE)

    with pytest.raises(Locked, match="someone"):
        places.move()

    holder.release(LEASE, holder.ended())
    assert places.counting() == ["a"]
    assert places.journal("b").store.read() == b""


def test_nothing_to_move(tmp_path: Path) -> None:
    """Where there is no journal, none is made elsewhere."""
    places = in_files(tmp_path)

    with pytest.raises(InvalidInput, match="there is no journal"):
        places.move()

    assert not (tmp_path / "b").exists()


def test_lost_at_the_new_place(tmp_path: Path) -> None:
    """Where the new journal is gone, the old one does not come to life by another move."""
    places = in_files(tmp_path)
    places.fill("a")
    places.move()
    (tmp_path / "b").unlink()

    with pytest.raises(InvalidInput, match="was moved to b"):
        places.move()
    assert places.counting() == []


def test_no_move_is_counted_as_a_run_twice(tmp_path: Path) -> None:
    """The new journal ends with the run that brought it, and its lines say from where."""
    places = in_files(tmp_path)
    places.fill("a")
    places.move()

    assert places.read("b").entries[-2:] == [
        MovedIn(at=places.read("b").entries[-2].at, run="run-1", origin="a"),
        run_entry("run-1"),
    ]
    old = places.journal("a")
    old.read()
    assert isinstance(old.entries[-1], Moved)


def test_every_pair() -> None:
    """Every kind of store is an origin and an end of a move in these laws."""
    assert set(PAIRS) == set(product(STORES, repeat=2))
