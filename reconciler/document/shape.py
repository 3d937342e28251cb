"""What is known of the places of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reconciler.document.values import Json, value_at


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of one place of a document, and so how it is compared.

    `identity` is the path inside a list item that names it; `alternatives` are
    groups of fields of which an object has one at most.
    """

    fields: Mapping[str, Shape] = field(default_factory=dict)
    items: Shape | None = None
    values: Shape | None = None
    identity: tuple[str, ...] = ()
    alternatives: tuple[frozenset[str], ...] = ()
    unordered: bool = False
    numeric_text: bool = False

    def at(self, key: str) -> Shape:
        """Give the shape of the value under `key`; `ANY` where nothing is known."""
        return self.fields.get(key) or self.values or ANY

    @property
    def item(self) -> Shape:
        """The shape of a list's items; `ANY` where nothing is known."""
        return self.items or ANY

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


def by_identity(items: Sequence[Json], shape: Shape) -> dict[str, Json] | None:
    """Index list items by their identity; None where an item has none or two share one."""
    if not shape.identity:
        return None
    indexed: dict[str, Json] = {}
    for item in items:
        key = value_at(item, shape.identity)
        if not isinstance(key, str) or key == "" or key in indexed:
            return None
        indexed[key] = item
    return indexed
