"""Names of what is imported: valid, readable, stable, and no two the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.features.import_.match_declared import Titled, file_names, names_for, plain_name
from reconciler.model import Ref
from reconciler.workspace.envelope import LONGEST_NAME, NAME

titles = st.text(max_size=80) | st.sampled_from(
    ["../../etc/passwd", "CON", "nul", "reconciler", "Checkout", "checkout!", "", "\x00", "a/b\\c"]
)
things = st.lists(
    st.builds(
        Titled,
        kind=st.sampled_from(["SLO", "Dashboard"]),
        title=titles,
        remote_id=st.none() | st.uuids().map(str) | st.integers(1, 99),
        content=st.text("0123456789abcdef", min_size=64, max_size=64),
    ),
    max_size=8,
    unique_by=lambda one: (one.kind, one.remote_id, one.content),
)


@given(things)
def test_valid_and_distinct(found: list[Titled]) -> None:
    """Every name is one that a manifest may have, and no two files have the same."""
    refs = names_for(found, {Ref("SLO", "checkout")})
    stems = file_names(refs, together=True)

    assert all(NAME.fullmatch(ref.name) and len(ref.name) <= LONGEST_NAME for ref in refs)
    assert len(set(refs)) == len(refs)
    assert Ref("SLO", "checkout") not in refs
    assert len({stem.casefold() for stem in stems.values()}) == len(refs)
    assert not {"con", "nul", "reconciler"} & set(stems.values())


@given(things, st.randoms())
def test_stable(found: list[Titled], chance: object) -> None:
    """The order in which things come changes no name."""
    refs = dict(zip(map(id, found), names_for(found, ()), strict=True))
    shuffled = [*found]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random

    assert dict(zip(map(id, shuffled), names_for(shuffled, ()), strict=True)) == refs


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Checkout errors (P1)", "checkout-errors-p1"),
        ("Größe der Warenkörbe", "grosse-der-warenkorbe"),
        ("Ошибки оплаты", "oshibki-oplaty"),
        ("../../etc/passwd", "etc-passwd"),
        ("don't panic", "dont-panic"),
        ("🔥", "fire"),
        ("\x00\n\u202e", ""),
        ("a" * 500, "a" * 60),
        ("word " * 40, "word-word-word-word-word-word-word-word-word-word-word-word"),
    ],
)
def test_readable(title: str, name: str) -> None:
    """A title is still recognised in its name."""
    assert plain_name(title) == name


def test_told_apart_by_id() -> None:
    """Two things of one title are told apart by their ids, and neither gets the plain name."""
    first = Titled("SLO", "Checkout", "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11", "a" * 64)
    second = Titled("SLO", "checkout!", "b11919d5-ef85-4bb1-8655-02640dbe94d9", "b" * 64)

    assert names_for([first, second], ()) == [
        Ref("SLO", "checkout-2f6a1c1e"),
        Ref("SLO", "checkout-b11919d5"),
    ]
