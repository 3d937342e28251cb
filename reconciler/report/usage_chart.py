"""Daily data usage as bars for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.report.safe import safe
from reconciler.report.style import Colour, Style

EIGHTHS = " ▏▎▍▌▋▊▉"


def usage_chart(days: Sequence[tuple[str, float]], style: Style) -> str:
    """Give a bar for each day, `(date, units)`, each ending in a line break."""
    most = max((units for _, units in days), default=0.0)
    widest = max((len(f"{units:,.1f}") for _, units in days), default=0)
    room = max(10, style.width - 10 - widest - 4)
    lines = []
    for date, units in days:
        eighths = max(0, round(units / most * room * 8)) if most else 0
        bar = "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
        lines.append(f"{safe(date)[:10]}  {units:>{widest},.1f}  {style.paint(bar, Colour.CYAN)}")
    return "".join(f"{line}\n" for line in lines)
