"""Settings of track records, and of the reaction to noisier alerts."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from reconciler.model.model_config import STRICT

TRACKED_DAYS: Final = 14
MOST_TRACKED_DAYS: Final = 90
"""Days of a track record; docs/evidence.md describes the cost."""


class Watching(BaseModel):
    """The actions of `watch` besides its report."""

    model_config = STRICT

    on_noisier: Annotated[
        Literal["report", "rollback"],
        Field(
            alias="onNoisier",
            description="report: only say which alerts are noisier; rollback: also plan the way "
            "back of these, and name the command. Nothing is applied.",
        ),
    ] = "report"
