"""The items of a dashboard with ids: sections, rows, widgets and so on."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, count
from typing import Final, NamedTuple, TypeAlias, TypeVar
from uuid import UUID, uuid5

from reconciler.document import Json, Missing, canonical_text, each_text, is_zero, value_at

ItemId: TypeAlias = "tuple[ItemList, str]"
"""An id together with its list: a widget may have the id of a section."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemList:
    """A list of items with ids: its place, and how its items are identified.

    `label` is the path of an item's name for people. `form` is the path of an object with a key
    that says what an item is (`lineChart`, `markdown`). `identity` is the path of its id. `made_up`
    says whether a missing id is derived; the service does not require all ids.
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
        """The keys that say what the item is, as `lineChart`."""
        part = value_at(self.document, self.known_by.form) if self.known_by.form else None
        return frozenset(part) if isinstance(part, dict) else frozenset()

    @cached_property
    def leaves(self) -> frozenset[Leaf]:
        """The values of the item itself, each with its place; without label and zeros."""
        return frozenset(_leaves(self.own, (), self.known_by.label))

    @property
    def place(self) -> str:
        """Its place in the dashboard, as `/sections/0/rows/1`; "" for the dashboard."""
        if self.within is None:
            return ""
        return f"{self.within.place}/{self.known_by.path[-1]}/{self.index}"

    def inside(self) -> Iterator[Item]:
        """Yield the items of its lists."""
        return chain.from_iterable(self.inner)

    @cached_property
    def all_inside(self) -> list[Item]:
        """All items inside, in reading order."""
        return [found for item in self.inside() for found in (item, *item.all_inside)]


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
    """Return a dashboard as items; a value that is no object, or is not in a list, is no item."""
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


Agreeing: TypeAlias = Callable[[Item, Item], bool]

MOST_PAIRS: Final = 64
"""Above this number of possible pairs, a value is not used for pairing items."""

ONCE: Final = 1_000_000
"""The weight of a value that exactly one item of each side has.

