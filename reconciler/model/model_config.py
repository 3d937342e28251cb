"""Validation of everything that a person writes into the project file."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict

STRICT: Final = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
"""No unknown fields, and no values of another type.

A model is built on its first use: models inside others are never built.
"""


class FileSection(BaseModel):
    """A setting that names a file of the project, which holds no manifests."""

    model_config = STRICT

    file: str
