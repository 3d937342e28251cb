"""Drawings of a change, before and after: a grid, an order or an objective, and as text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import log10
from typing import TypeAlias, assert_never

from reconciler.document import ABSENT, Json, Missing, Shape, differences, stored_name, value_at
from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import Part, Unit
from reconciler.kinds.kind import Grid, Objective, Ranking
from reconciler.kinds.shape import NOTHING, facts_at
from reconciler.model import Change
from reconciler.model.quoting import and_more
from reconciler.report.counts import live_document
from reconciler.report.labels import duration, number_of, spoken_value
from reconciler.report.pictures.grid import (
    Cell,
    DashboardSides,
    GridRow,
    GridSection,
    Mark,
    grid_sides,
)
from reconciler.report.safe import columns, safe
from reconciler.report.table import padded
from reconciler.report.words import as_json

WHOLE = 100.0
FINEST = 0.001
DAY_SECONDS = 86_400
HOUR_SECONDS = 3_600
_DAYS = re.compile(r"(\d{1,4})_DAYS$")


@dataclass(frozen=True, slots=True)
class Aim:
    """One side of an objective: target in per cent, window in words and, if known, in days."""

    target: float | None
    window: str
    days: int | None

    @property
    def budget(self) -> float | None:
        """The share that may fail, in per cent, rounded."""
        return None if self.target is None else round(WHOLE - self.target, 9)

    @property
    def nines(self) -> float | None:
        """The target on a scale of nines: 90 % is 1, 99.9 % is 3, 5 at most."""
        if self.budget is None:
            return None
        return -log10(min(max(self.budget, FINEST), WHOLE) / WHOLE)


@dataclass(frozen=True, slots=True)
class AimSides:
    """An objective before, where there was one, and after."""

    before: Aim | None
    after: Aim

    @property
    def changed(self) -> bool:
        """Return whether target or window differ."""
        return self.before is not None and self.before != self.after


def aim_sides(
    picture: Objective, before: Json | Missing, after: Json | Missing, model: type[Part]
) -> AimSides:
    """Return target and window of both documents."""
    was = _aim(picture, before, model) if isinstance(before, dict) and before else None
    return AimSides(was, _aim(picture, after, model))


def _aim(picture: Objective, document: Json | Missing, model: type[Part]) -> Aim:
    target = value_at(document, picture.target)
    window = value_at(document, picture.window)
    found = _DAYS.search(window) if isinstance(window, str) else None
    words = f"{found[1]} days" if found else spoken_value(window, facts_at(model, picture.window))
    number = None if isinstance(target, str) else number_of(target)
    if number is not None and not 0 <= number <= WHOLE:
        # The target is not a percentage, so it is not drawn; its field shows the value.
        number = None
    return Aim(number, words, int(found[1]) if found else None)


def describe_target(aim: Aim) -> str:
    """Return a target in words: `99.5 %`."""
    return "unknown" if aim.target is None else Unit.PERCENT.of(aim.target)


def describe_budget(aim: Aim) -> str:
    """Return the share that may fail in words: `0.5 %, 1 in 200, 3 h 21 min of 28 days`."""
    if aim.budget is None:
        return "unknown"
    if aim.budget <= 0:
        return "nothing may fail"
    words = [Unit.PERCENT.of(aim.budget), f"1 in {round(WHOLE / aim.budget):,}"]
    if aim.days is not None:
        seconds = round(aim.days * DAY_SECONDS * aim.budget / WHOLE)
        words.append(f"{_minutes(seconds)} of {aim.days} days")
    return ", ".join(words)


def _minutes(seconds: int) -> str:
    """Return a time; from one hour on, without seconds."""
    rounded = seconds - seconds % 60 if seconds >= HOUR_SECONDS else seconds
    return duration(rounded * 1_000) or "0 s"


@dataclass(frozen=True, slots=True)
class Ranked:
    """An item at its place, from 1.

    `other` is its place in the other list (before or after), None where it is not in that list.
    """

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
    """Return two lists compared by the names of their items; the fewest possible count as moved."""
    for step in picture.items:
        shape = shape.at(step)
    old, new = (_named(picture, value_at(side, picture.items)) for side in (before, after))
    marks = _marks(old, new, picture, shape)
    was, now = ({name: place for place, name in enumerate(side, 1)} for side in (old, new))

    def drawn(side: Mapping[str, Json], places: Mapping[str, int]) -> Iterator[Ranked]:
        for place, (name, item) in enumerate(side.items(), 1):
            found = tuple(marks.get(name, ())) if old and new else ()
            says = " · ".join(filter(None, _saying(picture, item, model)))
            yield Ranked(place, safe(name), says, found, places.get(name))

    return RankingSides(tuple(drawn(old, now)), tuple(drawn(new, was)))


def _named(picture: Ranking, items: Json | Missing) -> dict[str, Json]:
    found = {}
    for place, item in enumerate(items if isinstance(items, list) else (), 1):
        named = value_at(item, picture.name)
        name = stored_name(named) if isinstance(named, str) else ""
        found[name if isinstance(named, str) and name not in found else f"{place}"] = item
    return found


def _marks(
    old: Mapping[str, Json], new: Mapping[str, Json], picture: Ranking, shape: Shape
) -> dict[str, list[Mark]]:
    marks: dict[str, list[Mark]] = {}
    keyed = Shape(items=shape.item, identity=picture.name)
    for difference in differences([*old.values()], [*new.values()], keyed):
        name = str(difference.path[0]) if difference.path else ""
        whole = len(difference.path) == 1
        mark = Mark.EDITED
        if whole and difference.operation == "move":
            mark = Mark.MOVED
        elif whole and difference.before is ABSENT:
            mark = Mark.ADDED
        elif whole and difference.after is ABSENT:
            mark = Mark.REMOVED
        if mark not in marks.setdefault(name, []):
            marks[name].append(mark)
    return marks


def _saying(picture: Ranking, item: Json, model: type[Part]) -> Iterator[str]:
    for path in picture.says:
        found, facts = value_at(item, path), facts_at(model, (*picture.items, 0, *path))
        if isinstance(found, bool):
            yield safe(path[-1]) if found else ""
        elif isinstance(found, list):
            members = facts.items or NOTHING
            yield ", ".join(spoken_value(member, members) for member in found)
        elif found is not ABSENT and found is not None:
            yield spoken_value(found, facts)


Drawing: TypeAlias = DashboardSides | RankingSides | AimSides


def drawing_of(change: Change) -> Drawing | None:
    """Return the drawing of a planned write; None where its kind has no picture."""
    kind = BY_NAME.get(change.ref.kind)
    if kind is None or kind.picture is None or not change.action.writes:
        return None
    before, after = live_document(change), change.body
    match kind.picture:
        case Grid() as grid:
            return grid_sides(grid, before, after, kind.spec)
        case Ranking() as ranking:
            return ranking_sides(ranking, before, after, kind.spec, kind.shape)
        case Objective() as objective:
            return aim_sides(objective, before, after, kind.spec)
        case _:
            assert_never(kind.picture)


WIDTH = 96
NARROWEST_CELL = 12
FEWEST_IN_CELL = 5
MOST_LINES = 40
FEWEST_FOLDED = 3


def picture_lines(drawing: Drawing | None, room: int = WIDTH) -> list[str]:
    """Return the picture in safe lines of `room` columns; none where the fields show as much.

    A grid is drawn where it is new or its layout changes, a ranking where items are added,
    removed or moved, an objective where it is new or its target or window changes.
    """
    match drawing:
        case None:
            return []
        case DashboardSides():
            lines = list(_grid(drawing, room))
        case RankingSides():
            lines = list(_ranking(drawing))
        case AimSides():
            lines = list(_objective(drawing, room))
        case _:
            assert_never(drawing)
    return [*lines[:MOST_LINES], *filter(None, [and_more(len(lines) - MOST_LINES, "line")])]


def _grid(sides: DashboardSides, room: int) -> Iterator[str]:
    marks = sides.counts
    if sides.before and (not sides.changed or set(marks) == {Mark.EDITED}):
        return
    for index, section in enumerate(sides.after, 1):
        note = f"  ({section.note})" if section.note else ""
        name = as_json(section.title) if section.title else str(index)
        rows = list(_rows(section, room, whole=not sides.before))
        yield f"section {name}{note}{'' if rows else ': the same'}"
        yield from rows
    for section in sides.before:
        for number, row in enumerate(section.rows, 1):
            if gone := [cell for cell in row.cells if Mark.REMOVED in cell.marks]:
                named = ", ".join(as_json(cell.title) for cell in gone)
                where = f" in section {as_json(section.title)}" if section.title else ""
                yield f"- removed from row {number}{where}: {named}"
    if marks:
        yield "  ".join(f"{mark.value} {count} {mark.word}" for mark, count in marks.items())


def _rows(section: GridSection, room: int, *, whole: bool) -> Iterator[str]:
    touched = [
        whole or bool(row.note) or any(cell.marks for cell in row.cells) for row in section.rows
    ]
    numbered = zip(section.rows, touched, range(1, len(section.rows) + 1), strict=True)
    if not any(touched):
        return
    for shown, run in groupby(numbered, key=lambda numbered_row: numbered_row[1]):
        rows = list(run)
        if shown:
            yield from (_row(row, number, room) for row, _, number in rows)
        else:
            yield f"  {len(rows)} more row{'s' if len(rows) > 1 else ''}, the same"


def _row(row: GridRow, number: int, room: int) -> str:
    note = f"  {row.note}" if row.note else ""
    inside = room - len(f"  {number:>2} ") - columns(note)
    average = inside // max(1, len(row.cells))
    narrowest = max(FEWEST_IN_CELL, min(NARROWEST_CELL, average))
    cells = "".join(_cell(cell, inside, narrowest) for cell in row.cells)
    return f"  {number:>2} {cells or '[]'}{note}"


def _cell(cell: Cell, room: int, narrowest: int) -> str:
    inside = max(narrowest, int(cell.share * room)) - 2
    signs = "".join(mark.value for mark in cell.marks)
    return "[" + padded(f"{signs} {cell.title or cell.chart}".lstrip(), inside) + "]"


def _ranking(sides: RankingSides) -> Iterator[str]:
    gone = [ranked for ranked in sides.before if Mark.REMOVED in ranked.marks]
    if not gone and not any({Mark.ADDED, Mark.MOVED} & {*ranked.marks} for ranked in sides.after):
        return
    for marked, run in groupby(sides.after, key=lambda ranked: bool(ranked.marks)):
        items = list(run)
        if marked or len(items) < FEWEST_FOLDED:
            yield from map(_ranked, items)
        else:
            yield f"{items[0].place:>3}-{items[-1].place} the same, in the same order"
    yield from (f"  - {ranked.name}  removed, was at place {ranked.place}" for ranked in gone)


def _ranked(ranked: Ranked) -> str:
    words = [
        f"from place {ranked.other}" if mark is Mark.MOVED else mark.word for mark in ranked.marks
    ]
    signs = "".join(mark.value for mark in ranked.marks)
    marks = f"  {', '.join(words)}" if words else ""
    return f"{ranked.place:>3} {signs or ' '} {ranked.name}{marks}"


def _objective(sides: AimSides, room: int) -> Iterator[str]:
    if sides.before is not None and sides.changed:
        before, after = (
            f"may fail: {describe_budget(sides.before)}",
            f"→ {describe_budget(sides.after)}",
        )
        whole = f"{before} {after}"
        yield from (whole,) if columns(whole) <= room else (before, f"  {after}")
    if sides.before is None and sides.after.budget is not None:
        yield f"may fail: {describe_budget(sides.after)}"
