"""What of a new resource tells a reviewer what it is: places in its document. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ANY_STEP: Final = "*"
"""In a path, every field of an object and every item of a list."""


@dataclass(frozen=True, slots=True)
class Essential:
    """A place worth a look before it is made.

    `name` is what it is called where the last step says too little, and `usual`
    the value of a flag that goes without saying.
    """

    path: tuple[str, ...]
    name: str = ""
    usual: bool | None = None

    @property
    def called(self) -> str:
        """The name in reports: that of the last field unless it is given."""
        return self.name or next(step for step in reversed(self.path) if step != ANY_STEP)
