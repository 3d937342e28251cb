"""Items with an identity that moved to another list of the same kind: a widget to another row.

A list of objects with such lists, as rows have widgets, gives an item several possible places. Only
an item that each document has exactly once can be a moved item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from reconciler.document.values import (
    ABSENT,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    stored_name,
    value_at,
)

Key: TypeAlias = tuple[int, str]
"""The key of an item of a keyed list: the shape that such lists share, and its identity."""


@dataclass(frozen=True, slots=True)
class ItemPosition:
    """The place of an item: the path of its list, its position there from 0, and the item."""

    path: Path
    position: int
    item: Json


@dataclass(frozen=True, slots=True)
class Arrival:
    """An item that was elsewhere: its old place, its path and position now, and its shape."""

    home: ItemPosition
    path: Path
    position: int
    item: Json
    shape: Shape


ItemPositions: TypeAlias = Mapping[Key, ItemPosition]


def key_of(items: Shape, name: str) -> Key:
    """Return the key of an item in a list of this shape."""
    return id(items), stored_name(name)


def homes_in(document: Json | Missing, shape: Shape) -> Mapping[Key, Sequence[ItemPosition]]:
    """Return the places of the items of all keyed lists."""
    found = _Homes()
    found.walk(document, shape, ())
    return found.homes


def moved(before: Json | Missing, after: Json | Missing, shape: Shape) -> ItemPositions:
    """Return the places in `before` of the items that `after` has in another list.

    Empty if a list of either document has items without a unique name: such a list is compared by
    positions.
    """
    if not shape.known or not isinstance(before, dict | list):
        return {}
    were, are = _Homes(), _Homes()
    were.walk(before, shape, ())
    if not were.nested:
        return {}
    are.walk(after, shape, ())
    if not (were.named and are.named):
        return {}
    once = {key: now[0].path for key, now in are.homes.items() if len(now) == 1}
    return {
        key: homes[0]
        for key, homes in were.homes.items()
        if len(homes) == 1 and once.get(key, homes[0].path) != homes[0].path
    }


class _Homes:
    """The places of the items of a document; whether all are named; whether lists are nested."""

    def __init__(self) -> None:
        self.homes: dict[Key, list[ItemPosition]] = defaultdict(list)
        self.named = True
        self.nested = False

    def walk(self, document: Json | Missing, shape: Shape, path: Path, depth: int = 0) -> None:
        if isinstance(document, dict):
            for key, value in document.items():
                if (inner := shape.at(key)).known:
                    self.walk(value, inner, (*path, key), depth)
        elif isinstance(document, list) and shape.identity:
            self._take(document, shape, path, depth + 1)
        elif isinstance(document, list) and shape.item.known:
            for index, item in enumerate(document):
                self.walk(item, shape.item, (*path, index), depth)

    def _take(self, items: list[Json], shape: Shape, path: Path, depth: int) -> None:
        self.named &= by_identity(items, shape) is not None
        self.nested |= depth > 1
        for position, item in enumerate(items):
            name = value_at(item, shape.identity)
            if isinstance(name, str):
                self.homes[key_of(shape, name)].append(ItemPosition(path, position, item))
                self.walk(item, shape.item, (*path, name), depth)


def at_home(document: Json | Missing, other: Json | Missing, shape: Shape) -> Json | Missing:
    """Return a document in which each item that `other` has in another list is in that list too.

    Objects that have to contain it and are absent are created, with only their identity. So both
    documents can be walked in parallel.
    """
    homes = moved(document, other, shape)
    return _at_home(document, other, shape, homes) if homes else document


def _at_home(
    document: Json | Missing, other: Json | Missing, shape: Shape, homes: ItemPositions
) -> Json | Missing:
    if not shape.known:
        return document
    if isinstance(other, dict) and (document is ABSENT or isinstance(document, dict)):
        return _object_at_home(document, other, shape, homes)
    if isinstance(other, list) and (document is ABSENT or isinstance(document, list)):
        return _list_at_home(document, other, shape, homes)
    return document


def _object_at_home(
    document: dict[str, Json] | Missing, other: dict[str, Json], shape: Shape, homes: ItemPositions
) -> Json | Missing:
    fields = {} if document is ABSENT else document
    changed = {}
    for key, value in other.items():
        mine = fields.get(key, ABSENT)
        placed = _at_home(mine, value, shape.at(key), homes)
        if placed is not mine and placed is not ABSENT:
            changed[key] = placed
    return {**fields, **changed} if changed else document


def _list_at_home(
    document: list[Json] | Missing, other: list[Json], shape: Shape, homes: ItemPositions
) -> Json | Missing:
    mine = by_identity([] if document is ABSENT else document, shape)
    theirs = by_identity(other, shape)
    if mine is None or theirs is None:
        return document
    items = dict(mine)
    for name, value in theirs.items():
        home = homes.get(key_of(shape, name))
        here = mine.get(name, ABSENT if home is None else home.item)
        placed = _at_home(here, value, shape.item, homes)
        if placed is ABSENT:
            continue
        if here is ABSENT and isinstance(placed, dict) and isinstance(value, dict):
            placed = {shape.identity[0]: value[shape.identity[0]], **placed}
        items[name] = placed
    unchanged = len(items) == len(mine) and all(items[name] is mine[name] for name in mine)
    return document if unchanged else list(items.values())


def settled(document: Json, shape: Shape, homes: ItemPositions) -> Json:
    """Return a document without the items that moved in or out; itself if there are none."""
    if not shape.known:
        return document
    if isinstance(document, dict):
        fields = {key: settled(value, shape.at(key), homes) for key, value in document.items()}
        return document if all(fields[key] is document[key] for key in fields) else fields
    if isinstance(document, list) and (named := by_identity(document, shape)) is not None:
        stay = [item for name, item in named.items() if key_of(shape, name) not in homes]
        items = [settled(item, shape.item, homes) for item in stay]
        unchanged = len(items) == len(document) and all(
            value is other for value, other in zip(items, document, strict=True)
        )
        return document if unchanged else items
    return document


def arrivals(document: Json, shape: Shape, path: Path, homes: ItemPositions) -> Iterator[Arrival]:
    """Yield the items that came into a document from elsewhere, each with its new place."""
    if not shape.known:
        return
    if isinstance(document, dict):
        for key, value in document.items():
            yield from arrivals(value, shape.at(key), (*path, key), homes)
    elif isinstance(document, list) and (named := by_identity(document, shape)) is not None:
        for position, (name, item) in enumerate(named.items()):
            home = homes.get(key_of(shape, name))
            if home is None:
                yield from arrivals(item, shape.item, (*path, name), homes)
            else:
                yield Arrival(home, (*path, name), position, item, shape.item)
