"""What `differences` gives, told by example: the whole of it, in its order."""

from __future__ import annotations

import pytest

from reconciler.document import ABSENT, ANY, Difference, Json, Missing, Shape, differences

INT64 = Shape(numeric_text=True)
COUNTED = Shape(fields={"n": INT64, "groups": Shape(unordered=True)})
KEYED = Shape(items=COUNTED, identity=("id",))
UNKEYED = Shape(items=COUNTED)
A: Json = {"q": "a"}
B: Json = {"q": "b"}
C: Json = {"q": "c"}
D: Json = {"q": "d"}
X: Json = {"q": "x"}


def added(index: str | int, value: Json) -> Difference:
    return Difference((index,), ABSENT, value, "add")


def removed(index: str | int, value: Json) -> Difference:
    return Difference((index,), value, ABSENT, "remove")


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([A, B, C], [A], [removed(1, B), removed(2, C)]),
        ([A, B, C], [A, C], [removed(1, B)]),
        ([A, B], [A, C, B], [added(1, C)]),
        ([A, A], [A, A, A], [added(2, A)]),
        ([A, B, A], [A, A], [removed(1, B)]),
        ([X, A, B, C], [A, B, C], [removed(0, X)]),
        ([A, B, C], [X, A, B, C], [added(0, X)]),
        ([], [A], [added(0, A)]),
        ([A], [], [removed(0, A)]),
        ([A, B, C], [A, X, C], [Difference((1, "q"), "b", "x")]),
        ([A, B, C, D], [A, X, D], [Difference((1, "q"), "b", "x"), removed(2, C)]),
        ([A, B, D], [A, X, C, D], [Difference((1, "q"), "b", "x"), added(2, C)]),
        ([A, B, C], [X, A, D, C], [added(0, X), Difference((2, "q"), "b", "d")]),
        (
            [A, B, C, D, X],
            [D, B, X],
            [Difference((0, "q"), "a", "d"), removed(2, C), removed(3, D)],
        ),
        ([A, C, B], [D, A, B], [added(0, D), removed(1, C)]),
        ([1], [A], [Difference((0,), 1, A)]),
        ([A], [1], [Difference((0,), A, 1)]),
        (["a", A], ["a", B], [Difference((1, "q"), "a", "b")]),
        ([[1], [2]], [[1], [3]], [Difference((1,), [2], [3])]),
    ],
)
def test_unnamed(before: Json, after: Json, found: list[Difference]) -> None:
    """Of items without a name each is paired once, and what has no partner came or went."""
    assert list(differences(before, after)) == found


def test_rotated() -> None:
    """Where unnamed items changed places, those that are found again in order are left alone."""
    assert list(differences([A, B, C], [B, C, A])) == [added(2, A), removed(0, A)]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([{"n": "5"}], [{"n": 5}, A], [added(1, A)]),
        ([{"n": "5"}], [A, {"n": 5}], [added(0, A)]),
        ([{"n": "5", "q": 1}], [{"n": 5, "q": 2}], [Difference((0, "q"), 1, 2)]),
        ([{"n": "5"}, A, {"n": "6"}], [{"n": 5}, {"n": 6}], [removed(1, A)]),
    ],
)
def test_unnamed_of_a_shape(before: Json, after: Json, found: list[Difference]) -> None:
    """Unnamed items are paired and compared as their shape says."""
    assert list(differences(before, after, UNKEYED)) == found


@pytest.mark.parametrize(
    ("before", "after", "shape", "whole"),
    [
        (["a", "b"], ["b", "a"], ANY, True),
        (["a"], ["a", "b"], ANY, True),
        (["a", "b"], ["a"], ANY, True),
        (["a", "b"], ["a", "b"], ANY, False),
        (["1", "2"], [1, 2], Shape(items=INT64), False),
        (["1", "2"], [1, 3], Shape(items=INT64), True),
        (["a", "b"], ["b", "a"], Shape(unordered=True), False),
        (["a", "b"], ["b", "c"], Shape(unordered=True), True),
        (["a", "a"], ["a"], Shape(unordered=True), True),
        ([2, 1.0], [1, 2.0], Shape(unordered=True), False),
    ],
)
def test_plain_lists(before: Json, after: Json, shape: Shape, whole: bool) -> None:
    """A list of plain values differs as a whole or not at all."""
    found = list(differences(before, after, shape, ("here",)))

    assert found == ([Difference(("here",), before, after)] if whole else [])


