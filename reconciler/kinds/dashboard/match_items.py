"""Pairs of items of two versions of a dashboard: which item of one is which of the other. Pure.

Ids that a manifest leaves out are filled in by finding the earlier version of each
item. From the surest sign to the weakest, each for all items that are left by then:

1. An id that both have.
2. The same content, ids left out: at the same place, then anywhere if it exists
   once on both sides. The items inside are paired too.
3. For rows and sections, the most items in common.
4. The same content next to an item that is paired by then.
5. Likeness: the most values in common; rare values count most, and a label
   half. Of equals the item in the same list is taken, then the nearest. In another
   list half of all values must agree, so that a label alone is no sign. Then 3 and 4
   again, for what is clearer now.
6. The same content several times: in reading order. Then 5 and 3 for the rest.
7. Place, from the outside in: items next to a paired item, with the same form.

All is hashed or sorted, so 1,000 widgets cost O(n log n). The result depends only
on the two documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, TypeAlias

from reconciler.kinds.dashboard.items import Item, ItemId, ItemList, Leaf

Agreeing: TypeAlias = Callable[[Item, Item], bool]

MOST_PAIRS: Final = 64
"""A value that could pair more items than this says nothing about any of them."""

ONCE: Final = 1_000_000
"""The weight of a value that one item of each side has. Integers add up in any order."""


def same_form(mine: Item, theirs: Item) -> bool:
    """Return whether both have the same form: two line charts, two rows."""
    return bool(mine.form & theirs.form) or mine.form == theirs.form


def mostly_same(mine: Item, theirs: Item) -> bool:
    """Return whether both have the same form and at least half of their values in common."""
    common = len(mine.leaves & theirs.leaves)
    return same_form(mine, theirs) and common > 0 and 4 * common >= _size(mine, theirs)


def _size(mine: Item, theirs: Item) -> int:
    return len(mine.leaves) + len(theirs.leaves)


class Pairing:
    """The items of one version of a dashboard, and their partners in another.

    `partner` includes the dashboards themselves. `alike` is called before two items are paired by
    likeness, `in_place` before they are paired only by their place.
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
            self._pair_what_is_there_once,
            self._pair_by_what_is_inside,
            self._pair_beside,
            self._pair_distinct_likes,
            self._pair_by_what_is_inside,
            self._pair_beside,
            self._pair_in_reading_order,
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
        mine = [item for item in self._mine if item not in self.partner]
        return mine, [item for item in self._theirs if item not in self._taken]

    def _lists(self) -> Iterator[tuple[list[Item], list[Item]]]:
        """Yield each two lists of items that are partners, from the outside in.

        Pairs made meanwhile count: their lists come later.
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
        known: dict[ItemId, Item] = {}
        for item in self._theirs:
            known.setdefault((item.known_by, item.item_id), item)
        for item, item_id in ids.items():
            partner = known.get((item.known_by, item_id))
            if partner is not None and self._free(item, partner):
                self._pair(item, partner)

    def _pair_in_place(self) -> None:
        for mine, theirs in self._lists():
            for item, other in zip(mine, theirs, strict=False):
                if self._free(item, other) and item.equals(other):
                    self._pair_whole(item, other)

    def _pair_what_is_there_once(self) -> None:
        mine, theirs = self._left()
        ours, others = _by_content(mine), _by_content(theirs)
        for item in mine:
            content = item.known_by, item.content
            there = others.get(content, [])
            once = len(there) == len(ours[content]) == 1
            # The items around it may have paired both by now.
            if once and self._free(item, there[0]):
                self._pair_whole(item, there[0])

    def _pair_in_reading_order(self) -> None:
        mine, theirs = self._left()
        others = _by_content(theirs)
        for content, items in _by_content(mine).items():
            for item, other in zip(items, others.get(content, ()), strict=False):
                if self._free(item, other):
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
        """Pair the two items with the most votes, then the next that are both left."""

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
        """Return whether the lists of the two are not known to be the same."""
        return mine.within is None or self.partner.get(mine.within) is not theirs.within

    def _pair_beside(self) -> None:
        for mine, theirs in self._lists():
            self._pair_neighbours(mine, theirs, lambda item, other: item.content == other.content)

    def _pair_by_place(self) -> None:
        for mine, theirs in self._lists():
            self._pair_neighbours(mine, theirs, lambda item, other: item.content == other.content)
            self._pair_best(self._likeness(*self._left_of(mine, theirs)))
            self._pair_neighbours(mine, theirs, self._in_place)

    def _left_of(self, mine: list[Item], theirs: list[Item]) -> tuple[list[Item], list[Item]]:
        ours = [item for item in mine if item not in self.partner]
        return ours, [item for item in theirs if item not in self._taken]

    def _pair_neighbours(self, mine: list[Item], theirs: list[Item], agree: Agreeing) -> None:
        """Pair items after partners, from the front; then items before them, from the end."""
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
        self._pair_best(self._likeness(*(_without(copies, items) for items in (mine, theirs))))

    def _pair_likes(self) -> None:
        self._pair_best(self._likeness(*self._left()))

    def _likeness(self, mine: list[Item], theirs: list[Item]) -> Mapping[tuple[Item, Item], int]:
        """Return for each two that may be the same item how much they have in common."""
        ours, others = ({item: _said_of(item) for item in items} for items in (mine, theirs))
        votes = _in_common(ours, others)
        return {pair: votes[pair] for pair in votes if self._may_be_one(*pair)}

    def _may_be_one(self, mine: Item, theirs: Item) -> bool:
        if self._apart(mine, theirs):
            likely = not mine.known_by.inner and mostly_same(mine, theirs)
        else:
            likely = same_form(mine, theirs) or mine.label == theirs.label != ""
        return likely and self._alike(mine, theirs)


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
    holders: dict[ItemTrait, list[Item]] = defaultdict(list)
    for item, values in saying.items():
        for trait in values:
            holders[trait].append(item)
    return holders


def _by_content(items: Iterable[Item]) -> dict[tuple[ItemList, str], list[Item]]:
    found: dict[tuple[ItemList, str], list[Item]] = defaultdict(list)
    for item in items:
        found[item.known_by, item.content].append(item)
    return found


def _without(contents: AbstractSet[tuple[ItemList, str]], items: Iterable[Item]) -> list[Item]:
    return [item for item in items if (item.known_by, item.content) not in contents]


def _from_the_inside_out(known_by: ItemList) -> Iterator[ItemList]:
    """Yield the lists with items that contain others, the innermost first."""
    for inner in known_by.inner:
        if inner.inner:
            yield from _from_the_inside_out(inner)
            yield inner
