"""A list whose order is its meaning, before and after. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reconciler.document import ABSENT, Json, Missing, Shape, differences, stored_name, value_at
from reconciler.kinds.facts import Facts, facts_at
from reconciler.kinds.fields import Part
from reconciler.kinds.picture import Ranking
from reconciler.report.changes.spoken_value import spoken_value
from reconciler.report.pictures.grid import Mark
from reconciler.report.safe import safe


@dataclass(frozen=True, slots=True)
class Ranked:
    """One item at its place, from 1. `other` is its place on the other side, where it is there."""

    place: int
    name: str
    says: str
    marks: tuple[Mark, ...] = ()
    other: int | None = None


@dataclass(frozen=True, slots=True)
class RankingSides:
    """The list before and after; texts are safe."""

    before: tuple[Ranked, ...]
    after: tuple[Ranked, ...]


def ranking_sides(
    picture: Ranking, before: Json | Missing, after: Json | Missing, model: type[Part], shape: Shape
) -> RankingSides:
    """Compare two lists by the names of their items; only the fewest count as moved."""
    for step in picture.items:
        shape = shape.at(step)
    old, new = (_named(picture, value_at(one, picture.items)) for one in (before, after))
    marks = _marks(old, new, picture, shape)
    was, now = ({name: place for place, name in enumerate(side, 1)} for side in (old, new))

    def drawn(side: Mapping[str, Json], places: Mapping[str, int]) -> Iterator[Ranked]:
        for place, (name, item) in enumerate(side.items(), 1):
            found = tuple(marks.get(name, ())) if old and new else ()
            says = _said(picture, item, model)
            yield Ranked(place, safe(name), says, found, places.get(name))

    return RankingSides(tuple(drawn(old, now)), tuple(drawn(new, was)))


def _named(picture: Ranking, items: Json | Missing) -> dict[str, Json]:
    found = {}
    for place, item in enumerate(items if isinstance(items, list) else (), 1):
        said = value_at(item, picture.name)
        name = stored_name(said) if isinstance(said, str) else ""
        found[name if isinstance(said, str) and name not in found else f"{place}"] = item
    return found


def _marks(
    old: Mapping[str, Json], new: Mapping[str, Json], picture: Ranking, shape: Shape
) -> dict[str, list[Mark]]:
    marks: dict[str, list[Mark]] = {}
    keyed = Shape(items=shape.item, identity=picture.name)
    for one in differences([*old.values()], [*new.values()], keyed):
        name = str(one.path[0]) if one.path else ""
        whole = len(one.path) == 1
        mark = Mark.EDITED
        if whole and one.operation == "move":
            mark = Mark.MOVED
        elif whole and one.before is ABSENT:
            mark = Mark.ADDED
        elif whole and one.after is ABSENT:
            mark = Mark.REMOVED
        if mark not in marks.setdefault(name, []):
            marks[name].append(mark)
    return marks


def _said(picture: Ranking, item: Json, model: type[Part]) -> str:
    return " · ".join(filter(None, _saying(picture, item, model)))


def _saying(picture: Ranking, item: Json, model: type[Part]) -> Iterator[str]:
    for path in picture.says:
        found, facts = value_at(item, path), facts_at(model, (*picture.items, 0, *path))
        if isinstance(found, bool):
            yield safe(path[-1]) if found else ""
        elif isinstance(found, list):
            yield _members(found, facts.items)
        elif found is not ABSENT and found is not None:
            yield spoken_value(found, facts)


def _members(items: Sequence[Json], facts: Facts | None) -> str:
    return ", ".join(spoken_value(item, facts) if facts else spoken_value(item) for item in items)
