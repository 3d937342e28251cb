"""Three-way, field by field: what others changed live, into what git declares. Pure.

The base is what was last applied or adopted. A field that differs from it live was edited; one
that differs from it in git waits to be applied. A field that differs in both is a conflict,
unless both say the same. What nobody ever declared is the service's own, and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from reconciler.document import (
    ABSENT,
    Edit,
    Gone,
    Item,
    Items,
    Json,
    Key,
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
    is_zero,
    key_of,
    same,
    stored_name,
    value_at,
)
from reconciler.expressions import LITERAL, OPEN, Expression, Word, expression, parts_of
from reconciler.resource import Adopted, Conflict, Side
from reconciler.sealed import HIDDEN, RefHole, SecretHole, Template, holds_seal

MOST_ALIGNED: Final = 400
"""Items between a common head and tail of two lists that are paired by what they hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """One place of a resource, from all sides.

    `written` is what the manifest says there, expressions and all, `ours` the same filled in,
    and `shown` what is live, hidden wherever a secret belongs.
    """

    written: Json | Missing
    ours: Json | Missing
    base: Json | Missing
    live: Json | Missing
    shown: Json | Missing

    def at(self, key: str) -> Sides:
        """Give the sides of a field."""
        return Sides(
            written=_field(self.written, key),
            ours=_field(self.ours, key),
            base=_field(self.base, key),
            live=_field(self.live, key),
            shown=_field(self.shown, key),
        )


