"""The pictures of a page: dashboards, ordered lists, objectives. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from reconciler.report import drawings
from reconciler.report.html.page import (
    NOTHING,
    Markup,
    box,
    element,
    figure,
    group,
    joined,
    letters_in,
    of_class,
    path,
    picture,
    shape,
    words,
)
from reconciler.report.words import plural


def picture_of(drawing: drawings.Drawing | None) -> Markup:
    """Return the figure of a drawing; nothing where there is none."""
    match drawing:
        case None:
            return NOTHING
        case drawings.DashboardSides():
            return _grid_figure(drawing)
        case drawings.RankingSides():
            return _order_figure(drawing)
        case drawings.AimSides():
            return _scale_figure(drawing)
        case _:
            assert_never(drawing)


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


def _grid_figure(sides: drawings.DashboardSides) -> Markup:
    """Return the grids before and after, next to each other; nothing where both are the same."""
    if sides.before and sides.after and not sides.changed:
        return NOTHING
    counts = ", ".join(f"{count} {mark.word}" for mark, count in sides.counts.items())
    caption = f"Widgets: {counts}" if counts else "The rows change, and no widget by itself"
    if not sides.before:
        return figure("The dashboard as it would be", _side("", sides.after, "the new grid"))
    if not sides.after:
        return figure(caption, _side("Before", sides.before, caption))
    return figure(
        caption,
        _side("Before", sides.before, f"Grid before. {caption}"),
        _side("After", sides.after, f"Grid after. {caption}"),
        _legend(sides),
        wide=True,
    )


def _legend(sides: drawings.DashboardSides) -> Markup:
    keys = (
        of_class("span", f"key-{mark.word}", f"{mark.value} {mark.word}") for mark in sides.counts
    )
    return of_class("p", "legend", joined(keys, " "))


def _side(name: str, sections: Sequence[drawings.GridSection], label: str) -> Markup:
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
    heading = element("h4", name) if name else NOTHING
    parts = [heading, picture(label, WIDTH, max(top, 1), *shapes)]
    if left_out:
        parts.append(of_class("p", "quiet", f"{left_out:,} more widgets are not drawn"))
    return of_class("div", "side", *parts)


def _section(shapes: list[Markup], section: drawings.GridSection, number: int, top: float) -> float:
    """Draw a section below `top`; return where it ends."""
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


def _row(row: drawings.GridRow, top: float, height: float) -> Iterator[Markup]:
    if not row.cells:
        yield box("cell empty", 0, top, WIDTH, height)
        yield words("an empty row", "s", PADDING, top + 20, WIDTH)
    room = WIDTH - GAP * (len(row.cells) - 1)
    left = 0.0
    for cell in row.cells:
        width = max(2.0, cell.share * room)
        yield _cell(cell, left, top, width, height)
        left += width + GAP


def _cell(cell: drawings.Cell, left: float, top: float, width: float, height: float) -> Markup:
    title = cell.title or "untitled"
    inside = width - 2 * PADDING
    if not cell.marks:
        # Most widgets of a large plan stay the same, and each node costs the browser time.
        shown = ((title, "t", 19), (cell.chart, "s quiet", 35), (cell.query, "c", 49))
        texts = (
            words(text, classes, left + PADDING, top + base, inside)
            for text, classes, base in shown
            if text
        )
        return joined((box("cell", left, top, width, height), *texts))
    signs = "".join(mark.value for mark in cell.marks)
    mark = cell.marks[0].word
    changes = ", ".join(
        f"{mark.word} {cell.elsewhere}" if mark is drawings.Mark.MOVED else mark.word
        for mark in cell.marks
    )
    tip = "; ".join(filter(None, (title, changes, cell.chart, cell.query)))
    parts = [box(f"cell {mark}", left, top, width, height)]
    if width >= NARROW:
        room = inside - SIGN * len(signs) - GAP
        parts.append(words(title, "t", left + PADDING, top + 19, room))
    place = left + width - PADDING - SIGN * len(signs)
    parts.append(words(signs, f"t mark {mark}", max(left + 2, place), top + 19))
    lines = [(", ".join(filter(None, (changes, cell.chart))), f"s mark {mark}")]
    lines += [(line, "c") for line in _query_lines(cell.query, inside, height)]
    for index, (line, classes) in enumerate(lines):
        base = top + 35 + index * 14
        if base > top + height - 5:
            break
        parts.append(words(line, classes, left + PADDING, base, inside))
    return group(tip, *parts)


def _query_lines(query: str, room: float, height: float) -> Iterator[str]:
    most = max(6, letters_in(room, "c"))
    for at in range(0, min(len(query), most * int(height / 14)), most):
        yield query[at : at + most]


# The style sheet has the same numbers, in sixteenths of a font size.
BETWEEN = 160
STEP = 44
HEIGHT = 36
EDGE = 4
TIP = 9


def _order_figure(sides: drawings.RankingSides) -> Markup:
    """Return both lists, with a line from each item to its new place; the first match decides."""
    summary = _said(sides)
    label = f"{plural(len(sides.before), 'item')} before, {len(sides.after)} after. {summary}"
    caption = "In order, the first that matches decides."
    if not sides.before:
        return figure(
            caption, _order_side("", "after", sides.after, drawings.Mark.ADDED), wide=True
        )
    rows = max(len(sides.before), len(sides.after))
    links = picture(label, BETWEEN, rows * STEP, *_links(sides.before))
    unmarked = any(not ranked.marks for ranked in sides.before)
    hint = of_class("p", "quiet narrow", "What stays is left out here.") if unmarked else NOTHING
    lists = of_class(
        "div",
        "order",
        _order_side("Before", "before", sides.before, drawings.Mark.REMOVED, hint),
        of_class("div", "links", links),
        _order_side("After", "after", sides.after, drawings.Mark.ADDED),
    )
    return figure(f"{caption} {summary}", lists, wide=True)


def _said(sides: drawings.RankingSides) -> str:
    items = [
        *sides.after,
        *(ranked for ranked in sides.before if drawings.Mark.REMOVED in ranked.marks),
    ]
    counts = {mark: sum(mark in ranked.marks for ranked in items) for mark in drawings.Mark}
    words = ", ".join(f"{count} {mark.word}" for mark, count in counts.items() if count)
    return f"{words[:1].upper()}{words[1:]}" if words else "Nothing moves"


def _links(before: Sequence[drawings.Ranked]) -> Iterator[Markup]:
    for ranked in sorted(before, key=lambda ranked: drawings.Mark.MOVED in ranked.marks):
        if ranked.other is None:
            continue
        start, end = (HEIGHT / 2 + (place - 1) * STEP for place in (ranked.place, ranked.other))
        left, right, bend = EDGE, BETWEEN - EDGE, BETWEEN / 2
        moved = drawings.Mark.MOVED in ranked.marks
        bends = ("C", left + bend, start, right - bend, end, right, end)
        ends = f"{ranked.place} {ranked.other}"
        yield path("link moved" if moved else "link", "M", left, start, *bends, ends=ends)
        if moved:
            back = right - TIP
            yield path("link moved", "M", back, end - 5, "L", right, end, "L", back, end + 5)


def _order_side(
    heading: str,
    name: str,
    items: Sequence[drawings.Ranked],
    own: drawings.Mark,
    hint: Markup = NOTHING,
) -> Markup:
    ranks = (_item(ranked, own) for ranked in items)
    head = element("h4", heading) if heading else NOTHING
    return of_class("div", f"side {name}", head, hint, of_class("ol", "ranks", *ranks))


def _item(ranked: drawings.Ranked, own: drawings.Mark) -> Markup:
    mark = ranked.marks[0].word if ranked.marks else "same"
    signs = "".join(sign.value for sign in ranked.marks)
    turn = f"{signs} {', '.join(_describe(ranked, own))}" if signs else ""
    parts = (
        of_class("span", "place", f"{ranked.place}"),
        of_class("span", "name", ranked.name),
        of_class("span", "turn", turn) if turn else NOTHING,
        of_class("span", "says", ranked.says) if ranked.says else NOTHING,
    )
    return of_class("li", f"rank {mark}", joined(parts, " "))


def _describe(ranked: drawings.Ranked, own: drawings.Mark) -> Iterator[str]:
    for mark in ranked.marks:
        if mark is drawings.Mark.MOVED:
            yield f"{'from' if own is drawings.Mark.ADDED else 'to'} {ranked.other}"
        else:
            yield mark.word


AXIS = 52.0
BARS = AXIS + 46
BAR = 32
MOST_NINES = 5.0
MOST_DAYS = 28
TICKS = ((1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %"), (4.0, "99.99 %"))
NEAR = 90.0
LABEL = 110.0


@dataclass(frozen=True, slots=True)
class _Room:
    """A picture's width, and where the scale in it begins and ends."""

    name: str
    width: float
    left: float
    right: float

    def at(self, nines: float) -> float:
        """Return the horizontal position of a share, given in nines."""
        return self.left + min(nines, MOST_NINES) / MOST_NINES * (self.right - self.left)

    def label_at(self, place: float) -> float:
        """Return where the label of a position begins, so that it stays in the picture."""
        return min(max(2.0, place - 40), self.width - LABEL)


