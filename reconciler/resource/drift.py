"""What became of a resource since it was applied. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from reconciler.document import Difference, Json
from reconciler.resource.declared import Source
from reconciler.resource.naming import Ref

State: TypeAlias = Literal["same", "drifted", "gone", "unread", "unseen", "unapplied"]


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of one resource since it was applied.

    `unseen` is one that the API cannot show, `unapplied` one the journal has no
    write of. In `differences`, `before` is what was applied and `after` is live;
    `live` is the whole live document as it may be shown. `unread` is one that
    was asked for with an answer of no use; only then there is an `exit_code`.
    """

    ref: Ref
    source: Source
    state: State
    differences: tuple[Difference, ...] = ()
    note: str = ""
    live: Json = None
    exit_code: int = 0

    @property
    def drifted(self) -> bool:
        """Whether live differs from what was applied."""
        return self.state in ("drifted", "gone")
