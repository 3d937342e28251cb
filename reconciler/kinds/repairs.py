"""Repairs of a pasted record as plain data: the effect on a document, and on a path. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from reconciler.document import Json, Missing, Path, value_at


@dataclass(frozen=True, slots=True)
class Drop:
    """A field that a manifest must not declare, and that has no meaning."""

    path: Path


@dataclass(frozen=True, slots=True)
class MoveId:
    """An id that belongs into the metadata, which has none."""

    path: Path


@dataclass(frozen=True, slots=True)
class Rename:
    """A field under another name."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Negate:
    """A flag with the opposite meaning of another field."""

    path: Path
    name: str
    value: bool


@dataclass(frozen=True, slots=True)
class Unquote:
    """A number written as text."""

    path: Path
    number: int | float


@dataclass(frozen=True, slots=True)
class Unwrap:
    """A mapping with the record further inside, at `path` and then `steps`."""

    path: Path
    steps: Path


@dataclass(frozen=True, slots=True)
class Wrap:
    """A mapping that is only the content of a field."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Lift:
    """A field in the content of another; it belongs next to that field, at `steps`."""

    path: Path
    steps: tuple[str, ...]


Repair: TypeAlias = Drop | MoveId | Rename | Negate | Unquote | Unwrap | Wrap | Lift
Round: TypeAlias = Sequence[Repair]
"""Repairs that can be made at once: their paths are all of the same document."""


def repaired(document: Json, made: Round) -> Json:
    """Return a document after one round; the given document is not changed."""
    by_path: dict[Path, list[Repair]] = defaultdict(list)
    for repair in made:
        by_path[repair.path].append(repair)
    touched = {repair.path[:length] for repair in made for length in range(len(repair.path) + 1)}
    lifted = {repair.path[:-2]: repair for repair in made if isinstance(repair, Lift)}
    return _with_lifted(_rebuilt(document, (), by_path, touched), document, lifted, ())


def _with_lifted(after: Json, before: Json, lifted: Mapping[Path, Lift], path: Path) -> Json:
    """Move lifted fields next to the content; such repairs make a round of their own."""
    if not any(holder[: len(path)] == path for holder in lifted):
        return after
    if isinstance(after, list):
        return [_with_lifted(item, before, lifted, (*path, nth)) for nth, item in enumerate(after)]
    if not isinstance(after, dict):
        return after
    made: dict[str, Json] = {
        key: _with_lifted(value, before, lifted, (*path, key)) for key, value in after.items()
    }
    if path in lifted:
        found = value_at(before, lifted[path].path)
        value: Json = None if isinstance(found, Missing) else found
        for step in reversed(lifted[path].steps[1:]):
            value = {step: value}
        made[lifted[path].steps[0]] = value
    return made


def _rebuilt(
    value: Json, path: Path, by_path: Mapping[Path, Sequence[Repair]], touched: set[Path]
) -> Json:
    if path not in touched:
        return value
    if isinstance(value, list):
        items: list[Json] = [
            _rebuilt(item, (*path, index), by_path, touched) for index, item in enumerate(value)
        ]
        return _itself(items, by_path.get(path, ()))
    if not isinstance(value, dict):
        return _itself(value, by_path.get(path, ()))
    fields: dict[str, Json] = {}
    for key, item in value.items():
        place = (*path, key)
        name = _name_after(key, by_path.get(place, ()))
        if name is not None:
            fields[name] = _rebuilt(item, place, by_path, touched)
    return _itself(fields, by_path.get(path, ()))


def _name_after(key: str, made: Iterable[Repair]) -> str | None:
    """Return the name of a field after its repairs, None if it is removed."""
    name: str | None = key
    for repair in made:
        match repair:
            case Drop() | MoveId() | Lift():
                name = None
            case Rename() | Negate():
                name = repair.name
            case Unquote() | Unwrap() | Wrap():
                pass
            case _:
                assert_never(repair)
    return name


def _itself(value: Json, made: Iterable[Repair]) -> Json:
    """Return a value after its repairs."""
    for repair in made:
        match repair:
            case Negate():
                value = repair.value
            case Unquote():
                value = repair.number
            case Unwrap() if isinstance(value, dict):
                inner = value_at(value, repair.steps)
                rest = {key: member for key, member in value.items() if key != repair.steps[0]}
                value = {**rest, **inner} if isinstance(inner, dict) else value
            case Wrap():
                value = {repair.name: value}
            case Unwrap() | Drop() | MoveId() | Rename() | Lift():
                pass
            case _:
                assert_never(repair)
    return value


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
        self.names: dict[tuple[Path, str], str] = {}
        self.wraps: dict[Path, str] = {}
        self.unwraps: dict[Path, Unwrap] = {}
        self.lifts: dict[Path, Lift] = {}
        self.outside: set[Path] = set()
        for repair in made:
            match repair:
                case Rename() | Negate():
                    self.names[repair.path[:-1], repair.name] = str(repair.path[-1])
                case Wrap():
                    self.wraps[repair.path] = repair.name
                case Unwrap():
                    self.unwraps[repair.path] = repair
                case Lift():
                    self.lifts[repair.path[:-2]] = repair
                case Drop() | MoveId() | Unquote():
                    pass
                case _:
                    assert_never(repair)

    def before(self, path: Path) -> Path:
        for holder, lift in self.lifts.items():
            after = (*holder, *lift.steps)
            if path[: len(after)] == after:
                return (*lift.path, *path[len(after) :])
        before: Path = ()
        entered = False
        for step in path:
            if not entered and self.wraps.get(before) == step:
                entered = True
                continue
            unwrap = self.unwraps.get(before)
            if unwrap is not None:
                before = (*before, *unwrap.steps)
            name = self.names.get((before, step), step) if isinstance(step, str) else step
            before, entered = (*before, name), False
        return before