# Letters do not shrink with a picture, so phones get another picture.
ROOMS = (_Room("roomy", 720, 20, 690), _Room("narrow", 296, 12, 284))


def _scale_figure(sides: drawings.AimSides) -> Markup:
    """Return the target on its scale, the share that may fail, and the windows as bars."""
    before, after = sides.before, sides.after
    label = f"Target {drawings.describe_target(after)} over {after.window}"
    if before is not None and sides.changed:
        label = f"Target {drawings.describe_target(before)} over {before.window}, then {label[7:]}"
    caption = f"May fail: {drawings.describe_budget(after)}"
    if before is not None and sides.changed:
        caption = (
            f"May fail: {drawings.describe_budget(before)} → {drawings.describe_budget(after)}"
        )
    height = BARS + BAR * len(_aims(sides))
    drawn = (
        picture(
            label,
            room.width,
            height,
            *_axis(room),
            *_targets(sides, room),
            *_windows(sides, room),
            classes=room.name,
        )
        for room in ROOMS
    )
    return figure(caption, *drawn, wide=True)


def _axis(room: _Room) -> Iterator[Markup]:
    yield path("axis", "M", room.left, AXIS, "H", room.right)
    yield path("axis", "M", room.left, AXIS - 4, "v", 8)
    yield words("0 %", "s quiet", room.left, AXIS + 20)
    for nines, label in TICKS:
        place = room.at(nines)
        yield path("axis", "M", place, AXIS - 4, "v", 8)
        yield words(label, "s quiet middle", place, AXIS + 20)
    yield words("100 %", "s quiet end", room.width, AXIS + 20)


