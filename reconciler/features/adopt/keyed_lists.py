"""Three-way merge of a keyed list: items have names and can move between lists. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from reconciler.document import (
    ABSENT,
    Edit,
    Json,
    Key,
    ListItem,
    ListItems,
    Missing,
    Path,
    Put,
    Shape,
    Within,
    by_identity,
    exactly,
    key_of,
    same,
    shifted_in,
    stored_name,
    value_at,
)
from reconciler.features.adopt.adoption import Adopted, Conflict, Side
from reconciler.features.adopt.merge_sides import (
    Merged,
    MergeInputs,
    MergeOptions,
    agrees,
    holds_hidden,
    sides_of,
)
from reconciler.redaction.templates import HIDDEN, holds_seal


@dataclass(frozen=True, slots=True)
class KeyedItem:
    """The place of a list item: its index path, the name path of its list, and the item itself."""

    at: Path
    holder: Path
    item: Json


KeyedItems: TypeAlias = dict[Key, list[KeyedItem]]


class Merge(Protocol):
    """The walk that meets a list; `ours`, `base` and `live` map items to their places."""

    rules: MergeOptions
    side: Side | None
    result: Merged
    whole: MergeInputs
    ours: KeyedItems
    base: KeyedItems
    live: KeyedItems
    remade: bool
    """Whether a new live item may be a secret's item that was deleted and made again by hand."""

    def at(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        """Return the edit of one place."""

    def note(self, sides: MergeInputs, path: Path, gave_way: str = "") -> None:
        """Record what is adopted."""

    def take(self, sides: MergeInputs, path: Path, shape: Shape) -> Edit | None:
        """Adopt a live edit."""

    def conflict(self, sides: MergeInputs, path: Path, shape: Shape | None = None) -> Edit | None:
        """Record a conflict, and return its edit where it was resolved for live."""


@dataclass(slots=True, kw_only=True)
class KeyedList:
    """One keyed list: its items are identified by name, and may come from another list."""

    merge: Merge
    sides: MergeInputs
    shape: Shape
    path: Path
    at: Path
    ours: Mapping[str, Json]
    base: Mapping[str, Json]
    live: Mapping[str, Json]
    edits: dict[str, ListItem] = field(default_factory=dict)

    def edit(self) -> Edit | None:
        """Return the edit of the list."""
        places = {name: nth for nth, name in enumerate(self.ours)}
        for name, nth in places.items():
            self._declared(name, nth)
        for index, name in enumerate(self.live):
            if name not in self.ours:
                self._found(name, index)
        order = self._order()
        items = tuple(self.edits[name] for name in order if name in self.edits)
        before = tuple(ListItem((*self.at, nth)) for nth in range(len(self.ours)))
        if items == before:
            return None
        origins = [item.origin for item in items] == [item.origin for item in before]
        if self.merge.rules.names and not origins:
            items = tuple(self._named(item) for item in items)
        return ListItems(items)

    def _named(self, item: ListItem) -> ListItem:
        """Return an item with its identity written out, where position no longer identifies it.

        Nothing is added where the manifest already has the identity.
        """
        written = value_at(self.merge.whole.written, item.origin or ())
        name = value_at(self.merge.whole.ours, (*(item.origin or ()), *self.shape.identity))
        known = value_at(written, self.shape.identity) is not ABSENT
        if item.origin is None or known or not isinstance(name, str):
            return item
        value: Json = name
        for step in reversed(self.shape.identity[1:]):
            value = {step: value}
        own = item.edit.fields if isinstance(item.edit, Within) else {}
        return ListItem(item.origin, Within({self.shape.identity[0]: Put(value), **own}))

    def _declared(self, name: str, nth: int) -> None:
        """Merge an item that git declares here."""
        place = (*self.path, name)
        inner = self._sides(name, nth)
        origin = (*self.at, nth)
        if name in self.live:
            inner = replace(inner, base=self._base(name))
            self.edits[name] = ListItem(
                origin, self.merge.at(inner, self.shape.item, place, origin)
            )
            return
        if self._moved_away(name):
            return
        if self._base(name) is ABSENT:
            self.edits[name] = ListItem(origin)
            return
        if self.merge.remade and (secrets := self._gone_secrets(inner.ours)):
            for inside in secrets:
                # The live value, if there is one, is in an item that cannot be identified.
                self.merge.conflict(_inside(inner, inside), (*place, *inside))
            self.edits[name] = ListItem(origin)
            return
        if same(self._base(name), inner.ours, exactly(self.shape.item)):
            self.merge.note(inner, place)
            return
        gone = self.merge.conflict(inner, place, self.shape.item)
        if gone is None:
            self.edits[name] = ListItem(origin)

    def _gone_secrets(self, item: Json | Missing) -> list[Path]:
        """Return the secrets of an item, but for items that live has under the same name."""
        places = secret_places(item, self.shape.item, frozenset(self.merge.live))
        return list(places)

    def _sides(self, name: str, nth: int) -> MergeInputs:
        index = list(self.live).index(name) if name in self.live else None
        sides = sides_of(self.sides, nth, index)
        return replace(sides, base=self.base.get(name, ABSENT))

    def _key(self, name: str) -> Key:
        return key_of(self.shape, name)

    def _base(self, name: str) -> Json | Missing:
        """Return what was last applied of an item, in whichever list it was then."""
        if name in self.base:
            return self.base[name]
        homes = self.merge.base.get(self._key(name), [])
        return homes[0].item if len(homes) == 1 else ABSENT

    def _moved_away(self, name: str) -> bool:
        """Return whether live moved an item to another list.

        An item that was declared elsewhere at the base does not count.
        """
        homes = self.merge.live.get(self._key(name), [])
        was_here = name in self.base or self._base(name) is ABSENT
        return len(homes) == 1 and was_here and self._once(name)

    def _once(self, name: str) -> bool:
        return len(self.merge.ours.get(self._key(name), [])) == 1

    def _found(self, name: str, index: int) -> None:
        """Merge an item that only live has here."""
        place = (*self.path, name)
        inner = replace(sides_of(self.sides, None, index), base=self._base(name))
        homes = self.merge.ours.get(self._key(name), [])
        lone = len(self.merge.live.get(self._key(name), [])) == 1
        if len(homes) == 1 and lone:
            self._arrived(name, homes[0], inner)
            return
        if inner.base is not ABSENT:
            if agrees(inner.live, inner.base, self.shape.item) and name in self.base:
                return
            edit = self.merge.conflict(inner, place, self.shape.item)
        elif hidden := list(secret_places(inner.shown, self.shape.item)):
            for inside in hidden:
                self.merge.conflict(_inside(inner, inside), (*place, *inside))
            return
        else:
            edit = self.merge.take(inner, place, self.shape.item)
        if edit is not None:
            self.edits[name] = ListItem(None, edit, self._unreported(place))

    def _unreported(self, place: Path) -> tuple[str, ...]:
        """Return the fields of an item that the service does not return, as dotted paths."""
        inside = [
            pair[len(place) :] for pair in self.merge.rules.unseen if pair[: len(place)] == place
        ]
        return tuple(".".join(map(str, steps)) for steps in inside if steps)

    def _arrived(self, name: str, home: KeyedItem, inner: MergeInputs) -> None:
        """Merge an item that git declares in another list."""
        place = (*self.path, name)
        written = value_at(self.merge.whole.written, home.at)
        inner = replace(inner, ours=home.item, written=written)
        was = self.merge.base.get(self._key(name), [])
        if name in self.base:
            # Git moved the item, and the move is not applied yet.
            return
        if len(was) == 1 and was[0].holder != home.holder:
            edit = self.merge.conflict(inner, place, self.shape.item)
            if edit is None:
                return
        else:
            self.merge.note(inner, place)
        edit = self.merge.at(inner, self.shape.item, place, home.at)
        self.edits[name] = ListItem(home.at, edit)

    def _order(self) -> Sequence[str]:
        """Return the names in the order that changed, with new items after their neighbour."""
        ours, base, live = list(self.ours), list(self.base), list(self.live)
        theirs_moved = _among(base, live) != _among(live, base)
        ours_moved = _among(base, ours) != _among(ours, base)
        if theirs_moved and ours_moved and _among(ours, live) != _among(live, ours):
            orders = (_names(element) for element in (base, ours, live))
            before, declared, found = orders
            side = self.merge.side
            self.merge.result.conflicts.append(
                Conflict(path=self.path, base=before, git=declared, live=found, side=side)
            )
            theirs_moved = side is Side.THEIRS
        elif theirs_moved and not ours_moved:
            self.merge.result.adopted.extend(self._moves(base, live))
        first, second = (live, ours) if theirs_moved else (ours, live)
        return joined(first, second)

    def _moves(self, base: Sequence[str], live: Sequence[str]) -> Iterator[Adopted]:
        """Yield the smallest set of items that explains the new order, with their moves."""
        was = {name: place for place, name in enumerate(base)}
        shifted = shifted_in([was[name] for name in live if name in was])
        for place, name in enumerate(live):
            if was.get(name) in shifted:
                path = (*self.path, name)
                yield Adopted(path=path, before=was[name], after=place, moves=True)


def secret_places(
    document: Json | Missing, shape: Shape, besides: Container[Key] = frozenset()
) -> Iterator[Path]:
    """Yield the places that may hold a secret or are hidden, except items with some names.

    A list of items without names is one place.
    """
    if not (holds_seal(document) or holds_hidden(document)):
        return
    if isinstance(document, dict):
        for key, value in document.items():
            inner = secret_places(value, shape.at(key), besides)
            yield from ((key, *inside) for inside in inner)
        return
    named = by_identity(document, shape) if isinstance(document, list) else None
    for name, item in (named or {}).items():
        if key_of(shape, name) not in besides:
            yield from ((name, *inside) for inside in secret_places(item, shape.item, besides))
    if named is None:
        yield ()


def _inside(sides: MergeInputs, path: Path) -> MergeInputs:
    """Return the sides of a place inside an item where a secret is, or something is hidden.

    The live value there is always shown as hidden.
    """
    for step in path:
        sides = sides.at(str(step))
    return replace(sides, live=HIDDEN, shown=HIDDEN)


def _names(names: Sequence[str]) -> Json:
    return [*names]


def _among(names: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name in known]


def joined(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the names of two lists in the order of the first, others after their neighbour."""
    names = list(first)
    known = set(names)
    after = -1
    for name in second:
        if name in known:
            after = names.index(name)
        else:
            after += 1
            names.insert(after, name)
            known.add(name)
    return names


def homes_of(document: Json | Missing, shape: Shape) -> KeyedItems:
    """Return the places of the items of all keyed lists, by key."""
    homes: KeyedItems = {}
    for key, place in _places(document, shape, (), ()):
        homes.setdefault(key, []).append(place)
    return homes


def _places(
    document: Json | Missing, shape: Shape, path: Path, at: Path
) -> Iterator[tuple[Key, KeyedItem]]:
    if not shape.known:
        return
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _places(value, shape.at(key), (*path, key), (*at, key))
    elif isinstance(document, list):
        for nth, item in enumerate(document):
            name = value_at(item, shape.identity) if shape.identity else ABSENT
            place = (*path, stored_name(name) if isinstance(name, str) else nth)
            if isinstance(name, str):
                yield key_of(shape, name), KeyedItem((*at, nth), path, item)
            yield from _places(item, shape.item, place, (*at, nth))
