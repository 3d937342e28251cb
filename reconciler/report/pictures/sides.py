"""What of a change is best drawn: the sides of its kind's picture. Pure."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from reconciler.kinds import BY_NAME
from reconciler.kinds.picture import Grid, Objective, Ranking
from reconciler.report.pictures.grid import Sides
from reconciler.report.pictures.grid_sides import grid_sides
from reconciler.report.pictures.objective import AimSides, aim_sides
from reconciler.report.pictures.ranking import RankingSides, ranking_sides
from reconciler.report.words import live_document
from reconciler.resource import Change

Drawing: TypeAlias = Sides | RankingSides | AimSides


def drawing_of(change: Change) -> Drawing | None:
    """Give what to draw of a planned write; None where its kind has no picture."""
    kind = BY_NAME.get(change.ref.kind)
    if kind is None or kind.picture is None or not change.action.writes:
        return None
    before, after = live_document(change), change.body
    match kind.picture:
        case Grid() as grid:
            return grid_sides(grid, before, after, kind.shape)
        case Ranking() as ranking:
            return ranking_sides(ranking, before, after, kind.spec, kind.shape)
        case Objective() as objective:
            return aim_sides(objective, before, after, kind.spec)
        case _:
            assert_never(kind.picture)
