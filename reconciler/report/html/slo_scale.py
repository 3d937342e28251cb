"""An objective's target and window, before and after, on a scale of nines. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reconciler.report.html.drawing import box, figure, path, picture, shape, words
from reconciler.report.html.element import Markup
from reconciler.report.pictures.objective import Aim, AimSides, budget_words, target_words

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
    """Where the scale begins and ends in a picture so wide."""

    name: str
    width: float
    left: float
    right: float

    def at(self, nines: float) -> float:
        """Give the place of a share, in nines."""
        return self.left + min(nines, MOST_NINES) / MOST_NINES * (self.right - self.left)

    def label_at(self, place: float) -> float:
        """Give where the words about a place begin, so that they stay in the picture."""
        return min(max(2.0, place - 40), self.width - LABEL)


# Letters keep their size, so a telephone gets a picture of its own.
ROOMS = (_Room("roomy", 720, 20, 690), _Room("narrow", 296, 12, 284))


def scale_figure(sides: AimSides) -> Markup:
    """Give the target on its scale, what may fail, and the windows as bars."""
    before, after = sides.before, sides.after
    label = f"Target {target_words(after)} over {after.window}"
    if before is not None and sides.changed:
        label = f"Target {target_words(before)} over {before.window}, then {label[7:]}"
    caption = f"May fail: {budget_words(after)}"
    if before is not None and sides.changed:
        caption = f"May fail: {budget_words(before)} → {budget_words(after)}"
    height = BARS + BAR * len(_aims(sides))
    drawn = (
        picture(label, room.width, height, *_shapes(sides, room), classes=room.name)
        for room in ROOMS
    )
    return figure(caption, *drawn, wide=True)


def _shapes(sides: AimSides, room: _Room) -> Iterator[Markup]:
    yield from _axis(room)
    yield from _targets(sides, room)
    yield from _windows(sides, room)


def _axis(room: _Room) -> Iterator[Markup]:
    yield path("axis", "M", room.left, AXIS, "H", room.right)
    yield path("axis", "M", room.left, AXIS - 4, "v", 8)
    yield words("0 %", "s quiet", room.left, AXIS + 20)
    for nines, label in TICKS:
        place = room.at(nines)
        yield path("axis", "M", place, AXIS - 4, "v", 8)
        yield words(label, "s quiet middle", place, AXIS + 20)
    yield words("100 %", "s quiet end", room.width, AXIS + 20)


def _targets(sides: AimSides, room: _Room) -> Iterator[Markup]:
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
        yield words(f"before {target_words(before)}", "s", room.label_at(old), top)
    yield shape("circle", "aim after", cx=new, cy=AXIS, r=7)
    side = "after " if before is not None else ""
    yield words(f"{side}{target_words(after)}", "t", room.label_at(new), AXIS - 16)


def _aims(sides: AimSides) -> list[tuple[str, str, Aim]]:
    """Give the windows to draw, what each is called, and its side."""
    if sides.before is None or sides.before.window == sides.after.window:
        return [("window", "after", sides.after)]
    return [("before", "before", sides.before), ("after", "after", sides.after)]


def _windows(sides: AimSides, room: _Room) -> Iterator[Markup]:
    for row, (name, side, aim) in enumerate(_aims(sides)):
        top = BARS + BAR * row
        yield words(name, "s quiet", room.left, top + 15)
        yield from _bar(aim, side, top, room)


def _bar(aim: Aim, side: str, top: float, room: _Room) -> Iterator[Markup]:
    left = room.left + 60
    most = room.right - left - 90
    width = most * min(aim.days or 0, MOST_DAYS) / MOST_DAYS
    if width:
        yield box(f"window {side}", left, top, width, 22)
        for day in range(7, min(aim.days or 0, MOST_DAYS), 7):
            place = left + most * day / MOST_DAYS
            yield path("week", "M", place, top, "v", 22)
    yield words(aim.window, "t", left + width + 10, top + 16)