def test_named() -> None:
    """Named items move, come, change and go, and are told in the order of the new list."""
    before: Json = [{"id": "a"}, {"id": "b", "t": 1}, {"id": "c"}, {"id": "d", "n": "5"}]
    after: Json = [{"id": "d", "n": 5}, {"id": "a"}, {"id": "x"}, {"id": "b", "t": 2}]

    assert list(differences(before, after, KEYED, ("list",))) == [
        Difference(("list", "d"), 3, 0, "move"),
        Difference(("list", "x"), ABSENT, {"id": "x"}, "add"),
        Difference(("list", "b", "t"), 1, 2),
        Difference(("list", "c"), {"id": "c"}, ABSENT, "remove"),
    ]


@pytest.mark.parametrize(
    ("order", "moved"),
    [
        ("abcde", []),
        ("bcdea", [("a", 0, 4)]),
        ("eabcd", [("e", 4, 0)]),
        ("acbde", [("c", 2, 1)]),
        ("abdec", [("c", 2, 4)]),
        ("badce", [("b", 1, 0), ("d", 3, 2)]),
        ("acdbe", [("b", 1, 3)]),
    ],
)
def test_moved(order: str, moved: list[tuple[str, int, int]]) -> None:
    """Those that move are named with their places before and after, counted from 0."""
    before: Json = [{"id": name} for name in "abcde"]
    after: Json = [{"id": name} for name in order]

    found = list(differences(before, after, KEYED))

    assert found == [Difference((name,), was, now, "move") for name, was, now in moved]


def test_all_other_names() -> None:
    """Where no name is in both lists, all of the new come and all of the old go."""
    old: Json = {"id": "a"}
    new: Json = {"id": "b"}

    assert list(differences([old], [new], KEYED)) == [added("b", new), removed("a", old)]


def test_names_on_one_side() -> None:
    """Where only one of two lists names its items, all are taken as unnamed."""
    named: Json = [{"id": "a"}]
    unnamed: Json = [{"t": 1}]

    assert [difference.path for difference in differences(named, unnamed, KEYED)] == [
        (0, "t"),
        (0, "id"),
    ]
    assert [difference.path for difference in differences(unnamed, named, KEYED)] == [
        (0, "id"),
        (0, "t"),
    ]


def test_moved_and_changed() -> None:
    """An item that moved is looked into all the same."""
    before: Json = [{"id": "a"}, {"id": "b"}, {"id": "c", "t": 1}]
    after: Json = [{"id": "c", "t": 2}, {"id": "a"}, {"id": "b"}]

    assert list(differences(before, after, KEYED)) == [
        Difference(("c",), 2, 0, "move"),
        Difference(("c", "t"), 1, 2),
    ]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"n": "5", "t": 1}, {"n": 5, "t": 2}, [Difference(("t",), 1, 2)]),
        ({"n": "0"}, {}, []),
        ({}, {"n": "0"}, []),
        ({}, {"n": "1"}, [added("n", "1")]),
        ({"n": "1"}, {}, [removed("n", "1")]),
        (
            {"a": 1, "b": 2},
            {"b": 3, "c": 4},
            [Difference(("b",), 2, 3), added("c", 4), removed("a", 1)],
        ),
        ({"a": {"b": 1}}, {"a": {}}, [Difference(("a", "b"), 1, ABSENT, "remove")]),
        ({"a": {}}, {"a": {"b": 1}}, [Difference(("a", "b"), ABSENT, 1, "add")]),
        ({"a": {"b": 1}}, {"a": [1]}, [Difference(("a",), {"b": 1}, [1])]),
        ({"a": [1]}, {"a": {"b": 1}}, [Difference(("a",), [1], {"b": 1})]),
        ({"groups": ["a", "b"]}, {"groups": ["b", "a"]}, []),
        ({"groups": ["a"]}, {}, [removed("groups", ["a"])]),
        ({}, {"groups": ["a"]}, [added("groups", ["a"])]),
        ({"a": []}, {}, []),
    ],
)
def test_objects(before: Json, after: Json, found: list[Difference]) -> None:
    """Fields are told in the order of the new document, and those that went come last."""
    assert list(differences(before, after, COUNTED)) == found


@pytest.mark.parametrize(
    ("before", "after", "operation"),
    [(1, 2, "change"), (ABSENT, 2, "add"), (1, ABSENT, "remove"), (1, None, "change")],
)
def test_operations(before: Json | Missing, after: Json | Missing, operation: str) -> None:
    """What was absent is added, what is to be absent is removed, and null is a value."""
    (found,) = differences(before, after, ANY, ("a", 0))

    assert (found.path, found.operation) == (("a", 0), operation)
