"""Values and differences of documents: what is absent, zero or equal, texts and digests.

Differences are found field by field, with the members that a list lacks.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from difflib import SequenceMatcher
from enum import Enum
from functools import partial
from itertools import takewhile
from typing import Final, Literal, TypeAlias, TypeGuard
from unicodedata import normalize

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Path: TypeAlias = tuple[str | int, ...]


class Missing(Enum):
    """The one value that says that a document has nothing at a path."""

    ABSENT = "absent"


ABSENT: Final = Missing.ABSENT

_INT64 = re.compile(r"-?[0-9]{1,19}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DURATION = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def day_of(text: object) -> date | None:
    """Read a calendar day, as 2027-03-31; return None for any other form."""
    if isinstance(text, str) and _DAY.fullmatch(text):
        with suppress(ValueError):
            return date.fromisoformat(text)
    return None


def duration_of(text: str, units: str) -> timedelta | None:
    """Read a duration, as 90m or 2w, in one of the units; return None for any other form."""
    match = _DURATION.fullmatch(text)
    if match is None or match[2] not in units:
        return None
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def value_at(document: Json | Missing, path: Sequence[str | int]) -> Json | Missing:
    """Return the value at a path of keys and indices, `ABSENT` if there is none."""
    for step in path:
        if isinstance(document, dict) and isinstance(step, str):
            document = document.get(step, ABSENT)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return ABSENT
    return document


def with_value(document: Json, path: Path, value: Json | Missing) -> Json:
    """Return a document with another value at a path of keys and indices.

    `ABSENT` removes a field. An item of a list stays.
    """
    if not path:
        return document if value is ABSENT else value
    step, rest = path[0], path[1:]
    if isinstance(document, list) and isinstance(step, int):
        return [*document[:step], with_value(document[step], rest, value), *document[step + 1 :]]
    fields = document if isinstance(document, dict) else {}
    if value is ABSENT and (not rest or step not in fields):
        return {key: field for key, field in fields.items() if key != step}
    return {**fields, str(step): with_value(fields.get(str(step)), rest, value)}


def texts_in(document: Json) -> Iterator[str]:
    """Yield the texts of a document in their order, without the names of its fields."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def texts_at(document: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a document in their order, each with its path."""
    if isinstance(document, str):
        yield path, document
    elif isinstance(document, dict | list):
        for step, value in document.items() if isinstance(document, dict) else enumerate(document):
            yield from texts_at(value, (*path, step))


def each_text(document: Json, change: Callable[[str], Json]) -> Json:
    """Return a document with each text changed, templates too."""
    if isinstance(document, dict):
        return {key: each_text(value, change) for key, value in document.items()}
    if isinstance(document, list):
        return [each_text(item, change) for item in document]
    return change(document) if isinstance(document, str) else document


def is_zero(value: Json | Missing, enumeration: str = "") -> bool:
    """Return whether a service may show or drop `value` at will (docs/plan.md).

    `enumeration` is the prefix of the values of the enumeration. Without a prefix the value is free
    text, in which `OWNER_UNSPECIFIED` is a name like any other.
    """
    if isinstance(value, str):
        named = value.startswith(enumeration) and value.endswith("UNSPECIFIED")
        return value == "" or (enumeration != "" and named)
    return value is ABSENT or value is None or value == [] or (_is_number(value) and value == 0)


def _sort(value: Json | Missing) -> type:
    """Return the type of a value; integers and floats are one, booleans another."""
    if isinstance(value, str):
        return str
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _spelled_number(value: Json | Missing) -> Json | Missing:
    return int(value) if isinstance(value, str) and _INT64.fullmatch(value) else value


def _is_number(value: Json | Missing) -> TypeGuard[int | float]:
    return isinstance(value, int | float)


def identical(left: Json | Missing, right: Json | Missing) -> bool:
    """Return whether two documents are equal, at C speed; False may still mean `same`.

    Python treats True as equal to 1, so equal containers are compared by their text too.
    """
    if left != right:
        return False
    if isinstance(left, dict | list) and isinstance(right, dict | list):
        return _text(left) == _text(right)
    return isinstance(left, bool) == isinstance(right, bool)


