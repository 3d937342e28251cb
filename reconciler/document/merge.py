"""The document to send: the declared document over the live one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from typing import Any, TypeAlias, TypeGuard, assert_never

from reconciler.document.compare import (
    ABSENT,
    ANY,
    Json,
    Missing,
    Path,
    Shape,
    at_home,
    by_identity,
    canonical_text,
    common_ends,
    identical,
    is_zero,
    same,
    stored_name,
    value_at,
)


@dataclass(frozen=True, slots=True)
class Put:
    """A new value for a part, whatever its value is now."""

    value: Json


@dataclass(frozen=True, slots=True)
class Gone:
    """The removal of a part."""


@dataclass(frozen=True, slots=True)
class Within:
    """An object in which some fields change; the others stay as they are."""

    fields: Mapping[str, Edit]


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list; `origin` is its path in the document before, by keys and indices.

    An item without an origin is new, and its edit is a `Put`. `untold` lists the fields of a new
    item that are not known, each with its steps joined by dots.
    """

    origin: Path | None
    edit: Edit | None = None
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListItems:
    """The items of a list after the edit, in their order."""

    items: tuple[ListItem, ...]


Edit: TypeAlias = Put | Gone | Within | ListItems


def followed(document: Json, edit: Edit, whole: Json) -> Json:
    """Return `document`, a part of `whole`, with an edit made.

    `edit` itself must not be `Gone`. Raises KeyError or IndexError if the edit belongs to another
    document.
    """
    match edit:
        case Put(value=value):
            return value
        case Within(fields=fields):
            if not isinstance(document, dict):
                raise KeyError(*list(fields)[:1])
            kept = {
                key: followed(value, fields[key], whole) if key in fields else value
                for key, value in document.items()
                if not isinstance(fields.get(key), Gone)
            }
            new = {
                key: followed(None, field, whole)
                for key, field in fields.items()
                if key not in document and not isinstance(field, Gone)
            }
            return {**kept, **new}
        case ListItems(items=items):
            return [_item(list_item, whole) for list_item in items]
        case Gone():
            raise KeyError("the whole document")
        case _:
            assert_never(edit)


def _item(item: ListItem, whole: Json) -> Json:
    before = None if item.origin is None else value_at(whole, item.origin)
    if item.edit is None:
        if before is ABSENT:
            raise KeyError(*(item.origin or ()))
        return before
    document = before if isinstance(before, dict | list) else None
    return followed(document, item.edit, whole)


def towards(before: Json, after: Json, at: Path = ()) -> Edit | None:
    """Return the smallest edit that turns `before` into `after`; None if they are the same.

    `at` is the path of the document in the whole document.
    """
    if identical(before, after):
        return None
    if isinstance(before, dict) and isinstance(after, dict) and before and after:
        return _fields_towards(before, after, at)
    if isinstance(before, list) and isinstance(after, list) and before and after:
        return ListItems(_items_towards(before, after, at))
    return Put(after)


def _fields_towards(before: dict[str, Json], after: dict[str, Json], at: Path) -> Edit:
    if before.keys().isdisjoint(after):
        return Put(after)
    fields: dict[str, Edit] = {key: Gone() for key in before if key not in after}
    for key, value in after.items():
        edit = towards(before[key], value, (*at, key)) if key in before else Put(value)
        if edit is not None:
            fields[key] = edit
    return Within(fields)


def _items_towards(before: list[Json], after: list[Json], at: Path) -> tuple[ListItem, ...]:
    """Pair items by their text; changed items between two pairs are paired in order."""
    old, new = (list(map(canonical_text, side)) for side in (before, after))
    items: list[ListItem] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            items.extend(ListItem((*at, nth)) for nth in range(first, last))
            continue
        for nth, value in enumerate(after[start:end]):
            place = first + nth
            edit = towards(before[place], value, (*at, place)) if place < last else None
            items.append(
                ListItem(None, Put(value)) if edit is None else ListItem((*at, place), edit)
            )
    return tuple(items)


def merge(base: Json | Missing, declared: Json, live: Json | Missing, shape: Shape = ANY) -> Json:
    """Return the whole document to send: the declared document over the live one.

    A field that was declared before (`base`) and is no longer declared is removed; a field that was
    never declared stays as it is live. Lists are replaced by the declared ones: their members and
    their order are as declared, and a member keeps the live fields that were never declared, also
    if it is declared in another list now. A part of `live` that already is as declared is returned
    as the same object, so that `differences` need not walk it.
    """
    unchanged = base is ABSENT or base == declared
    if not shape.unordered and unchanged and _holds(live, declared, shape):
        return live
    return _merge(at_home(base, declared, shape), declared, at_home(live, declared, shape), shape)


def _merge(base: Json | Missing, declared: Json, live: Json | Missing, shape: Shape) -> Json:
    if isinstance(declared, dict) and isinstance(live, dict):
        if (base is ABSENT or base == declared) and _holds(live, declared, shape):
            return live
        return _merge_object(base if isinstance(base, dict) else {}, declared, live, shape)
    if isinstance(declared, list) and isinstance(live, list) and not shape.unordered:
        if (base is ABSENT or base == declared) and _holds(live, declared, shape):
            return live
        return _merge_list(base if isinstance(base, list) else [], declared, live, shape)
    return declared


