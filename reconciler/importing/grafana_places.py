"""Where panels of Grafana are: their order, and what a row here cannot hold of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.importing.conversion import Fields, Notes, named, text_at

GRID, WIDEST = 24, 1_280
"""Units across a dashboard in Grafana, and here, where they are pixels of a usual window."""


def place(panel: Fields) -> tuple[float, float]:
    """Return where a panel is, for the order in which panels are seen."""
    return grid(panel, "y"), grid(panel, "x")


def grid(panel: Fields, side: str) -> float:
    """Return a side of the place of a panel, 0 for none."""
    number = panel.inner("gridPos").number(side)
    return float(number) if number is not None else 0.0


def name_places(panels: Sequence[Fields], notes: Notes) -> None:
    """Name the places of panels of one row that do not fill it, or are of several heights."""
    ends = 0.0
    is_filled = len({grid(panel, "h") for panel in panels}) == 1
    for panel in panels:
        is_filled = is_filled and grid(panel, "x") == ends
        ends += grid(panel, "w")
    for panel in () if is_filled and ends == GRID else panels:
        place = ", ".join(f"{side} {grid(panel, side):g}" for side in ("x", "w", "h"))
        if panel.inner("gridPos").document:
            said = "panels of one row fill it here, and are as high as the highest"
            notes.leave(f"{called(panel)}: gridPos: {place}", said)


def called(panel: Fields, what: str = "panel") -> str:
    """Return what a panel or row is called in reports: by its id where it has no title."""
    title = text_at(panel.document, "title")
    return f"{what} `{named(title) or named(str(panel.document.get('id', '')))}`"


def widths(panels: Sequence[Fields]) -> list[int]:
    """Return the widths of panels in one row; 0 lets the service share it, as for equal panels."""
    shares = [min(GRID, max(0.0, grid(panel, "w"))) for panel in panels]
    if len(set(shares)) == 1 or not all(shares):
        return [0] * len(shares)
    return [max(1, round(share * WIDEST / GRID)) for share in shares]
