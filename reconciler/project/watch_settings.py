"""What is told of alerts in CI, and what is done where a look at their noise finds some."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from reconciler.model_config import STRICT

TRACKED_DAYS: Final = 14
MOST_TRACKED_DAYS: Final = 90
"""Of how many days a track record tells; docs/evidence.md says what it costs."""


class Watching(BaseModel):
    """What `watch` does here beside its report."""

    model_config = STRICT

    on_noisier: Annotated[
        Literal["report", "rollback"],
        Field(
            alias="onNoisier",
            description="report: only say which alerts are noisier; rollback: also plan the way "
            "back of these, and name the command. Nothing is applied.",
        ),
    ] = "report"
