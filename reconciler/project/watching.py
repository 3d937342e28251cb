"""What is done where a look at the noise of alerts finds some."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Watching(BaseModel):
    """What `watch` does here beside its report."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    on_noisier: Annotated[
        Literal["report", "rollback"],
        Field(
            alias="onNoisier",
            description="report: only say which alerts are noisier; rollback: also plan the way "
            "back of these, and name the command. Nothing is applied.",
        ),
    ] = "report"
