"""What an apply did, the exit codes of that, and what becomes of changes that are not sent."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from reconciler.applying.order import goes_alone
from reconciler.document import Difference
from reconciler.errors import ExitCode, JournalError, ReconcilerError, Stale, Unsettled, worst
from reconciler.journal.entries import Started
from reconciler.resource import (
    Change,
    InDoubt,
    Outcome,
    Overtaken,
    Ref,
    Refused,
    Skipped,
    Unconfirmed,
    Unread,
)


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
            codes.add(ExitCode.PARTIAL)
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


INTERRUPTED = "the run was interrupted"


def blocked(change: Change) -> Refused:
    """Give what the plan could not do as its outcome."""
    known = change.observation
    code = known.exit_code if isinstance(known, Unread) else ExitCode.PARTIAL
    return Refused(change.ref, "", code, change.reasons)


def why_skipped(
    change: Change, applied: Applied, failed: AbstractSet[Ref], *, interrupted: bool
) -> str:
    """Say why a change must not be sent any more; "" where nothing keeps it."""
    if applied.stopped_by is not None:
        return "the run had stopped"
    if interrupted:
        return INTERRUPTED
    if goes_alone(change) and any(isinstance(one, InDoubt) for one in applied.outcomes):
        return "another create is in doubt, and one is enough to look for"
    bad = sorted(change.manifest.references & failed)
    return f"depends on {bad[0]}, which was not written" if bad else ""


def left(change: Change, pending: Started | None, run: str) -> Outcome:
    """Give what the journal knows of a change after its run was left.

    `pending` is the write of it that nothing has answered. What was in flight
    stays open in the journal.
    """
    if pending is None or pending.run != run:
        return Skipped(change.ref, INTERRUPTED)
    if goes_alone(change) and pending.operation == "create":
        return InDoubt(change.ref, "the run was left while its create was in flight")
    said = "the run was left while it was in flight: the next plan tells what became of it"
    return Unconfirmed(change.ref, said)
