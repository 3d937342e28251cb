"""The items of a dashboard with ids: sections, rows, widgets and so on."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from typing import Final, TypeAlias

from reconciler.document import Json, Missing, canonical_text, is_zero, value_at

ItemId: TypeAlias = "tuple[ItemList, str]"
"""An id together with its list: a widget may have the id of a section."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemList:
    """A list of items with ids: its place, and how its items are identified.

    `label` is the path of an item's name for people, `form` leads to the part with keys that say
    what an item is (`lineChart`, `markdown`), `identity` to its id. If the service does not require
    ids, none is `made_up`.
    """

    path: tuple[str, ...]
    label: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    inner: tuple[ItemList, ...] = ()
    identity: tuple[str, ...] = ("id", "value")
    made_up: bool = True

    def id_of(self, item: Json) -> str:
        """Return the id of an item; "" if it has none."""
        value = value_at(item, self.identity)
        return value if isinstance(value, str) else ""

    def with_id(self, item: dict[str, Json], item_id: str) -> dict[str, Json]:
        """Return the item with an id in front."""
        first, *rest = self.identity
        identity: Json = item_id
        for step in reversed(rest):
            identity = {step: identity}
        return {first: identity, **{key: value for key, value in item.items() if key != first}}


_WIDGETS = ItemList(("widgets",), ("title",), ("definition",))
_ROWS = ItemList(("rows",), inner=(_WIDGETS,))
_SECTIONS = ItemList(("layout", "sections"), ("options", "custom", "name"), inner=(_ROWS,))
_FILTERS = ItemList(("filters",), ("displayName",), ("source",))
_VARIABLES = ItemList(("variablesV2",), ("name",), ("source",))
_ACTIONS = ItemList(("actions",), ("name",), ("definition",), identity=("id",), made_up=False)
_ANNOTATIONS = ItemList(("annotations",), ("name",), ("source",), identity=("id",), made_up=False)

DASHBOARD: Final = ItemList(
    (), inner=(_SECTIONS, _FILTERS, _VARIABLES, _ACTIONS, _ANNOTATIONS), made_up=False
)


@dataclass(eq=False)
class Item:
    """One item, or the dashboard itself, and the items inside, list by list.

    `item_id` is "" if the document has none. `index` counts the items of its list, `order` all
    items in reading order.
    """

    known_by: ItemList
    document: dict[str, Json]
    item_id: str = ""
    within: Item | None = None
    index: int = 0
    order: int = 0
    inner: list[list[Item]] = field(default_factory=list)

    @cached_property
    def own(self) -> dict[str, Json]:
        """The fields of the item itself: without its id, and without the items inside."""
        apart = {
            self.known_by.identity[0],
            *(item_list.path[0] for item_list in self.known_by.inner),
        }
        return {key: value for key, value in self.document.items() if key not in apart}

    @cached_property
    def content(self) -> str:
        """One text for all fields of the item and of the items inside, ids left out."""
        lists = (",".join(item.content for item in items) for items in self.inner)
        return "\n".join((canonical_text(self.own), *lists))

    @cached_property
    def label(self) -> str:
        """Its name for people, in lower case and with single spaces; "" for none."""
        value = value_at(self.document, self.known_by.label)
        if not isinstance(value, str):
            return ""
        return " ".join(unicodedata.normalize("NFKC", value).casefold().split())

    @cached_property
    def form(self) -> frozenset[str]:
        """Its form, from its keys."""
        part = value_at(self.document, self.known_by.form) if self.known_by.form else None
        return frozenset(part) if isinstance(part, dict) else frozenset()

    @cached_property
    def leaves(self) -> frozenset[Leaf]:
        """The values of the item itself, each with its place; without label and zeros."""
        return frozenset(_leaves(self.own, (), self.known_by.label))

    def equals(self, other: Item) -> bool:
        """Return whether both have the same fields, ids left out."""
        return (
            self.own == other.own
            and [len(items) for items in self.inner] == [len(items) for items in other.inner]
            and all(
                item.equals(another)
                for mine, theirs in zip(self.inner, other.inner, strict=True)
                for item, another in zip(mine, theirs, strict=True)
            )
        )

    def inside(self) -> Iterator[Item]:
        """Yield the items of its lists."""
        return chain.from_iterable(self.inner)

    @cached_property
    def all_inside(self) -> list[Item]:
        """All items inside, in reading order."""
        found: list[Item] = []
        for item in self.inside():
            found.append(item)
            found.extend(item.all_inside)
        return found


Leaf: TypeAlias = tuple[tuple[str, ...], "str | int | float"]
"""A value and the keys that lead to it; all items of a list have the same place."""


def _leaves(value: Json, place: tuple[str, ...], label: tuple[str, ...]) -> Iterator[Leaf]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            if (*place, key) != label:
                yield from _leaves(inner, (*place, key), label)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, place, label)
    elif isinstance(value, dict):
        # An empty object has a meaning: `{all: {}}`.
        yield place, "{}"
    elif value is not None and not is_zero(value):
        yield place, value


def items_of(dashboard: Json | Missing) -> Item:
    """Return a dashboard as items; a value that is no object, or not in a list, has none."""
    document = dashboard if isinstance(dashboard, dict) else {}
    return _with_inner(Item(DASHBOARD, document), count(1))


def _with_inner(item: Item, order: Iterator[int]) -> Item:
    for known_by in item.known_by.inner:
        members = value_at(item.document, known_by.path)
        documents = members if isinstance(members, list) else []
        item.inner.append(
            [
                _with_inner(
                    Item(known_by, document, known_by.id_of(document), item, index, next(order)),
                    order,
                )
                for index, document in enumerate(documents)
                if isinstance(document, dict)
            ]
        )
    return item
