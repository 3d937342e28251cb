"""Three ways: what others changed live comes in, what git changed waits, and both is a conflict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import ABSENT, Json, Missing, Shape, covers, followed, value_at
from reconciler.features.adopt.adoption import Adopted, Side
from reconciler.features.adopt.merge_fields import Merged, MergeInputs, MergeOptions, merged
from reconciler.redaction.templates import HIDDEN, SecretHole, Template

NAMED = Shape(items=Shape(fields={"name": Shape(), "x": Shape()}), identity=("name",))
SHAPE = Shape(
    fields={
        "list": NAMED,
        "other": NAMED,
        "set": Shape(items=Shape(), unordered=True),
        "one": Shape(fields={"a": Shape(), "b": Shape()}, alternatives=(frozenset("ab"),)),
        "number": Shape(numeric_text=True),
    }
)


def merge(
    ours: Json, base: Json | Missing, live: Json, *, written: Json = None, **rules: Any
) -> tuple[Json, Merged]:
    """Give what a manifest would say after a merge, and the merge itself."""
    said = ours if written is None else written
    sides = MergeInputs(written=said, ours=ours, base=base, live=live, shown=live)
    found = merged(sides, SHAPE, MergeOptions(**rules))
    return (said if found.edit is None else followed(said, found.edit, said)), found


def named(*names: str, **values: int) -> list[Json]:
    return [{"name": name, "x": values.get(name, 0)} for name in names]


@pytest.mark.parametrize(
    ("ours", "base", "live", "wanted"),
    [
        ({"a": 1}, {"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {"a": 1}, {"a": 1, "default": 5}, {"a": 1}),
        ({"a": 3}, {"a": 1}, {"a": 1}, {"a": 3}),
        ({"a": 2}, {"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1, "b": 2}, {"a": 1}, {"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}, {"a": 1}),
        ({"a": ""}, {"a": ""}, {}, {"a": ""}),
        ({"set": ["x", "y"]}, {"set": ["x", "y"]}, {"set": ["y", "x"]}, {"set": ["x", "y"]}),
        (
            {"set": ["x", "new"]},
            {"set": ["x", "y"]},
            {"set": ["y", "x", "z"]},
            {"set": ["x", "new", "z"]},
        ),
        ({"one": {"a": 1}}, {"one": {"a": 1}}, {"one": {"b": 2}}, {"one": {"b": 2}}),
        ({"number": 5}, {"number": 5}, {"number": "6"}, {"number": 6}),
        ({"plain": [1, 2, 3]}, {"plain": [1, 2, 3]}, {"plain": [1, 3]}, {"plain": [1, 3]}),
        (
            {"l": [{"a": 1}]},
            {"l": [{"a": 1}]},
            {"l": [{"a": 1, "d": 0}, {"a": 2}]},
            {"l": [{"a": 1}, {"a": 2}]},
        ),
        (
            {"list": named("p", "q")},
            {"list": named("p", "q")},
            {"list": named("q", "r", "p")},
            {"list": named("q", "r", "p")},
        ),
        (
            {"list": named("p", "n")},
            {"list": named("p")},
            {"list": named("p", "r")},
            {"list": named("p", "r", "n")},
        ),
        (
            {"list": named("p")},
            {"list": named("p", "q")},
            {"list": named("p", "q")},
            {"list": named("p")},
        ),
    ],
)
def test_no_overlap(ours: Json, base: Json, live: Json, wanted: Json) -> None:
    """What only one side changed is that side's, and what nobody declared is left alone."""
    after, found = merge(ours, base, live)

    assert found.conflicts == []
    assert after == wanted


def test_a_moved_item_keeps_what_is_written() -> None:
    """An item that others put into another list goes there as written, and is said to move."""
    base: Json = {"list": named("p", "q"), "other": []}
    written: Json = {"list": [{"name": "p"}, {"name": "q", "note": "${var:x}"}], "other": []}

    after, found = merge(base, base, {"list": named("p"), "other": named("q")}, written=written)

    assert after == {"list": [{"name": "p"}], "other": [{"name": "q", "note": "${var:x}"}]}
    assert found.conflicts == []
    assert found.adopted == [Adopted(("other", "q"), ["list", 1], 0, "move")]


