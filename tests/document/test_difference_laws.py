"""The laws of `differences`: complete, minimal, and empty exactly where documents are one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patching import patched
from random_documents import SHAPES, documents, shaped_pairs
from random_server import stored

from reconciler.document import (
    ABSENT,
    ANY,
    Difference,
    Json,
    Missing,
    Shape,
    compare,
    differences,
    exactly,
    identical,
    merge,
    same,
)

KEYED = Shape(items=Shape(fields={"id": ANY, "title": ANY}), identity=("id",))


@given(drawn=shaped_pairs())
def test_applying_differences_gives_after(drawn: tuple[Shape, Json, Json]) -> None:
    """Whoever applies every difference to before holds after: none is missing, none too many."""
    shape, before, after = drawn

    result = patched(before, differences(before, after, shape), after)

    assert same(result, after, shape)


@given(shape=SHAPES, data=st.data())
def test_a_document_does_not_differ_from_itself(shape: Shape, data: st.DataObject) -> None:
    """No difference is found between equal documents, however they are rendered."""
    document = data.draw(documents(shape))
    rendered = data.draw(stored(document, shape, adds=False))

    assert list(differences(rendered, document, shape)) == []
    assert list(differences(document, rendered, shape)) == []


@given(drawn=shaped_pairs())
def test_same_is_symmetric(drawn: tuple[Shape, Json, Json]) -> None:
    """Two documents are one whichever is asked first."""
    shape, one, other = drawn

    assert same(one, other, shape) == same(other, one, shape)


@given(drawn=shaped_pairs())
def test_each_difference_is_one(drawn: tuple[Shape, Json, Json]) -> None:
    """No difference has two sides that are the same, and no place is named twice."""
    shape, before, after = drawn
    found = list(differences(before, after, shape))

    moves = [difference for difference in found if difference.operation == "move"]
    rest = [difference for difference in found if difference.operation != "move"]

    assert all(difference.before is ABSENT or difference.operation != "add" for difference in found)
    assert all(
        difference.after is ABSENT or difference.operation != "remove" for difference in found
    )
    assert len({(difference.path, difference.operation) for difference in rest}) == len(rest)
    assert len({move.path for move in moves}) == len(moves)


@given(order=st.permutations(range(7)))
def test_the_fewest_items_move(order: list[int]) -> None:
    """Moves are as few as can be: all items but the longest run that is in order already."""
    before: Json = [{"id": str(name)} for name in range(7)]
    after: Json = [{"id": str(name)} for name in order]

    found = list(differences(before, after, KEYED))

    longest = max(
        size
        for size in range(8)
        for picked in combinations(order, size)
        if list(picked) == sorted(picked)
    )
    assert {difference.operation for difference in found} <= {"move"}
    assert len(found) == 7 - longest


def test_an_insertion_moves_nothing() -> None:
    """A new first item is one added item, though every position shifts."""
    before: Json = [{"id": name} for name in "abc"]
    after: Json = [{"id": name} for name in "xabc"]

    assert list(differences(before, after, KEYED)) == [
        Difference(("x",), ABSENT, {"id": "x"}, "add")
    ]


def test_an_insertion_among_unnamed_items_is_one_addition() -> None:
    """An item put before others that have no identity is found, also with an edit behind it."""
    before: Json = {"queries": [{"q": "one"}, {"q": "two"}, {"q": "three", "limit": 3}]}
    after: Json = {
        "queries": [{"q": "new"}, {"q": "one"}, {"q": "two"}, {"q": "three", "limit": 4}]
    }

    assert list(differences(before, after)) == [
        Difference(("queries", 0), ABSENT, {"q": "new"}, "add"),
        Difference(("queries", 3, "limit"), 3, 4),
    ]


def test_unnamed_items_are_the_same_whatever_zeros_they_show() -> None:
    """Equal items are paired by what they mean, not by how a service spells them."""
    stored: Json = {"a": [{}, {}, {"x": 1.0}]}
    declared: Json = {"a": [{}, {"zero": None}, {"x": 1, "zero": ""}]}

    assert list(differences(stored, declared)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        ([True], [1]),
        ({"a": [True, 2]}, {"a": [1, 2]}),
        ({}, ABSENT),
        ({"a": {}}, {}),
        ({"a": {}}, {"a": []}),
        ({"a": {}}, {"a": None}),
        ({"all": {}}, {"list": {}}),
        ("1", 1),
        ("", 0),
        ([], ""),
        ([1, 2], [2, 1]),
        (["a"], ["a", ""]),
        ([{"a": 1}], [{"a": 1}, None]),
        ([{"a": 1}], [{"a": 1}, 0]),
        ({"__private": 1}, {"__private": 2}),
    ],
    ids=str,
)
def test_what_is_never_the_same(one: Json, other: Json | Missing) -> None:
    """Booleans are no numbers, an empty object is not absent, and no list item is negligible."""
    assert not same(one, other)
    assert not same(other, one)


ZEROS: tuple[Json, ...] = (None, "", 0, 0.0, False, [])
KIND = Shape(fields={"b": Shape(enumeration="KIND_")})
OF_KIND = ("KIND_UNSPECIFIED", "KIND_LOW_OR_UNSPECIFIED")


@pytest.mark.parametrize(
    ("zero", "shape"),
    [*((zero, ANY) for zero in ZEROS), *((zero, KIND) for zero in (*ZEROS, *OF_KIND))],
    ids=str,
)
def test_zeros_equal_absent(zero: Json, shape: Shape) -> None:
    """What a service may render or drop at will makes no difference."""
    assert same({"a": 1, "b": zero}, {"a": 1}, shape)
    assert same({"a": 1}, {"a": 1, "b": zero}, shape)


@pytest.mark.promise("P31")
@pytest.mark.parametrize("text", [*OF_KIND, "OWNER_UNSPECIFIED", "UNSPECIFIED"])
@pytest.mark.parametrize("other", [ABSENT, "", None, "TEAM_UNSPECIFIED", 0, False, []], ids=str)
def test_free_text(text: str, other: Json | Missing) -> None:
    """Free text that looks like the zero value of an enumeration is a text like any other."""
    assert not same(text, other)
    assert not same(other, text)


@pytest.mark.promise("P31")
@pytest.mark.parametrize("other", ["OWNER_UNSPECIFIED", "KIND_LOW", "KIND_UNSPECIFIED_2"])
def test_other_values_of_an_enumeration(other: str) -> None:
    """Only a zero value of that very enumeration equals absent."""
    assert not same({"b": other}, {}, KIND)
    assert not same({"b": other}, {"b": "KIND_UNSPECIFIED"}, KIND)


@pytest.mark.promise("P30")
@pytest.mark.parametrize(
    ("zero", "shape"),
    [*((zero, ANY) for zero in ZEROS), *((zero, KIND) for zero in (*ZEROS, *OF_KIND))],
    ids=str,
)
@pytest.mark.parametrize("depth", ["fields", "unknown", "items", "values"])
def test_exactly(zero: Json, shape: Shape, depth: str) -> None:
    """Between two documents of ours a zero that is declared is one field, at any depth."""
    around: dict[str, tuple[Shape, Callable[[Json], Json]]] = {
        "fields": (Shape(fields={"x": shape}), lambda inner: {"x": inner}),
        "unknown": (Shape(fields={"y": shape}), lambda inner: {"x": inner}),
        "items": (Shape(items=shape, identity=("a",)), lambda inner: [inner]),
        "values": (Shape(values=shape), lambda inner: {"x": inner}),
    }
    known, wrap = around[depth]

    (found,) = differences(wrap({"a": "n"}), wrap({"a": "n", "b": zero}), exactly(known))

    assert (found.path[-1], found.before, found.after) == ("b", ABSENT, zero)


@pytest.mark.promise("P30")
@given(shaped_pairs())
def test_exactly_finds_all_of_ours(pair: tuple[Shape, Json, Json]) -> None:
    """What differs to a service differs exactly too, and a document never from itself."""
    shape, before, after = pair

    assert list(differences(before, before, exactly(shape))) == []
    if not same(before, after, shape):
        assert not same(before, after, exactly(shape))


@pytest.mark.promise("P30")
def test_other_spellings_are_exact() -> None:
    """A number in another spelling, and a set in another order, say exactly the same."""
    shape = Shape(fields={"n": Shape(numeric_text=True), "s": Shape(unordered=True)})

    assert same({"n": "5", "s": ["a", "b"]}, {"n": 5.0, "s": ["b", "a"]}, exactly(shape))


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("1000", 1000, True),
        (1000, 1000.0, True),
        ("0", ABSENT, True),
        (0, "0", True),
        ("-5", -5, True),
        (True, 1, False),
        (True, "1", False),
        ("1.5", 1.5, False),
        ("10", "1", False),
        ("9007199254740993", 9007199254740992, False),
    ],
)
def test_int64_text_is_a_number(one: Json, other: Json | Missing, equal: bool) -> None:
    """An int64 is compared by value, as text or as a number, and without rounding."""
    int64 = Shape(numeric_text=True)

    assert same(one, other, int64) is equal
    assert same(other, one, int64) is equal


@given(document=documents(ANY), other=documents(ANY))
def test_identical_is_never_wrong(document: Json, other: Json) -> None:
    """What is identical is the same, and every document is identical to itself."""
    assert identical(document, document)
    assert same(document, other) or not identical(document, other)


def test_equal_parts_are_never_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred lists without identities, only the one that changed is aligned."""
    aligned: list[list[Json]] = []
    really = compare.partners_of

    def counted(before: list[Json], after: list[Json], shape: Shape) -> dict[int, int]:
        aligned.append(before)
        return really(before, after, shape)

    monkeypatch.setattr(compare, "partners_of", counted)
    live: Json = {f"part{place}": [{"q": place}] for place in range(100)}
    declared: Json = {f"part{place}": [{"q": place % 99}] for place in range(100)}

    found = list(differences(live, merge(ABSENT, declared, live)))

    assert [difference.path for difference in found] == [("part99", 0, "q")]
    assert aligned == [[{"q": 99}]]


def test_long_lists_of_one_text_are_aligned_at_once() -> None:
    """Thousands of equal items, the worst for any alignment, are compared in order."""
    many: list[Json] = [{"q": "same"} for _ in range(20_000)]
    before: list[Json] = [{"q": "first"}, *many, {"q": "last"}]
    after: list[Json] = [{"q": "one"}, *many, {"q": "same"}, {"q": "two"}]

    found = list(differences(before, after))

    assert {difference.operation for difference in found} <= {"add", "remove", "change"}
    assert same(patched(before, found, after), after)
