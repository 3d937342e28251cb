"""An ordered list before and after, its moves drawn as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.report.html.drawing import box, figure, path, picture, words
from reconciler.report.html.element import Markup
from reconciler.report.pictures.grid import Mark
from reconciler.report.pictures.ranking import Ranked, RankingSides

SIDE = 400
BETWEEN = 200
WIDTH = 2 * SIDE + BETWEEN
STEP = 44
HEIGHT = 36
HEAD = 26


def order_figure(sides: RankingSides) -> Markup:
    """Give both lists side by side, each item joined to its new place; the first match decides."""
    rows = max(len(sides.before), len(sides.after))
    label = f"{len(sides.before)} items before, {len(sides.after)} after. {_said(sides)}"
    drawn = picture(
        label,
        WIDTH,
        HEAD + rows * STEP,
        words("Before", "s heading", 0, 14),
        words("After", "s heading", SIDE + BETWEEN, 14),
        *_links(sides.before),
        *_items(sides.before, 0, Mark.REMOVED),
        *_items(sides.after, SIDE + BETWEEN, Mark.ADDED),
    )
    return figure(f"In order, the first that matches decides. {_said(sides)}", drawn, wide=True)


def _said(sides: RankingSides) -> str:
    items = [*sides.after, *(one for one in sides.before if Mark.REMOVED in one.marks)]
    counts = {mark: sum(mark in one.marks for one in items) for mark in Mark}
    words = ", ".join(f"{count} {mark.word}" for mark, count in counts.items() if count)
    return f"{words[:1].upper()}{words[1:]}" if words else "Nothing moves"


def _middle(place: int) -> float:
    return HEAD + (place - 1) * STEP + HEIGHT / 2


def _links(before: Sequence[Ranked]) -> Iterator[Markup]:
    for one in sorted(before, key=lambda item: Mark.MOVED in item.marks):
        if one.other is None:
            continue
        start, end = _middle(one.place), _middle(one.other)
        left, right, bend = SIDE + 4, SIDE + BETWEEN - 4, BETWEEN / 2
        moved = Mark.MOVED in one.marks
        bends = ("C", left + bend, start, right - bend, end, right, end)
        yield path("link moved" if moved else "link", "M", left, start, *bends)
        if moved:
            back = right - 9
            yield path("link moved", "M", back, end - 5, "L", right, end, "L", back, end + 5)


def _items(side: Sequence[Ranked], left: float, own: Mark) -> Iterator[Markup]:
    for one in side:
        top = HEAD + (one.place - 1) * STEP
        mark = one.marks[0].word if one.marks else "same"
        yield box(f"cell {mark}", left, top, SIDE, HEIGHT)
        yield words(f"{one.place}", "s place", left + 10, top + 23)
        said = ", ".join(_words(one, own))
        signs = f"{''.join(mark.value for mark in one.marks)} {said}" if said else ""
        room = SIDE - 44
        used = len(signs) * 6.4
        yield words(one.name, "t", left + 34, top + 16, room - used)
        yield words(one.says, "s quiet", left + 34, top + 30, room)
        if signs:
            yield words(signs, f"s mark {mark}", left + SIDE - 10 - used, top + 16)


def _words(one: Ranked, own: Mark) -> Iterator[str]:
    for mark in one.marks:
        if mark is Mark.MOVED:
            yield f"{'from' if own is Mark.ADDED else 'to'} {one.other}"
        else:
            yield mark.word
