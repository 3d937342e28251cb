"""What `differences` tells of an item that comes from another list, told by example."""

from __future__ import annotations

from typing import Any

import pytest
from random_documents import BOARD

from reconciler.document import (
    ABSENT,
    ANY,
    Difference,
    Json,
    Shape,
    differences,
    merge,
    places_before,
    turned,
)

PAGES = Shape(fields={"pages": Shape(items=BOARD)})
ONE: Json = {"id": "one", "b": 1}
TWO: Json = {"id": "two"}


def row(name: str, *items: Json) -> Any:
    return {"id": name, "items": list(items)}


def board(**parts: Any) -> Json:
    return {"parts": [{"id": name, **part} for name, part in parts.items()]}


def of(*rows: Json) -> Json:
    return {"rows": list(rows)}


def place(part: str, *more: str | int) -> tuple[str | int, ...]:
    return ("parts", part, "rows", *more)


def move(old: tuple[str | int, ...], new: tuple[str | int, ...], position: int) -> Difference:
    """Give a move from a position in one list to another list."""
    return Difference(new, list(old), position, "move")


BOTH_STAY = (
    board(x=of(row("r", TWO, ONE), row("s"))),
    board(x=of(row("r", TWO), row("s", ONE))),
    [move(place("x", "r", "items", 1), place("x", "s", "items", "one"), 0)],
)
CHANGED = (
    board(x=of(row("r", ONE), row("s", TWO))),
    board(x=of(row("r"), row("s", TWO, {"id": "one", "b": 2}))),
    [
        move(place("x", "r", "items", 0), place("x", "s", "items", "one"), 1),
        Difference(place("x", "s", "items", "one", "b"), 1, 2),
    ],
)
INTO_A_NEW_ROW = (
    board(x=of(row("r", ONE, TWO))),
    board(x=of(row("r", TWO), row("s", ONE))),
    [
        Difference(place("x", "s"), ABSENT, row("s"), "add"),
        move(place("x", "r", "items", 0), place("x", "s", "items", "one"), 0),
    ],
)
OUT_OF_A_ROW_THAT_GOES = (
    board(x=of(row("r", ONE), row("s"))),
    board(x=of(row("s", ONE))),
    [
        move(place("x", "r", "items", 0), place("x", "s", "items", "one"), 0),
        Difference(place("x", "r"), row("r"), ABSENT, "remove"),
    ],
)
INTO_A_NEW_FIELD = (
    board(x=of(row("r", ONE)), y={}),
    board(x=of(row("r")), y=of(row("s", ONE))),
    [
        Difference(place("y"), ABSENT, [row("s")], "add"),
        move(place("x", "r", "items", 0), place("y", "s", "items", "one"), 0),
    ],
)
OUT_OF_A_FIELD_THAT_GOES = (
    board(x=of(row("r")), y=of(row("s", ONE))),
    board(x=of(row("r", ONE)), y={}),
    [
        move(place("y", "s", "items", 0), place("x", "r", "items", "one"), 0),
        Difference(place("y"), [row("s")], ABSENT, "remove"),
    ],
)
EXAMPLES = {
    "both stay": BOTH_STAY,
    "changed": CHANGED,
    "into a new row": INTO_A_NEW_ROW,
    "out of a row that goes": OUT_OF_A_ROW_THAT_GOES,
    "into a new field": INTO_A_NEW_FIELD,
    "out of a field that goes": OUT_OF_A_FIELD_THAT_GOES,
}


@pytest.mark.parametrize(("before", "after", "found"), EXAMPLES.values(), ids=EXAMPLES)
def test_told_once(before: Json, after: Json, found: list[Difference]) -> None:
    """An item that moved is told as moved, and what holds it comes or goes without it."""
    assert list(differences(before, after, BOARD)) == found


@pytest.mark.parametrize(("before", "after", "found"), EXAMPLES.values(), ids=EXAMPLES)
def test_between_pages(before: Json, after: Json, found: list[Difference]) -> None:
    """So is one inside of what has no name and changed in another way too."""
    old: Json = {"pages": [1, before]}
    new: Json = {"pages": [2, after]}

    inside = [difference for difference in differences(old, new, PAGES) if len(difference.path) > 2]

    assert [
        (difference.path[2:], difference.after, difference.operation) for difference in inside
    ] == [(difference.path, difference.after, difference.operation) for difference in found]


