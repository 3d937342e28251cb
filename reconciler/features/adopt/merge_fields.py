"""Three-way merge, field by field, of live edits into what git declares. Pure.

The base is what was last applied or adopted. A field that differs from the base live was edited. A
field that differs from the base in git waits to be applied. A field that differs in both is a
conflict, unless live and git are equal. A field that was never declared is the service's own, and
is left alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from reconciler.document import (
    ABSENT,
    Edit,
    Gone,
    ItemPosition,
    Json,
    Key,
    ListItem,
    ListItems,
    Missing,
    Path,
    Put,
    Shape,
    Within,
    aligned,
    another_choice,
    by_identity,
    canonical_text,
    covers,
    exactly,
    homes_in,
    is_zero,
    key_of,
    operation_of,
    same,
    shifted_in,
    texts_in,
    value_at,
)
from reconciler.features.adopt.adoption import Adopted, Conflict, Side
from reconciler.redaction.templates import HIDDEN, Template, holds_seal, written_out
from reconciler.syntax.expressions import (
    OPEN,
    Expression,
    ExpressionKind,
    escaped,
    parts_of,
    refitted,
)
from reconciler.workspace.manifest_edits import spelled_like


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeInputs:
    """One place of a resource, from all sides.

    `written` is what the manifest has there, with expressions. `ours` is the same with expressions
    filled in. `shown` is live, hidden wherever a secret belongs.
    """

    written: Json | Missing
    ours: Json | Missing
    base: Json | Missing
    live: Json | Missing
    shown: Json | Missing

    def at(self, declared: str | int | None, live: str | int | None) -> MergeInputs:
        """Return the sides of a field or item.

        `declared` and `live` are its steps, None where it is absent.
        """
        return MergeInputs(
            written=_inside(self.written, declared),
            ours=_inside(self.ours, declared),
            base=_inside(self.base, declared),
            live=_inside(self.live, live),
            shown=_inside(self.shown, live),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions:
    """The options of a merge: conflicts are resolved for one `side`, or stay open.

    `values` are the texts of expressions, and `refs` the expressions of remote ids. A `plain` merge
    is not about a manifest, and its texts hold no expressions. With `names`, the items of a changed
    list have their identity written out. `unseen` are the fields that the service does not return.
    """

    side: Side | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False
    names: bool = False
    unseen: tuple[Path, ...] = ()


def _inside(document: Json | Missing, step: str | int | None) -> Json | Missing:
    return ABSENT if step is None else value_at(document, (step,))


def has_expressions(text: str) -> bool:
    """Return whether a text of a manifest has an expression."""
    return OPEN in text and any(isinstance(part, Expression) for part in parts_of(text))


def agrees(live: Json | Missing, declared: Json | Missing, shape: Shape) -> bool:
    """Return whether live has what is declared, whatever it adds itself."""
    if declared is ABSENT:
        return is_zero(live, shape.enumeration)
    return shape.are_one(live, declared) if live is ABSENT else covers(live, declared, shape)


def items_of(document: Json | Missing) -> list[Json]:
    """Return the items of a list; none of any other value."""
    return document if isinstance(document, list) else []


def holds_hidden(value: Json | Missing) -> bool:
    """Return whether any part of a live value is hidden."""
    return value is not ABSENT and HIDDEN in texts_in(value)


@dataclass(slots=True, kw_only=True)
class KeyedList:
    """One keyed list: its items are identified by name, and may come from another list."""

    merge: Merged
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
        found = {name: index for index, name in enumerate(self.live)}
        for nth, name in enumerate(self.ours):
            self._declared(name, nth, found.get(name))
        for name, index in found.items():
            if name not in self.ours:
                self._found(name, index)
        items = tuple(self.edits[name] for name in self._order() if name in self.edits)
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

    def _declared(self, name: str, nth: int, index: int | None) -> None:
        """Merge an item that git declares here as number `nth`; live has it as number `index`."""
        place = (*self.path, name)
        origin = (*self.at, nth)
        inner = self.sides.at(nth, index)
        if index is not None:
            inner = replace(inner, base=self._base(name))
            edit = self.merge.at(inner, self.shape.item, place, origin)
            self.edits[name] = ListItem(origin, edit)
        elif not self._moved_away(name):
            inner = replace(inner, base=self.base.get(name, ABSENT))
            if not self._is_gone(name, inner, place):
                self.edits[name] = ListItem(origin)

    def _is_gone(self, name: str, inner: MergeInputs, place: Path) -> bool:
        """Return whether a declared item that live lacks is removed; record that, or a conflict."""
        if self._base(name) is ABSENT:
            return False
        besides = frozenset(self.merge.live)
        # The live value of a secret, if there is one, is in an item that cannot be identified.
        if self.merge.remade and self._hidden(inner, inner.ours, place, besides):
            return False
        if same(self._base(name), inner.ours, exactly(self.shape.item)):
            self.merge.note(inner, place)
            return True
        return self.merge.conflict(inner, place, self.shape.item) is not None

    def _hidden(
        self,
        sides: MergeInputs,
        item: Json | Missing,
        place: Path,
        besides: Container[Key] = frozenset(),
    ) -> bool:
        """Record a conflict at each secret place of an item; return whether there is any."""
        secrets = list(secret_places(item, self.shape.item, besides))
        for path in secrets:
            inner = sides
            for step in path:
                inner = inner.at(str(step), str(step))
            inner = replace(inner, live=HIDDEN, shown=HIDDEN)
            self.merge.conflict(inner, (*place, *path))
        return bool(secrets)

    def _homes(
        self, side: Mapping[Key, Sequence[ItemPosition]], name: str
    ) -> Sequence[ItemPosition]:
        """Return the places of an item in all lists of one side."""
        return side.get(key_of(self.shape, name), ())

    def _base(self, name: str) -> Json | Missing:
        """Return the last applied value of an item, whichever list it was in."""
        if name in self.base:
            return self.base[name]
        homes = self._homes(self.merge.base, name)
        return homes[0].item if len(homes) == 1 else ABSENT

    def _moved_away(self, name: str) -> bool:
        """Return whether live moved an item to another list.

        An item that was declared elsewhere at the base does not count.
        """
        was_here = name in self.base or self._base(name) is ABSENT
        sides = (self.merge.live, self.merge.ours)
        return was_here and all(len(self._homes(side, name)) == 1 for side in sides)

    def _found(self, name: str, index: int) -> None:
        """Merge an item that only live has here."""
        place = (*self.path, name)
        inner = replace(self.sides.at(None, index), base=self._base(name))
        homes = self._homes(self.merge.ours, name)
        if len(homes) == 1 and len(self._homes(self.merge.live, name)) == 1:
            self._arrived(name, index, homes[0], inner)
            return
        if inner.base is not ABSENT:
            if agrees(inner.live, inner.base, self.shape.item) and name in self.base:
                return
            edit = self.merge.conflict(inner, place, self.shape.item)
        elif self._hidden(inner, inner.shown, place):
            return
        else:
            edit = self.merge.take(inner, place, self.shape.item)
        if edit is not None:
            depth, unseen = len(place), self.merge.rules.unseen
            inside = [path[depth:] for path in unseen if path[:depth] == place]
            names = tuple(".".join(map(str, steps)) for steps in inside if steps)
            self.edits[name] = ListItem(None, edit, names)

    def _arrived(self, name: str, index: int, home: ItemPosition, inner: MergeInputs) -> None:
        """Merge an item that git declares in another list, and live has here as number `index`."""
        place, whole = (*self.path, name), self.merge.whole
        at = (*_indexed(whole.ours, home.path, self.merge.shape), home.position)
        inner = replace(inner, ours=home.item, written=value_at(whole.written, at))
        was = self._homes(self.merge.base, name)
        if name in self.base:
            # Git moved the item, and the move is not applied yet.
            return
        if len(was) == 1 and was[0].path != home.path:
            edit = self.merge.conflict(inner, place, self.shape.item)
            if edit is None:
                return
        elif was:
            before: Json = [*was[0].path, was[0].position]
            self.merge.adopted.append(Adopted(place, before, index, "move"))
        else:
            self.merge.note(inner, place)
        self.edits[name] = ListItem(at, self.merge.at(inner, self.shape.item, place, at))

    def _order(self) -> Sequence[str]:
        """Return the names in the order that changed, with new items after their neighbour."""
        ours, base, live = list(self.ours), list(self.base), list(self.live)
        theirs_moved = _among(base, live) != _among(live, base)
        ours_moved = _among(base, ours) != _among(ours, base)
        if theirs_moved and ours_moved and _among(ours, live) != _among(live, ours):
            side = self.merge.side
            self.merge.conflicts.append(
                Conflict(path=self.path, base=[*base], git=[*ours], live=[*live], side=side)
            )
            theirs_moved = side is Side.THEIRS
        elif theirs_moved and not ours_moved:
            self.merge.adopted.extend(self._moves(base, live))
        first, second = (live, ours) if theirs_moved else (ours, live)
        return joined(first, second)

    def _moves(self, base: Sequence[str], live: Sequence[str]) -> Iterator[Adopted]:
        """Yield the smallest set of items that explains the new order, with their moves."""
        was, now = ({name: nth for nth, name in enumerate(names)} for names in (base, live))
        # Reports of drift do the same: they compare live with what was applied.
        shifted = shifted_in([now[name] for name in base if name in now])
        for name, place in now.items():
            if name in was and place in shifted:
                yield Adopted((*self.path, name), was[name], place, "move")


def secret_places(
    document: Json | Missing, shape: Shape, besides: Container[Key] = frozenset()
) -> Iterator[Path]:
    """Yield the places that may hold a secret or are hidden, except in the items `besides`.

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


