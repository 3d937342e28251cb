"""What becomes of a change that is not sent: it is blocked, skipped or left. Pure."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from reconciler.applying.applied import SKIPPED, Applied
from reconciler.applying.order import goes_alone
from reconciler.journal.entries import Started
from reconciler.resource import (
    Change,
    InDoubt,
    Outcome,
    Ref,
    Refused,
    Skipped,
    Unconfirmed,
    Unread,
)

INTERRUPTED = "the run was interrupted"


def blocked(change: Change) -> Refused:
    """Give what the plan could not do as its outcome."""
    known = change.observation
    code = known.exit_code if isinstance(known, Unread) else SKIPPED
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
