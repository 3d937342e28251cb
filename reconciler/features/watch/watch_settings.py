"""Settings of the reaction to noisier alerts."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError

from reconciler.model.assumptions import STRICT
from reconciler.runtime.advice import is_added


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

    @field_validator("on_noisier")
    @classmethod
    def _leads_back(cls, reaction: str) -> str:
        if reaction == "rollback" and not is_added(reaction):
            raise PydanticCustomError("watch", "there is no `rollback` here, so use `report`")
        return reaction


WATCH: Final = Annotated[
    Watching,
    Field(default=Watching(), description="The reaction to alerts that are noisier since a run."),
]
