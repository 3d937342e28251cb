"""Which places of a live document are hidden, because a secret belongs there, or did."""

from __future__ import annotations

import pytest

from reconciler.document import ABSENT, ANY, Json, Shape
from reconciler.planning.veiling import veiled
from reconciler.template import HIDDEN

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
        ([item("3", "x")], [item("1", SEALED)], [item("3", "x")]),
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
