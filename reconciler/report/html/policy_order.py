"""An ordered list before and after, side by side with its moves drawn as lines. Pure.

Where there is no room for both, the lists stand one below the other, as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.report.html.drawing import figure, path, picture
from reconciler.report.html.element import NOTHING, Markup, element, joined, of_class
from reconciler.report.pictures.grid import Mark
from reconciler.report.pictures.ranking import Ranked, RankingSides
from reconciler.report.words import plural

# The style sheet has the same numbers, in sixteenths of a letter's size.
BETWEEN = 160
STEP = 44
HEIGHT = 36
EDGE = 4
TIP = 9


def order_figure(sides: RankingSides) -> Markup:
    """Give both lists, each item joined to its new place; the first match decides."""
    said = _said(sides)
    label = f"{plural(len(sides.before), 'item')} before, {len(sides.after)} after. {said}"
    caption = "In order, the first that matches decides."
    if not sides.before:
        return figure(caption, _side("", "after", sides.after, Mark.ADDED), wide=True)
    rows = max(len(sides.before), len(sides.after))
    links = picture(label, BETWEEN, rows * STEP, *_links(sides.before))
    unmarked = any(not one.marks for one in sides.before)
    hint = of_class("p", "quiet narrow", "What stays is left out here.") if unmarked else NOTHING
    lists = of_class(
        "div",
        "order",
        _side("Before", "before", sides.before, Mark.REMOVED, hint),
        of_class("div", "links", links),
        _side("After", "after", sides.after, Mark.ADDED),
    )
    return figure(f"{caption} {said}", lists, wide=True)


def _said(sides: RankingSides) -> str:
    items = [*sides.after, *(one for one in sides.before if Mark.REMOVED in one.marks)]
    counts = {mark: sum(mark in one.marks for one in items) for mark in Mark}
    words = ", ".join(f"{count} {mark.word}" for mark, count in counts.items() if count)
    return f"{words[:1].upper()}{words[1:]}" if words else "Nothing moves"


def _links(before: Sequence[Ranked]) -> Iterator[Markup]:
    for one in sorted(before, key=lambda item: Mark.MOVED in item.marks):
        if one.other is None:
            continue
        start, end = (HEIGHT / 2 + (place - 1) * STEP for place in (one.place, one.other))
        left, right, bend = EDGE, BETWEEN - EDGE, BETWEEN / 2
        moved = Mark.MOVED in one.marks
        bends = ("C", left + bend, start, right - bend, end, right, end)
        ends = f"{one.place} {one.other}"
        yield path("link moved" if moved else "link", "M", left, start, *bends, ends=ends)
        if moved:
            back = right - TIP
            yield path("link moved", "M", back, end - 5, "L", right, end, "L", back, end + 5)


def _side(
    heading: str, name: str, items: Sequence[Ranked], own: Mark, hint: Markup = NOTHING
) -> Markup:
    ranks = (_item(one, own) for one in items)
    head = element("h4", None, heading) if heading else NOTHING
    return of_class("div", f"side {name}", head, hint, of_class("ol", "ranks", *ranks))


def _item(one: Ranked, own: Mark) -> Markup:
    mark = one.marks[0].word if one.marks else "same"
    signs = "".join(sign.value for sign in one.marks)
    said = f"{signs} {', '.join(_words(one, own))}" if signs else ""
    parts = (
        of_class("span", "place", f"{one.place}"),
        of_class("span", "name", one.name),
        of_class("span", "turn", said) if said else NOTHING,
        of_class("span", "says", one.says) if one.says else NOTHING,
    )
    return of_class("li", f"rank {mark}", joined(parts, " "))


def _words(one: Ranked, own: Mark) -> Iterator[str]:
    for mark in one.marks:
        if mark is Mark.MOVED:
            yield f"{'from' if own is Mark.ADDED else 'to'} {one.other}"
        else:
            yield mark.word
