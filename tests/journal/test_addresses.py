"""A journal that is taken along to another address of its service."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from journals import refused
from moves import (
    NEW,
    OLD,
    Places,
    in_files,
    made,
    run_entry,
)

from reconciler.errors import InvalidInput
from reconciler.journal.journal import Became, JournalMove, move, readdress
from reconciler.journal.store import LockTimeout

pytestmark = pytest.mark.promise("P17")


@pytest.fixture(params=[("file", "git"), ("git", "s3"), ("s3", "file")], ids="-".join)
def some_places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    """Give two places, each kind once as origin and once as end."""
    return made(request, tmp_path, request.param)


def test_another_address(some_places: Places) -> None:
    """Taken to another address, a journal keeps entries and salt; the old address is refused."""
    places = some_places
    history = places.fill("a")
    before = places.read("a")

    assert readdress(before, NEW, run_entry("r"), LockTimeout()) is Became.MOVED

    after = places.read("a", NEW)
    assert (after.history, after.salt) == (history, before.salt)
    assert not after.is_old_copy
    with pytest.raises(InvalidInput, match="give each environment"):
        places.read("a")
    with after.locked():
        after.append([refused()])
        after.compact(run_entry("c"))
    assert places.read("a", NEW).salt == before.salt
    assert readdress(places.read("a", NEW), NEW, run_entry("r"), LockTimeout()) is Became.ALREADY


def test_address_and_back(tmp_path: Path) -> None:
    """A journal that went on to a third address, or came back, has the salt of its first one."""
    places = in_files(tmp_path)
    places.fill("a")
    salt = places.read("a").salt
    addresses = [OLD, NEW, "https://third.example.com", OLD]

    for before, after in pairwise(addresses):
        readdress(places.journal("a", target=before), after, run_entry("r"), LockTimeout())
        assert places.read("a", after).salt == salt

    header = places.read("a").header
    assert header is not None
    assert header.sealed_for == ""


def test_both_at_once(tmp_path: Path) -> None:
    """A journal goes to another place and another address in one move."""
    places = in_files(tmp_path)
    history = places.fill("a")
    way = JournalMove("a", "b", NEW)

    move(places.journal("a"), places.journal("b", target=NEW), way, run_entry("r"), LockTimeout())

    assert places.read("b", NEW).history == history
    assert places.read("b", NEW).salt == places.journal("a").salt


def test_no_move_of_another_target(tmp_path: Path) -> None:
    """The journal of another environment or target goes nowhere."""
    places = in_files(tmp_path)
    places.fill("a")
    elsewhere = places.journal("a", target=NEW)

    with pytest.raises(InvalidInput, match="give each environment"):
        move(
            elsewhere,
            places.journal("b"),
            JournalMove("a", "b", NEW),
            run_entry("r"),
            LockTimeout(),
        )
    elsewhere.environment = "other"
    with pytest.raises(InvalidInput, match="give each environment"):
        readdress(elsewhere, NEW, run_entry("r"), LockTimeout())

    assert places.counting() == ["a"]


@pytest.mark.parametrize(
    ("header_target", "target", "hinted"),
    [(OLD, NEW, True), ("emulator", NEW, False), (OLD, "emulator", False)],
)
def test_hint(tmp_path: Path, header_target: str, target: str, *, hinted: bool) -> None:
    """A journal of another address says how it is taken along; that of an emulator does not."""
    places = in_files(tmp_path)
    journal = places.journal("a", target=header_target)
    with journal.locked():
        journal.append([])

    with pytest.raises(InvalidInput) as refusal:
        places.read("a", target)

    assert (f"journal move --base-url {target}" in str(refusal.value)) == hinted
