"""What `merge` gives, told by example."""

from __future__ import annotations

import pytest

from reconciler.document import (
    ABSENT,
    ANY,
    Json,
    Missing,
    Shape,
    covers,
    identical,
    merge,
    overlay,
    value_at,
)

INT64 = Shape(numeric_text=True)
KEYED = Shape(items=Shape(fields={"id": ANY, "t": ANY}), identity=("id",))
UNKEYED = Shape(items=Shape(fields={"n": INT64, "q": ANY}))
CHOICE = Shape(fields={"k": ANY}, alternatives=(frozenset({"all", "some"}),))
A: Json = {"q": "a"}
B: Json = {"q": "b"}
C: Json = {"q": "c"}


def live(name: str) -> Json:
    """Give an item as the service has it, with a field of its own."""
    return {"q": name, "stored": name}


@pytest.mark.parametrize(
    ("base", "declared", "there", "sent"),
    [
        ({"a": 1}, {"a": 2}, {"a": 1, "x": 9}, {"a": 2, "x": 9}),
        ({"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": 2, "x": 9}, {"a": 1, "x": 9}),
        (ABSENT, {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        (ABSENT, {"a": 2}, {"a": 1, "b": 2}, {"a": 2, "b": 2}),
        (7, {"a": 2}, {"a": 1, "b": 2}, {"a": 2, "b": 2}),
        (
            {"a": {"b": 1, "c": 2}},
            {"a": {"b": 3}},
            {"a": {"b": 1, "c": 2, "x": 9}},
            {"a": {"b": 3, "x": 9}},
        ),
        ({"a": {"b": 1}}, {"a": {"b": 1}, "n": 1}, {"a": {"b": 1}}, {"a": {"b": 1}, "n": 1}),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": 2}),
        (ABSENT, {"a": {"b": 1}}, {"a": [1], "x": 9}, {"a": {"b": 1}, "x": 9}),
        (ABSENT, {"a": [1]}, {"a": {"b": 1}, "x": 9}, {"a": [1], "x": 9}),
        (ABSENT, {"a": 1}, ABSENT, {"a": 1}),
    ],
)
def test_objects(base: Json | Missing, declared: Json, there: Json | Missing, sent: Json) -> None:
    """What is declared is sent, what was declared goes, and what never was stays."""
    assert merge(base, declared, there) == sent


@pytest.mark.parametrize(
    ("declared", "there"),
    [
        ({"a": 0}, {"b": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": True}, {"a": 1}),
        ({"a": [True]}, {"a": [1]}),
        ({"a": {"b": 0}}, {"a": {}}),
        ({"a": [{"b": 0}]}, {"a": [{}]}),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}),
        ({"a": [1, 2]}, {"a": [1, 3]}),
        ({"a": [1, {"b": 1}]}, {"a": [2, {"b": 1}]}),
        ({"a": [{"b": 1}, 2]}, {"a": [{"b": 1}, 3]}),
        ({"a": [[1]]}, {"a": [[2]]}),
        ({"a": {"b": 1}, "c": 2}, {"a": {"b": 1}, "c": 3}),
        ({"a": {"b": 1}, "c": 2}, {"a": {"b": 2}, "c": 2}),
        ({"a": "x", "b": "y"}, {"a": "x", "b": "z"}),
    ],
    ids=str,
)
def test_nothing_declared_is_left_out(declared: dict[str, Json], there: Json) -> None:
    """Each declared value is sent as it is declared, a zero and a number's own type too."""
    sent = merge(ABSENT, declared, there)

    assert isinstance(sent, dict)
    assert identical({key: sent[key] for key in declared}, declared)
    assert repr({key: sent[key] for key in declared}) == repr(declared)


@pytest.mark.parametrize(
    ("declared", "there"),
    [
        ({"a": 1}, {"a": 1, "x": 9}),
        ({"a": [1, 2]}, {"a": [1, 2], "x": 9}),
        ({"a": [{"b": 1}, 2]}, {"a": [{"b": 1, "x": 9}, 2]}),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1, "x": 9}}}),
        ([1, 2], [1, 2]),
        ([{"a": 1}], [{"a": 1, "x": 9}]),
        ({}, {}),
        ([], []),
    ],
    ids=str,
)
def test_given_back_itself(declared: Json, there: Json) -> None:
    """What is live as declared is given back itself, so that nobody looks into it again."""
    assert merge(ABSENT, declared, there) is there
    assert merge(declared, declared, there) is there


def test_choice_given_back_itself() -> None:
    """A choice that is live as declared is given back itself, whatever else stands beside it."""
    there: Json = {"all": 1, "x": 9}

    assert merge(ABSENT, {"all": 1}, there, CHOICE) is there


