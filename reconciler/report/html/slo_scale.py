"""An objective's target and window, before and after, on a scale of nines. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.report.html.drawing import box, figure, path, picture, shape, words
from reconciler.report.html.element import Markup
from reconciler.report.pictures.objective import Aim, AimSides, budget_words, target_words

WIDTH = 720
LEFT, RIGHT = 20.0, 690.0
AXIS = 52.0
HEIGHT = 172
MOST_NINES = 5.0
MOST_DAYS = 28
TICKS = ((0.0, "0 %"), (1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %"), (4.0, "99.99 %"))
NEAR = 90.0


def scale_figure(sides: AimSides) -> Markup:
    """Give the target on its scale, what may fail, and the windows as bars."""
    before, after = sides.before, sides.after
    label = f"Target {target_words(after)} over {after.window}"
    if before is not None and sides.changed:
        label = f"Target {target_words(before)} over {before.window}, then {label[7:]}"
    shapes = (*_axis(), *_targets(sides), *_windows(sides))
    caption = f"May fail: {budget_words(after)}"
    if before is not None and sides.changed:
        caption = f"May fail: {budget_words(before)} → {budget_words(after)}"
    return figure(caption, picture(label, WIDTH, HEIGHT, *shapes), wide=True)


def _at(nines: float) -> float:
    return LEFT + min(nines, MOST_NINES) / MOST_NINES * (RIGHT - LEFT)


def _axis() -> Iterator[Markup]:
    yield path("axis", "M", LEFT, AXIS, "H", RIGHT)
    for nines, label in TICKS:
        place = _at(nines)
        yield path("axis", "M", place, AXIS - 4, "v", 8)
        yield words(label, "s quiet", place - (0 if nines == 0 else 14), AXIS + 20)
    yield words("100 %", "s quiet", RIGHT - 18, AXIS + 20)


def _targets(sides: AimSides) -> Iterator[Markup]:
    before, after = sides.before, sides.after
    if after.nines is None:
        return
    new = _at(after.nines)
    if before is not None and before.nines is not None and before.target != after.target:
        old = _at(before.nines)
        start, end = old + (8 if new > old else -8), new + (-9 if new > old else 9)
        back = -8 if new > old else 8
        tip = ("M", end + back, AXIS - 5, "L", end, AXIS, "L", end + back, AXIS + 5)
        yield path("link moved", "M", start, AXIS, "H", end, *tip)
        yield shape("circle", "aim before", cx=old, cy=AXIS, r=7)
        close = abs(new - old) < NEAR
        top = AXIS - 34 if close else AXIS - 16
        yield words(f"before {target_words(before)}", "s", _label_at(old), top)
    yield shape("circle", "aim after", cx=new, cy=AXIS, r=7)
    yield words(f"after {target_words(after)}", "t", _label_at(new), AXIS - 16)


def _label_at(place: float) -> float:
    return min(max(2.0, place - 40), WIDTH - 110)


def _windows(sides: AimSides) -> Iterator[Markup]:
    same = sides.before is None or sides.before.window == sides.after.window
    shown = [("window", sides.after, "after")]
    if not same and sides.before is not None:
        shown = [("before", sides.before, "before"), ("after", sides.after, "after")]
    top = AXIS + 46.0
    for name, aim, side in shown:
        yield words(name, "s quiet", LEFT, top + 15)
        yield from _bar(aim, side, top)
        top += 32


def _bar(aim: Aim, side: str, top: float) -> Iterator[Markup]:
    left = LEFT + 60
    room = RIGHT - left - 90
    width = room * min(aim.days or 0, MOST_DAYS) / MOST_DAYS
    if width:
        yield box(f"window {side}", left, top, width, 22)
        for day in range(7, min(aim.days or 0, MOST_DAYS), 7):
            place = left + room * day / MOST_DAYS
            yield path("week", "M", place, top, "v", 22)
    yield words(aim.window, "t", left + width + 10, top + 16)
