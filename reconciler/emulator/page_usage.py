"""Data usage as a bar chart."""

from datetime import date

from reconciler.emulator.markup import Markup, tag
from reconciler.emulator.models.wire import JsonObject

_WIDTH, _HEIGHT, _FOOT, _LEFT = 960, 180, 20, 40
_SATURDAY = 5


def usage_chart(days: list[JsonObject]) -> Markup:
    """Draw one bar a day, weekends paler."""
    if not days:
        return tag("p", "No usage.", class_="soft")
    highest = max(day["totalUnits"]["value"] for day in days) or 1.0
    step = (_WIDTH - _LEFT) / len(days)
    return tag(
        "svg",
        _scale(highest),
        [_bar(place, day, highest, step) for place, day in enumerate(days)],
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"Units a day over {len(days)} days, at most {highest:.0f}",
    )


def _scale(highest: float) -> Markup:
    """Draw a line for nothing and one for the most."""
    floor = _HEIGHT - _FOOT
    return tag(
        "g",
        tag("line", x1=_LEFT, x2=_WIDTH, y1=floor, y2=floor, class_="axis"),
        tag("line", x1=_LEFT, x2=_WIDTH, y1=10, y2=10, class_="axis"),
        tag("text", f"{highest:.0f}", x=_LEFT - 6, y=14, text_anchor="end"),
        tag("text", "0", x=_LEFT - 6, y=floor, text_anchor="end"),
    )


def _bar(place: int, day: JsonObject, highest: float, step: float) -> Markup:
    value = day["totalUnits"]["value"]
    height = value / highest * (_HEIGHT - _FOOT - 10)
    moment = date.fromisoformat(day["statsDate"][:10])
    left = _LEFT + place * step
    is_weekend = moment.weekday() >= _SATURDAY
    label = tag("text", f"{moment:%d %b}", x=f"{left:.1f}", y=_HEIGHT - 5)
    bar = tag(
        "rect",
        tag("title", f"{moment:%a %d %B %Y}: {value:.1f} units"),
        x=f"{left + step * 0.12:.1f}",
        y=f"{_HEIGHT - _FOOT - height:.1f}",
        width=f"{step * 0.76:.1f}",
        height=f"{height:.1f}",
        rx=2,
        class_="bar weekend" if is_weekend else "bar",
    )
    return tag("g", bar, label if moment.weekday() == 0 else "")
