"""How much one run reads: `limits:` of the project file.

What a single file may hold, and what is made of files that are put in again and again, is no
setting: these hold off what was made to take a machine's memory. Source: docs/manifests.md.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from reconciler.model_config import STRICT
from reconciler.syntax.files import LARGEST_WORKSPACE, MOST_FILES

_MB = 1 << 20


class Extent(BaseModel):
    """How many files a workspace may have, and how large they may be together."""

    model_config = STRICT

    files: Annotated[int, Field(ge=1, description="How many files are read in one run.")] = (
        MOST_FILES
    )
    megabytes: Annotated[
        int, Field(ge=1, description="How large they may be together, in MB of 1,048,576 bytes.")
    ] = LARGEST_WORKSPACE // _MB

    @property
    def size(self) -> int:
        """How large they may be together, in bytes."""
        return self.megabytes * _MB
