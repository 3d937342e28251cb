"""Pictures of a change as compact text, for terminals and comments. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import assert_never

from reconciler.report.pictures.grid import Cell, DashboardSides, GridRow, GridSection, Mark
from reconciler.report.pictures.picture_sides import (
    AimSides,
    Drawing,
    Ranked,
    RankingSides,
    describe_budget,
)
from reconciler.report.safe import columns
from reconciler.report.table import padded
from reconciler.report.words import as_json, plural

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
    if len(lines) > MOST_LINES:
        return [*lines[:MOST_LINES], f"and {plural(len(lines) - MOST_LINES, 'line')} more"]
    return lines


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
