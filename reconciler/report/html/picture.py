"""The picture of a change, by what there is to draw. Pure."""

from __future__ import annotations

from typing import assert_never

from reconciler.report.html.dashboard_grid import grid_figure
from reconciler.report.html.element import NOTHING, Markup
from reconciler.report.html.policy_order import order_figure
from reconciler.report.html.slo_scale import scale_figure
from reconciler.report.pictures.grid import Sides
from reconciler.report.pictures.objective import AimSides
from reconciler.report.pictures.ranking import RankingSides
from reconciler.report.pictures.sides import Drawing


def picture_of(drawing: Drawing | None) -> Markup:
    """Give the figure; nothing where there is nothing to draw."""
    match drawing:
        case None:
            return NOTHING
        case Sides():
            return grid_figure(drawing)
        case RankingSides():
            return order_figure(drawing)
        case AimSides():
            return scale_figure(drawing)
        case _:
            assert_never(drawing)