def canonical_text(document: Json) -> str:
    """Return the canonical text of a document: keys sorted, numbers by value, no spaces."""
    text = _text(document)
    # Two searches for plain text come first: a search by pattern costs more than all else here.
    may_be = ".0" in text or "e+" in text
    return _text(_canonical(document)) if may_be and _INTEGRAL_FLOAT.search(text) else text


def digest(document: Json) -> str:
    """Return `sha256:…` of the canonical text."""
    # A service may return half of a surrogate pair, which plain UTF-8 cannot encode.
    text = canonical_text(document).encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(text).hexdigest()


# As Python writes them, `1.0` and `1e+16`, at the end of a value.
_INTEGRAL_FLOAT = re.compile(r"\d(?:\.0|e\+\d+)(?=[,\]}]|\Z)")
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False
)


def _text(document: Json) -> str:
    return _ENCODER.encode(document)


def _canonical(document: Json) -> Json:
    if isinstance(document, dict):
        return {key: _canonical(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_canonical(item) for item in document]
    if isinstance(document, float) and document.is_integer():
        return int(document)
    return document


@dataclass(frozen=True, slots=True)
class Shape:
    """The known structure of one place of a document, which says how it is compared.

    `identity` is the path inside a list item to its name; `alternatives` are groups of fields, and
    an object has at most one field of each group. `numeric_text` says that text spells an int64,
    which equals the number. `enumeration` is the prefix of the values of an enumeration, "" for
    free text. With `exact`, a zero differs from absent: documents that only we
    wrote are compared in this way.
    """

    fields: Mapping[str, Shape] = field(default_factory=dict)
    items: Shape | None = None
    values: Shape | None = None
    identity: tuple[str, ...] = ()
    alternatives: tuple[frozenset[str], ...] = ()
    unordered: bool = False
    numeric_text: bool = False
    enumeration: str = ""
    exact: bool = False

    def at(self, key: str) -> Shape:
        """Return the shape of the value under `key`; `ANY` if nothing is known."""
        return self.fields.get(key) or self.values or self._any

    def along(self, path: Path) -> Shape:
        """Return the shape at a path of keys, and of names or indices of items."""
        shape = self
        for step in path:
            shape = shape.at(str(step)) if shape.items is None else shape.item
        return shape

    @property
    def item(self) -> Shape:
        """The shape of a list's items; `ANY` if nothing is known."""
        return self.items or self._any

    @property
    def _any(self) -> Shape:
        return EXACT if self.exact else ANY

    def are_one(self, before: Json | Missing, after: Json | Missing) -> bool:
        """Return whether the service treats two values as equal.

        The values are not both objects or both lists.
        """
        if self.numeric_text:
            before, after = _spelled_number(before), _spelled_number(after)
        if (
            not self.exact
            and is_zero(before, self.enumeration)
            and is_zero(after, self.enumeration)
        ):
            # `""` and 0 differ, though each equals absent.
            absent = (ABSENT, None)
            return before in absent or after in absent or _sort(before) is _sort(after)
        return before == after and _sort(before) is _sort(after)

    @property
    def known(self) -> bool:
        """Return whether the inner fields are known at all."""
        return bool(self.fields or self.items or self.values)

    def ousted_by(self, declared: Mapping[str, Json]) -> frozenset[str]:
        """Return the fields that a declared object excludes: the alternatives to its own fields."""
        if not self.alternatives:
            return frozenset()
        return frozenset(
            key
            for group in self.alternatives
            if not group.isdisjoint(declared)
            for key in group - declared.keys()
        )


ANY: Final = Shape()
EXACT: Final = Shape(exact=True)


def exactly(shape: Shape) -> Shape:
    """Return a copy of a shape that is `exact` at every depth."""
    return replace(
        shape,
        fields={name: exactly(inner) for name, inner in shape.fields.items()},
        items=exactly(shape.items) if shape.items is not None else None,
        values=exactly(shape.values) if shape.values is not None else None,
        exact=True,
    )


def by_identity(items: Sequence[Json], shape: Shape) -> dict[str, Json] | None:
    """Return list items by their identity; None if an item has none or two items share one.

    The keys are the names as services are known to store them, so that an item with a rewritten
    name is still found. If that gives two items the same name, the keys are the names as written.
    """
    if not shape.identity:
        return None
    indexed: dict[str, Json] = {}
    for item in items:
        key = value_at(item, shape.identity)
        if not isinstance(key, str) or key == "" or key in indexed:
            return None
        indexed[key] = item
    stored = {stored_name(key): item for key, item in indexed.items()}
    return stored if len(stored) == len(indexed) and "" not in stored else indexed


def stored_name(name: str) -> str:
    """Return a name as services are known to store it: no white space around it, in NFC."""
    return name.strip() if name.isascii() else normalize("NFC", name).strip()


Key: TypeAlias = tuple[int, str]
"""The key of an item of a keyed list: the shape that such lists share, and its identity."""


@dataclass(frozen=True, slots=True)
class ItemPosition:
    """The place of an item: the path of its list, its position there from 0, and the item."""

    path: Path
    position: int
    item: Json


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
    """Return `document` with each moved item also in the list in which `other` has it.

    Absent objects around such an item are created, with only their identity. So both documents can
    be walked in parallel.
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


def _settled(document: Json | Missing, shape: Shape, homes: ItemPositions) -> Json | Missing:
    return _stays(document, shape, homes) if homes and document is not ABSENT else document


def _stays(document: Json, shape: Shape, homes: ItemPositions) -> Json:
    """Return a document without the items that moved in or out."""
    if not shape.known:
        return document
    if isinstance(document, dict):
        return {key: _stays(value, shape.at(key), homes) for key, value in document.items()}
    if isinstance(document, list) and (named := by_identity(document, shape)) is not None:
        stay = [item for name, item in named.items() if key_of(shape, name) not in homes]
        return [_stays(item, shape.item, homes) for item in stay]
    return document


Operation: TypeAlias = Literal["add", "remove", "change", "move"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that a write would change.

    `path` names items of keyed lists by their identity and other items by index, as they are after
    the write; for a removed field, as they were before. For a move, `before` and `after` are
    positions counted from 0. For a move out of another list, `before` is the path of that list,
    followed by the position in it.
    """

    path: Path
    before: Json | Missing
    after: Json | Missing
    operation: Operation = "change"

    @property
    def list_before(self) -> Path | None:
        """The path of the list that an item moves out of; None if it stays in its list."""
        if self.operation != "move" or not isinstance(self.before, list):
            return None
        return tuple(step for step in self.before[:-1] if isinstance(step, str | int))

    @property
    def path_before(self) -> Path:
        """The path before the write; another path if the item moves out of another list."""
        return self.path if self.list_before is None else (*self.list_before, self.path[-1])


_OPPOSITE: Final[Mapping[Operation, Operation]] = {"add": "remove", "remove": "add"}


def turned(found: Iterable[Difference]) -> Iterator[Difference]:
    """Yield the differences of two documents with `before` and `after` exchanged.

    An index in a path is not converted.
    """
    for difference, place in _with_places_before(found):
        if difference.list_before is not None and isinstance(difference.before, list):
            position: Json = None if difference.after is ABSENT else difference.after
            home = [*difference.path[:-1], position]
            yield Difference(place, home, difference.before[-1], "move")
        else:
            operation = _OPPOSITE.get(difference.operation, difference.operation)
            path = difference.path if operation == "remove" else place
            yield Difference(path, difference.after, difference.before, operation)


def places_before(found: Iterable[Difference]) -> Iterator[Path]:
    """Yield the paths that the fields of differences had before the write, if they existed."""
    return (place for _, place in _with_places_before(found))


def _with_places_before(found: Iterable[Difference]) -> Iterator[tuple[Difference, Path]]:
    stood: dict[Path, Path] = {}
    for difference in found:
        if difference.list_before is not None:
            stood[difference.path] = difference.path_before
        is_gone = difference.operation == "remove"
        yield difference, difference.path if is_gone else _as_it_stood(difference.path, stood)


def _as_it_stood(path: Path, stood: Mapping[Path, Path]) -> Path:
    """Return the path that a field had before the write, if its item came from another list."""
    for length in range(len(path), 0, -1):
        if (old := stood.get(path[:length])) is not None:
            return (*old, *path[length:])
    return path


def same(before: Json | Missing, after: Json | Missing, shape: Shape = ANY) -> bool:
    """Return whether the service treats two documents as equal."""
    return next(differences(before, after, shape), None) is None


def differences(
    before: Json | Missing, after: Json | Missing, shape: Shape = ANY, path: Path = ()
) -> Iterator[Difference]:
    """Yield the fields in which `after` differs from `before`, in the order of `after`.

    Parts that are the same object, or equal, are not walked.
    """
    if before is after or identical(before, after):
        return
    homes = moved(before, after, shape)
    stood: dict[Path, Path] = {}
    for difference in _differences(before, after, shape, path, homes):
        if homes and difference.list_before is not None:
            stood[difference.path] = difference.path_before
        if stood and difference.operation == "remove":
            yield replace(difference, path=_as_it_stood(difference.path, stood))
        else:
            yield difference


def _differences(
    before: Json | Missing, after: Json | Missing, shape: Shape, path: Path, homes: ItemPositions
) -> Iterator[Difference]:
    if before is after or identical(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in (*after, *(key for key in before if key not in after)):
            was, now = before.get(key, ABSENT), after.get(key, ABSENT)
            yield from _differences(was, now, shape.at(key), (*path, key), homes)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_differences(before, after, shape, path, homes)
    else:
        was, now = _settled(before, shape, homes), _settled(after, shape, homes)
        if not shape.are_one(was, now):
            yield Difference(path, was, now, operation_of(before, after))
        yield from _arrivals(after, shape, path, homes)


def _added(item: Json, shape: Shape, path: Path, homes: ItemPositions) -> Iterator[Difference]:
    yield Difference(path, ABSENT, _settled(item, shape, homes), "add")
    yield from _arrivals(item, shape, path, homes)


def _removed(item: Json, shape: Shape, path: Path, homes: ItemPositions) -> Difference:
    return Difference(path, _settled(item, shape, homes), ABSENT, "remove")


def _arrivals(
    document: Json | Missing, shape: Shape, path: Path, homes: ItemPositions
) -> Iterator[Difference]:
    """Yield the moves of the items that came into a document from elsewhere, and their changes."""
    if not homes or not shape.known:
        return
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _arrivals(value, shape.at(key), (*path, key), homes)
    elif isinstance(document, list) and (named := by_identity(document, shape)) is not None:
        for position, (name, item) in enumerate(named.items()):
            place = ItemPosition((*path, name), position, item)
            if home := homes.get(key_of(shape, name)):
                yield from _arrived(home, place, shape.item, homes)
            else:
                yield from _arrivals(item, shape.item, place.path, homes)


def _arrived(
    home: ItemPosition, place: ItemPosition, shape: Shape, homes: ItemPositions
) -> Iterator[Difference]:
    yield Difference(place.path, [*home.path, home.position], place.position, "move")
    yield from _differences(home.item, place.item, shape, place.path, homes)


def operation_of(before: Json | Missing, after: Json | Missing) -> Operation:
    """Return the operation that turns one value into another."""
    if before is ABSENT:
        return "add"
    return "remove" if after is ABSENT else "change"


def _list_differences(
    before: list[Json], after: list[Json], shape: Shape, path: Path, homes: ItemPositions
) -> Iterator[Difference]:
    if shape.unordered:
        if _members(before) != _members(after):
            yield Difference(path, before, after)
        return
    old, new = by_identity(before, shape), by_identity(after, shape)
    if old is not None and new is not None:
        yield from _keyed_differences(old, new, shape, path, homes)
    elif any(isinstance(item, dict | list) for item in (*before, *after)):
        yield from _indexed_differences(before, after, shape.item, path, homes)
    elif len(before) != len(after) or not all(
        same(side, other, shape.item) for side, other in zip(before, after, strict=True)
    ):
        yield Difference(path, before, after)


def _members(items: list[Json]) -> list[str]:
    return sorted(map(canonical_text, items))


def _keyed_differences(
    before: dict[str, Json], after: dict[str, Json], shape: Shape, path: Path, homes: ItemPositions
) -> Iterator[Difference]:
    was = {key: index for index, key in enumerate(before)}
    shifted = shifted_in([was[key] for key in after if key in was])
    for index, (key, value) in enumerate(after.items()):
        place = (*path, key)
        if key in was:
            if was[key] in shifted:
                yield Difference(place, was[key], index, "move")
            yield from _differences(before[key], value, shape.item, place, homes)
        elif home := homes.get(key_of(shape, key)):
            yield from _arrived(home, ItemPosition(place, index, value), shape.item, homes)
        else:
            yield from _added(value, shape.item, place, homes)
    for key, value in before.items():
        if key not in after and key_of(shape, key) not in homes:
            yield _removed(value, shape.item, (*path, key), homes)


def shifted_in(positions: list[int]) -> set[int]:
    """Return the fewest positions of items that must move so that all are in order.

    They are all positions except a longest increasing subsequence, found in O(n log n).
    """
    tails: list[int] = []
    tail_positions: list[int] = []
    previous: list[int] = []
    for index, position in enumerate(positions):
        place = bisect_left(tail_positions, position)
        previous.append(tails[place - 1] if place else -1)
        tails[place : place + 1] = [index]
        tail_positions[place : place + 1] = [position]
    stay: set[int] = set()
    index = tails[-1] if tails else -1
    while index >= 0:
        stay.add(positions[index])
        index = previous[index]
    return set(positions) - stay


def _indexed_differences(
    before: list[Json], after: list[Json], shape: Shape, path: Path, homes: ItemPositions
) -> Iterator[Difference]:
    partners = partners_of(before, after, shape)
    for index, value in enumerate(after):
        if index in partners:
            was = before[partners[index]]
            yield from _differences(was, value, shape, (*path, index), homes)
        else:
            yield from _added(value, shape, (*path, index), homes)
    for index in sorted(set(range(len(before))) - set(partners.values())):
        yield _removed(before[index], shape, (*path, index), homes)


def partners_of(before: list[Json], after: list[Json], shape: Shape) -> dict[int, int]:
    """Return the index before the write for each index after it, if there is one.

    Items without identity that are the same at both ends of the lists are paired. Items between are
    paired by their text. Changed items between two paired items are paired in order.
    """
    head, tail = common_ends(before, after, partial(same, shape=shape))
    partners = {index: index for index in range(head)}
    partners.update((len(after) - 1 - index, len(before) - 1 - index) for index in range(tail))
    old = list(map(canonical_text, before[head : len(before) - tail]))
    new = list(map(canonical_text, after[head : len(after) - tail]))
    for tag, first, last, new_first, new_last in SequenceMatcher(None, old, new).get_opcodes():
        if tag in ("equal", "replace"):
            found = range(head + new_first, head + new_last), range(head + first, head + last)
            partners.update(zip(*found, strict=False))
    return partners


def common_ends(
    before: Sequence[Json], after: Sequence[Json], are_alike: Callable[[Json, Json], bool]
) -> tuple[int, int]:
    """Return how many items are alike at the beginning, and at the end of what is left."""
    head = sum(1 for _ in takewhile(bool, map(are_alike, before, after)))
    shorter = min(len(before), len(after)) - head
    ends = before[::-1][:shorter], after[::-1][:shorter]
    return head, sum(1 for _ in takewhile(bool, map(are_alike, *ends)))


def members_missing(difference: Difference, shape: Shape) -> Iterator[Path]:
    """Yield the paths of the members of keyed lists in `after`, where `before` has nothing.

    Other fields yield nothing, as a service may store a value differently. A member that is absent
    was not stored.
    """
    if difference.operation not in ("add", "change") or difference.after is ABSENT:
        return
    if not is_zero(difference.before):
        return
    *above, _ = difference.path or ("",)
    if difference.operation == "add" and shape.along(tuple(above)).identity:
        yield difference.path
    else:
        yield from _members_missing(difference.after, shape.along(difference.path), difference.path)


def _members_missing(document: Json, shape: Shape, path: Path) -> Iterator[Path]:
    if isinstance(document, dict):
        for key, value in document.items():
            if (inner := shape.at(key)).known:
                yield from _members_missing(value, inner, (*path, key))
    elif isinstance(document, list) and shape.identity:
        named = by_identity(document, shape)
        names = range(len(document)) if named is None else named
        yield from ((*path, name) for name in names)
    elif isinstance(document, list) and shape.item.known:
        for index, item in enumerate(document):
            yield from _members_missing(item, shape.item, (*path, index))
