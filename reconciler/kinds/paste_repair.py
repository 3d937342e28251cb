"""What a model knows of how a pasted record differs from a `spec`. Pure.

One reading of it serves who complains and who repairs. Repairs come in rounds, as
what stands in a wrapper is known only once that is gone: wrappers, then names and
read-only fields, then numbers. Nothing is guessed: what could mean two things is
left, with its own complaint.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, assert_never

from pydantic import ValidationError

from reconciler.document import Json, Path, value_at
from reconciler.kinds.field_traits import Part, ReadOnly, ReadOnlyReason, Wrapper
from reconciler.kinds.id_forms import IdForm
from reconciler.kinds.repairs import (
    Drop,
    Lift,
    MoveId,
    Negate,
    Rename,
    Repair,
    Round,
    Unquote,
    Unwrap,
    Wrap,
    repaired,
)
from reconciler.kinds.shape import EACH, NOTHING, Facts, facts_of, names_of

MOST_ROUNDS: Final = 8
MOST_ERRORS: Final = 10_000
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
"""A number as JSON writes it, with no more digits than it keeps exactly."""


@dataclass(frozen=True, slots=True)
class PasteRepair:
    """What a pasted document should be: its model, and whether its id has a place already."""

    model: type[Part]
    id_form: IdForm
    has_id: bool

    def rounds(self, document: Json) -> list[Round]:
        """Give what to repair first, next and last."""
        rounds: list[Round] = []
        while len(rounds) < MOST_ROUNDS and (made := self.next_round(document)):
            rounds.append(made)
            document = repaired(document, made)
        return rounds

    def next_round(self, document: Json) -> Round:
        """Give what to repair next; nothing where nothing is left that can be."""
        root = Facts(part=self.model)
        structure = [*_structure(document, root, ())]
        if structure:
            return structure
        fields = [*self._fields(document, root, ())]
        # What stands at a wrong place in its list is known only once all of it is seen.
        return _agreeing(document, fields) or [*_numbers(document, self.model)]

    def _fields(
        self, document: Json, facts: Facts, path: Path
    ) -> Iterator[tuple[Repair, ReadOnlyReason]]:
        """Yield what to do with single fields, and what is their fate."""
        if isinstance(document, dict) and facts.part is not None:
            fields = facts_of(facts.part)
            names = names_of(document, fields)
            for key, value in document.items():
                inside = fields.get(names.get(key, key), NOTHING)
                if inside.read_only is not None:
                    made = self._fated(document, key, inside.read_only, path)
                    if made is not None:
                        yield made, inside.read_only.fate
                    continue
                if key in names:
                    yield Rename((*path, key), names[key]), ReadOnlyReason.DROPPED
                yield from self._fields(value, inside, (*path, key))
        else:
            for step, inside, value in _inside(document, facts):
                yield from self._fields(value, inside, (*path, step))

    def _fated(
        self, holder: dict[str, Json], key: str, read_only: ReadOnly, path: Path
    ) -> Repair | None:
        """Give what to do with a field that must not be declared; None where that is a guess."""
        place, value = (*path, key), holder[key]
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


def in_told_order(document: Json, model: type[Part]) -> Json:
    """Give a document in whose lists items stand in the order that they tell of themselves.

    Only a list of stored things whose members all have a number, and no two the same, tells
    one; any other stays as it is.
    """
    if not isinstance(document, dict):
        return document
    ordered = dict(document)
    for name, facts in facts_of(model).items():
        items = document.get(name)
        if isinstance(items, list) and facts.keyed is not None and facts.keyed.distinct:
            told = [_told_place(item, facts.items) for item in items]
            if None not in told and len(set(told)) == len(items):
                both = zip(told, items, strict=True)
                ordered[name] = [item for _, item in sorted(both, key=lambda one: one[0] or 0)]
    return ordered


def _told_place(item: Json, facts: Facts | None) -> float | None:
    """Give the number by which a member of a list tells its place."""
    part = facts.part if facts is not None else None
    if part is None or not isinstance(item, dict):
        return None
    inner = facts_of(part)[part.bare].part if part.bare else part
    held = item.get(part.bare, item) if part.bare else item
    for name, fact in facts_of(inner or part).items():
        if fact.read_only is not None and fact.read_only.fate is ReadOnlyReason.AS_LISTED:
            number = value_at(held, (name,))
            if isinstance(number, int | float) and not isinstance(number, bool):
                return number
    return None


def _negated(holder: dict[str, Json], place: Path, value: Json, opposite: str) -> Repair | None:
    if value is None:
        return Drop(place)
    if not isinstance(value, bool):
        return None
    if opposite not in holder:
        return Negate(place, opposite, not value)
    return Drop(place) if holder[opposite] is (not value) else None


def _inside(document: Json, facts: Facts) -> Iterator[tuple[str | int, Facts, Json]]:
    """Yield step, facts and value of what stands in a map or a list."""
    if isinstance(document, dict) and facts.values is not None:
        for key, value in document.items():
            yield key, facts.values, value
    elif isinstance(document, list) and facts.items is not None:
        for index, item in enumerate(document):
            yield index, facts.items, item


def _agreeing(document: Json, found: Sequence[tuple[Repair, ReadOnlyReason]]) -> list[Repair]:
    """Leave out the places in a list that disagree with where their items stand."""
    told: dict[Path, list[Path]] = defaultdict(list)
    for repair, fate in found:
        if fate is ReadOnlyReason.AS_LISTED:
            general = tuple(EACH if isinstance(step, int) else step for step in repair.path)
            told[general].append(repair.path)
    odd = {path for paths in told.values() if not _as_listed(document, paths) for path in paths}
    return [repair for repair, _ in found if repair.path not in odd]


def _as_listed(document: Json, paths: Sequence[Path]) -> bool:
    """Tell whether numbers ascend as their items do, and only the first item asks to be it."""
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
    """Yield wrappers that are too many, or missing; what is inside comes after them."""
    if isinstance(document, dict) and facts.part is not None:
        here = _around(document, facts.part, path)
        yield from here
        if here:
            return
        fields = facts_of(facts.part)
        names = names_of(document, fields)
        for key, value in document.items():
            yield from _structure(value, fields.get(names.get(key, key), NOTHING), (*path, key))
    else:
        for step, inside, value in _inside(document, facts):
            yield from _structure(value, inside, (*path, step))


def _around(document: dict[str, Json], part: type[Part], path: Path) -> list[Repair]:
    written = {_letters(key): key for key in document}
    for other, name in part.other_names.items():
        key = written.get(_letters(other))
        if key is not None and len(document) == 1:
            return [Rename((*path, key), name)]
    for wrapper in part.wrappers:
        found = _unwrapped(document, part, wrapper, written)
        if found is not None:
            beside = [key for key in map(written.get, map(_letters, wrapper.beside)) if key]
            return [Unwrap(path, found), *(Drop((*path, key)) for key in beside)]
    lifted = _lifted(document, part, path)
    if lifted or not part.bare or not _is_bare(document, part):
        return lifted
    # What belongs beside the content, and says nothing, must not come into it.
    nothing = {_letters(name) for name in _saying_nothing(part)}
    gone = [Drop((*path, key)) for key in document if _letters(key) in nothing]
    return [*gone] or [Wrap(path, part.bare)]


def _lifted(document: dict[str, Json], part: type[Part], path: Path) -> list[Repair]:
    """Return the one field in the content that belongs next to it, in any spelling.

    None where its place is taken.
    """
    content = document.get(part.bare) if part.strays else None
    if not isinstance(content, dict):
        return []
    places = {_letters(name): place for name, place in part.strays.items()}
    strays = [key for key in content if _letters(key) in places]
    if len(strays) != 1:
        return []
    place = places[_letters(strays[0])]
    is_taken = _letters(place[0]) in map(_letters, document)
    return [] if is_taken else [Lift((*path, part.bare, strays[0]), place)]


def _saying_nothing(part: type[Part]) -> Iterator[str]:
    """Yield the fields of a part that say nothing, and are none of its content's."""
    fields = facts_of(part)
    inner = fields[part.bare].part
    known = facts_of(inner) if inner is not None else {}
    for name, facts in fields.items():
        says = facts.read_only is None or facts.read_only.fate is not ReadOnlyReason.DROPPED
        if name not in known and not says:
            yield name


