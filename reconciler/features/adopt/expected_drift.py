"""Expected drift, as the project file declares it: shown as applied instead of as live. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    differences,
    merge,
)
from reconciler.features.adopt.keyed_lists import joined
from reconciler.planning.find_drift import covers_ends, is_covered
from reconciler.project.settings import DriftIgnore


def without_expected(
    live: Json, declared: Json, shape: Shape, rules: Sequence[DriftIgnore]
) -> tuple[Json, int]:
    """Return live with each expected difference set as declared, and their number."""
    if not rules:
        return live, 0
    wanted = merge(ABSENT, declared, live, shape)
    found = differences(live, wanted, shape)
    count = sum(any(is_covered(rule, difference) for rule in rules) for difference in found)
    if not count:
        return live, 0
    held = _held(live, wanted, shape, (), rules)
    return live if held is ABSENT else held, count


def _held(
    live: Json | Missing,
    wanted: Json | Missing,
    shape: Shape,
    path: Path,
    rules: Sequence[DriftIgnore],
) -> Json | Missing:
    """Return a part of live in which each place that a rule covers is as in `wanted`."""
    whole = live if wanted is ABSENT else wanted
    alone = live is ABSENT or wanted is ABSENT
    if any(rule.covers(path) or (alone and covers_ends(rule, whole, path)) for rule in rules):
        return wanted
    if isinstance(live, dict) and isinstance(wanted, dict):
        fields = {
            key: _held(
                live.get(key, ABSENT), wanted.get(key, ABSENT), shape.at(key), (*path, key), rules
            )
            for key in {**live, **wanted}
        }
        return {key: field for key, field in fields.items() if field is not ABSENT}
    if isinstance(live, list) and isinstance(wanted, list):
        return _held_items(live, wanted, shape, path, rules)
    return live


def _held_items(
    live: list[Json], wanted: list[Json], shape: Shape, path: Path, rules: Sequence[DriftIgnore]
) -> Json:
    """Do the same for a list: by the names of its items, or by position where lengths are equal."""
    theirs, mine = by_identity(live, shape), by_identity(wanted, shape)
    if theirs is None or mine is None:
        if len(live) != len(wanted):
            return live
        pairs = zip(live, wanted, strict=True)
        items = [
            _held(element, other, shape.item, (*path, nth), rules)
            for nth, (element, other) in enumerate(pairs)
        ]
        return [item for item in items if item is not ABSENT]
    places = [(*path, name) for name in {**mine, **theirs}]
    if all(any(rule.covers(place) for rule in rules) for place in places):
        return wanted
    held = {
        name: _held(
            theirs.get(name, ABSENT), mine.get(name, ABSENT), shape.item, (*path, name), rules
        )
        for name in joined([*theirs], [*mine])
    }
    return [item for item in held.values() if item is not ABSENT]


def put(document: Json, path: Path, value: Json | Missing, shape: Shape) -> Json:
    """Return a document with another value at a path of names.

    The document is returned unchanged where the path does not exist.
    """
    if not path:
        return document if value is ABSENT else value
    step, rest = path[0], path[1:]
    if isinstance(document, dict) and isinstance(step, str):
        return _put_in_object(document, step, rest, value, shape)
    if isinstance(document, list):
        named = by_identity(document, shape)
        names = [*named] if named is not None else [*range(len(document))]
        if step not in names or (not rest and value is ABSENT):
            return document
        nth = names.index(step)
        after = put(document[nth], rest, value, shape.item)
        return [*document[:nth], after, *document[nth + 1 :]]
    return document


def _put_in_object(
    document: dict[str, Json], step: str, rest: Path, value: Json | Missing, shape: Shape
) -> Json:
    if not rest and value is ABSENT:
        return {key: value for key, value in document.items() if key != step}
    if rest and step not in document:
        return document
    inner = put(document.get(step), rest, value, shape.at(step))
    return {**document, step: inner}