def _targets(sides: drawings.AimSides, room: _Room) -> Iterator[Markup]:
    before, after = sides.before, sides.after
    if after.nines is None:
        return
    new = room.at(after.nines)
    if before is not None and before.nines is not None and before.target != after.target:
        old = room.at(before.nines)
        start, end = old + (8 if new > old else -8), new + (-9 if new > old else 9)
        back = -8 if new > old else 8
        tip = ("M", end + back, AXIS - 5, "L", end, AXIS, "L", end + back, AXIS + 5)
        yield path("link moved", "M", start, AXIS, "H", end, *tip)
        yield shape("circle", "aim before", cx=old, cy=AXIS, r=7)
        close = abs(room.label_at(new) - room.label_at(old)) < NEAR
        top = AXIS - 34 if close else AXIS - 16
        yield words(f"before {drawings.describe_target(before)}", "s", room.label_at(old), top)
    yield shape("circle", "aim after", cx=new, cy=AXIS, r=7)
    side = "after " if before is not None else ""
    yield words(f"{side}{drawings.describe_target(after)}", "t", room.label_at(new), AXIS - 16)


def _aims(sides: drawings.AimSides) -> list[tuple[str, str, drawings.Aim]]:
    """Return the windows to draw: label, side and objective."""
    if sides.before is None or sides.before.window == sides.after.window:
        return [("window", "after", sides.after)]
    return [("before", "before", sides.before), ("after", "after", sides.after)]


def _windows(sides: drawings.AimSides, room: _Room) -> Iterator[Markup]:
    for row, (name, side, aim) in enumerate(_aims(sides)):
        top = BARS + BAR * row
        yield words(name, "s quiet", room.left, top + 15)
        yield from _bar(aim, side, top, room)


def _bar(aim: drawings.Aim, side: str, top: float, room: _Room) -> Iterator[Markup]:
    left = room.left + 60
    most = room.right - left - 90
    width = most * min(aim.days or 0, MOST_DAYS) / MOST_DAYS
    if width:
        yield box(f"window {side}", left, top, width, 22)
        for day in range(7, min(aim.days or 0, MOST_DAYS), 7):
            place = left + most * day / MOST_DAYS
            yield path("week", "M", place, top, "v", 22)
    yield words(aim.window, "t", left + width + 10, top + 16)