@pytest.mark.parametrize(
    ("ours", "base", "live", "path"),
    [
        ({"a": 2}, {"a": 1}, {"a": 3}, ("a",)),
        ({}, {"a": 1}, {"a": 3}, ("a",)),
        ({"a": 2}, {"a": 1}, {}, ("a",)),
        ({"a": 2}, ABSENT, {"a": 3}, ("a",)),
        ({"a": 2}, {}, {"a": 3}, ("a",)),
        ({"list": named("p", p=2)}, {"list": named("p", p=1)}, {"list": []}, ("list", "p")),
        ({"list": []}, {"list": named("p", p=1)}, {"list": named("p", p=2)}, ("list", "p")),
        (
            {"list": named("p", p=2)},
            {"list": named("p", p=1)},
            {"list": named("p", p=3)},
            ("list", "p", "x"),
        ),
        (
            {"list": named("q", "p", "r")},
            {"list": named("p", "q", "r")},
            {"list": named("p", "r", "q")},
            ("list",),
        ),
        ({"one": {"b": 2}}, {"one": {"a": 1}}, {"one": {"a": 3}}, ("one", "a")),
    ],
)
def test_an_overlap_is_a_conflict(
    ours: Json, base: Json, live: Json, path: tuple[str, ...]
) -> None:
    """A field that both changed is told with all three values, and nothing is written."""
    after, found = merge(ours, base, live)

    assert after == ours
    assert [conflict.path for conflict in found.open] == [path]


def test_sides() -> None:
    """Git stays with `ours`, and live comes in with `theirs`; both are told."""
    ours: Json = {"a": 2, "b": 1}
    base: Json = {"a": 1, "b": 1}
    live: Json = {"a": 3, "b": 5}

    kept, told = merge(ours, base, live, side=Side.OURS)
    taken, _ = merge(ours, base, live, side=Side.THEIRS)

    assert (kept, taken) == ({"a": 2, "b": 5}, {"a": 3, "b": 5})
    assert [conflict.side for conflict in told.conflicts] == [Side.OURS]


def test_a_secret_is_never_written_out() -> None:
    """Where a secret belongs, no live value is taken over, whoever is said to be right."""
    hole = Template((SecretHole("TOKEN", "old", "sha256:0123456789abcdef"),))
    base: Json = {"a": str(hole)}
    written: Json = {"a": "${secret:TOKEN}"}

    after, found = merge({"a": hole}, base, {"a": "new"}, written=written, side=Side.THEIRS)

    assert after == written
    assert [(conflict.live, conflict.holds_secret) for conflict in found.open] == [(HIDDEN, True)]


@pytest.mark.parametrize(
    ("written", "ours", "live", "wanted"),
    [
        ("of ${var:team} a", "of x-team a", "of x-team b", "of ${var:team} b"),
        ("of ${var:team}", "of x-team", "of y-team", "of y-team"),
        ("${var:team}", "x-team", "y-team", "y-team"),
        ("${ref:SLO/a}", "id-a", "id-b", "${ref:SLO/b}"),
        ("plain", "plain", "${var:team} {", "$${var:team} {"),
        ("plain", "plain", "rate(x[${__rate}]) ${var:x}", "rate(x[${__rate}]) $${var:x}"),
        ("of ${var:team} a", "of x-team a", "of $x-team a", "of $x-team a"),
    ],
)
def test_expressions(written: str, ours: str, live: str, wanted: str) -> None:
    """An expression stays where its value still stands; only what looks like one is escaped."""
    values = {"${var:team}": "x-team"}
    refs = {"id-a": "${ref:SLO/a}", "id-b": "${ref:SLO/b}"}

    after, _ = merge(
        {"a": ours}, {"a": ours}, {"a": live}, written={"a": written}, values=values, refs=refs
    )

    assert after == {"a": wanted}


SCALARS = st.sampled_from(["x", "y", 1, 2])
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "a": SCALARS,
        "plain": st.lists(SCALARS, max_size=3),
        "deep": st.fixed_dictionaries({}, optional={"b": SCALARS, "c": SCALARS}),
        "set": st.lists(st.sampled_from("xyz"), max_size=3, unique=True),
        "list": st.lists(st.sampled_from("pqrs"), max_size=4, unique=True).map(
            lambda names: named(*names, p=1)
        ),
    },
)


@given(DOCUMENTS, DOCUMENTS)
def test_all_edits_come_in(base: Any, live: Any) -> None:
    """Where git changed nothing, the manifest declares after a merge just what live holds."""
    after, found = merge(base, base, live)

    assert found.conflicts == []
    assert covers(live, after, SHAPE)


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_nothing_is_decided_in_silence(ours: Any, base: Any, live: Any) -> None:
    """A value of git or live is only lost where the other did not touch it, or it is a conflict."""
    after, found = merge(ours, base, live)

    for key in ("a", "plain"):
        mine, was, theirs = (value.get(key) for value in (ours, base, live))
        differ = len({json.dumps(value) for value in (mine, was, theirs)}) == 3
        # What is empty may be there or not, as the service likes.
        if differ and mine and theirs and was != []:
            assert any(conflict.path[0] == key for conflict in found.open)
            assert value_at(after, (key,)) == ours.get(key)