def _holds(  # noqa: C901, PLR0911, PLR0912 - hot
    live: Any, declared: Any, shape: Shape
) -> TypeGuard[Json]:
    """Return True only if a merge without removals would return `live`.

    False does not prove the opposite. It is stricter than `same`: a declared zero has to be
    present, in its own type. Most of a plan is unchanged and passes through here, and a call for
    each object would double the time.
    """
    objects = [({"": declared}, {"": live}, Shape(values=shape))]
    try:
        while objects:
            mine, theirs, known = objects.pop()
            fields = known.fields
            for key, value in mine.items():
                other = theirs[key]
                if value is other:
                    continue
                kind = value.__class__
                if kind is not other.__class__:
                    return False
                if kind is dict:
                    objects.append((value, other, fields.get(key) or known.values or ANY))
                elif kind is list:
                    if len(value) != len(other):
                        return False
                    item = (fields.get(key) or known.values or ANY).items or ANY
                    for element, another in zip(value, other):  # noqa: B905 - of one length, and a keyword costs
                        kind = element.__class__
                        if kind is list or kind is not another.__class__:
                            return False
                        if kind is dict:
                            objects.append((element, another, item))
                        elif element != another:
                            return False
                elif value != other:
                    return False
            # If an object has only declared keys, no key can be excluded.
            more = known.alternatives and len(mine) != len(theirs)
            if more and not known.ousted_by(mine).isdisjoint(theirs):
                return False
    except KeyError:
        return False
    return True


def _merge_object(
    base: dict[str, Json], declared: dict[str, Json], live: dict[str, Json], shape: Shape
) -> dict[str, Json]:
    if not shape.known and another_choice(declared, live):
        return declared
    merged: dict[str, Json] = {
        key: _merge(base.get(key, ABSENT), value, live[key], shape.at(key))
        if key in live
        else value
        for key, value in declared.items()
    }
    gone = shape.ousted_by(declared).union(base)
    merged.update((key, live[key]) for key in live if key not in merged and key not in gone)
    return merged


def another_choice(declared: dict[str, Json], live: dict[str, Json]) -> bool:
    """Return whether two unknown objects are two choices, `{all}` and `{list}`.

    They share no key then, and a declared value is one that a service does not drop.
    """
    return declared.keys().isdisjoint(live) and not all(map(is_zero, declared.values()))


def _merge_list(
    base: list[Json], declared: list[Json], live: list[Json], shape: Shape
) -> list[Json]:
    item = shape.item
    mine, theirs = by_identity(declared, shape), by_identity(live, shape)
    if mine is not None and theirs is not None:
        before = by_identity(base, shape) or {}
        return [
            _merge(before.get(key, ABSENT), value, theirs.get(key, ABSENT), item)
            for key, value in mine.items()
        ]
    partners = _partners(declared, live, shape)
    return [
        _merge(
            base[index] if len(base) == len(declared) else ABSENT,
            value,
            live[partners[index]] if index in partners else ABSENT,
            item,
        )
        for index, value in enumerate(declared)
    ]


def _partners(declared: list[Json], live: list[Json], shape: Shape) -> dict[int, int]:
    """Pair the items of two lists if at least one list has items without a unique name.

    An item that is declared with a name is never paired by its position. An item that is declared
    without a name may get the name of the item at its position.
    """
    pairs = dict(aligned(declared, live, shape.item))
    if not shape.identity:
        return pairs
    theirs: dict[str, int] = {}
    for index, item in enumerate(live):
        theirs.setdefault(_name(item, shape), index)
    named = ((index, _name(item, shape)) for index, item in enumerate(declared))
    found = {index: theirs.pop(name) for index, name in named if name and name in theirs}
    taken = set(found.values())
    nameless = {
        index: other
        for index, other in pairs.items()
        if not _name(declared[index], shape) and other not in taken
    }
    return {**nameless, **found}


def _name(item: Json, shape: Shape) -> str:
    name = value_at(item, shape.identity)
    return stored_name(name) if isinstance(name, str) else ""


def aligned(declared: list[Json], live: list[Json], shape: Shape) -> Iterator[tuple[int, int]]:
    """Pair items of two lists that have no identity: all of them if the lengths are equal.

    Otherwise pair the common head and tail; that is right around one insertion or removal.
    """
    if len(declared) == len(live):
        yield from zip(range(len(declared)), range(len(live)), strict=True)
        return
    head, tail = common_ends(live, declared, partial(covers, shape=shape))
    yield from zip(range(head), range(head), strict=True)
    for nth in range(1, tail + 1):
        yield len(declared) - nth, len(live) - nth


def covers(live: Json | Missing, declared: Json, shape: Shape = ANY) -> bool:
    """Return whether `live` has everything that is declared, whatever else it has."""
    return same(live, merge(ABSENT, declared, live, shape), shape)


def overlay(below: Json | Missing, above: Json | Missing) -> Json | Missing:
    """Return a document with every field of both documents; a list is taken from one of them."""
    if above is ABSENT:
        return below
    if isinstance(below, dict) and isinstance(above, dict):
        joined: dict[str, Json] = dict(below)
        for key, value in above.items():
            inner = overlay(below.get(key, ABSENT), value)
            joined[key] = value if inner is ABSENT else inner
        return joined
    return above
