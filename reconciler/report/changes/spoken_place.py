"""Where in a resource something stands, as people say it. Pure.

`widget "Latency p99" in section "Checkout"` and `query`, not
`layout.sections[0].rows[1].widgets[2].definition.lineChart.queryDefinitions[0].query`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reconciler.document import Json, Missing, Path, value_at
from reconciler.report.safe import safe
from reconciler.report.words import item_at, name_of

_VERSION = re.compile(r"V\d+$")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Place(NamedTuple):
    """A part of a resource, and which of its fields; both are safe text on one line.

    `subject` is empty for the resource itself, `field` for the whole subject.
    """

    subject: str
    field: str


@dataclass(frozen=True, slots=True)
class _Item:
    """One item of a list: `named` by what a person called it, or only counted."""

    words: str
    named: bool
    unique: bool = True


@dataclass(slots=True)
class _Walk:
    """How far a path was walked, and what was met on the way."""

    here: list[Json | Missing]
    unsaid: frozenset[str]
    items: list[_Item] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    siblings: list[list[Json]] = field(default_factory=list)

    def into_field(self, key: str) -> None:
        """Go into a field of an object."""
        self.fields.append(key)
        self.here = [value_at(document, (key,)) for document in self.here]

    def into_item(self, step: str | int) -> None:
        """Go into an item of a list, by its identity or its index."""
        lists = [document for document in self.here if isinstance(document, list)]
        found = [item_at(items, step) for items in lists]
        index, items = next(
            ((index, items) for (index, _), items in zip(found, lists, strict=True) if index >= 0),
            (-1, []),
        )
        *prefix, key = self.fields or [""]
        said = [one for one in prefix if one not in self.unsaid]
        if said:
            self.items.append(_Item(".".join(said), named=False))
        if len(items) != 1 or key not in self.unsaid:
            self.items.append(self._item(singular(key), step, index, items))
        self.siblings = lists
        self.fields = []
        self.here = [item for _, item in found]

    def _item(self, noun: str, step: str | int, index: int, items: Sequence[Json]) -> _Item:
        if index < 0:
            return _Item(f"{noun} {_quoted(step)}".lstrip(), named=isinstance(step, str))
        name = name_of(items[index])
        if not name:
            return _Item(f"{noun} {index + 1}".lstrip(), named=False)
        here = sum(name_of(item) == name for item in items)
        around = sum(self._cousins_named(name, siblings) for siblings in self.siblings[:1])
        words = f"{noun} {_quoted(name)}" if here == 1 else f"{noun} {index + 1} {_quoted(name)}"
        return _Item(words.lstrip(), named=True, unique=around <= here)

    def _cousins_named(self, name: str, parents: Sequence[Json]) -> int:
        """Count the items of that name in the lists beside this one."""
        lists = [value_at(parent, self.fields) for parent in parents]
        return sum(
            name_of(item) == name for items in lists if isinstance(items, list) for item in items
        )


def spoken_place(
    path: Path, *documents: Json | Missing, unsaid: frozenset[str] = frozenset()
) -> Place:
    """Say where a path leads, in the first of the documents that holds what it names.

    Items of lists are called by their title or name, else counted from 1; those
    without a name are left out where a named one inside says enough. Steps that
    are `unsaid` only wrap others.
    """
    walk = _Walk(list(documents), unsaid)
    for step in path:
        if isinstance(step, int) or any(isinstance(document, list) for document in walk.here):
            walk.into_item(step)
        else:
            walk.into_field(step)
    said = [one for one in walk.fields if one not in unsaid] or walk.fields[-1:]
    return Place(safe(_subject(walk.items)), safe(".".join(said)))


def _subject(items: Sequence[_Item]) -> str:
    """Join items from the inside out, without those that only count what stands around a name."""
    if not items:
        return ""
    inner = items[-1]
    words = inner.words
    for item in reversed(items[:-1]):
        if item.named or not (inner.named and inner.unique):
            words += f" {'in' if inner.named else 'of'} {item.words}"
            inner = item
    return words


def singular(key: str) -> str:
    """Give what one item of a list is called: `query definition` for `queryDefinitions`."""
    plural = _HUMP.sub(" ", _VERSION.sub("", key)).lower()
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural.removesuffix("s")


def _quoted(name: str | int) -> str:
    return json.dumps(name, ensure_ascii=False)