def _indexed(document: Json | Missing, path: Path, shape: Shape) -> Path:
    """Return a path that counts items, for one that names them by their identity."""
    at: Path = ()
    for step in path:
        own = step
        if isinstance(document, list):
            names = [value_at(item, shape.identity) for item in document]
            own = names.index(step) if isinstance(step, str) else step
        shape = shape.at(str(step)) if isinstance(document, dict) else shape.item
        at, document = (*at, own), value_at(document, (own,))
    return at


MOST_ALIGNED: Final = 400
"""Most items, between a common head and tail of two lists, that are paired by their content."""


def merged(sides: MergeInputs, shape: Shape, rules: MergeOptions) -> Merged:
    """Merge a resource."""
    walk = Merged(shape, sides, rules)
    walk.edit = walk.at(sides, shape, (), ())
    return walk


class Merged:
    """The three-way merge of one resource; without an `edit` nothing is to be done.

    On the walk, `path` names items by identity, `at` counts them as they are written.
    """

    def __init__(self, shape: Shape, sides: MergeInputs, rules: MergeOptions) -> None:
        self.edit: Edit | None = None
        self.adopted: list[Adopted] = []
        self.conflicts: list[Conflict] = []
        self.shape = shape
        self.rules = rules
        self.side = rules.side
        self.whole = sides
        self.ours, self.base, self.live = (
            homes_in(value, shape) for value in (sides.ours, sides.base, sides.live)
        )
        # A new live item may be a secret's item that was deleted and made again by hand.
        known = {*self.ours, *self.base}
        self.remade = any(
            key not in known and any(holds_hidden(home.item) for home in homes)
            for key, homes in homes_in(sides.shown, shape).items()
        )

    @property
    def open(self) -> list[Conflict]:
        """The conflicts that are not resolved."""
        return [conflict for conflict in self.conflicts if conflict.side is None]

    def at(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        """Return the edit of one place; None where it stays as written."""
        if isinstance(sides.ours, dict) and isinstance(sides.live, dict):
            # Only an object of unknown form may be another object, not another version of it.
            mine = [side for side in (sides.ours, sides.base) if isinstance(side, dict)]
            if shape.known or not any(another_choice(side, sides.live) for side in mine):
                return self._within(sides, shape, path, at)
        elif isinstance(sides.ours, list) and isinstance(sides.live, list):
            return self._list(sides, shape, path, at)
        return self._whole(sides, shape, path)

    def _within(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        fields: dict[str, Edit] = {}
        for key in self._keys(sides, shape):
            edit = self._field(sides, key, shape, path, at)
            if edit is not None:
                fields[key] = edit
        return Within(fields) if fields else None

    def _keys(self, sides: MergeInputs, shape: Shape) -> list[str]:
        """Return the fields to merge.

        These are the declared fields, and their alternatives that live has instead.
        """
        known = [value for value in (sides.base, sides.ours) if isinstance(value, dict)]
        declared = list(dict.fromkeys(key for value in known for key in value))
        ousted = shape.ousted_by(dict.fromkeys(declared)) if shape.alternatives else frozenset()
        live = sides.live if isinstance(sides.live, dict) else {}
        return [*declared, *(key for key in live if key in ousted and key not in declared)]

    def _field(
        self, sides: MergeInputs, key: str, shape: Shape, path: Path, at: Path
    ) -> Edit | None:
        inner = sides.at(key, key)
        rivals = [alternative for alternative in shape.alternatives if key in alternative]
        if inner.live is not ABSENT and inner.base is ABSENT and rivals:
            chosen = _chosen(sides.ours, rivals), _chosen(sides.base, rivals)
            if chosen[0] != chosen[1] and inner.ours is ABSENT and isinstance(sides.base, dict):
                return self.conflict(inner, (*path, key))
        return self.at(inner, shape.at(key), (*path, key), (*at, key))

    def _whole(self, sides: MergeInputs, shape: Shape, path: Path) -> Edit | None:
        """Decide on a place as a whole: a value, or something that has another form now."""
        if self._is_settled(sides, shape):
            return None
        if not same(sides.base, sides.ours, exactly(shape)):
            return self.conflict(sides, path, shape)
        return self.take(sides, path, shape)

    def conflict(self, sides: MergeInputs, path: Path, shape: Shape | None = None) -> Edit | None:
        """Record a conflict; return the edit of a conflict that live wins."""
        secret = self._is_secret(sides)
        side = self.side if self.side is Side.OURS or not secret else None
        self.conflicts.append(
            Conflict(
                path=path,
                base=sides.base,
                git=sides.ours,
                live=HIDDEN
                if secret and sides.live is not ABSENT
                else spelled_like(sides.shown, sides.written),
                holds_secret=secret,
                side=side,
            )
        )
        return self._taken(sides, path, shape or Shape()) if side is Side.THEIRS else None

    @staticmethod
    def _is_secret(sides: MergeInputs) -> bool:
        """Return whether live may be a secret that is not known here."""
        if sides.live is ABSENT:
            return False
        belongs = holds_seal(sides.ours) or holds_seal(sides.base)
        return (belongs and not isinstance(sides.live, Template)) or holds_hidden(sides.shown)

    def take(self, sides: MergeInputs, path: Path, shape: Shape) -> Edit | None:
        """Adopt an edit, unless it may hold a secret: then a person has to decide."""
        if self._is_secret(sides):
            return self.conflict(sides, path, shape)
        return self._taken(sides, path, shape)

    def _taken(self, sides: MergeInputs, path: Path, shape: Shape) -> Edit:
        if sides.live is ABSENT:
            self.note(sides, path)
            return Gone()
        value = self._text_of(sides, shape)
        had = isinstance(sides.written, str) and has_expressions(sides.written)
        kept = isinstance(value, str) and has_expressions(value)
        gave_way = str(sides.written) if had and not kept else ""
        self.note(sides, path, gave_way)
        return Put(value)

    def note(self, sides: MergeInputs, path: Path, gave_way: str = "") -> None:
        """Record a field that was edited live."""
        before = sides.base if sides.base is not ABSENT else sides.ours
        after = spelled_like(sides.shown, sides.written)
        operation = operation_of(before, after)
        self.adopted.append(Adopted(path, before, after, operation, gave_way))

    def _text_of(self, sides: MergeInputs, shape: Shape) -> Json:
        """Return a live value as a manifest writes it; expressions are kept where they agree."""
        assert sides.live is not ABSENT  # noqa: S101 - asked before
        live: Json = spelled_like(sides.live, sides.written, shape)
        if isinstance(live, str) and isinstance(sides.written, str) and not self.rules.plain:
            fitted = None if isinstance(live, Template) else self._refitted(sides.written, live)
            if fitted is not None:
                return fitted
        return self.out(live)

    def out(self, value: Json) -> Json:
        """Return a value as it is written in a manifest."""
        return value if self.rules.plain else written_out(value)

    def _refitted(self, text: str, live: str) -> str | None:
        """Return `live` with the expressions of `text`; None where that is not unique."""
        found = [part for part in parts_of(text) if isinstance(part, Expression)]
        if [expression.spot.written for expression in found] == [text]:
            return self.rules.refs.get(live) if found[0].word is ExpressionKind.REFERENCE else None
        values = self.rules.values
        known = [(part, values.get(part.spot.written, "")) for part in found]
        fitted = refitted(escaped(live), known) if found else None
        filled = "".join(
            part if isinstance(part, str) else values.get(part.spot.written, "")
            for part in parts_of(fitted or "")
            if isinstance(part, str | Expression)
        )
        return fitted if filled == live else None

    def _list(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        ours, base, live = (
            by_identity(items_of(side), shape) for side in (sides.ours, sides.base, sides.live)
        )
        if ours is not None and base is not None and live is not None:
            return KeyedList(
                merge=self,
                sides=sides,
                shape=shape,
                path=path,
                at=at,
                ours=ours,
                base=base,
                live=live,
            ).edit()
        items = (*items_of(sides.ours), *items_of(sides.live))
        if any(isinstance(item, dict | list) for item in items):
            return self._unnamed(sides, shape, path, at)
        if shape.unordered:
            return self._set(sides, path, at)
        return self._plain_list(sides, shape, path, at)

    def _plain_list(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        """Decide on a list of values as a whole; a value that is still there keeps its spelling."""
        edit = self._whole(sides, shape, path)
        if not isinstance(edit, Put) or not isinstance(sides.live, list):
            return edit
        ours = [canonical_text(value) for value in items_of(sides.ours)]
        items: list[ListItem] = []
        for value in sides.live:
            text = canonical_text(value)
            if text in ours:
                nth = ours.index(text)
                ours[nth] = ""
                items.append(ListItem((*at, nth)))
            else:
                items.append(ListItem(None, Put(self.out(value))))
        return ListItems(tuple(items))

    def _set(self, sides: MergeInputs, path: Path, at: Path) -> Edit | None:
        """Merge a list without an order: additions and removals of either side."""
        if self._is_secret(sides):
            return self.conflict(sides, path)
        both = (items_of(side) for side in (sides.base, sides.live))
        base, live = ({canonical_text(value) for value in items} for items in both)
        ours = [canonical_text(value) for value in items_of(sides.ours)]
        stay = [nth for nth, text in enumerate(ours) if text in live or text not in base]
        new = [
            value
            for value in items_of(sides.live)
            if canonical_text(value) not in base and canonical_text(value) not in ours
        ]
        if not new and len(stay) == len(ours):
            return None
        self.note(sides, path)
        kept = [ListItem((*at, nth)) for nth in stay]
        return ListItems((*kept, *(ListItem(None, Put(self.out(value))) for value in new)))

    @staticmethod
    def _is_settled(sides: MergeInputs, shape: Shape) -> bool:
        """Return whether live equals git or the base, so that there is no edit to adopt."""
        return agrees(sides.live, sides.ours, shape) or agrees(sides.live, sides.base, shape)

    def _unnamed(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        """Merge a list of objects without names, by position where positions agree."""
        ours, base, live = items_of(sides.ours), items_of(sides.base), items_of(sides.live)
        if len(ours) != len(base) and self._is_settled(sides, shape):
            return None
        if len(ours) == len(base) == len(live):
            pairs: list[int | None] = list(range(len(live)))
        elif same(sides.base, sides.ours, exactly(shape)):
            pairs = _partners(base, live, shape.item)
        else:
            return self.conflict(sides, path, shape)
        items: list[ListItem] = []
        for index, nth in enumerate(pairs):
            inner = sides.at(nth, index)
            place = (*path, index)
            if nth is None:
                edit = self.take(inner, place, shape.item)
                items.extend([ListItem(None, edit)] if isinstance(edit, Put) else [])
            else:
                items.append(ListItem((*at, nth), self.at(inner, shape.item, place, (*at, nth))))
        for nth in sorted(set(range(len(base))) - {pair for pair in pairs if pair is not None}):
            self.note(sides.at(nth, None), (*path, nth))
        before = [ListItem((*at, nth)) for nth in range(len(ours))]
        return None if items == before else ListItems(tuple(items))


def _chosen(document: Json | Missing, rivals: Sequence[frozenset[str]]) -> frozenset[str]:
    known = set(document) if isinstance(document, dict) else set()
    return frozenset(known.intersection(*rivals))


def _partners(base: list[Json], live: list[Json], shape: Shape) -> list[int | None]:
    """Return the declared item of each live item, by position and content."""
    pairs = {theirs: mine for mine, theirs in aligned(base, live, shape)}
    mine = [nth for nth in range(len(base)) if nth not in pairs.values()]
    theirs = [nth for nth in range(len(live)) if nth not in pairs]
    if max(len(mine), len(theirs)) <= MOST_ALIGNED:
        start = 0
        for index in theirs:
            held = (nth for nth in mine[start:] if covers(live[index], base[nth], shape))
            found = next(held, None)
            if found is not None:
                pairs[index] = found
                start = mine.index(found) + 1
    return _with_neighbours(pairs, len(base), len(live))


def _with_neighbours(pairs: dict[int, int], before: int, after: int) -> list[int | None]:
    """Pair the items between two known pairs in order."""
    found: list[int | None] = []
    free = 0
    for index in range(after):
        if index in pairs:
            free = pairs[index] + 1
            found.append(pairs[index])
            continue
        following = min((pairs[pair] for pair in pairs if pair > index), default=before)
        found.append(free if free < following else None)
        free += found[-1] is not None
    return found
