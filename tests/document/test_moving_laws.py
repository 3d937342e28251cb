"""An item that is declared in another list is the same item, and its change of place is a move."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patching import patched
from random_documents import BOARD, boards
from random_server import stored

from reconciler.document import ABSENT, Json, differences, homes_in, key_of, merge, same, turned

pytestmark = pytest.mark.promise("P14")


def places(document: Any) -> dict[str, tuple[str, ...]]:
    """Map each item to the names of what holds it."""
    return {
        item["id"]: (part["id"], row["id"])
        for part in document["parts"]
        for row in part["rows"]
        for item in row["items"]
    }


def items(document: Any) -> dict[str, Any]:
    """Map each item's name to itself."""
    return {
        item["id"]: item
        for part in document["parts"]
        for row in part["rows"]
        for item in row["items"]
    }


@given(document=boards())
def test_each_item_has_its_place(document: Json) -> None:
    """Each item is found at the path of its list, and at its position there."""
    found = homes_in(document, BOARD)
    rows = BOARD.along(("parts", "", "rows", "", "items"))

    for name, (part, row) in places(document).items():
        (place,) = found[key_of(rows, name)]
        assert place.path == ("parts", part, "rows", row, "items")
        assert place.item == items(document)[name]


@given(before=boards(once=False), after=boards(once=False))
def test_applying_differences_gives_after(before: Json, after: Json) -> None:
    """Whoever applies every difference to before holds after, whatever moved, be it there twice."""
    assert same(patched(before, differences(before, after, BOARD), after), after, BOARD)


@given(before=boards(), after=boards())
def test_turned(before: Json, after: Json) -> None:
    """Differences of named items lead back when turned, and turned twice are as they were."""
    found = list(differences(before, after, BOARD))
    back = list(turned(found))

    assert same(patched(after, back, before), before, BOARD)
    assert list(turned(back)) == found


@given(before=boards(), after=boards())
def test_what_is_on_both_sides_comes_and_goes_nowhere(before: Json, after: Json) -> None:
    """No item of both documents is told as removed or added, alone or inside of anything."""
    both = items(before).keys() & items(after).keys()

    for difference in differences(before, after, BOARD):
        if difference.operation in ("add", "remove"):
            told = repr((difference.path[-1], difference.before, difference.after))
            assert not [name for name in both if repr(name) in told]


@given(before=boards(), after=boards())
def test_each_move_tells_where_from(before: Json, after: Json) -> None:
    """A move out of another row names that row; what moves with its row has no move of its own."""
    were, are = places(before), places(after)

    told = {
        str(difference.path[-1]): tuple(difference.before[1::2])[:-1]
        for difference in differences(before, after, BOARD)
        if difference.operation == "move"
        and isinstance(difference.before, list)
        and len(difference.path) == 6
    }

    assert told == {
        name: were[name] for name in were.keys() & are.keys() if were[name][1] != are[name][1]
    }


@given(declared=boards(), live=boards())
def test_live_fields_go_along(declared: Json, live: Json) -> None:
    """An item keeps the live fields that were never declared, wherever it is declared now."""
    for name, item in items(live).items():
        item["setByHand"] = name

    sent = merge(declared, declared, live, BOARD)

    for name, item in items(sent).items():
        assert item.get("setByHand", name) == name
        assert ("setByHand" in item) == (name in items(live))
    assert same(merge(declared, declared, sent, BOARD), sent, BOARD)


@given(base=boards(), declared=boards(), live=boards())
def test_what_was_declared_elsewhere_goes(base: Json, declared: Json, live: Json) -> None:
    """A field that was declared before goes, though its item is declared in another list now."""
    for document in (base, live):
        for item in items(document).values():
            item["declaredBefore"] = 1

    sent = merge(base, declared, live, BOARD)

    kept = {name for name, item in items(sent).items() if "declaredBefore" in item}
    assert kept == (items(declared).keys() & items(live).keys()) - items(base).keys()


@given(base=boards(), declared=boards(), live=boards(), data=st.data())
def test_settled(base: Json, declared: Json, live: Json, data: st.DataObject) -> None:
    """Once written, nothing is left to do, whatever moved."""
    sent = merge(base, declared, live, BOARD)
    now = data.draw(stored(sent, BOARD))

    assert list(differences(now, merge(declared, declared, now, BOARD), BOARD)) == []
    assert list(differences(now, merge(ABSENT, declared, now, BOARD), BOARD)) == []
