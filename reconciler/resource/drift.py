"""What became of a resource since it was applied. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reconciler.document import Difference, Json
from reconciler.resource.declared import Source
from reconciler.resource.naming import Ref


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of one resource since it was applied.

    `unseen` is one that the API cannot show, `unapplied` one the journal has no
    write of. In `differences`, `before` is what was applied and `after` is live;
    `live` is the whole live document as it may be shown. An `exit_code` says that it was asked for
    and the answer was of no use.
    """

    ref: Ref
    source: Source
    state: Literal["same", "drifted", "gone", "unseen", "unapplied"]
    differences: tuple[Difference, ...] = ()
    note: str = ""
    live: Json = None
    exit_code: int = 0

    @property
    def drifted(self) -> bool:
        """Whether live differs from what was applied."""
        return self.state in ("drifted", "gone")
