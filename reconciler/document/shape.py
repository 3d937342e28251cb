"""What is known of the places of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from unicodedata import normalize

from reconciler.document.values import Json, Missing, Path, equal_value, same_value, value_at


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of one place of a document, and so how it is compared.

    `identity` is the path inside a list item that names it; `alternatives` are
    groups of fields of which an object has one at most. `enumeration` is the prefix
    of the values of an enumeration, "" for free text. Compared `exact`, a zero is
    not absent: so two documents that nobody but us wrote are compared.
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
        """Give the shape of the value under `key`; `ANY` where nothing is known."""
        return self.fields.get(key) or self.values or self._any

    def along(self, path: Path) -> Shape:
        """Give the shape of what is at a path of keys, and of names or indices of items."""
        shape = self
        for step in path:
            shape = shape.at(str(step)) if shape.items is None else shape.item
        return shape

    @property
    def item(self) -> Shape:
        """The shape of a list's items; `ANY` where nothing is known."""
        return self.items or self._any

    @property
    def _any(self) -> Shape:
        return EXACT if self.exact else ANY

    def are_one(self, before: Json | Missing, after: Json | Missing) -> bool:
        """Tell whether two values that are not both objects or both lists are one."""
        if self.exact:
            return equal_value(before, after, numeric_text=self.numeric_text)
        return same_value(
            before, after, numeric_text=self.numeric_text, enumeration=self.enumeration
        )

    @property
    def known(self) -> bool:
        """Whether the inner fields are known at all."""
        return bool(self.fields or self.items or self.values)

    def ousted_by(self, declared: Mapping[str, Json]) -> frozenset[str]:
        """Give the fields that a declared object excludes: the alternatives to its own."""
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
    """Give a shape by which documents are compared `exact` in all their depth."""
    return replace(
        shape,
        fields={name: exactly(inner) for name, inner in shape.fields.items()},
        items=exactly(shape.items) if shape.items is not None else None,
        values=exactly(shape.values) if shape.values is not None else None,
        exact=True,
    )


def by_identity(items: Sequence[Json], shape: Shape) -> dict[str, Json] | None:
    """Index list items by their identity; None where an item has none or two share one.

    Items are called as services are known to store their names, so that one that was
    rewritten on the way is still itself. Where that makes two of one name, all are called
    as they are written.
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
    """Give a name as services are known to store it: no white space around it, in NFC."""
    return name.strip() if name.isascii() else normalize("NFC", name).strip()