It is an integer, so that a sum does not depend on the order.
"""


def same_content(mine: Item, theirs: Item) -> bool:
    """Return whether both have the same fields and items inside, ids left out."""
    return mine.content == theirs.content


def same_form(mine: Item, theirs: Item) -> bool:
    """Return whether both have the same form: two line charts, two rows."""
    return bool(mine.form & theirs.form) or mine.form == theirs.form


def mostly_same(mine: Item, theirs: Item) -> bool:
    """Return whether both have the same form and at least half of their values in common."""
    common = len(mine.leaves & theirs.leaves)
    every = len(mine.leaves) + len(theirs.leaves)
    return same_form(mine, theirs) and common > 0 and 4 * common >= every


class Pairing:
    """The items of one version of a dashboard, and their partners in another.

    `partner` includes the dashboards themselves. `alike` decides whether two items may be paired by
    likeness, `in_place` whether they may be paired only by their place.
    """

    def __init__(
        self,
        mine: Item,
        theirs: Item,
        ids: Mapping[Item, str],
        *,
        alike: Agreeing = lambda _, __: True,
        in_place: Agreeing = same_form,
    ) -> None:
        """Find the partners; `ids` are the ids that items of `mine` have for sure."""
        self.partner: dict[Item, Item] = {mine: theirs}
        self._taken: set[Item] = {theirs}
        self._root, self._alike, self._in_place = mine, alike, in_place
        self._mine, self._theirs = mine.all_inside, theirs.all_inside
        self._pair_by_id(ids)
        steps = (
            self._pair_in_place,
            partial(self._pair_copies, once=True),
            self._pair_by_what_is_inside,
            self._pair_beside,
            self._pair_distinct_likes,
            self._pair_by_what_is_inside,
            self._pair_beside,
            self._pair_copies,
            self._pair_likes,
            self._pair_by_what_is_inside,
            self._pair_by_place,
        )
        for step in steps:
            if len(self.partner) > len(self._mine) or len(self._taken) > len(self._theirs):
                return
            step()

    def _pair(self, mine: Item, theirs: Item) -> None:
        self.partner[mine] = theirs
        self._taken.add(theirs)

    def _free(self, mine: Item, theirs: Item) -> bool:
        return mine not in self.partner and theirs not in self._taken

    def _pair_whole(self, mine: Item, theirs: Item) -> None:
        """Pair two items with the same content, and all items inside."""
        if self._free(mine, theirs):
            self._pair(mine, theirs)
        for ours, others in zip(mine.inner, theirs.inner, strict=True):
            for item, other in zip(ours, others, strict=True):
                self._pair_whole(item, other)

    def _left(self) -> tuple[list[Item], list[Item]]:
        return self._left_of(self._mine, self._theirs)

    def _left_of(self, mine: list[Item], theirs: list[Item]) -> tuple[list[Item], list[Item]]:
        ours = [item for item in mine if item not in self.partner]
        return ours, [item for item in theirs if item not in self._taken]

    def _lists(self) -> Iterator[tuple[list[Item], list[Item]]]:
        """Yield the two lists inside each pair of partners, from the outside in.

        The lists of pairs that are made meanwhile come later.
        """
        waiting = [self._root]
        for item in waiting:
            partner = self.partner.get(item)
            if partner is not None:
                yield from zip(item.inner, partner.inner, strict=True)
            for inner in item.inner:
                waiting.extend(inner)

    def _pair_by_id(self, ids: Mapping[Item, str]) -> None:
        if not ids:
            return
        # If several items have the same id, the first is used.
        known = {(item.known_by, item.item_id): item for item in reversed(self._theirs)}
        for item, item_id in ids.items():
            partner = known.get((item.known_by, item_id))
            if partner is not None and self._free(item, partner):
                self._pair(item, partner)

    def _pair_in_place(self) -> None:
        for mine, theirs in self._lists():
            for item, other in zip(mine, theirs, strict=False):
                if self._free(item, other) and same_content(item, other):
                    self._pair_whole(item, other)

    def _pair_copies(self, *, once: bool = False) -> None:
        """Pair items with the same content in order; with `once`, only contents without copies."""
        mine, theirs = self._left()
        others = _by_content(theirs)
        for content, items in _by_content(mine).items():
            there = others.get(content, [])
            for item, other in zip(items, there, strict=False):
                is_wanted = not once or len(items) == len(there) == 1
                # Both may be paired by now, together with the items around them.
                if is_wanted and self._free(item, other):
                    self._pair_whole(item, other)

    def _pair_by_what_is_inside(self) -> None:
        """Pair rows with the most widgets in common, then sections by their rows."""
        for known_by in _from_the_inside_out(self._root.known_by):
            mine, theirs = (
                [item for item in items if item.known_by is known_by] for items in self._left()
            )
            votes: Counter[tuple[Item, Item]] = Counter()
            for item in mine:
                partners = (self.partner.get(child) for child in item.inside())
                holders = (partner.within for partner in partners if partner is not None)
                votes.update(
                    (item, holder) for holder in holders if holder and self._free(item, holder)
                )
            votes = Counter({pair: count * ONCE for pair, count in votes.items()})
            votes.update(_in_common(self._contents_in(mine), self._contents_in(theirs)))
            self._pair_best(votes)

    def _contents_in(self, items: Iterable[Item]) -> Mapping[Item, AbstractSet[ItemTrait]]:
        """Return the contents inside each item that have no partner yet."""
        return {
            item: {
                ItemTrait(child.known_by, child.content)
                for child in item.inside()
                if child not in self.partner and child not in self._taken
            }
            for item in items
        }

    def _pair_best(self, votes: Mapping[tuple[Item, Item], int]) -> None:
        """Pair the two items with the most votes, then the next two that are free, and so on."""

        def rank(pair: tuple[Item, Item]) -> tuple[int, bool, bool, int, int, int]:
            mine, theirs = pair
            apart = self._apart(mine, theirs)
            other_label = mine.label != theirs.label
            far = abs(mine.index - theirs.index)
            return -votes[pair], apart, other_label, far, mine.order, theirs.order

        for item, other in sorted(votes, key=rank):
            if self._free(item, other):
                self._pair(item, other)

    def _apart(self, mine: Item, theirs: Item) -> bool:
        """Return whether the two items are not known to be in the same list."""
        return mine.within is None or self.partner.get(mine.within) is not theirs.within

    def _pair_beside(self) -> None:
        for mine, theirs in self._lists():
            self._pair_neighbours(mine, theirs, same_content)

    def _pair_by_place(self) -> None:
        for mine, theirs in self._lists():
            self._pair_neighbours(mine, theirs, same_content)
            self._pair_best(self._likeness(*self._left_of(mine, theirs)))
            self._pair_neighbours(mine, theirs, self._in_place)

    def _pair_neighbours(self, mine: list[Item], theirs: list[Item], agree: Agreeing) -> None:
        """Pair items that follow a pair, from the front; then items before a pair, from the end."""
        for ours, others in ((mine, theirs), (mine[::-1], theirs[::-1])):
            places = {item: place for place, item in enumerate(others)}
            expected = 0
            for item in ours:
                other = others[expected] if expected < len(others) else None
                if other is not None and self._free(item, other) and agree(item, other):
                    self._pair(item, other)
                partner = self.partner.get(item)
                # At an end, after a new item or an item from elsewhere, there is no neighbour to
                # expect.
                expected = places[partner] + 1 if partner in places else len(others)

    def _pair_distinct_likes(self) -> None:
        """Pair items that are alike, except items with a copy on the other side."""
        mine, theirs = self._left()
        copies = _by_content(mine).keys() & _by_content(theirs).keys()
        distinct = (
            [item for item in items if (item.known_by, item.content) not in copies]
            for items in (mine, theirs)
        )
        self._pair_best(self._likeness(*distinct))

    def _pair_likes(self) -> None:
        self._pair_best(self._likeness(*self._left()))

    def _likeness(self, mine: list[Item], theirs: list[Item]) -> Mapping[tuple[Item, Item], int]:
        """Return how much each pair of possibly equal items has in common."""
        ours, others = ({item: _said_of(item) for item in items} for items in (mine, theirs))
        votes = _in_common(ours, others)
        return {pair: votes[pair] for pair in votes if self._may_be_one(*pair)}

    def _may_be_one(self, mine: Item, theirs: Item) -> bool:
        if self._apart(mine, theirs):
            likely = not mine.known_by.inner and mostly_same(mine, theirs)
        else:
            likely = same_form(mine, theirs) or mine.label == theirs.label != ""
        return likely and self._alike(mine, theirs)


Trait = TypeVar("Trait")


class ItemTrait(NamedTuple):
    """A trait of items of one list: a value with its place, a label, or the content inside."""

    known_by: ItemList
    value: Leaf | str
    is_label: bool = False


def _said_of(item: Item) -> AbstractSet[ItemTrait]:
    label = {ItemTrait(item.known_by, item.label, is_label=True)} if item.label else set()
    return label | {ItemTrait(item.known_by, leaf) for leaf in item.leaves}


def _in_common(
    mine: Mapping[Item, AbstractSet[ItemTrait]], theirs: Mapping[Item, AbstractSet[ItemTrait]]
) -> Counter[tuple[Item, Item]]:
    """Return how much any two items have in common; rare traits count more."""
    ours, others = _holders(mine), _holders(theirs)
    votes: Counter[tuple[Item, Item]] = Counter()
    for trait, holders in ours.items():
        partners = others.get(trait, [])
        pairs = len(holders) * len(partners)
        if 0 < pairs <= MOST_PAIRS:
            weight = ONCE // pairs // (2 if trait.is_label else 1)
            votes.update({(holder, other): weight for holder in holders for other in partners})
    return votes


def _holders(saying: Mapping[Item, AbstractSet[ItemTrait]]) -> dict[ItemTrait, list[Item]]:
    return _grouped((trait, item) for item, values in saying.items() for trait in values)


def _by_content(items: Iterable[Item]) -> dict[tuple[ItemList, str], list[Item]]:
    return _grouped(((item.known_by, item.content), item) for item in items)


def _grouped(pairs: Iterable[tuple[Trait, Item]]) -> dict[Trait, list[Item]]:
    found: dict[Trait, list[Item]] = defaultdict(list)
    for key, item in pairs:
        found[key].append(item)
    return found


def _from_the_inside_out(known_by: ItemList) -> Iterator[ItemList]:
    """Yield the lists with items that contain others, the innermost first."""
    for inner in known_by.inner:
        if inner.inner:
            yield from _from_the_inside_out(inner)
            yield inner


NAMESPACE = UUID("6f1d3c52-9a44-5a0e-8b0e-3f2b7f4c1d90")


def with_nested_ids(
    dashboard: dict[str, Json], written: Sequence[Json | Missing], live: Json | Missing, name: str
) -> dict[str, Json]:
    """Return the dashboard with every nested id filled in. Derived ids begin with `name`.

    `written` are the earlier declarations that the journal has, with their ids filled in, the
    latest first.
    """
    if all(item.item_id for item in items_of(dashboard).all_inside):
        return dashboard
    # A copy, as the ids are written into it.
    mine = items_of(each_text(dashboard, lambda text: text))
    theirs, copies = items_of(live), [items_of(value) for value in written]
    found, bare = _found_ids(mine, copies, theirs)
    taken = {item.item_id for copy in (mine, theirs, *copies) for item in copy.all_inside}
    _fill_in(mine, name, found, bare, taken)
    return mine.document


def _found_ids(
    mine: Item, copies: Sequence[Item], theirs: Item
) -> tuple[dict[Item, str], set[Item]]:
    """Return the ids that items have, or had: their own, else the live one, else the journal's.

    The second result has the items that are live without an id.
    """
    declared = {item: item.item_id for item in mine.all_inside if item.item_id}
    ids, known = dict(declared), set[Item]()
    for copy in copies:
        partners = Pairing(mine, copy, ids).partner
        known |= partners.keys()
        ids = {**_ids_of(partners), **ids}

    def may_be(item: Item, other: Item) -> bool:
        """Return whether `other`, a live item, may be `item`.

        If there are earlier declarations, and none has the item, the two must also be alike.
        """
        is_copy = item.label == other.label and item.leaves <= other.leaves
        return not copies or item in known or is_copy

    def is_seal_of(item: Item, other: Item) -> bool:
        """Return whether a live item at the same place may be this item, not a foreign one."""
        like = bool(item.known_by.inner) or item.label == other.label or mostly_same(item, other)
        return (not copies or item in known) and like

    partners = Pairing(mine, theirs, ids, alike=may_be, in_place=is_seal_of).partner
    ids = {**ids, **_ids_of(partners), **declared}
    return ids, {item for item in partners if item not in ids}


def _ids_of(partners: Mapping[Item, Item]) -> dict[Item, str]:
    return {item: partner.item_id for item, partner in partners.items() if partner.item_id}


def _fill_in(
    mine: Item, name: str, found: Mapping[Item, str], bare: set[Item], taken: set[str]
) -> None:
    """Write the ids of all items inside into their documents, each once in its list.

    `bare` items get no id, and a derived id must not be in `taken`.
    """
    used: set[ItemId] = {(item.known_by, item.item_id) for item in mine.all_inside}
    for item in mine.all_inside:
        item_id = item.item_id or found.get(item, "")
        if not item.item_id and (item.known_by, item_id) in used:
            item_id = ""
        if not item_id and item.known_by.made_up and item not in bare:
            item_id = _derived(f"{name}{item.place}", taken)
        used.add((item.known_by, item_id))
        if item_id:
            identified = item.known_by.with_id(item.document, item_id)
            item.document.clear()
            item.document.update(identified)


def _derived(place: str, taken: set[str]) -> str:
    """Return the id made from a place, or the next one if an item that moved away has that id."""
    number = 1
    name = place
    while (derived := str(uuid5(NAMESPACE, name))) in taken:
        number += 1
        name = f"{place}#{number}"
    taken.add(derived)
    return derived
