"""The input limits of one run: `limits:` of the project file.

The limits of a single file, and of files that are included repeatedly, are no settings: they
protect against input made to exhaust a machine's memory. Source: docs/manifests.md.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from reconciler.model.model_config import STRICT
from reconciler.syntax.files import LARGEST_WORKSPACE, MOST_FILES

_MB = 1 << 20


class Extent(BaseModel):
    """The largest number of files of a workspace, and their largest total size."""

    model_config = STRICT

    files: Annotated[int, Field(ge=1, description="How many files are read in one run.")] = (
        MOST_FILES
    )
    megabytes: Annotated[
        int, Field(ge=1, description="How large they may be together, in MB of 1,048,576 bytes.")
    ] = LARGEST_WORKSPACE // _MB

    @property
    def size(self) -> int:
        """The largest total size, in bytes."""
        return self.megabytes * _MB
