from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import ANY, Json, Shape, differences
from reconciler.model import Ref
from reconciler.redaction.redact import conceal, is_seal_of, resealed
from reconciler.redaction.templates import (
    HIDDEN,
    RefHole,
    SecretHole,
    Template,
    as_sent,
    reveal,
    seal,
)

pytestmark = pytest.mark.promise("P32")

VALUE, OTHER = "hunter2-hunter2", "swordfish-9"


def secret(name: str, value: str = VALUE) -> Template:
    """Give a text that is a secret and nothing else."""
    return Template((SecretHole(name, value, seal(value, name, "salt")),))


ONE, TWO, THIRD = secret("ONE"), secret("TWO"), secret("THIRD", OTHER)
BOTH = Template((*ONE.parts, ":", *TWO.parts))
SEALED: list[Json] = [ONE, TWO, THIRD, BOTH, "plain"]
KEYED = Shape(items=Shape(fields={"name": ANY}), identity=("name",))
ROWS = Shape(items=Shape(fields={"name": ANY, "inner": KEYED}), identity=("name",))
SHAPE = Shape(
    fields={"keyed": KEYED, "set": Shape(unordered=True), "rows": ROWS, "list": Shape(items=ANY)}
)


def keyed(*values: Json) -> list[Json]:
    """Give items with a name and a value each."""
    return [{"name": f"n{number}", "value": value} for number, value in enumerate(values)]


def documents(*texts: Json) -> st.SearchStrategy[dict[str, Json]]:
    """Give documents that hold some of these texts in every kind of place."""
    text = st.sampled_from(texts)
    return st.fixed_dictionaries(
        {
            "keyed": st.lists(text, max_size=4).map(lambda values: keyed(*values)),
            "set": st.lists(text, max_size=4),
            "list": st.lists(text | st.fixed_dictionaries({"a": text}), max_size=4),
            "field": text,
            "other": text,
            "opaque": st.recursive(
                text | st.integers() | st.booleans(),
                lambda inner: (
                    st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner)
                ),
                max_leaves=6,
            ),
        }
    )


_DECLARED = documents(*SEALED, VALUE, OTHER)


@given(_DECLARED)
def test_what_came_back_as_sent(declared: Json) -> None:
    """What comes back as it was sent is what was declared, whatever secrets share a value."""
    assert conceal(reveal(declared), declared, SHAPE) == declared


@given(_DECLARED, st.randoms(use_true_random=False))
def test_order_that_does_not_count(declared: Json, order: Any) -> None:
    """Items of a set, and those with a name, are themselves in any order."""
    live = reveal(declared)
    assert isinstance(live, dict)
    for field in ("keyed", "set"):
        order.shuffle(live[field])

    found = differences(conceal(live, declared, SHAPE), declared, SHAPE)

    assert {difference.operation for difference in found} <= {"move"}


@given(documents(*SEALED), _DECLARED)
def test_nothing_is_lost_or_shown(declared: dict[str, Json], live: Json) -> None:
    """What is concealed is sent as it was live, and shows no text that is only a secret's."""
    stored = reveal(live)

    found = conceal(stored, {**declared, "field": ONE, "other": THIRD}, SHAPE)

    assert reveal(found) == stored
    assert not _texts(found) & {VALUE, OTHER}


def _texts(document: Json) -> set[str]:
    if isinstance(document, dict):
        return {text for value in document.values() for text in _texts(value)}
    if isinstance(document, list):
        return {text for value in document for text in _texts(value)}
    return {document} if isinstance(document, str) else set()


def test_places_that_were_swapped() -> None:
    """Two secrets of which each stands in the other's place are two differences."""
    declared: Json = {"a": ONE, "b": THIRD}

    found = conceal({"a": OTHER, "b": VALUE}, declared, ANY)

    assert found == {"a": THIRD, "b": ONE}
    assert len(list(differences(found, declared))) == 2


def test_plain_text_that_is_a_secret() -> None:
    """A plain text is itself where it was declared, and hidden where nobody declared it."""
    declared: Json = {"a": ONE, "b": VALUE}
    live: Json = {"a": VALUE, "b": VALUE, "c": VALUE, "d": f"with {VALUE}"}

    found = conceal(live, declared, ANY)

    assert found == {"a": ONE, "b": VALUE, "c": ONE, "d": f"with {VALUE}"}
    assert reveal(found) == live


def test_which_template_hides_it() -> None:
    """Where nobody declared a secret, the same template hides it each time."""
    live: Json = {"x": VALUE}

    assert conceal(live, {"a": ONE, "b": TWO}, ANY) == conceal(live, {"b": TWO, "a": ONE}, ANY)


@pytest.mark.parametrize("live", [[{"x": 1}, VALUE, VALUE], [VALUE, VALUE, VALUE], [VALUE]])
def test_more_or_fewer_items(live: list[Json]) -> None:
    """Items that came or went beside it do not make one secret of a list another."""
    found = conceal(live, [ONE, TWO], ANY)

    assert reveal(found) == live
    assert not _texts(found) & {VALUE}


