"""A dashboard as a grid, before and after: sections of rows of widgets, as they are drawn. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum


class Mark(Enum):
    """What becomes of a widget; the value is its sign."""

    ADDED = "+"
    REMOVED = "-"
    MOVED = "↕"
    RESIZED = "↔"
    EDITED = "~"

    @property
    def word(self) -> str:
        """The mark's name in reports."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Cell:
    """One widget; its texts are safe. `share` is its part of the row's width, 0 to 1.

    Of a moved one, `elsewhere` says from or to where: `from row 2, place 1`.
    """

    title: str
    chart: str
    query: str
    share: float
    marks: tuple[Mark, ...] = ()
    elsewhere: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Widgets side by side; `note` says what becomes of the row itself, in safe words."""

    height: int
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under one heading, `""` where it has none; `note` as that of a row."""

    title: str
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sides:
    """A dashboard before and after; no sections where there is none."""

    before: tuple[Section, ...]
    after: tuple[Section, ...]

    @property
    def changed(self) -> bool:
        """Whether any widget, row or section is marked."""
        noted = any(
            section.note or any(row.note for row in section.rows)
            for section in (*self.before, *self.after)
        )
        return noted or bool(self.counts)

    @property
    def counts(self) -> dict[Mark, int]:
        """How many widgets carry each mark."""
        cells = [
            *(cell for cell in _cells(self.after)),
            *(cell for cell in _cells(self.before) if Mark.REMOVED in cell.marks),
        ]
        counts = {mark: sum(mark in cell.marks for cell in cells) for mark in Mark}
        return {mark: count for mark, count in counts.items() if count}


def _cells(sections: Sequence[Section]) -> Iterator[Cell]:
    for section in sections:
        for row in section.rows:
            yield from row.cells
