"""From the answer to a write to its outcome, and to what the journal says of it. Pure."""

from __future__ import annotations

from reconciler.errors import JournalError, Locked, OutcomeUnknown, ReconcilerError
from reconciler.journal.entries import Entry, RefusedEntry, WrittenEntry
from reconciler.kinds.kind import Answer, Sending
from reconciler.resource import (
    Action,
    InDoubt,
    Outcome,
    Refused,
    Skipped,
    Unchanged,
    Written,
)


def outcome_of(sending: Sending, answer: Answer) -> Outcome:
    """Give what became of one write, also where its answer stops the run."""
    if not isinstance(answer, ReconcilerError):
        return answer
    # Where the journal fails between the requests of one write, some of them were sent.
    unknown = isinstance(answer, OutcomeUnknown | JournalError | Locked)
    if unknown and sending.change.action is Action.CREATE:
        return InDoubt(sending.ref, str(answer))
    return Refused(
        sending.ref, str(answer), answer.exit_code, sure=not (unknown or answer.doubtful)
    )


def closing_entry(outcome: Outcome, run: str, at: str) -> Entry | None:
    """Give what the journal says of an outcome; nothing where nobody knows it.

    Then its `started` stays open.
    """
    match outcome:
        case (
            Written(ref=ref, remote_id=remote_id, message=message)
            | Unchanged(ref=ref, remote_id=remote_id, message=message)
        ):
            return WrittenEntry(run, at, ref, remote_id, message)
        case Refused(ref=ref, message=message, sure=True) | Skipped(ref=ref, message=message):
            return RefusedEntry(run, at, ref, message)
        case Refused() | InDoubt():
            return None
