"""Every field of a document of another tool is taken over, or named with what it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from harness.published_fields import PUBLISHED, Published
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.features.import_.import_sources import CONVERTERS
from reconciler.features.import_.records import Conversion

OTHER: list[Json] = [
    "other",
    "Timeslices",
    "Loki",
    "html",
    "1m",
    "now-9h",
    "9d",
    7,
    0.5,
    40,
    True,
    False,
    [],
    {},
]
"""Values that a field may have instead."""

# What says only which document this is, and is the same in each of its kind.
FORMS = {"apiVersion", "kind", "schemaVersion"}

# An SLO with a threshold counts windows here, as one of the methods does.
AS_HERE = {("spec", "budgetingMethod")}


def converted(document: Json) -> Conversion:
    """Return what a document becomes, by the converter that recognises it."""
    (converter,) = (converter for converter in CONVERTERS if converter.recognise(document))
    return converter.convert(document, "f")


def made_of(document: Json) -> object:
    """Return what a document becomes, less what is left behind; None where no tool knows it."""
    found = [converter for converter in CONVERTERS if converter.recognise(document)]
    return [(one.name, one.spec) for one in found[0].convert(document, "f").made] if found else None


def with_value(document: Json, path: tuple[str | int, ...], *value: Json) -> Json:
    """Return a document with another value at a path, or with none."""
    key, *rest = path
    if isinstance(document, list):
        assert isinstance(key, int)
        return [*document[:key], with_value(document[key], (*rest,), *value), *document[key + 1 :]]
    assert isinstance(document, dict)
    if rest:
        return {**document, str(key): with_value(document[str(key)], (*rest,), *value)}
    fields = {name: value for name, value in document.items() if name != key}
    return {**fields, str(key): value[0]} if value else fields


def named_in(conversion: Conversion) -> list[str]:
    """Return what is left behind, part by part."""
    left = [left_behind for one in conversion.made for left_behind in one.left_behind]
    return [
        f"{left_behind.what}: {left_behind.why}" for left_behind in (*left, *conversion.left_behind)
    ]


def is_named(path: tuple[str | int, ...], named: list[str]) -> bool:
    """Return whether a field is named, and with its panel, row or variable if it has one."""
    steps = [str(text) for text in path if isinstance(text, str)]
    owner = {"panels": "`(Panel|Row|Beside|7)`", "rows": "`(Panel|Row)`", "templating": "`step`"}
    # A part of it that is named is not all of it.
    wanted = rf"(?<!\w){re.escape(steps[-1])}(?!\w|\.\w)"
    is_inside = any(isinstance(one, int) for one in path[:-1])
    belongs = next((owner[step] for step in steps[:-1] if step in owner and is_inside), "")
    return any(re.search(wanted, name) and re.search(belongs, name) for name in named)


def lost_in(document: Json) -> Iterator[str]:
    """Yield the fields of a document that are neither taken over nor named."""
    before, named = made_of(document), named_in(converted(document))
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        steps: list[tuple[str | int, Json]] = []
        if isinstance(value, dict):
            steps = [(key, member) for key, member in value.items() if path or key not in FORMS]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            steps = [*enumerate(value)]
        for key, element in steps:
            place = (*path, key)
            if isinstance(key, str) and (is_named(place, named) or place in AS_HERE):
                continue
            is_whole = isinstance(element, dict) or (
                isinstance(element, list) and element and isinstance(element[0], dict)
            )
            if is_whole:
                waiting.append((place, element))
                continue
            changed = (
                with_value(document, place, *other) for other in [(), *((o,) for o in OTHER)]
            )
            if all(made_of(value) == before for value in changed):
                yield ".".join(map(str, place))


@pytest.mark.promise("S5")
@pytest.mark.parametrize("published", PUBLISHED, ids=lambda one: one.name)
def test_every_published_field(published: Published) -> None:
    """With every published field set once, each changes what is made, or is named at its owner."""
    assert [*lost_in(published.document)] == []


@pytest.mark.promise("S5")
@given(st.sampled_from(PUBLISHED), st.text("abcdefghij", min_size=5, max_size=9), st.data())
@settings(max_examples=60)
def test_fields_of_no_list(published: Published, name: str, data: st.DataObject) -> None:
    """A field that no list has is named wherever it is set, or a part around it is."""
    places = [*objects_in(published.document)]
    path = data.draw(st.sampled_from(places))
    document = with_value(published.document, (*path, name), "set")
    named = named_in(converted(document))
    around = [path[:length] for length in range(1, len(path) + 1)]

    assert (
        is_named((*path, name), named)
        or any(isinstance(place[-1], str) and is_named(place, named) for place in around)
        or made_of(document) != made_of(published.document)
    )


def objects_in(document: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all objects of a document."""
    if isinstance(document, dict):
        yield path
        for key, value in document.items():
            yield from objects_in(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from objects_in(value, (*path, index))


@pytest.mark.promise("S5")
@given(st.lists(st.integers(1, 9_999), min_size=1, max_size=5, unique=True))
def test_rows_without_a_title(ids: list[int]) -> None:
    """Each row without a title is named by its id, with its fields, as a panel is."""
    row: dict[str, Json] = {"type": "row", "title": "", "collapsed": True, "repeat": "node"}
    rows: list[Json] = [{**row, "id": id_} for id_ in ids]
    named = named_in(converted({"title": "Board", "schemaVersion": 39, "panels": rows}))

    for id_ in ids:
        for name in ("collapsed", "repeat"):
            assert any(f"row `{id_}`: " in said and name in said for said in named)
