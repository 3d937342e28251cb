"""Which places of a live document are hidden, because a secret belongs there, or did."""

from __future__ import annotations

import pytest

from reconciler.document import ABSENT, ANY, Difference, Json, Shape, differences
from reconciler.redaction.redact import shown, veiled
from reconciler.redaction.templates import HIDDEN

SEALED = "a ${secret:TOKEN sha256:0123456789abcdef}"
NAMED = Shape(items=ANY, identity=("id",))
NESTED = Shape(items=Shape(fields={"inner": NAMED}), identity=("id",))


def item(name: str, text: str) -> dict[str, Json]:
    """Give an item with a name."""
    return {"id": name, "text": text}


@pytest.mark.parametrize(
    ("live", "written", "shown"),
    [
        ("old", SEALED, HIDDEN),
        ("old", "plain", "old"),
        (
            {"a": "old", "b": "x", "c": "y"},
            {"a": SEALED, "b": "z"},
            {"a": HIDDEN, "b": "x", "c": "y"},
        ),
        ({"a": {"b": "old", "c": "x"}}, {"a": {"b": SEALED}}, {"a": {"b": HIDDEN, "c": "x"}}),
        ({"b": "x"}, {"a": SEALED}, {"b": "x"}),
        ({"a": "old"}, SEALED, HIDDEN),
        (["old"], SEALED, HIDDEN),
        ("old", {"a": SEALED}, HIDDEN),
        ("old", [SEALED], HIDDEN),
        ({"a": "old"}, [SEALED], HIDDEN),
        (["old", "x"], {"a": SEALED}, HIDDEN),
        (["old", "x"], ["x", SEALED], [HIDDEN, HIDDEN]),
        (
            [item("1", "old"), item("2", "x")],
            [item("2", "z"), item("1", SEALED)],
            [item("1", HIDDEN), item("2", "x")],
        ),
        ([item("3", "x")], [item("1", SEALED)], [item("3", HIDDEN)]),
        (
            [item("3", "x"), item("1", "old")],
            [item("1", SEALED)],
            [item("3", "x"), item("1", HIDDEN)],
        ),
        ([item("2", "x")], [item("1", SEALED), item("2", "z")], [item("2", "x")]),
        ([{"text": "old"}], [item("1", SEALED)], [HIDDEN]),
        ([item("1", "old")], [item("1", SEALED), item("1", "z")], [HIDDEN]),
        (
            [{"id": "1", "inner": [item("a", "old"), item("b", "x")]}],
            [{"id": "1", "inner": [item("a", SEALED)]}],
            [{"id": "1", "inner": [item("a", HIDDEN), item("b", "x")]}],
        ),
    ],
    ids=str,
)
def test_places(live: Json, written: Json, shown: Json) -> None:
    """The place of a secret is hidden and no other; in a list without names, every item."""
    found = veiled({"at": live}, [{"at": written}], Shape(fields={"at": NESTED}))

    assert found == {"at": shown}


def test_all_that_may_be_live() -> None:
    """Of several documents that may be live, the places of all their secrets are hidden."""
    live: Json = {"a": "x", "b": "y", "c": "z"}

    assert veiled(live, [{"a": SEALED}, ABSENT, {"c": "p"}, {"b": SEALED}], ANY) == {
        "a": HIDDEN,
        "b": HIDDEN,
        "c": "z",
    }
    assert veiled(live, [ABSENT, {"a": "p"}], ANY) is live


ROWS = Shape(
    fields={
        "rows": Shape(items=Shape(fields={"id": ANY, "inner": NAMED}), identity=("id",)),
    }
)


def rows(**items: list[Json]) -> dict[str, Json]:
    """Give rows of items."""
    return {"rows": [{"id": name, "inner": inner} for name, inner in items.items()]}


@pytest.mark.promise("P14")
@pytest.mark.parametrize(
    "live",
    [
        rows(p=[], q=[item("a", "old"), item("b", "x")]),
        rows(q=[item("b", "x"), item("a", "old")]),
        rows(new=[item("a", "old")], p=[item("b", "x")]),
        rows(p=[item("b", "x"), item("a", "old")], q=[item("a", "old")]),
        rows(q=[item("a", "old"), item("a", "old")]),
    ],
)
def test_moved_by_hand(live: Json) -> None:
    """A secret is hidden in whatever list its item stands by now."""
    written = rows(p=[item("a", SEALED)], q=[item("b", "z")])

    found = repr(veiled(live, [written], ROWS))

    assert "'old'" not in found
    assert HIDDEN in found


@pytest.mark.promise("P14")
@pytest.mark.parametrize(
    ("live", "sent"),
    [
        (rows(p=[item("a", "old")], q=[]), rows(p=[], q=[item("a", "new")])),
        (rows(p=[item("a", "old")]), rows(q=[item("a", "new")], p=[])),
        (rows(p=[item("a", "old")]), rows(p=[])),
        (rows(p=[], q=[item("a", "old")]), rows(p=[item("a", "new")], q=[])),
        (rows(p=[], r=[item("a", "old")]), rows(p=[], q=[item("a", "new")])),
        (rows(p=[], r=[item("a", "old")]), rows(p=[])),
    ],
)
def test_moves(live: Json, sent: Json) -> None:
    """A difference quotes no older secret, to whatever list its item was moved, or is to be."""
    written = rows(p=[item("a", SEALED)])

    found = list(shown(differences(live, sent, ROWS), live, [written], ROWS))

    assert "'old'" not in repr(found)
    assert HIDDEN in repr(found)


def test_where_something_moves_from_is_no_secret() -> None:
    """The places of a move are told, though its item holds a secret."""
    written = rows(p=[item("b", "x"), item("a", SEALED)], q=[])
    sent = rows(p=[item("b", "x")], q=[item("a", SEALED)])

    (move,) = shown(differences(written, sent, ROWS), written, [written], ROWS)

    place: Json = ["rows", "p", "inner", 1]
    assert move == Difference(("rows", "q", "inner", "a"), place, 0, "move")