@pytest.mark.parametrize(
    ("base", "shape"),
    [(7, ANY), ([], ANY), ([{"id": "b"}], KEYED), ([{"t": 1}], KEYED)],
)
def test_parts_given_back(base: Json, shape: Shape) -> None:
    """A part that is declared for the first time and live already is given back itself."""
    mine: dict[str, Json] = {"id": "a", "new": {"c": 1}}
    theirs: dict[str, Json] = {"id": "a", "new": {"c": 1, "x": 9}}

    sent = merge({"at": base}, {"at": [mine]}, {"at": [theirs]}, Shape(fields={"at": shape}))
    inner = merge({"id": "a", "old": 1}, mine, theirs)

    assert value_at(sent, ("at", 0)) is theirs
    assert value_at(inner, ("new",)) is theirs["new"]


@pytest.mark.parametrize(
    ("base", "declared", "there", "sent"),
    [
        (ABSENT, [C, A, B], [live("a"), live("b")], [C, live("a"), live("b")]),
        (ABSENT, [A, C, B], [live("a"), live("b")], [live("a"), C, live("b")]),
        (ABSENT, [A, B, C], [live("a"), live("b")], [live("a"), live("b"), C]),
        (ABSENT, [B], [live("a"), live("b")], [live("b")]),
        (ABSENT, [A], [live("a"), live("b")], [live("a")]),
        (ABSENT, [A, C], [live("a"), live("b"), live("c")], [live("a"), live("c")]),
        (
            ABSENT,
            [A, {"q": 1}, {"q": 2}, C],
            [live("a"), live("b"), live("c")],
            [live("a"), {"q": 1}, {"q": 2}, live("c")],
        ),
        (ABSENT, [A], [{"q": "a", "x": 1}, {"q": "a", "x": 2}], [{"q": "a", "x": 1}]),
        (ABSENT, [A, A], [live("a")], [live("a"), A]),
        (ABSENT, [A, B], [], [A, B]),
        (ABSENT, [], [live("a")], []),
        (ABSENT, [B], [live("a")], [{"q": "b", "stored": "a"}]),
        ([{"q": "a", "t": 1}], [A], [{"q": "a", "t": 1, "x": 9}], [{"q": "a", "x": 9}]),
        ([{"q": "a", "t": 1}, B], [A], [{"q": "a", "t": 1}], [{"q": "a", "t": 1}]),
        ([{"q": "a", "t": 1}], [A, B], [{"q": "a", "t": 1}], [{"q": "a", "t": 1}, B]),
        (7, [B], [live("a")], [{"q": "b", "stored": "a"}]),
        ([A, {"q": "b", "t": 1}], [A, B], [A, {"q": "b", "t": 1}], [A, B]),
    ],
)
def test_unnamed(base: Json | Missing, declared: Json, there: Json, sent: Json) -> None:
    """Unnamed items are paired by place, and around one that came or went by what they hold."""
    assert merge(base, declared, there) == sent


@pytest.mark.parametrize(
    ("declared", "there", "sent"),
    [
        ([A, {"n": 5}], [{"n": "5", "x": 9}], [A, {"n": 5, "x": 9}]),
        ([{"n": 5}, A], [{"n": "5", "x": 9}], [{"n": 5, "x": 9}, A]),
        ([{"n": 5}], [{"q": 1, "x": 9}], [{"n": 5, "q": 1, "x": 9}]),
    ],
)
def test_unnamed_of_a_shape(declared: Json, there: Json, sent: Json) -> None:
    """Unnamed items are paired and merged as their shape says."""
    assert merge(ABSENT, declared, there, UNKEYED) == sent


@pytest.mark.parametrize(
    ("base", "declared", "there", "sent"),
    [
        (
            [{"id": "a", "t": 1}],
            [{"id": "b"}, {"id": "a"}],
            [{"id": "a", "t": 1, "x": 9}, {"id": "c"}],
            [{"id": "b"}, {"id": "a", "x": 9}],
        ),
        (ABSENT, [{"id": "a"}], [{"id": "b"}, {"id": "a", "x": 9}], [{"id": "a", "x": 9}]),
        (
            [{"id": "a", "t": 1}, {"id": "a"}],
            [{"id": "a"}],
            [{"id": "a", "t": 1}],
            [{"id": "a", "t": 1}],
        ),
        (ABSENT, [{"id": "a"}], [{"x": 9}], [{"id": "a"}]),
        (ABSENT, [{"t": 1}], [{"x": 9}], [{"t": 1, "x": 9}]),
        (ABSENT, [{"t": 1}, {"id": "a"}], [{"id": "a"}, {"x": 9}], [{"t": 1}, {"id": "a"}]),
        (ABSENT, [{"t": 1}], [{"id": "a"}], [{"t": 1, "id": "a"}]),
    ],
)
def test_named(base: Json | Missing, declared: Json, there: Json, sent: Json) -> None:
    """Named items keep what is live of their own alone; what is declared without name, by place."""
    assert merge(base, declared, there, KEYED) == sent


