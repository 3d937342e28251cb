"""What an apply did, and the exit codes that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.document import Difference
from reconciler.errors import JournalError, ReconcilerError, Stale, Unsettled, worst
from reconciler.resource import (
    InDoubt,
    Outcome,
    Overtaken,
    Ref,
    Refused,
    Skipped,
    Unconfirmed,
)

SKIPPED = 3


@dataclass(slots=True)
class Applied:
    """What an apply did: one outcome for each change that would write, and what stopped it.

    `unjournaled` says that an outcome is known which the journal could not take.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    rewritten: dict[Ref, tuple[Difference, ...]] = field(default_factory=dict)
    overtaken: dict[Ref, Overtaken] = field(default_factory=dict)
    stopped_by: ReconcilerError | None = None
    signal_code: int | None = None
    unjournaled: bool = False

    @property
    def exit_codes(self) -> set[int]:
        """The codes that apply to the run; `errors.worst` chooses."""
        codes = {one.exit_code for one in self.outcomes if isinstance(one, Refused | Unconfirmed)}
        if any(isinstance(one, InDoubt) for one in self.outcomes):
            codes.add(Unsettled.exit_code)
        if any(isinstance(one, Skipped) for one in self.outcomes):
            codes.add(SKIPPED)
        if self.overtaken:
            codes.add(Stale.exit_code)
        if self.unjournaled:
            codes.add(JournalError.exit_code)
        if self.stopped_by is not None:
            codes.add(self.stopped_by.exit_code)
        if self.signal_code is not None:
            codes.add(self.signal_code)
        return codes

    def stop(self, error: ReconcilerError) -> None:
        """End the run; of several reasons the one with the first exit code counts."""
        earlier = self.stopped_by
        if earlier is None or worst({error.exit_code, earlier.exit_code}) != earlier.exit_code:
            self.stopped_by = error