@dataclass(slots=True)
class Merged:
    """What a three-way merge of one resource came to; without an edit nothing is to be done."""

    edit: Edit | None = None
    adopted: list[Adopted] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    @property
    def open(self) -> list[Conflict]:
        """The conflicts that nobody resolved."""
        return [one for one in self.conflicts if one.side is None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a merge goes: conflicts go to one `side`, or stay open.

    `values` are the texts that expressions stand for, and `refs` the expressions that stand for
    remote ids. What is `plain` is no manifest and holds no expressions. With `names`, the items of
    a list that changes have their identity written out.
    """

    side: Side | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False
    names: bool = False


ASKING: Final = Rules()


def merged(sides: Sides, shape: Shape, rules: Rules = ASKING) -> Merged:
    """Merge a resource."""
    walk = _Merge(shape, sides, rules)
    walk.result.edit = walk.at(sides, shape, (), ())
    return walk.result


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an item of a keyed list stands: its index path, the list's name path, and itself."""

    at: Path
    holder: Path
    item: Json


_Homes: TypeAlias = dict[Key, list[_Place]]


class _Merge:
    """The walk: `path` names items as people do, `at` counts them as they are written."""

    def __init__(self, shape: Shape, sides: Sides, rules: Rules) -> None:
        self.rules = rules
        self.side = rules.side
        self.result = Merged()
        self.whole = sides
        self.ours, self.base, self.live = (
            _homes(one, shape) for one in (sides.ours, sides.base, sides.live)
        )

    def at(self, sides: Sides, shape: Shape, path: Path, at: Path) -> Edit | None:
        """Give the edit of one place; None where it stays as it is written."""
        if _agrees(sides.live, sides.ours, shape):
            return None
        if _agrees(sides.live, sides.base, shape):
            return None
        if isinstance(sides.ours, dict) and isinstance(sides.live, dict):
            if not self._is_one_choice(sides, shape):
                return self._within(sides, shape, path, at)
        elif isinstance(sides.ours, list) and isinstance(sides.live, list):
            return self._list(sides, shape, path, at)
        return self._whole(sides, shape, path)

    def _is_one_choice(self, sides: Sides, shape: Shape) -> bool:
        """Tell whether an object that nobody knows is another one live, and no other version."""
        if shape.known or not isinstance(sides.live, dict):
            return False
        mine = [one for one in (sides.ours, sides.base) if isinstance(one, dict)]
        return any(another_choice(one, sides.live) for one in mine)

    def _within(self, sides: Sides, shape: Shape, path: Path, at: Path) -> Edit | None:
        fields: dict[str, Edit] = {}
        for key in self._keys(sides, shape):
            edit = self._field(sides, key, shape, path, at)
            if edit is not None:
                fields[key] = edit
        return Within(fields) if fields else None

    def _keys(self, sides: Sides, shape: Shape) -> list[str]:
        """Give the fields to look at: all declared ones, and what live chose instead of one."""
        known = [one for one in (sides.base, sides.ours) if isinstance(one, dict)]
        declared = list(dict.fromkeys(key for one in known for key in one))
        ousted = shape.ousted_by(dict.fromkeys(declared)) if shape.alternatives else frozenset()
        live = sides.live if isinstance(sides.live, dict) else {}
        return [*declared, *(key for key in live if key in ousted and key not in declared)]

    def _field(self, sides: Sides, key: str, shape: Shape, path: Path, at: Path) -> Edit | None:
        inner = sides.at(key)
        rivals = [one for one in shape.alternatives if key in one]
        if inner.live is not ABSENT and inner.base is ABSENT and rivals:
            chosen = _chosen(sides.ours, rivals), _chosen(sides.base, rivals)
            if chosen[0] != chosen[1] and inner.ours is ABSENT and isinstance(sides.base, dict):
                return self.conflict(inner, (*path, key))
        return self.at(inner, shape.at(key), (*path, key), (*at, key))

    def _whole(self, sides: Sides, shape: Shape, path: Path) -> Edit | None:
        """Decide on a place as one: a value, or something that is of another form by now."""
        if not same(sides.base, sides.ours, exactly(shape)):
            return self.conflict(sides, path, shape)
        return self.take(sides, path, shape)

    def conflict(self, sides: Sides, path: Path, shape: Shape | None = None) -> Edit | None:
        secret = self._is_secret(sides)
        side = self.side if self.side is Side.OURS or not secret else None
        self.result.conflicts.append(
            Conflict(
                path=path,
                base=sides.base,
                git=sides.ours,
                live=HIDDEN if secret and sides.live is not ABSENT else sides.shown,
                holds_secret=secret,
                side=side,
            )
        )
        return self._taken(sides, path, shape or Shape()) if side is Side.THEIRS else None

    @staticmethod
    def _is_secret(sides: Sides) -> bool:
        """Tell whether what is live may be a secret that nobody here knows."""
        if sides.live is ABSENT:
            return False
        belongs = holds_seal(sides.ours) or holds_seal(sides.base)
        is_known = isinstance(sides.live, Template)
        return (belongs and not is_known) or _holds_hidden(sides.shown)

    def take(self, sides: Sides, path: Path, shape: Shape) -> Edit | None:
        """Take over an edit, unless it may hold a secret: then a person has to decide."""
        if self._is_secret(sides):
            return self.conflict(sides, path, shape)
        return self._taken(sides, path, shape)

    def _taken(self, sides: Sides, path: Path, shape: Shape) -> Edit:
        if sides.live is ABSENT:
            self.note(sides, path)
            return Gone()
        value = self._text_of(sides, shape)
        had = isinstance(sides.written, str) and _expressions(sides.written)
        kept = isinstance(value, str) and _expressions(value)
        gave_way = str(sides.written) if had and not kept else ""
        self.note(sides, path, gave_way)
        return Put(value)

    def note(self, sides: Sides, path: Path, gave_way: str = "") -> None:
        before = sides.base if sides.base is not ABSENT else sides.ours
        adopted = Adopted(path=path, before=before, after=sides.shown, gave_way=gave_way)
        self.result.adopted.append(adopted)

    def _text_of(self, sides: Sides, shape: Shape) -> Json:
        """Give a live value as a manifest says it: expressions kept as far as they agree."""
        live = sides.live
        assert live is not ABSENT  # noqa: S101 - asked before
        if shape.numeric_text and _is_number(sides.written) and _spells_number(live):
            return int(str(live))
        if isinstance(live, str) and isinstance(sides.written, str) and not self.rules.plain:
            fitted = None if isinstance(live, Template) else self._refitted(sides.written, live)
            if fitted is not None:
                return fitted
        return self.out(live)

    def out(self, value: Json) -> Json:
        """Give a value as it is written."""
        return value if self.rules.plain else written_out(value)

    def _refitted(self, text: str, live: str) -> str | None:
        """Give a text with the expressions of another one; None where there is no one way to."""
        found = [one for one in parts_of(text) if isinstance(one, Expression)]
        if [one.spot.written for one in found] == [text]:
            return self.rules.refs.get(live) if found[0].word is Word.REFERENCE else None
        rest, said = live, ""
        for one in found:
            value = self.rules.values.get(one.spot.written, "")
            if not value or rest.count(value) != 1:
                return None
            before, rest = rest.split(value)
            said += escaped(before) + one.spot.written
        return said + escaped(rest) if found else None

    def _list(self, sides: Sides, shape: Shape, path: Path, at: Path) -> Edit | None:
        named = [
            by_identity(one if isinstance(one, list) else [], shape)
            for one in (sides.ours, sides.base, sides.live)
        ]
        ours, base, live = named
        if ours is not None and base is not None and live is not None:
            return _KeyedList(self, sides, shape, path, at, ours, base, live).edit()
        holds = [one for one in (sides.ours, sides.live) if isinstance(one, list)]
        if any(isinstance(item, dict | list) for one in holds for item in one):
            return self._unnamed(sides, shape, path, at)
        if shape.unordered:
            return self._set(sides, path, at)
        return self._plain_list(sides, shape, path, at)

    def _plain_list(self, sides: Sides, shape: Shape, path: Path, at: Path) -> Edit | None:
        """Decide on a list of values as one, and keep each that is still there as it is written."""
        edit = self._whole(sides, shape, path)
        if not isinstance(edit, Put) or not isinstance(sides.live, list):
            return edit
        ours = [canonical_text(one) for one in _items(sides.ours)]
        items: list[Item] = []
        for value in sides.live:
            text = canonical_text(value)
            nth = ours.index(text) if text in ours else -1
            items.append(Item((*at, nth)) if nth >= 0 else Item(None, Put(self.out(value))))
            if nth >= 0:
                ours[nth] = ""
        return Items(tuple(items))

    def _set(self, sides: Sides, path: Path, at: Path) -> Edit | None:
        """Merge a list without an order: what came and what went, on either side."""
        if self._is_secret(sides):
            return self.conflict(sides, path)
        both = (_items(side) for side in (sides.base, sides.live))
        base, live = ({canonical_text(one) for one in items} for items in both)
        ours = [canonical_text(one) for one in _items(sides.ours)]
        stay = [nth for nth, one in enumerate(ours) if one in live or one not in base]
        new = [
            one
            for one in _items(sides.live)
            if canonical_text(one) not in base and canonical_text(one) not in ours
        ]
        if not new and len(stay) == len(ours):
            return None
        self.note(sides, path)
        kept = [Item((*at, nth)) for nth in stay]
        return Items((*kept, *(Item(None, Put(self.out(one))) for one in new)))

    def _unnamed(self, sides: Sides, shape: Shape, path: Path, at: Path) -> Edit | None:
        """Merge a list of objects that have no names: by their places, as far as those agree."""
        ours, base, live = _items(sides.ours), _items(sides.base), _items(sides.live)
        if len(ours) == len(base) == len(live):
            pairs: list[int | None] = list(range(len(live)))
        elif same(sides.base, sides.ours, exactly(shape)):
            pairs = _partners(base, live, shape.item)
        else:
            return self.conflict(sides, path, shape)
        items: list[Item] = []
        for index, nth in enumerate(pairs):
            inner = sides_of(sides, nth, index)
            place = (*path, index)
            if nth is None:
                edit = self.take(inner, place, shape.item)
                items.extend([Item(None, edit)] if isinstance(edit, Put) else [])
            else:
                items.append(Item((*at, nth), self.at(inner, shape.item, place, (*at, nth))))
        for nth in sorted(set(range(len(base))) - {one for one in pairs if one is not None}):
            self.note(sides_of(sides, nth, None), (*path, nth))
        before = [Item((*at, nth)) for nth in range(len(ours))]
        return None if items == before else Items(tuple(items))


def sides_of(sides: Sides, nth: int | None, index: int | None) -> Sides:
    """Give the sides of an item: the one declared as number `nth`, which is `index` live."""
    return Sides(
        written=_nth(sides.written, nth),
        ours=_nth(sides.ours, nth),
        base=_nth(sides.base, nth),
        live=_nth(sides.live, index),
        shown=_nth(sides.shown, index),
    )


@dataclass(slots=True)
class _KeyedList:
    """One keyed list: items are told apart by their names, and may come from another list."""

    merge: _Merge
    sides: Sides
    shape: Shape
    path: Path
    at: Path
    ours: Mapping[str, Json]
    base: Mapping[str, Json]
    live: Mapping[str, Json]
    edits: dict[str, Item] = field(default_factory=dict)

    def edit(self) -> Edit | None:
        """Give the edit of the list."""
        places = {name: nth for nth, name in enumerate(self.ours)}
        for name, nth in places.items():
            self._declared(name, nth)
        for index, name in enumerate(self.live):
            if name not in self.ours:
                self._found(name, index)
        order = self._order()
        items = tuple(self.edits[name] for name in order if name in self.edits)
        before = tuple(Item((*self.at, nth)) for nth in range(len(self.ours)))
        if items == before:
            return None
        origins = [item.origin for item in items] == [item.origin for item in before]
        if self.merge.rules.names and not origins:
            items = tuple(self._named(item) for item in items)
        return Items(items)

    def _named(self, item: Item) -> Item:
        """Give an item with the identity that nobody wrote, as its place tells it no more."""
        written = value_at(self.merge.whole.written, item.origin or ())
        name = value_at(self.merge.whole.ours, (*(item.origin or ()), *self.shape.identity))
        known = value_at(written, self.shape.identity) is not ABSENT
        if item.origin is None or known or not isinstance(name, str):
            return item
        value: Json = name
        for step in reversed(self.shape.identity[1:]):
            value = {step: value}
        own = item.edit.fields if isinstance(item.edit, Within) else {}
        return Item(item.origin, Within({self.shape.identity[0]: Put(value), **own}))

    def _declared(self, name: str, nth: int) -> None:
        """Take an item that git declares here."""
        place = (*self.path, name)
        inner = self._sides(name, nth)
        origin = (*self.at, nth)
        if name in self.live:
            inner = replace(inner, base=self._base(name))
            self.edits[name] = Item(origin, self.merge.at(inner, self.shape.item, place, origin))
            return
        if self._moved_away(name):
            return
        if self._base(name) is ABSENT:
            self.edits[name] = Item(origin)
            return
        if same(self._base(name), inner.ours, exactly(self.shape.item)):
            self.merge.note(inner, place)
            return
        gone = self.merge.conflict(inner, place, self.shape.item)
        if gone is None:
            self.edits[name] = Item(origin)

    def _sides(self, name: str, nth: int) -> Sides:
        index = list(self.live).index(name) if name in self.live else None
        sides = sides_of(self.sides, nth, index)
        return replace(sides, base=self.base.get(name, ABSENT))

    def _key(self, name: str) -> Key:
        return key_of(self.shape, name)

    def _base(self, name: str) -> Json | Missing:
        """Give what was last applied of an item, in whatever list it stood then."""
        if name in self.base:
            return self.base[name]
        homes = self.merge.base.get(self._key(name), [])
        return homes[0].item if len(homes) == 1 else ABSENT

    def _moved_away(self, name: str) -> bool:
        """Tell whether others put an item into another list, as far as it was here before."""
        homes = self.merge.live.get(self._key(name), [])
        was_here = name in self.base or self._base(name) is ABSENT
        return len(homes) == 1 and was_here and self._once(name)

    def _once(self, name: str) -> bool:
        return len(self.merge.ours.get(self._key(name), [])) == 1

    def _found(self, name: str, index: int) -> None:
        """Take an item that is here live only."""
        place = (*self.path, name)
        inner = replace(sides_of(self.sides, None, index), base=self._base(name))
        homes = self.merge.ours.get(self._key(name), [])
        lone = len(self.merge.live.get(self._key(name), [])) == 1
        if len(homes) == 1 and lone:
            self._arrived(name, homes[0], inner)
            return
        if inner.base is not ABSENT:
            if _agrees(inner.live, inner.base, self.shape.item) and name in self.base:
                return
            edit = self.merge.conflict(inner, place, self.shape.item)
        else:
            edit = self.merge.take(inner, place, self.shape.item)
        if edit is not None:
            self.edits[name] = Item(None, edit)

    def _arrived(self, name: str, home: _Place, inner: Sides) -> None:
        """Take an item that git declares in another list."""
        place = (*self.path, name)
        written = value_at(self.merge.whole.written, home.at)
        inner = replace(inner, ours=home.item, written=written)
        was = self.merge.base.get(self._key(name), [])
        if name in self.base:
            # Git moved it, and it waits to be applied.
            return
        if len(was) == 1 and was[0].holder != home.holder:
            edit = self.merge.conflict(inner, place, self.shape.item)
            if edit is None:
                return
        else:
            self.merge.note(inner, place)
        edit = self.merge.at(inner, self.shape.item, place, home.at)
        self.edits[name] = Item(home.at, edit)

    def _order(self) -> Sequence[str]:
        """Give the order of the list: that which changed, what is new behind its neighbour."""
        ours, base, live = list(self.ours), list(self.base), list(self.live)
        theirs_moved = _among(base, live) != _among(live, base)
        ours_moved = _among(base, ours) != _among(ours, base)
        if theirs_moved and ours_moved and _among(ours, live) != _among(live, ours):
            names = (_names(one) for one in (base, ours, live))
            stood, declared, are = names
            side = self.merge.side
            self.merge.result.conflicts.append(
                Conflict(path=self.path, base=stood, git=declared, live=are, side=side)
            )
            theirs_moved = side is Side.THEIRS
        elif theirs_moved and not ours_moved:
            self.merge.result.adopted.append(
                Adopted(path=self.path, before=_names(base), after=_names(live))
            )
        first, second = (live, ours) if theirs_moved else (ours, live)
        return _joined(first, second)


def _names(names: Sequence[str]) -> Json:
    return [*names]


def _among(names: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return [one for one in names if one in known]


def _joined(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Give all names of two lists in the order of the first, others behind their neighbour."""
    joined = list(first)
    known = set(joined)
    after = -1
    for name in second:
        if name in known:
            after = joined.index(name)
        else:
            after += 1
            joined.insert(after, name)
            known.add(name)
    return joined


def written_out(value: Json) -> Json:
    """Give a value as a manifest says it: known secrets as expressions, and texts as texts."""
    if isinstance(value, dict):
        return {key: written_out(one) for key, one in value.items()}
    if isinstance(value, list):
        return [written_out(one) for one in value]
    if isinstance(value, Template):
        return "".join(map(_part, value.parts))
    return escaped(value) if isinstance(value, str) else value


def _part(part: str | SecretHole | RefHole) -> str:
    match part:
        case SecretHole(name=name):
            return expression(Word.SECRET, name)
        case RefHole(ref=ref):
            return expression(Word.REFERENCE, str(ref))
        case str():
            return escaped(part)


def escaped(text: str) -> str:
    """Give a text as a manifest has to say it, so that none of it is an expression."""
    if OPEN not in text or list(parts_of(text)) == [text]:
        return text
    return text.replace(OPEN, LITERAL)


def _expressions(text: str) -> bool:
    return OPEN in text and any(isinstance(one, Expression) for one in parts_of(text))


def _agrees(live: Json | Missing, declared: Json | Missing, shape: Shape) -> bool:
    """Tell whether live holds what is declared, whatever it adds by itself."""
    if declared is ABSENT:
        return is_zero(live, shape.enumeration)
    if live is ABSENT:
        return shape.are_one(live, declared)
    return covers(live, declared, shape)


def _chosen(document: Json | Missing, rivals: Sequence[frozenset[str]]) -> frozenset[str]:
    known = set(document) if isinstance(document, dict) else set()
    return frozenset(known.intersection(*rivals))


def _field(document: Json | Missing, key: str) -> Json | Missing:
    return document.get(key, ABSENT) if isinstance(document, dict) else ABSENT


def _nth(document: Json | Missing, nth: int | None) -> Json | Missing:
    if nth is None or not isinstance(document, list) or nth >= len(document):
        return ABSENT
    return document[nth]


def _items(document: Json | Missing) -> list[Json]:
    return document if isinstance(document, list) else []


def _is_number(value: Json | Missing) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _spells_number(value: Json | Missing) -> bool:
    return isinstance(value, str) and value.lstrip("-").isdigit()


def _holds_hidden(value: Json | Missing) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_hidden, value.values()))
    if isinstance(value, list):
        return any(map(_holds_hidden, value))
    return value == HIDDEN


def _partners(base: list[Json], live: list[Json], shape: Shape) -> list[int | None]:
    """Give for each live item the declared one that it is, by place and by what it holds."""
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
    """Let what stands between two known pairs be what stood between them, in its order."""
    found: list[int | None] = []
    free = 0
    for index in range(after):
        if index in pairs:
            free = pairs[index] + 1
            found.append(pairs[index])
            continue
        following = min((pairs[one] for one in pairs if one > index), default=before)
        found.append(free if free < following else None)
        free += found[-1] is not None
    return found


def _homes(document: Json | Missing, shape: Shape) -> _Homes:
    homes: _Homes = {}
    for key, place in _places(document, shape, (), ()):
        homes.setdefault(key, []).append(place)
    return homes


def _places(
    document: Json | Missing, shape: Shape, path: Path, at: Path
) -> Iterator[tuple[Key, _Place]]:
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
                yield key_of(shape, name), _Place((*at, nth), path, item)
            yield from _places(item, shape.item, place, (*at, nth))