def test_unordered() -> None:
    """A list without order is sent as it is declared, and its members are not merged."""
    there: Json = [{"a": 2}, {"a": 1, "x": 9}]

    assert merge(ABSENT, [{"a": 1}], there, Shape(unordered=True)) == [{"a": 1}]
    assert merge(ABSENT, [{"a": 1}], [{"a": 1, "x": 9}], Shape(unordered=True)) == [{"a": 1}]


@pytest.mark.parametrize(
    ("declared", "there", "shape", "sent"),
    [
        ({"all": {}}, {"list": {"x": 1}}, ANY, {"all": {}}),
        ({"all": 0}, {"list": 1}, ANY, {"all": 0, "list": 1}),
        ({"all": 0, "most": 1}, {"list": 1}, ANY, {"all": 0, "most": 1}),
        ({"all": 1, "k": 1}, {"list": 1, "k": 1}, ANY, {"all": 1, "k": 1, "list": 1}),
        ({"a": 1}, {"b": 2}, Shape(fields={"a": ANY}), {"a": 1, "b": 2}),
        ({"all": 1, "k": 1}, {"some": 2, "k": 1}, CHOICE, {"all": 1, "k": 1}),
        ({"all": 1}, {"all": 1, "some": 2}, CHOICE, {"all": 1}),
        ({"all": 1}, {"all": 1, "x": 9}, CHOICE, {"all": 1, "x": 9}),
        ({"k": 1}, {"k": 1, "some": 2}, CHOICE, {"k": 1, "some": 2}),
        (
            {"in": {"all": 1}},
            {"in": {"all": 1, "some": 2}},
            Shape(values=CHOICE),
            {"in": {"all": 1}},
        ),
        (
            {"in": {"all": 1}},
            {"in": {"all": 1, "some": 2}},
            Shape(fields={"in": CHOICE}),
            {"in": {"all": 1}},
        ),
        (
            {"in": [{"all": 1}]},
            {"in": [{"all": 1, "some": 2}]},
            Shape(values=Shape(items=CHOICE)),
            {"in": [{"all": 1}]},
        ),
        (
            {"in": [{"all": 1}]},
            {"in": [{"all": 1, "some": 2}]},
            Shape(fields={"in": Shape(items=CHOICE)}),
            {"in": [{"all": 1}]},
        ),
        ([{"all": 1}], [{"all": 1, "some": 2}], Shape(items=CHOICE), [{"all": 1}]),
        (
            [{"k": "a", "all": 1}],
            [{"k": "a", "some": 2}],
            Shape(items=CHOICE, identity=("k",)),
            [{"k": "a", "all": 1}],
        ),
    ],
)
def test_choices(declared: Json, there: Json, shape: Shape, sent: Json) -> None:
    """One choice ousts another where the shape knows them, or where two objects share nothing."""
    assert merge(ABSENT, declared, there, shape) == sent


@pytest.mark.parametrize(
    ("there", "declared", "shape", "covered"),
    [
        ({"a": 1, "x": 9}, {"a": 1}, ANY, True),
        ({"a": 1}, {"a": 1, "b": 2}, ANY, False),
        ({"a": 1}, {"a": 1, "b": 0}, ANY, True),
        ({"a": "5"}, {"a": 5}, ANY, False),
        ({"n": "5"}, {"n": 5}, Shape(fields={"n": INT64}), True),
        ([{"n": "5"}], [{"n": 5}], UNKEYED, True),
        ([1, 2], [1], ANY, False),
        ({"all": 1, "some": 2}, {"all": 1}, CHOICE, False),
        (ABSENT, 0, ANY, True),
        (ABSENT, 1, ANY, False),
    ],
)
def test_covers(there: Json | Missing, declared: Json, shape: Shape, covered: bool) -> None:
    """Live covers what is declared where it holds all of that, whatever it adds."""
    assert covers(there, declared, shape) is covered


@pytest.mark.parametrize(
    ("below", "above", "joined"),
    [
        (ABSENT, ABSENT, ABSENT),
        (1, ABSENT, 1),
        (ABSENT, 1, 1),
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": 1, "b": 3, "c": 4}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": None}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {}, {"a": 1}),
        ({"a": 1}, 2, 2),
    ],
    ids=str,
)
def test_overlay(below: Json | Missing, above: Json | Missing, joined: Json | Missing) -> None:
    """What either document holds is held, the one above has the last word, and lists are whole."""
    untouched = repr(below)

    assert overlay(below, above) == joined
    assert repr(below) == untouched
