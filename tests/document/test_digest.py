"""Digests, canonical texts and the small functions on values."""

from __future__ import annotations

import json
import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_documents import OPAQUE

from reconciler.document import (
    ABSENT,
    Json,
    canonical_text,
    digest,
    duration_of,
    overlay,
    texts_at,
    texts_in,
    value_at,
)

NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
DOCUMENTS: st.SearchStrategy[Json] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def respelled(document: Json, chance: random.Random) -> Json:
    """Give an equal document: keys in another order, whole numbers in the other type."""
    if isinstance(document, dict):
        pairs = [(key, respelled(value, chance)) for key, value in document.items()]
        chance.shuffle(pairs)
        return dict(pairs)
    if isinstance(document, list):
        return [respelled(item, chance) for item in document]
    if isinstance(document, float) and document.is_integer():
        return int(document)
    if isinstance(document, int) and not isinstance(document, bool) and abs(document) < 2**53:
        return float(document)
    return document


@given(document=DOCUMENTS, chance=st.randoms(use_true_random=False))
def test_equal_documents_have_one_digest(document: Json, chance: random.Random) -> None:
    """Neither the order of keys nor `1` for `1.0` moves a digest."""
    assert digest(document) == digest(respelled(document, chance))


@given(one=OPAQUE, other=OPAQUE)
def test_other_documents_have_other_digests(one: Json, other: Json) -> None:
    """Two documents share a digest only if each spells the other: booleans are no numbers."""
    assert (digest(one) == digest(other)) == (spelled(one) == spelled(other))


def spelled(document: Json) -> object:
    """Give a document as nested tuples in which equal means the same JSON value."""
    if isinstance(document, dict):
        return "object", frozenset((key, spelled(value)) for key, value in document.items())
    if isinstance(document, list):
        return "list", tuple(map(spelled, document))
    kind = "number" if type(document) in (int, float) else type(document).__name__
    return kind, document


@given(document=DOCUMENTS)
def test_canonical_text_is_the_document(document: Json) -> None:
    """The canonical text is JSON that reads back to an equal document."""
    assert json.loads(canonical_text(document)) == document


def test_half_a_surrogate_pair_has_a_digest() -> None:
    """A service may answer with text that UTF-8 cannot carry; it is told apart all the same."""
    assert digest({"name": "\ud83d"}) != digest({"name": "\ude00"})


@given(below=DOCUMENTS, above=DOCUMENTS)
def test_an_overlay_has_every_field_of_both(below: Json, above: Json) -> None:
    """Above wins; in objects nothing of below is lost."""
    joined = overlay(below, above)

    assert overlay(ABSENT, above) == above
    assert overlay(below, ABSENT) == below
    if isinstance(below, dict) and isinstance(above, dict):
        assert isinstance(joined, dict)
        assert joined.keys() == below.keys() | above.keys()
        for key in joined:
            assert joined[key] == overlay(below.get(key, ABSENT), above.get(key, ABSENT))
    else:
        assert joined == above


def test_no_value_where_there_is_no_path() -> None:
    """A path that does not fit the document leads to nothing, and never raises."""
    document: Json = {"a": [{"b": 1}]}

    assert value_at(document, ("a", 0, "b")) == 1
    for path in (("a", 1), ("a", "b"), ("x",), ("a", 0, "b", "c"), (0,)):
        assert value_at(document, path) is ABSENT


@given(document=DOCUMENTS)
def test_each_text_has_its_path(document: Json) -> None:
    """The texts with their paths are all texts in their order, and each is at its path."""
    found = [*texts_at(document)]

    assert [text for _, text in found] == [*texts_in(document)]
    assert [value_at(document, path) for path, _ in found] == [text for _, text in found]


@pytest.mark.parametrize(
    ("unit", "span"),
    [
        ("s", timedelta(seconds=1)),
        ("m", timedelta(minutes=1)),
        ("h", timedelta(hours=1)),
        ("d", timedelta(days=1)),
        ("w", timedelta(weeks=1)),
    ],
)
def test_a_duration_is_a_number_of_its_unit(unit: str, span: timedelta) -> None:
    """A duration is a number of its unit; another unit, or no unit, reads as none."""
    assert duration_of(f"90{unit}", "smhdw") == 90 * span
    assert duration_of(f"90{unit}", "smhdw".replace(unit, "")) is None
    assert duration_of("90", "smhdw") is None