def _unwrapped(
    document: dict[str, Json], part: type[Part], wrapper: Wrapper, written: Mapping[str, str]
) -> Path | None:
    """Give the steps to a wrapped record as they are written; None where it is none."""
    key = written.get(_letters(str(wrapper.steps[0])))
    if key is None:
        return None
    steps: Path = (key, *wrapper.steps[1:])
    if len(steps) > 1 and len(_listed(document[key])) != 1:
        return None
    inner = value_at(document, steps)
    if not isinstance(inner, dict) or not inner:
        return None
    ours = {_letters(name): facts for name, facts in facts_of(part).items()}
    theirs = {_letters(name) for name in inner}
    # A field of that name is a wrapper only if what it holds has one too.
    field = ours.get(_letters(key))
    is_field = field is not None and field.read_only is None
    needed = {_letters(key)} if is_field else ours.keys()
    beside = {*map(_letters, wrapper.beside), _letters(key)}
    rest = {_letters(name) for name in document} - beside
    known_rest = rest <= ours.keys()
    is_wrapper = not theirs.isdisjoint(needed) and theirs.isdisjoint(rest) and known_rest
    return steps if is_wrapper and (not is_field or _holds(inner, key)) else None


def _holds(inner: dict[str, Json], key: str) -> bool:
    return any(
        _letters(name) == _letters(key) and isinstance(value, dict) for name, value in inner.items()
    )


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _is_bare(document: dict[str, Json], part: type[Part]) -> bool:
    """Tell the content of the one field that the service leaves out around it."""
    fields = facts_of(part)
    inner = fields[part.bare].part
    assert inner is not None  # noqa: S101 - a model says so of a part only
    own = {_letters(name) for name, facts in fields.items() if facts.read_only is None}
    own -= set(map(_letters, part.strays))
    written = {_letters(key) for key in document}
    known = {_letters(name) for name in (*facts_of(inner), *part.strays)}
    return written.isdisjoint(own) and "name" in document and len(written & known) > 1


def _letters(key: str) -> str:
    return key.replace("_", "").casefold()


def _numbers(document: Json, model: type[Part]) -> Iterator[Repair]:
    """Yield the numbers that are written as text where the model wants a number."""
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
