"""Places of Grafana panels: their order, and what a row here cannot represent. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.features.import_.conversion import Fields, Notes, named, text_at

GRID, WIDEST = 24, 1_280
"""The width of a dashboard in Grafana's units, and here, in pixels of a usual window."""


def place(panel: Fields) -> tuple[float, float]:
    """Return the sort key of a panel, for the order of display."""
    return grid(panel, "y"), grid(panel, "x")


def grid(panel: Fields, side: str) -> float:
    """Return a coordinate or size of a panel, 0 for none."""
    number = panel.inner("gridPos").number(side)
    return float(number) if number is not None else 0.0


def name_places(panels: Sequence[Fields], notes: Notes) -> None:
    """Add the places of panels that do not fill their row, or differ in height."""
    ends = 0.0
    is_filled = len({grid(panel, "h") for panel in panels}) == 1
    for panel in panels:
        is_filled = is_filled and grid(panel, "x") == ends
        ends += grid(panel, "w")
    for panel in () if is_filled and ends == GRID else panels:
        place = ", ".join(f"{side} {grid(panel, side):g}" for side in ("x", "w", "h"))
        if panel.inner("gridPos").document:
            reason = "panels of one row fill it here, and are as high as the highest"
            notes.leave(f"{called(panel)}: gridPos: {place}", reason)


def called(panel: Fields, what: str = "panel") -> str:
    """Return the name of a panel or row in reports: its title, or its id where it has none."""
    title = text_at(panel.document, "title")
    return f"{what} `{named(title) or named(str(panel.document.get('id', '')))}`"


def widths(panels: Sequence[Fields]) -> list[int]:
    """Return the widths of panels in one row; 0 lets the service divide it, as for equal panels."""
    shares = [min(GRID, max(0.0, grid(panel, "w"))) for panel in panels]
    if len(set(shares)) == 1 or not all(shares):
        return [0] * len(shares)
    return [max(1, round(share * WIDEST / GRID)) for share in shares]
