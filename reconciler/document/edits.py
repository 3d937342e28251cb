"""Edits of a document, part by part, so that its text can be changed in few lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias, assert_never

from reconciler.document.values import Json, Path, canonical_text, identical, value_at


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
    """Return a part of `whole` with an edit made.

    An edit of the part itself must not be `Gone`. Raises KeyError or IndexError if the edit belongs
    to another document.
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
        if not isinstance(before, dict | list | str | int | float | bool | None):
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