def test_turned_move() -> None:
    """Seen from the other side, an item moves back, and its fields change where it stood."""
    _, _, found = CHANGED

    assert list(turned(found)) == [
        Difference(place("x", "r", "items", "one"), [*place("x", "s", "items"), 1], 0, "move"),
        Difference(place("x", "r", "items", "one", "b"), 2, 1),
    ]


def test_turned_lists() -> None:
    """A whole list that changed is no move, and is turned like any value."""
    assert list(turned([Difference(("a",), [1], [2])])) == [Difference(("a",), [2], [1])]


def test_where_fields_stood() -> None:
    """A field of an item that moved stood in its old list, and what goes stood where it is told."""
    came, changed = CHANGED[2]
    gone = Difference((*came.path, "c"), 1, ABSENT, "remove")
    other = Difference(("title",), "a", "b")

    assert list(places_before([came, changed, gone, other])) == [
        place("x", "r", "items", "one"),
        place("x", "r", "items", "one", "b"),
        gone.path,
        ("title",),
    ]


class Unasked(Shape):
    """A shape that nobody may ask what it knows of the inside."""

    @property
    def known(self) -> bool:
        """Whether the inner fields are known."""
        raise AssertionError

    @property
    def item(self) -> Shape:
        """The shape of items."""
        raise AssertionError

    def at(self, key: str) -> Shape:
        """Give the shape of a field."""
        raise AssertionError(key)


class Unopened(Unasked):
    """One inside of another, that says only that it knows nothing."""

    @property
    def known(self) -> bool:
        """Never."""
        return False


EQUALS: list[Any] = [[{"a": {"b": 1}}, {"a": {"b": 1}}], [[{"a": 1}, 2], [{"a": 1}, 2]]]


@pytest.mark.parametrize(("one", "other"), EQUALS)
def test_equal_is_not_walked(one: Json, other: Json) -> None:
    """What is equal, the whole or a part, is never looked into: most of a plan is unchanged."""
    assert not list(differences(one, other, Unasked()))
    part = Shape(fields={"p": Unopened(), "q": ANY})
    assert list(differences({"p": one, "q": 1}, {"p": other, "q": 2}, part)) == [
        Difference(("q",), 1, 2)
    ]


@pytest.mark.parametrize(("declared", "live"), EQUALS)
@pytest.mark.parametrize("is_new", [True, False])
def test_equal_is_not_merged(declared: Json, live: Json, is_new: bool) -> None:
    """What is live as it is declared is given back itself, and no item of it is looked for."""
    base = ABSENT if is_new else declared

    assert merge(base, declared, live, Unasked()) is live
    sent: Any = merge(
        ABSENT if is_new else {"p": declared, "q": 1},
        {"p": declared, "q": 1},
        {"p": live, "q": 2},
    )
    assert sent["p"] is live


def test_pages_that_come_and_go() -> None:
    """A page without a name comes or goes without the items that moved, which are told as moved."""
    old, new = board(x=of(row("r", ONE))), board(x=of(row("r")))
    page, rest = board(y=of(row("s", ONE))), board(y=of(row("s")))
    place_of = {
        0: ("pages", 0, *place("x", "r", "items")),
        1: ("pages", 1, *place("y", "s", "items")),
    }

    assert list(differences({"pages": [old]}, {"pages": [new, page]}, PAGES)) == [
        Difference(("pages", 1), ABSENT, rest, "add"),
        move((*place_of[0], 0), (*place_of[1], "one"), 0),
    ]
    assert list(differences({"pages": [new, page]}, {"pages": [old]}, PAGES)) == [
        move((*place_of[1], 0), (*place_of[0], "one"), 0),
        Difference(("pages", 1), rest, ABSENT, "remove"),
    ]


def test_another_kind_of_item_of_one_name() -> None:
    """An item that goes and a row of its name that comes are two things, and no move."""
    before, after = board(x=of(row("r", {"id": "s"}))), board(x=of(row("r"), row("s")))

    assert {found.operation for found in differences(before, after, BOARD)} == {"add", "remove"}


def test_a_list_behind_nested_lists() -> None:
    """A move is found also where a named list of one level follows the nested lists."""
    labels = Shape(items=Shape(fields={"id": ANY}), identity=("id",))
    shape = Shape(fields={**BOARD.fields, "labels": labels})
    was, now, found = BOTH_STAY
    assert isinstance(was, dict)
    assert isinstance(now, dict)

    assert [*differences({**was, "labels": [ONE]}, {**now, "labels": [ONE]}, shape)] == found
