"""The place of a secret's value, as the project file declares it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from reconciler.model.model_config import STRICT


class SecretPlace(BaseModel):
    """The place of one secret's value: a variable, a file, or the output of a command."""

    model_config = STRICT

    environment: Annotated[
        str | None,
        Field(min_length=1, description="The environment variable that holds it."),
    ] = None
    file: Annotated[
        str | None,
        Field(
            min_length=1,
            description="The file that holds it, as /run/secrets/db: below the project file's "
            "folder, or absolute. One line break at its end is no part of it.",
        ),
    ] = None
    command: Annotated[
        list[str] | None,
        Field(
            min_length=1,
            description="A program and its arguments, run without a shell, that prints it. One "
            "line break at its end is no part of it.",
        ),
    ] = None

    @model_validator(mode="after")
    def _is_one(self) -> SecretPlace:
        places = [self.environment, self.file, self.command]
        if sum(place is not None for place in places) != 1:
            words = "a secret has one of `environment`, `file` and `command`"
            raise PydanticCustomError("secret_place", "{said}", {"said": words})
        if any("\0" in value for value in (self.file or "", *(self.command or ()))):
            raise PydanticCustomError("secret_place", "{said}", {"said": "must not hold a NUL"})
        if self.command is not None and not self.command[0]:
            raise PydanticCustomError("secret_place", "{said}", {"said": "names no program"})
        return self

    @property
    def is_beside(self) -> bool:
        """Return whether the value is outside of the process's environment."""
        return self.environment is None
