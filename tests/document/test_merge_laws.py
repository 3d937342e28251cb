"""The laws of `merge`, over documents of every shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_documents import Case, cases, shaped_pairs
from random_server import stored

from reconciler.document import (
    ABSENT,
    ANY,
    Json,
    ListItem,
    ListItems,
    Missing,
    Put,
    Shape,
    Within,
    by_identity,
    canonical_text,
    covers,
    differences,
    followed,
    identical,
    merge,
    same,
    towards,
)


def merged(case: Case) -> Json:
    """Give the document that would be sent."""
    return merge(case.base, case.declared, case.live, case.shape)


@given(case=cases())
def test_everything_declared_is_sent(case: Case) -> None:
    """The merged document covers what is declared, whatever is live."""
    assert covers(merged(case), case.declared, case.shape)


@given(case=cases())
def test_merging_again_changes_nothing(case: Case) -> None:
    """A merge over its own result is that result."""
    once = merged(case)

    again = merge(case.declared, case.declared, once, case.shape)

    assert same(once, again, case.shape)


@given(case=cases(), data=st.data())
def test_nothing_is_left_to_do_after_a_write(case: Case, data: st.DataObject) -> None:
    """Once written, no rendering of the service makes a difference: it plans to keep."""
    live = data.draw(stored(merged(case), case.shape))

    after = merge(case.declared, case.declared, live, case.shape)

    assert list(differences(live, after, case.shape)) == []


@given(case=cases(), data=st.data())
def test_a_write_whose_journal_was_lost_is_still_a_keep(case: Case, data: st.DataObject) -> None:
    """Without a base nothing is removed, so what was written needs no second write."""
    live = data.draw(stored(merged(case), case.shape))

    after = merge(ABSENT, case.declared, live, case.shape)

    assert list(differences(live, after, case.shape)) == []


@given(case=cases())
def test_differences_are_empty_when_live_covers_and_nothing_goes(case: Case) -> None:
    """With nothing to remove, there is a difference exactly where live lacks something."""
    after = merge(ABSENT, case.declared, case.live, case.shape)

    assert (list(differences(case.live, after, case.shape)) == []) == covers(
        case.live, case.declared, case.shape
    )


@given(case=cases())
def test_removed_fields_go_and_foreign_fields_stay(case: Case) -> None:
    """In every object, a field goes only if declared before or excluded, and stays else."""
    for declared, base, live, after, shape in _objects(
        case.declared, case.base, case.live, merged(case), case.shape
    ):
        gone = (base.keys() | shape.ousted_by(declared)) - declared.keys()
        assert not after.keys() & gone
        if shape.known or not declared or not declared.keys().isdisjoint(live):
            foreign = live.keys() - declared.keys() - gone
            assert {key: after[key] for key in foreign} == {key: live[key] for key in foreign}


@given(case=cases())
def test_lists_belong_to_the_declaration(case: Case) -> None:
    """A list has the declared members in the declared order, and no other."""
    for declared, after in _lists(case.declared, merged(case)):
        assert len(declared) == len(after)


@given(case=cases())
def test_keyed_items_keep_their_foreign_fields(case: Case) -> None:
    """An item that moved keeps the live fields that were never declared."""
    shape = Shape(items=Shape(fields={"spec": case.shape}), identity=("id",))
    names = ["one", "two", "three"]
    declared: Json = [{"id": name, "spec": case.declared} for name in names]
    live: Json = [{"id": name, "colour": name} for name in reversed(names)]

    after = merge(ABSENT, declared, live, shape)

    assert [(item["id"], item["colour"]) for item in _dicts(after)] == [
        (name, name) for name in names
    ]


@given(case=cases())
def test_a_part_that_is_as_declared_is_given_back_itself(case: Case) -> None:
    """What is live and as declared costs no copy, and so no comparison later."""
    assert merge(case.declared, case.declared, case.declared, case.shape) is case.declared


@given(case=cases())
def test_the_short_way_gives_what_the_long_way_gives(case: Case) -> None:
    """Leaving a part as it is live is the same as merging it field by field.

    A base that is declared and one key more takes the long way at the root.
    """
    if not isinstance(case.declared, dict):
        return
    longer: Json = {**case.declared, "onlyInTheBase": 1}

    short = merge(case.declared, case.declared, case.live, case.shape)
    long = merge(longer, case.declared, case.live, case.shape)

    assert same(short, long, case.shape)


def _dicts(document: Json) -> list[dict[str, Any]]:
    assert isinstance(document, list)
    return [item for item in document if isinstance(item, dict)]


def _objects(
    declared: Json, base: Json | Missing, live: Json | Missing, after: Json, shape: Shape
) -> list[tuple[dict[str, Json], dict[str, Json], dict[str, Json], dict[str, Json], Shape]]:
    """Give every place where an object is declared over a live object, outside of lists."""
    if not (isinstance(declared, dict) and isinstance(live, dict)):
        return []
    assert isinstance(after, dict)
    before = base if isinstance(base, dict) else {}
    found = [(declared, before, live, after, shape)]
    if not shape.known and declared and live and declared.keys().isdisjoint(live):
        return found
    for key, value in declared.items():
        inside = before.get(key, ABSENT), live.get(key, ABSENT), after[key], shape.at(key)
        found.extend(_objects(value, *inside))
    return found


def _lists(declared: Json, after: Json) -> list[tuple[list[Json], list[Json]]]:
    if isinstance(declared, list):
        assert isinstance(after, list)
        inner = [
            pair for value, two in zip(declared, after, strict=True) for pair in _lists(value, two)
        ]
        return [(declared, after), *inner]
    if isinstance(declared, dict):
        assert isinstance(after, dict)
        return [pair for key, value in declared.items() for pair in _lists(value, after[key])]
    return []


@given(case=cases())
def test_identities_are_the_declared_ones(case: Case) -> None:
    """A keyed list has the declared names in the declared order."""
    if case.shape.identity and isinstance(case.declared, list):
        after = merged(case)
        assert isinstance(after, list)
        declared = by_identity(case.declared, case.shape)

        assert declared is None or list(declared) == list(by_identity(after, case.shape) or ())


@given(drawn=shaped_pairs())
def test_an_edit_makes_the_document_that_it_leads_to(drawn: tuple[Shape, Json, Json]) -> None:
    """An edit towards a document makes it, and there is none towards an identical document."""
    _, before, after = drawn
    edit = towards(before, after)
    made = before if edit is None else followed(before, edit, before)

    assert canonical_text(made) == canonical_text(after)
    assert (edit is None) == identical(before, after)


@given(drawn=shaped_pairs())
def test_an_edit_names_only_the_fields_that_differ(drawn: tuple[Shape, Json, Json]) -> None:
    """The edit of an object has the fields that differ, and no other field."""
    _, before, after = drawn
    edit = towards(before, after)
    if isinstance(edit, Within):
        assert isinstance(before, dict)
        assert isinstance(after, dict)
        assert edit.fields.keys() == {
            key
            for key in before.keys() | after.keys()
            if key not in before or key not in after or not identical(before[key], after[key])
        }


def test_the_edit_of_a_list_is_small() -> None:
    """A field of an item changes alone, and a new item leaves all others as they are."""
    same_items: list[Json] = [{"a": 1, "b": 2}] * 300
    changed = towards([{"a": 1, "b": 2}], [{"a": 1, "b": 3}])
    added = towards(same_items, [{"new": 1}, *same_items])

    assert changed == ListItems((ListItem((0,), Within({"b": Put(3)})),))
    assert isinstance(added, ListItems)
    assert [item for item in added.items if item.edit is not None] == [
        ListItem(None, Put({"new": 1}))
    ]


@pytest.mark.parametrize("name", ["", None, 1, "a"])
def test_an_item_without_a_name_of_its_own(name: Json) -> None:
    """A list has no identities where an item has no name, or the name of another."""
    shape = Shape(items=Shape(fields={"id": ANY}), identity=("id",))

    assert by_identity([{"id": "a"}, {"id": name}], shape) is None
    assert by_identity([{"id": "a"}, {"id": "b"}], shape) == {"a": {"id": "a"}, "b": {"id": "b"}}
