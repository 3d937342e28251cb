"""Where something stands, in the words of a reader."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from random_plans import PATHS, VALUES

from reconciler.document import ABSENT, Json, Path
from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import Facts, facts_of, facts_within
from reconciler.report.labels import (
    FieldLabel,
    facts_of_kind,
    item_at,
    name_of,
    singular,
    spoken_place,
    standing,
)
from reconciler.report.safe import safe

UNSAID = BY_NAME["Dashboard"].unsaid
FACTS = facts_of_kind(BY_NAME["Dashboard"])
LAYOUT = ("dashboard", "layout", "sections")


def widget(name: str, title: str) -> Json:
    """Give a widget with two queries."""
    queries: Json = [{"query": {"metrics": {"promqlQuery": {"value": "up"}}}}, {"name": "All"}]
    chart: Json = {"lineChart": {"queryDefinitions": queries}}
    return {"id": {"value": name}, "title": title, "definition": chart}


def section(name: str, *rows: Json) -> Json:
    """Give a section with a heading."""
    return {"id": {"value": name}, "options": {"custom": {"name": name}}, "rows": [*rows]}


def row(name: str, *widgets: Json) -> Json:
    """Give a row, which has no name that people know."""
    return {"id": {"value": name}, "widgets": [*widgets]}


BOARD: Json = {
    "dashboard": {
        "layout": {
            "sections": [
                section("Checkout", row("r1", widget("w1", "Latency"), widget("w2", ""))),
                section(
                    "Twice",
                    row("r2", widget("w3", "Same"), widget("w4", "Same")),
                    row("r3", widget("w5", "Same")),
                ),
            ]
        }
    },
    "rules": [{"threshold": 1}, {"threshold": 2}],
    "group": {"webhooks": [{"minutes": 1}]},
}
LATENCY = (*LAYOUT, "Checkout", "rows", "r1", "widgets", "w1")
QUERY = ("definition", "lineChart", "queryDefinitions")


@pytest.mark.parametrize(
    ("path", "subject", "field"),
    [
        ((*LATENCY, "title"), 'widget "Latency" in section "Checkout"', "title"),
        (LATENCY, 'widget "Latency" in section "Checkout"', ""),
        (
            (*LATENCY, *QUERY, 0, "query", "metrics", "promqlQuery", "value"),
            'query definition 1 of widget "Latency" in section "Checkout"',
            "query",
        ),
        (
            (*LATENCY, *QUERY, 1, "name"),
            'query definition "All" in widget "Latency" in section "Checkout"',
            "name",
        ),
        (
            (*LAYOUT, "Checkout", "rows", "r1", "widgets", "w2", "title"),
            'widget 2 of row 1 of section "Checkout"',
            "title",
        ),
        (
            (*LAYOUT, "Checkout", "rows", "r1", "appearance", "height"),
            'row 1 of section "Checkout"',
            "height",
        ),
        (
            (*LAYOUT, "Twice", "rows", "r2", "widgets", "w4"),
            'widget 2 "Same" in row 1 of section "Twice"',
            "",
        ),
        (
            (*LAYOUT, "Twice", "rows", "r3", "widgets", "w5"),
            'widget "Same" in row 2 of section "Twice"',
            "",
        ),
        ((*LAYOUT, "gone"), 'section "gone"', ""),
        (("rules", 1, "threshold"), "rule 2", "threshold"),
        (("group", "webhooks", 0, "minutes"), "webhook 1 of group", "minutes"),
        (("dashboard", "name"), "", "name"),
        (("dashboard",), "", "dashboard"),
        ((), "", ""),
    ],
)
def test_places_are_said_as_people_say_them(path: Path, subject: str, field: str) -> None:
    """A part is called by its name inside its named surroundings, and else counted from 1."""
    assert spoken_place(path, BOARD, facts=FACTS, unsaid=UNSAID) == FieldLabel(subject, field)


def test_two_widgets_are_never_called_the_same() -> None:
    """Widgets of one title are told apart by their places, in one row or in two."""
    paths = [
        (*LAYOUT, "Twice", "rows", "r2", "widgets", "w3"),
        (*LAYOUT, "Twice", "rows", "r2", "widgets", "w4"),
        (*LAYOUT, "Twice", "rows", "r3", "widgets", "w5"),
    ]

    assert len({spoken_place(path, BOARD, facts=FACTS, unsaid=UNSAID) for path in paths}) == 3


def keyed_lists(facts: Facts, path: Path = ()) -> Iterator[tuple[Path, Facts]]:
    """Yield each list whose items are told apart by a key; a 0 leads into any list."""
    if facts.keyed is not None:
        yield path, facts
    if facts.part is not None:
        for name, inner in facts_of(facts.part).items():
            yield from keyed_lists(inner, (*path, name))
    for inside in filter(None, (facts.items, facts.values)):
        yield from keyed_lists(inside, (*path, 0))


KEYED = [
    pytest.param(kind, path, facts, id=f"{kind.name}.{'.'.join(map(str, path))}")
    for kind in KINDS
    for path, facts in keyed_lists(facts_of_kind(kind))
]
ANY_KEYS = (("id", "value"), ("id",), ("name",), ("key",), ("title",))


def put(item: dict[str, Json], path: tuple[str, ...], value: Json) -> None:
    """Put a value at a path, unless something stands in its way."""
    *steps, last = path
    for step in steps:
        inner = item.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        item = inner
    item.setdefault(last, value)


def around(path: Path, inside: Json) -> Json:
    """Give a document that holds a value at a path, a list of one at each 0."""
    for step in reversed(path):
        inside = [inside] if step == 0 else {str(step): inside}
    return inside


@pytest.mark.parametrize(("kind", "path", "facts"), KEYED)
def test_an_item_is_found_by_the_key_of_its_list(kind: Kind, path: Path, facts: Facts) -> None:
    """What the kind compares a list by names an item in reports, and no other field does."""
    assert facts.keyed is not None
    items: list[Json] = []
    for key, other in (("one", "two"), ("two", "one")):
        item: dict[str, Json] = {}
        put(item, facts.keyed.identity, key)
        for decoy in ANY_KEYS:
            put(item, decoy, other)
        items.append(item)

    assert [item_at(items, key, facts) for key in ("one", "two")] == [(0, items[0]), (1, items[1])]
    whole = facts_of_kind(kind)
    assert standing((*path, "two"), around(path, [*items]), whole) == (2, 2)
    assert standing((*path, 1), around(path, [*items]), whole) is None
    assert standing((*path, "gone"), around(path, [*items]), whole) is None


@pytest.mark.parametrize(("kind", "path", "facts"), KEYED)
def test_a_key_that_people_gave_is_said(kind: Kind, path: Path, facts: Facts) -> None:
    """An item of a keyed list is called by its key, but for one that only has an id."""
    assert facts.keyed is not None
    item: dict[str, Json] = {}
    put(item, facts.keyed.identity, "key")

    is_id = facts.keyed.identity[0] == "id"
    assert name_of(item, facts_within(facts, 0)) == ("" if is_id else "key")
    subject, _ = spoken_place((*path, "key"), around(path, [item]), facts=facts_of_kind(kind))
    assert ('"key"' in subject) is not is_id


@given(path=PATHS, document=VALUES)
def test_any_path_is_said_safely(path: Path, document: Json) -> None:
    """Whatever a path and a document hold, the words are safe text on one line."""
    subject, field = spoken_place(path, document, ABSENT)

    assert (safe(subject), safe(field)) == (subject, field)


@pytest.mark.parametrize(
    ("key", "noun"),
    [
        ("queryDefinitions", "query definition"),
        ("policies", "policy"),
        ("variablesV2", "variable"),
        ("rows", "row"),
        ("", ""),
    ],
)
def test_one_of_many(key: str, noun: str) -> None:
    """One item of a list is called by the singular of the list's name."""
    assert singular(key) == noun
