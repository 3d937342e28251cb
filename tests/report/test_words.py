"""Paths, values and safe text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_plans import HOSTILE, VALUES

from reconciler.document import Json, value_at
from reconciler.report.safe import columns, safe, safe_json
from reconciler.report.words import around_difference, leaves, place, plural, value


def test_places_read_as_in_the_json() -> None:
    """Items are counted from 0, as in the JSON, and keys are joined by dots."""
    path = ("rows", 0, "widgets", 1, "title")

    assert [place(path), place(("at", "w1")), place(())] == [
        "rows[0].widgets[1].title",
        "at.w1",
        "",
    ]


@given(document=VALUES)
def test_leaves_are_the_whole_document(document: Json) -> None:
    """Every leaf is what the document has at its path, and nothing is left out."""
    ends = list(leaves(document))

    assert [value_at(document, path) for path, _ in ends] == [end for _, end in ends]
    assert len({path for path, _ in ends}) == len(ends)
    assert sum(len(json.dumps(end)) for _, end in ends) <= len(json.dumps(document))


@pytest.mark.parametrize("text", HOSTILE)
def test_safe_text_is_one_line_that_shows(text: str) -> None:
    """Whatever comes in, what goes out shows on one line, and safe text stays as it is."""
    once = safe(text)

    assert safe(once) == once
    assert len(once.splitlines()) <= 1
    assert "##[" not in once
    assert safe("plain words, 日本語 é") == "plain words, 日本語 é"


@given(document=st.one_of(VALUES, st.sampled_from(HOSTILE)))
def test_safe_json_is_the_same_json(document: Json) -> None:
    """Making JSON safe changes its spelling and not its meaning."""
    assert json.loads(safe_json(json.dumps(document, ensure_ascii=False))) == document


@given(one=st.text(), other=st.text(), room=st.integers(20, 60))
def test_the_place_of_a_change_is_in_sight(one: str, other: str, room: int) -> None:
    """Two texts that differ are never shown as one, however they are cut."""
    before, after = around_difference(one, other, room)

    assert len(before) <= room
    assert len(after) <= room
    if one.isprintable() and other.isprintable() and one != other:
        assert before != after


@given(document=VALUES, room=st.integers(20, 60))
def test_values_keep_to_their_room(document: Json, room: int) -> None:
    """No value is longer than the room for it."""
    assert len(value(document, room)) <= room


def test_wide_characters_take_two_columns() -> None:
    """A mark under Japanese text stands where the text stands."""
    assert [columns("abc"), columns("日本"), columns("e\u0301")] == [3, 4, 1]


def test_counts_have_a_number() -> None:
    """One is one, and thousands are readable."""
    assert [plural(1, "field"), plural(2, "field"), plural(12_345, "field")] == [
        "1 field",
        "2 fields",
        "12,345 fields",
    ]
