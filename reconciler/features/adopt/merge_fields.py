"""Three-way merge, field by field, of live edits into what git declares. Pure.

The base is what was last applied or adopted. A field that differs from it live was edited. A field
that differs from it in git waits to be applied. A field that differs in both is a conflict, unless
both are equal. A field that was never declared is the service's own, and is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reconciler.document import (
    ABSENT,
    Edit,
    Gone,
    Json,
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
    same,
)
from reconciler.features.adopt.adoption import Adopted, Conflict, Side
from reconciler.features.adopt.keyed_lists import KeyedList, homes_of
from reconciler.features.adopt.merge_sides import (
    DEFAULT,
    Merged,
    MergeInputs,
    MergeOptions,
    agrees,
    as_spelled,
    has_expressions,
    holds_hidden,
    items_of,
    sides_of,
)
from reconciler.redaction.templates import HIDDEN, Template, holds_seal, written_out
from reconciler.syntax.expressions import Expression, ExpressionKind, escaped, parts_of

MOST_ALIGNED: Final = 400
"""Most items, between a common head and tail of two lists, that are paired by their content."""


def merged(sides: MergeInputs, shape: Shape, rules: MergeOptions = DEFAULT) -> Merged:
    """Merge a resource."""
    walk = _Merge(shape, sides, rules)
    walk.result.edit = walk.at(sides, shape, (), ())
    return walk.result


class _Merge:
    """The walk: `path` names items by identity, `at` counts them as they are written."""

    def __init__(self, shape: Shape, sides: MergeInputs, rules: MergeOptions) -> None:
        self.rules = rules
        self.side = rules.side
        self.result = Merged()
        self.whole = sides
        self.ours, self.base, self.live = (
            homes_of(value, shape) for value in (sides.ours, sides.base, sides.live)
        )
        known = {*self.ours, *self.base}
        self.remade = any(
            key not in known and any(holds_hidden(home.item) for home in homes)
            for key, homes in homes_of(sides.shown, shape).items()
        )

    def at(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        """Return the edit of one place; None where it stays as written."""
        if isinstance(sides.ours, dict) and isinstance(sides.live, dict):
            if not self._is_one_choice(sides, shape):
                return self._within(sides, shape, path, at)
        elif isinstance(sides.ours, list) and isinstance(sides.live, list):
            return self._list(sides, shape, path, at)
        return self._whole(sides, shape, path)

    def _is_one_choice(self, sides: MergeInputs, shape: Shape) -> bool:
        """Return whether live chose another object, not another version of it.

        That is decided only for an object of unknown form.
        """
        if shape.known or not isinstance(sides.live, dict):
            return False
        mine = [value for value in (sides.ours, sides.base) if isinstance(value, dict)]
        return any(another_choice(value, sides.live) for value in mine)

    def _within(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        fields: dict[str, Edit] = {}
        for key in self._keys(sides, shape):
            edit = self._field(sides, key, shape, path, at)
            if edit is not None:
                fields[key] = edit
        return Within(fields) if fields else None

    def _keys(self, sides: MergeInputs, shape: Shape) -> list[str]:
        """Return the fields to merge: the declared, and those that live chose as an alternative."""
        known = [value for value in (sides.base, sides.ours) if isinstance(value, dict)]
        declared = list(dict.fromkeys(key for value in known for key in value))
        ousted = shape.ousted_by(dict.fromkeys(declared)) if shape.alternatives else frozenset()
        live = sides.live if isinstance(sides.live, dict) else {}
        return [*declared, *(key for key in live if key in ousted and key not in declared)]

    def _field(
        self, sides: MergeInputs, key: str, shape: Shape, path: Path, at: Path
    ) -> Edit | None:
        inner = sides.at(key)
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
        secret = self._is_secret(sides)
        side = self.side if self.side is Side.OURS or not secret else None
        self.result.conflicts.append(
            Conflict(
                path=path,
                base=sides.base,
                git=sides.ours,
                live=HIDDEN
                if secret and sides.live is not ABSENT
                else as_spelled(sides.shown, sides.written),
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
        is_known = isinstance(sides.live, Template)
        return (belongs and not is_known) or holds_hidden(sides.shown)

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
        before = sides.base if sides.base is not ABSENT else sides.ours
        after = as_spelled(sides.shown, sides.written)
        adopted = Adopted(path=path, before=before, after=after, gave_way=gave_way)
        self.result.adopted.append(adopted)

    def _text_of(self, sides: MergeInputs, shape: Shape) -> Json:
        """Return a live value as a manifest writes it; expressions are kept where they agree."""
        live = sides.live
        assert live is not ABSENT  # noqa: S101 - asked before
        if shape.numeric_text and _is_number(sides.written) and _spells_number(live):
            return int(str(live))
        if isinstance(live, str) and isinstance(sides.written, str) and not self.rules.plain:
            fitted = None if isinstance(live, Template) else self._refitted(sides.written, live)
            if fitted is not None:
                return fitted
        return self.out(as_spelled(live, sides.written))

    def out(self, value: Json) -> Json:
        """Return a value as it is written in a manifest."""
        return value if self.rules.plain else written_out(value)

    def _refitted(self, text: str, live: str) -> str | None:
        """Return `live` with the expressions of `text`; None where that is not unique."""
        found = [part for part in parts_of(text) if isinstance(part, Expression)]
        if [expression.spot.written for expression in found] == [text]:
            return self.rules.refs.get(live) if found[0].word is ExpressionKind.REFERENCE else None
        rest, fitted = live, ""
        for expression in found:
            value = self.rules.values.get(expression.spot.written, "")
            if not value or rest.count(value) != 1:
                return None
            before, rest = rest.split(value)
            fitted += escaped(before) + expression.spot.written
        fitted += escaped(rest)
        return fitted if found and self._filled(fitted) == live else None

    def _filled(self, text: str) -> str | None:
        """Return a text with its expressions filled in; None where another part is in it."""
        filled = ""
        for part in parts_of(text):
            if not isinstance(part, str | Expression):
                return None
            filled += (
                part if isinstance(part, str) else self.rules.values.get(part.spot.written, "")
            )
        return filled

    def _list(self, sides: MergeInputs, shape: Shape, path: Path, at: Path) -> Edit | None:
        named = [
            by_identity(element if isinstance(element, list) else [], shape)
            for element in (sides.ours, sides.base, sides.live)
        ]
        ours, base, live = named
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
        holds = [element for element in (sides.ours, sides.live) if isinstance(element, list)]
        if any(isinstance(item, dict | list) for element in holds for item in element):
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
            nth = ours.index(text) if text in ours else -1
            items.append(ListItem((*at, nth)) if nth >= 0 else ListItem(None, Put(self.out(value))))
            if nth >= 0:
                ours[nth] = ""
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
        """Return whether live is as in git or as in the base, so that nothing was edited."""
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
            inner = sides_of(sides, nth, index)
            place = (*path, index)
            if nth is None:
                edit = self.take(inner, place, shape.item)
                items.extend([ListItem(None, edit)] if isinstance(edit, Put) else [])
            else:
                items.append(ListItem((*at, nth), self.at(inner, shape.item, place, (*at, nth))))
        for nth in sorted(set(range(len(base))) - {pair for pair in pairs if pair is not None}):
            self.note(sides_of(sides, nth, None), (*path, nth))
        before = [ListItem((*at, nth)) for nth in range(len(ours))]
        return None if items == before else ListItems(tuple(items))


def _chosen(document: Json | Missing, rivals: Sequence[frozenset[str]]) -> frozenset[str]:
    known = set(document) if isinstance(document, dict) else set()
    return frozenset(known.intersection(*rivals))


def _is_number(value: Json | Missing) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _spells_number(value: Json | Missing) -> bool:
    return isinstance(value, str) and value.lstrip("-").isdigit()


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
