"""A dashboard before and after: sections, rows by height, widgets by width. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.report.html.drawing import box, figure, group, letters_in, picture, words
from reconciler.report.html.element import NOTHING, Markup, element, joined, of_class
from reconciler.report.pictures.grid import Cell, Mark, Row, Section, Sides

WIDTH = 440
GAP = 6
HEADING = 26
NOTE = 15
LEAST_HEIGHT, MOST_HEIGHT = 58.0, 150.0
HEIGHT_OF_UNIT = 4.4
PADDING = 8
MOST_WIDGETS = 150
NARROW = 90
SIGN = 13


def grid_figure(sides: Sides) -> Markup:
    """Give the grid after, beside the one before; nothing where both are the same."""
    if sides.before and sides.after and not sides.changed:
        return NOTHING
    counts = ", ".join(f"{count} {mark.word}" for mark, count in sides.counts.items())
    said = f"Widgets: {counts}" if counts else "The rows change, and no widget by itself"
    if not sides.before:
        return figure("The dashboard as it would be", _side("", sides.after, "the new grid"))
    if not sides.after:
        return figure(said, _side("Before", sides.before, said))
    return figure(
        said,
        _side("Before", sides.before, f"Grid before. {said}"),
        _side("After", sides.after, f"Grid after. {said}"),
        _legend(sides),
        wide=True,
    )


def _legend(sides: Sides) -> Markup:
    keys = (
        of_class("span", f"key-{mark.word}", f"{mark.value} {mark.word}") for mark in sides.counts
    )
    return of_class("p", "legend", joined(keys, " "))


def _side(name: str, sections: Sequence[Section], label: str) -> Markup:
    shapes: list[Markup] = []
    top = 0.0
    left_out = 0
    drawn = 0
    for number, section in enumerate(sections, 1):
        size = sum(len(row.cells) for row in section.rows)
        if drawn + size > MOST_WIDGETS and drawn:
            left_out += size
            continue
        drawn += size
        top = _section(shapes, section, number, top)
    heading = element("h4", None, name) if name else NOTHING
    parts = [heading, picture(label, WIDTH, max(top, 1), *shapes)]
    if left_out:
        parts.append(of_class("p", "quiet", f"{left_out:,} more widgets are not drawn"))
    return of_class("div", "side", *parts)


def _section(shapes: list[Markup], section: Section, number: int, top: float) -> float:
    """Draw a section below `top`; give where it ends."""
    title = section.title or f"Section {number}"
    note = f"  ({section.note})" if section.note else ""
    shapes.append(words(title + note, "t heading", 0, top + HEADING - 9, WIDTH))
    top += HEADING
    for row in section.rows:
        if row.note:
            shapes.append(words(row.note, "s note", 0, top + NOTE - 4, WIDTH))
            top += NOTE
        height = min(MOST_HEIGHT, max(LEAST_HEIGHT, row.height * HEIGHT_OF_UNIT))
        shapes.extend(_row(row, top, height))
        top += height + GAP
    return top + GAP


def _row(row: Row, top: float, height: float) -> Iterator[Markup]:
    if not row.cells:
        yield box("cell empty", 0, top, WIDTH, height)
        yield words("an empty row", "s", PADDING, top + 20, WIDTH)
    room = WIDTH - GAP * (len(row.cells) - 1)
    left = 0.0
    for cell in row.cells:
        width = max(2.0, cell.share * room)
        yield _cell(cell, left, top, width, height)
        left += width + GAP


def _cell(cell: Cell, left: float, top: float, width: float, height: float) -> Markup:
    title = cell.title or "untitled"
    inside = width - 2 * PADDING
    if not cell.marks:
        # Most widgets of a large plan stay as they are, and each costs the browser its nodes.
        shown = ((title, "t", 19), (cell.chart, "s quiet", 35), (cell.query, "c", 49))
        texts = (
            words(text, classes, left + PADDING, top + base, inside)
            for text, classes, base in shown
            if text
        )
        return joined((box("cell", left, top, width, height), *texts))
    signs = "".join(mark.value for mark in cell.marks)
    mark = cell.marks[0].word
    said = ", ".join(
        f"{mark.word} {cell.elsewhere}" if mark is Mark.MOVED else mark.word for mark in cell.marks
    )
    tip = "; ".join(filter(None, (title, said, cell.chart, cell.query)))
    parts = [box(f"cell {mark}", left, top, width, height)]
    if width >= NARROW:
        room = inside - SIGN * len(signs) - GAP
        parts.append(words(title, "t", left + PADDING, top + 19, room))
    place = left + width - PADDING - SIGN * len(signs)
    parts.append(words(signs, f"t mark {mark}", max(left + 2, place), top + 19))
    lines = [(", ".join(filter(None, (said, cell.chart))), f"s mark {mark}")]
    lines += [(line, "c") for line in _query_lines(cell.query, inside, height)]
    for index, (line, classes) in enumerate(lines):
        base = top + 35 + index * 14
        if base > top + height - 5:
            break
        parts.append(words(line, classes, left + PADDING, base, inside))
    return group(tip, *parts)


def _query_lines(query: str, room: float, height: float) -> Iterator[str]:
    """Yield as much of a query as the box may hold."""
    most = max(6, letters_in(room, "c"))
    for at in range(0, min(len(query), most * int(height / 14)), most):
        yield query[at : at + most]