def test_item_in_another_list() -> None:
    """An item that stands in another list now is compared with what was declared of it."""
    item: Json = {"name": "n0", "value": ONE, "twin": TWO}
    declared: Json = [{"name": "a", "inner": [item]}, {"name": "b", "inner": []}]
    live: Json = [
        {"name": "a", "inner": []},
        {"name": "b", "inner": [{"name": "n0", "value": VALUE, "twin": VALUE}]},
    ]

    found = conceal(live, declared, ROWS)

    assert [difference.operation for difference in differences(found, declared, ROWS)] == ["move"]


@pytest.mark.parametrize("names", [(ONE, TWO), (ONE, THIRD), (ONE, VALUE), (BOTH, ONE)])
def test_names_that_are_secrets(names: tuple[Json, Json]) -> None:
    """Items whose names are secrets, be they equal, are found by what was sent."""
    declared: Json = [{"name": name, "value": "x"} for name in names]

    assert conceal(reveal(declared), declared, KEYED) == declared


def test_name_trimmed_on_the_way() -> None:
    """A name that was only trimmed stays the name of its item, though it is a secret's text."""
    declared: Json = {"keyed": [{"name": f" {VALUE} "}], "a": ONE}

    found = conceal({"keyed": [{"name": VALUE}], "a": VALUE}, declared, SHAPE)

    assert found == {"keyed": [{"name": VALUE}], "a": ONE}


@pytest.mark.parametrize(
    ("value", "live", "kept"),
    [
        ("12", 12, True),
        ("true", True, True),
        ("1", True, True),
        ("1.0", 1, True),
        ("12", "12", False),
    ],
)
def test_secret_that_looks_like_a_number(value: str, live: Json, *, kept: bool) -> None:
    """A number or a flag is no text: it is neither the secret nor hidden by it."""
    found = conceal({"a": live, "b": live}, {"a": secret("ONE", value)}, ANY)

    assert (found == {"a": live, "b": live}) is kept


def test_number_written_as_text() -> None:
    """Where text spells a number, a secret that came back as the number is what was sent."""
    shape = Shape(fields={"a": Shape(numeric_text=True)})
    declared: Json = {"a": secret("ONE", "12")}

    assert conceal({"a": 12}, declared, shape) == declared
    assert conceal({"a": 13}, declared, shape) == {"a": 13}


def test_template_that_waits() -> None:
    """A secret beside an id that nobody knows yet was never sent, and hides nothing."""
    waiting = Template((*ONE.parts, RefHole(Ref("SLO", "a"))))

    assert conceal({"a": VALUE}, {"a": waiting}, ANY) == {"a": VALUE}


def test_nothing_is_changed_in_place() -> None:
    """The live document itself stays as it was read."""
    live: Json = {"a": VALUE, "b": [VALUE]}
    before = deepcopy(live)

    conceal(live, {"a": ONE, "b": [TWO]}, ANY)

    assert live == before


@pytest.mark.parametrize(
    ("live", "kept", "same"),
    [
        (VALUE, str(ONE), True),
        (TWO, str(ONE), True),
        (TWO, VALUE, True),
        (THIRD, str(ONE), False),
        (THIRD, VALUE, False),
        ([TWO, {"a": VALUE}], [str(ONE), {"a": str(ONE)}], True),
        ([TWO], [str(ONE), str(ONE)], False),
        ({"a": VALUE}, {"b": str(ONE)}, False),
        (1, True, False),
        (None, "", False),
    ],
)
def test_stands_for(live: Json, kept: Json, *, same: bool) -> None:
    """A live text is what a journal keeps of it, whichever template hides either of them."""
    assert is_seal_of(live, kept, "salt") is same


def with_seals(document: Json) -> Json:
    """Give a document as a journal reads it back: texts, and no templates."""
    return json.loads(json.dumps(document))  # type: ignore[no-any-return]  # JSON gives JSON


@given(documents(*SEALED))
def test_what_was_declared_is_kept_whole(declared: dict[str, Json]) -> None:
    """What is live as it was declared is kept as that, so that all of it can come back."""
    sealed, live = with_seals(declared), conceal(as_sent(declared), declared, SHAPE)

    assert resealed(live, [sealed], SHAPE, "salt") == sealed


def test_an_older_secret_is_not_kept() -> None:
    """A text that is not the declared secret, where one is declared, is hidden."""
    sealed = with_seals({"field": ONE, "list": [ONE, "a"]})

    kept = resealed({"field": "older", "list": ["older", "a"]}, [sealed], SHAPE, "salt")

    assert kept == {"field": HIDDEN, "list": [HIDDEN, HIDDEN]}


def test_one_of_two_that_may_be_live() -> None:
    """With a write in doubt, the secret of either is known by its seal."""
    sealed = [with_seals({"field": template}) for template in (ONE, THIRD)]

    assert resealed({"field": VALUE}, sealed, SHAPE, "salt") == sealed[0]
    assert resealed({"field": OTHER}, sealed, SHAPE, "salt") == sealed[1]
