"""From the answer to a write to its outcome, and to what the journal says of it. Pure."""

from __future__ import annotations

from dataclasses import replace

from reconciler.errors import JournalError, Locked, OutcomeUnknown, ReconcilerError
from reconciler.journal.entries import Entry, RefusedEntry, WrittenEntry
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Answer, Sending
from reconciler.resource import (
    Action,
    Change,
    InDoubt,
    Outcome,
    Overtaken,
    Refused,
    RemoteId,
    Skipped,
    Unchanged,
    Unconfirmed,
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
    if unknown or answer.doubtful:
        return Unconfirmed(sending.ref, str(answer), answer.exit_code)
    return Refused(sending.ref, str(answer), answer.exit_code)


def not_given(change: Change, remote_id: RemoteId | None) -> RemoteId | None:
    """Give the declared id where the service gave another; None where there is no such."""
    kind = BY_NAME[change.ref.kind]
    declared = kind.declared_id(change.manifest)
    if declared is None or remote_id is None:
        return None
    return None if kind.normal_id(declared) == kind.normal_id(remote_id) else declared


def closing_entry(change: Change, outcome: Outcome, run: str, at: str) -> Entry | None:
    """Give what the journal says of what became of a change; nothing where nobody knows it.

    Then its `started` stays open.
    """
    match outcome:
        case Written(ref=ref, remote_id=remote_id, message=message, revision=revision):
            instead_of = not_given(change, remote_id)
            return WrittenEntry(
                run, at, ref, remote_id, message, revision=revision, instead_of=instead_of
            )
        case Unchanged(ref=ref, remote_id=remote_id, message=message):
            return WrittenEntry(run, at, ref, remote_id, message)
        case Refused(ref=ref, message=message) | Skipped(ref=ref, message=message):
            return RefusedEntry(run, at, ref, message)
        case Unconfirmed() | InDoubt():
            return None


def with_overtaken(written: Written, overtaken: Overtaken) -> Written:
    """Say of a write that another writer came right after it."""
    who = f", {overtaken.edit}" if overtaken.edit.told else ""
    said = f"another writer changed it right after{who}: plan again"
    return replace(written, message=f"{written.message}; {said}" if written.message else said)
