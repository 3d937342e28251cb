"""A move that is stopped on the way: one journal counts, and the same move finishes."""

from __future__ import annotations

from pathlib import Path

import pytest
from journals import VIEW, WRITE
from moves import (
    STEPS,
    Places,
    die,
    in_files,
    made,
    run_entry,
    the_one_that_counts,
    write,
)

from reconciler.errors import InvalidInput
from reconciler.journal.journal import Became, stay
from reconciler.journal.store import LockTimeout

pytestmark = pytest.mark.promise("P17")


@pytest.fixture(params=[("file", "git"), ("git", "s3"), ("s3", "file")], ids="-".join)
def some_places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    """Give two places, each kind once as origin and once as end."""
    return made(request, tmp_path, request.param)


@pytest.mark.parametrize("at", range(STEPS))
def test_killed(some_places: Places, at: int) -> None:
    """Killed between any two writes, exactly one journal counts, and the same move finishes."""
    places, held = some_places, [*WRITE]
    places.fill("a", WRITE)

    assert die(places, at)

    write(the_one_that_counts(places, held), held)
    places.move()
    assert the_one_that_counts(places, held).place == places.journal("b").place
    assert places.move() is Became.ALREADY


@pytest.mark.parametrize("again", range(STEPS))
@pytest.mark.parametrize("at", range(STEPS))
def test_killed_again(tmp_path: Path, at: int, again: int) -> None:
    """A move that is killed, repeated and killed again finishes with what was written between."""
    places, held = in_files(tmp_path), [*WRITE]
    places.fill("a", WRITE)

    for step in (at, again):
        die(places, step)
        write(the_one_that_counts(places, held), held)
    places.move()

    assert places.counting() == ["b"]
    the_one_that_counts(places, held)


def test_steps(tmp_path: Path) -> None:
    """A move has as many writes as these laws kill it before."""
    places = in_files(tmp_path)
    places.fill("a")

    assert not die(places, STEPS)


def test_cut_last_line(tmp_path: Path) -> None:
    """Where the old journal's last line was cut, it still counts, and the copy does not."""
    places = in_files(tmp_path)
    places.fill("a")
    places.move()
    file = tmp_path / "a"
    file.write_bytes(file.read_bytes()[:-5])
    copied = places.read("a").content
    at_b = tmp_path / "b"
    at_b.write_bytes(b"".join(at_b.read_bytes().splitlines(keepends=True)[:-1]))

    assert copied.torn
    assert places.counting() == ["a"]
    assert places.move() is Became.MOVED
    assert places.counting() == ["b"]


def test_a_copy_elsewhere(tmp_path: Path) -> None:
    """A copy that never was moved to does not count, though its origin was moved somewhere."""
    places = in_files(tmp_path)
    places.fill("a")
    assert die(places, 3)
    assert places.move(to="c") is Became.MOVED

    assert places.counting() == ["c"]
    with pytest.raises(InvalidInput, match="move is not finished"):
        places.read("b")
    with pytest.raises(InvalidInput, match="was moved to c"):
        places.move()


def stopped_after_the_copy(places: Places, *, left: bool) -> None:
    """Stop a move once the copy is made, or once the old journal has its last line."""
    assert die(places, 4 if left else 3)


@pytest.mark.parametrize("left", [False, True])
def test_origin_gone(tmp_path: Path, *, left: bool) -> None:
    """A copy whose origin is gone counts only once a person says so."""
    places = in_files(tmp_path)
    places.fill("a")
    stopped_after_the_copy(places, left=left)
    (tmp_path / "a").unlink()

    with pytest.raises(InvalidInput, match="permanently gone"):
        places.read("b")
    assert stay(places.journal("b"), run_entry("s"), LockTimeout()) is Became.FINISHED

    assert places.read("b").history.of(VIEW).remote_id == 7
    assert stay(places.journal("b"), run_entry("s"), LockTimeout()) is Became.ALREADY


def test_origin_that_counts(tmp_path: Path) -> None:
    """Nobody can let a copy count while the journal that it was made from does."""
    places = in_files(tmp_path)
    places.fill("a")
    stopped_after_the_copy(places, left=False)

    with pytest.raises(InvalidInput, match="move is not finished"):
        stay(places.journal("b"), run_entry("s"), LockTimeout())
    assert places.counting() == ["a"]


def test_nobody_can_look(tmp_path: Path) -> None:
    """Who cannot look at the origin does not use its copy."""
    places = in_files(tmp_path)
    places.fill("a")
    stopped_after_the_copy(places, left=True)
    journal = places.journal("b")
    journal.look = None

    with pytest.raises(InvalidInput, match="move is not finished"):
        journal.load()
