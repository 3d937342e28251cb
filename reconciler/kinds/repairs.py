"""Repairs of a pasted record as plain data: the effect on a document, and on a path. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias, assert_never

from pydantic import ValidationError

from reconciler.document import ABSENT, Json, Path, value_at
from reconciler.kinds.checks import MOST_ERRORS
from reconciler.kinds.field_traits import Part, ReadOnly, ReadOnlyReason, Wrapper
from reconciler.kinds.kind import IdForm
from reconciler.kinds.shape import EACH, Facts, content_of, facts_of, members_of


@dataclass(frozen=True, slots=True)
class PlacedRepair:
    """A change of what is at `path` in a pasted record."""

    path: Path


class Drop(PlacedRepair):
    """A field that a manifest must not declare, and that has no meaning."""


class MoveId(PlacedRepair):
    """An id that belongs into `metadata`, where no id is declared."""


@dataclass(frozen=True, slots=True)
class Rename(PlacedRepair):
    """A field under another name."""

    name: str


@dataclass(frozen=True, slots=True)
class Negate(PlacedRepair):
    """A flag with the opposite meaning of another field."""

    name: str
    value: bool


@dataclass(frozen=True, slots=True)
class Unquote(PlacedRepair):
    """A number written as text."""

    number: int | float


@dataclass(frozen=True, slots=True)
class Unwrap(PlacedRepair):
    """A mapping around the record: it is at `path`, and `steps` lead from it to the record."""

    steps: Path


@dataclass(frozen=True, slots=True)
class Wrap(PlacedRepair):
    """A mapping that is only the content of a field."""

    name: str


@dataclass(frozen=True, slots=True)
class Lift(PlacedRepair):
    """A field in the content of another; it belongs next to that field, at `steps`."""

    steps: tuple[str, ...]


Repair: TypeAlias = Drop | MoveId | Rename | Negate | Unquote | Unwrap | Wrap | Lift
Round: TypeAlias = Sequence[Repair]
"""Repairs that can be made at once: their paths are all of the same document."""


def repaired(document: Json, made: Round) -> Json:
    """Return a document after one round; the given document is not changed."""
    # A lift changes the mapping around its content; every other repair changes its own path.
    by_path = {
        repair.path[:-2] if isinstance(repair, Lift) else repair.path: repair for repair in made
    }
    touched = {path[:length] for path in by_path for length in range(len(path) + 1)}
    return _after("", document, (), by_path, touched)[1]


def _after(
    step: str, value: Json, path: Path, by_path: Mapping[Path, Repair], touched: set[Path]
) -> tuple[str | None, Json]:
    """Return name and value of a place after its repairs; no name if it is removed."""
    if path not in touched:
        return step, value
    if isinstance(value, list):
        value = [
            _after("", item, (*path, index), by_path, touched)[1]
            for index, item in enumerate(value)
        ]
    elif isinstance(value, dict):
        members = [_after(key, item, (*path, key), by_path, touched) for key, item in value.items()]
        value = {key: item for key, item in members if key is not None}
    repair = by_path.get(path)
    return (step, value) if repair is None else _changed(repair, step, value)


def _changed(repair: Repair, name: str, value: Json) -> tuple[str | None, Json]:
    """Return name and value of a place after its repair; what is inside has been repaired."""
    match repair:
        case Drop() | MoveId():
            return None, value
        case Rename():
            return repair.name, value
        case Negate():
            return repair.name, repair.value
        case Unquote():
            changed: Json = repair.number
        case Wrap():
            changed = {repair.name: value}
        case Unwrap():
            changed = _unwrapped(value, repair)
        case Lift():
            changed = _lifted(value, repair)
        case _:
            assert_never(repair)
    return name, changed


def _unwrapped(value: Json, unwrap: Unwrap) -> Json:
    inner = value_at(value, unwrap.steps)
    if not isinstance(value, dict) or not isinstance(inner, dict):
        return value
    return {key: member for key, member in value.items() if key != unwrap.steps[0]} | inner


def _lifted(value: Json, lift: Lift) -> Json:
    around, name = lift.path[-2:]
    content = value_at(value, (around,))
    if not isinstance(value, dict) or not isinstance(content, dict):
        return value
    left = {key: member for key, member in content.items() if key != name}
    lifted = content.get(str(name))
    for step in reversed(lift.steps[1:]):
        lifted = {step: lifted}
    return {**value, str(around): left, lift.steps[0]: lifted}


class Origins:
    """The places that the fields of a repaired document had before."""

    def __init__(self, rounds: Sequence[Round]) -> None:
        self._rounds = [_Renamed(made) for made in reversed(rounds)]

    def of(self, path: Path) -> Path:
        """Return the path in the document as it was written."""
        for renamed in self._rounds:
            path = renamed.before(path)
        return path


class _Renamed:
    """The steps that one round changed, by the path of their parent before it."""

    def __init__(self, made: Round) -> None:
        self.wraps = {repair.path: repair for repair in made if isinstance(repair, Wrap | Unwrap)}
        self.lifts = [repair for repair in made if isinstance(repair, Lift)]
        self.names: dict[tuple[Path, str | int], str | int] = {
            (repair.path[:-1], repair.name): repair.path[-1]
            for repair in made
            if isinstance(repair, Rename | Negate)
        }

    def before(self, path: Path) -> Path:
        for lift in self.lifts:
            after = (*lift.path[:-2], *lift.steps)
            if path[: len(after)] == after:
                return (*lift.path, *path[len(after) :])
        before: Path = ()
        entered = False
        for step in path:
            wrap = self.wraps.get(before)
            if isinstance(wrap, Wrap) and wrap.name == step and not entered:
                entered = True
                continue
            if isinstance(wrap, Unwrap):
                before = (*before, *wrap.steps)
            before, entered = (*before, self.names.get((before, step), step)), False
        return before


MOST_ROUNDS: Final = 8
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
"""A number as JSON writes it, with at most the digits that JSON keeps exactly."""


@dataclass(frozen=True, slots=True)
class PasteRepair:
    """Finder of the repairs of a pasted record, by the model of its kind.

    `has_id` means that the id is already in the metadata.
    """

    model: type[Part]
    id_form: IdForm
    has_id: bool

    def rounds(self, document: Json) -> list[Round]:
        """Return the repairs in rounds, in order."""
        rounds: list[Round] = []
        while len(rounds) < MOST_ROUNDS and (made := self.next_round(document)):
            rounds.append(made)
            document = repaired(document, made)
        return rounds

    def next_round(self, document: Json) -> Round:
        """Return the next repairs; empty if nothing can be repaired."""
        root = Facts(part=self.model)
        structure = [*_structure(document, root, ())]
        if structure:
            return structure
        fields = [*self._field_repairs(document, root, ())]
        # A wrong position field is known only once the whole list is seen.
        return _agreeing(document, fields) or [*_numbers(document, self.model)]

    def _field_repairs(
        self, document: Json, facts: Facts, path: Path
    ) -> Iterator[tuple[Repair, ReadOnlyReason]]:
        for step, name, inside, value in members_of(document, facts):
            place = (*path, step)
            if inside.read_only is not None:
                made = self._fated(document, place, value, inside.read_only)
                if made is not None:
                    yield made, inside.read_only.fate
                continue
            if name != step:
                yield Rename(place, str(name)), ReadOnlyReason.DROPPED
            yield from self._field_repairs(value, inside, place)

    def _fated(self, holder: Json, place: Path, value: Json, read_only: ReadOnly) -> Repair | None:
        """Return the repair of a field that must not be declared; None if that is a guess."""
        match read_only.fate:
            case ReadOnlyReason.DROPPED | ReadOnlyReason.AS_LISTED:
                return Drop(place)
            case ReadOnlyReason.UNLESS_TRUE:
                return Drop(place) if value is None or value is False else None
            case ReadOnlyReason.MOVED:
                if self.has_id or value is None:
                    return Drop(place)
                return MoveId(place) if self.id_form.parse(value) is not None else None
            case ReadOnlyReason.NEGATED:
                return _negated(holder, place, value, read_only.opposite)
            case ReadOnlyReason.STAYS:
                return None
            case _:
                assert_never(read_only.fate)


def in_reported_order(document: Json, model: type[Part]) -> Json:
    """Return a document with the items of lists in the order of their position fields.

    Only lists of stored objects are sorted, and only if all items have different numbers. Any other
    list stays as it is.
    """
    if not isinstance(document, dict):
        return document
    ordered = dict(document)
    for name, facts in facts_of(model).items():
        items = document.get(name)
        if isinstance(items, list) and facts.keyed is not None and facts.keyed.distinct:
            positions = [_reported_place(item, facts.items) for item in items]
            if None not in positions and len(set(positions)) == len(items):
                both = zip(positions, items, strict=True)
                ordered[name] = [item for _, item in sorted(both, key=lambda pair: pair[0] or 0)]
    return ordered


def _reported_place(item: Json, facts: Facts | None) -> float | None:
    """Return the number in the position field of a list member."""
    part = facts.part if facts is not None else None
    if part is None or not isinstance(item, dict):
        return None
    held = item.get(part.bare, item) if part.bare else item
    for name, fact in content_of(part).items():
        if fact.read_only is not None and fact.read_only.fate is ReadOnlyReason.AS_LISTED:
            number = value_at(held, (name,))
            if isinstance(number, int | float) and not isinstance(number, bool):
                return number
    return None


def _negated(holder: Json, place: Path, value: Json, opposite: str) -> Repair | None:
    if value is None:
        return Drop(place)
    if not isinstance(value, bool):
        return None
    declared = value_at(holder, (opposite,))
    if declared is ABSENT:
        return Negate(place, opposite, not value)
    return Drop(place) if declared is (not value) else None


def _agreeing(document: Json, found: Sequence[tuple[Repair, ReadOnlyReason]]) -> list[Repair]:
    """Leave out repairs of position fields that disagree with the order of their items."""
    by_list: dict[Path, list[Path]] = defaultdict(list)
    for repair, fate in found:
        if fate is ReadOnlyReason.AS_LISTED:
            general = tuple(EACH if isinstance(step, int) else step for step in repair.path)
            by_list[general].append(repair.path)
    odd = {path for paths in by_list.values() if not _as_listed(document, paths) for path in paths}
    return [repair for repair, _ in found if repair.path not in odd]


def _as_listed(document: Json, paths: Sequence[Path]) -> bool:
    """Return whether numbers ascend as their items do, and only the first has `first`."""
    numbers: list[float] = []
    for path in paths:
        value = value_at(document, path)
        at_first = next(step for step in path if isinstance(step, int)) == 0
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append(value)
        elif not (value is None or value == {} or (at_first and value == {"first": {}})):
            return False
    return all(number < other for number, other in pairwise(numbers))


def _structure(document: Json, facts: Facts, path: Path) -> Iterator[Repair]:
    """Yield wrappers that are superfluous or missing; what is inside comes after them."""
    if isinstance(document, dict) and facts.part is not None:
        here = _around(document, facts.part, path)
        if here:
            yield from here
            return
    for member in members_of(document, facts):
        yield from _structure(member.value, member.facts, (*path, member.step))


def _around(document: dict[str, Json], part: type[Part], path: Path) -> list[Repair]:
    written = {_letters(key): key for key in document}
    for other, name in part.other_names.items():
        key = written.get(_letters(other))
        if key is not None and len(document) == 1:
            return [Rename((*path, key), name)]
    for wrapper in part.wrappers:
        found = _steps_inside(document, part, wrapper, written)
        if found is not None:
            others = [key for key in map(written.get, map(_letters, wrapper.beside)) if key]
            return [Unwrap(path, found), *(Drop((*path, key)) for key in others)]
    lifted = _misplaced(document, part, path)
    if lifted or not part.bare or not _is_bare(document, part):
        return lifted
    # What belongs next to the content and has no meaning must not get into it.
    nothing = {
        _letters(name)
        for name, facts in facts_of(part).items()
        if name not in content_of(part) and facts.read_only is not None
        if facts.read_only.fate is ReadOnlyReason.DROPPED
    }
    gone = [Drop((*path, key)) for key in document if _letters(key) in nothing]
    return [*gone] or [Wrap(path, part.bare)]


def _misplaced(document: dict[str, Json], part: type[Part], path: Path) -> list[Repair]:
    """Return the repair of a single field that is in the content and belongs next to it.

    Its spelling does not matter. Empty if its place is taken.
    """
    content = document.get(part.bare) if part.strays else None
    if not isinstance(content, dict):
        return []
    places = {_letters(name): place for name, place in part.strays.items()}
    misplaced = [key for key in content if _letters(key) in places]
    if len(misplaced) != 1:
        return []
    place = places[_letters(misplaced[0])]
    is_taken = _letters(place[0]) in map(_letters, document)
    return [] if is_taken else [Lift((*path, part.bare, misplaced[0]), place)]


def _steps_inside(
    document: dict[str, Json], part: type[Part], wrapper: Wrapper, written: Mapping[str, str]
) -> Path | None:
    """Return the steps to a wrapped record as written; None if it is not wrapped."""
    key = written.get(_letters(str(wrapper.steps[0])))
    if key is None:
        return None
    steps: Path = (key, *wrapper.steps[1:])
    listed = document[key]
    if len(steps) > 1 and not (isinstance(listed, list) and len(listed) == 1):
        return None
    inner = value_at(document, steps)
    if not isinstance(inner, dict) or not inner:
        return None
    ours = {_letters(name): facts for name, facts in facts_of(part).items()}
    theirs = {_letters(name) for name in inner}
    # A known field of that name is a wrapper only if its content has such a field too.
    field = ours.get(_letters(key))
    is_field = field is not None and field.read_only is None
    needed = {_letters(key)} if is_field else ours.keys()
    others = {*map(_letters, wrapper.beside), _letters(key)}
    rest = {_letters(name) for name in document} - others
    known_rest = rest <= ours.keys()
    is_wrapper = not theirs.isdisjoint(needed) and theirs.isdisjoint(rest) and known_rest
    again = [inner[name] for name in inner if _letters(name) == _letters(key)]
    holds_field = any(isinstance(value, dict) for value in again)
    return steps if is_wrapper and (holds_field or not is_field) else None


def _is_bare(document: dict[str, Json], part: type[Part]) -> bool:
    """Return whether `document` is the content of the field `part.bare`, without that field."""
    own = {_letters(name) for name, facts in facts_of(part).items() if facts.read_only is None}
    own -= set(map(_letters, part.strays))
    written = {_letters(key) for key in document}
    known = {_letters(name) for name in (*content_of(part), *part.strays)}
    return written.isdisjoint(own) and "name" in document and len(written & known) > 1


def _letters(key: str) -> str:
    return key.replace("_", "").casefold()


def _numbers(document: Json, model: type[Part]) -> Iterator[Repair]:
    """Yield the numbers that are written as text if the model requires a number."""
    try:
        model.__pydantic_validator__.validate_python(document)
    except ValidationError as invalid:
        if invalid.error_count() > MOST_ERRORS:
            return
        for error in invalid.errors(include_url=False):
            text = error["input"]
            if error["type"] in _NUMERIC and isinstance(text, str) and _NUMBER.fullmatch(text):
                is_whole = text.removeprefix("-").isdigit()
                if is_whole or error["type"] == "float_type":
                    yield Unquote(error["loc"], int(text) if is_whole else float(text))


_NUMERIC: Final = frozenset(("float_type", "int_type"))
