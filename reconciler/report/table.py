"""Records as a table for a terminal, and as CSV for a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from reconciler.report.safe import columns, cut, safe
from reconciler.report.style import Colour, Style

GAP = "  "
NARROWEST_COLUMN = 8
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - spreadsheets read the wide ones too


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a column. A `whole` one, such as an id, is never cut."""

    words: str
    whole: bool = False
    right: bool = False


def table(headings: Sequence[Heading], rows: Sequence[Sequence[str]], style: Style) -> str:
    """Give a table, ending in a line break.

    On a terminal it is as wide as that at most: the widest columns give way
    first, but never those that are `whole`. In a pipe nothing is cut.
    """
    cells = [[safe(cell) for cell in row] for row in rows]
    widths = _widths(headings, cells, style)
    head = _line([heading.words.upper() for heading in headings], headings, widths)
    lines = [style.paint(head, Colour.BOLD), *(_line(row, headings, widths) for row in cells)]
    return "\n".join(lines) + "\n"


def _widths(headings: Sequence[Heading], cells: Sequence[Sequence[str]], style: Style) -> list[int]:
    widths = [
        max(columns(text) for text in (heading.words, *(row[index] for row in cells)))
        for index, heading in enumerate(headings)
    ]
    if not style.terminal:
        return widths
    room = style.width - len(GAP) * (len(headings) - 1)
    least = [
        width if heading.whole else max(NARROWEST_COLUMN, columns(heading.words))
        for heading, width in zip(headings, widths, strict=True)
    ]
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda index: widths[index] - least[index])
        if widths[widest] <= least[widest]:
            break
        widths[widest] -= 1
    return widths


def _line(cells: Sequence[str], headings: Sequence[Heading], widths: Sequence[int]) -> str:
    return GAP.join(
        _padded(cell, width, right=heading.right)
        for cell, heading, width in zip(cells, headings, widths, strict=True)
    ).rstrip()


def _padded(cell: str, width: int, *, right: bool) -> str:
    shown = cut(cell, width)
    blank = " " * (width - columns(shown))
    return blank + shown if right else shown + blank


def csv_line(cells: Sequence[str]) -> str:
    """Give one CSV line. A cell that a spreadsheet would run as a formula is made text."""
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerow(
        f"'{cell}" if cell.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(cell) else cell
        for cell in map(safe, cells)
    )
    return out.getvalue()
