"""Checks of features after a write that was acknowledged and seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from reconciler.api.client import Api
from reconciler.errors import ReconcilerError
from reconciler.journal.journal import Journal
from reconciler.kinds.kind import Kind, Sending
from reconciler.model import Outcome, Seen, Written
from reconciler.runtime.rows import Rows


@dataclass(frozen=True, slots=True)
class Proved:
    """The outcome of a write after its check; `said` is "" where all is as planned.

    `stopped_by` is the error that ends the run.
    """

    outcome: Outcome
    said: str = ""
    stopped_by: ReconcilerError | None = None


class WriteProof(Protocol):
    """The check of one run. `left` is the message of a write that the run left unchecked."""

    left: ClassVar[str]

    async def proved(
        self, kind: Kind, sending: Sending, answer: Written, before: Seen | None
    ) -> Proved:
        """Check a write. Never raises for an answer.

        `before` is the resource that was read right before the write.
        """


MakeProof: TypeAlias = Callable[[Api, Journal, str, Any], WriteProof]
"""Returns the check of a run, from its journal, its name and the section of its plan."""

AFTER_WRITE: Final = Rows[MakeProof]("after-write")
"""By the class name of the section that asks for the check."""
