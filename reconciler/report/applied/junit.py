"""The JUnit report of an apply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from reconciler.model import (
    Action,
    Change,
    InDoubt,
    Outcome,
    Plan,
    Refused,
    Skipped,
    Unchanged,
    Unconfirmed,
    Written,
)
from reconciler.report.junit import JUnitCase, junit
from reconciler.report.reasons import message_of, remedies_of

_SUITE = "reconciler apply"


def applied_junit(plan: Plan, outcomes: Sequence[Outcome]) -> str:
    """Return the XML, ending in a line break.

    A refused write is a failure, a write in doubt or unconfirmed is an error, and a write that was
    not reached is skipped.
    """
    known = {outcome.ref: outcome for outcome in outcomes}
    return junit(_SUITE, [_case(change, known.get(change.ref)) for change in plan.declared])


def _case(change: Change, outcome: Outcome | None) -> JUnitCase:
    kind, name = change.ref
    file = change.source.file if change.source is not None else ""
    match outcome:
        case None if change.action is Action.KEEP:
            return JUnitCase(kind, name, file=file)
        case None:
            return JUnitCase(kind, name, "skipped", "the run ended before it", file=file)
        case Written(message=message) | Unchanged(message=message):
            return JUnitCase(kind, name, details=(message,) if message else (), file=file)
        case Refused():
            remedies = remedies_of(outcome)
            return JUnitCase(
                kind, name, "failure", message_of(outcome), details=remedies, file=file
            )
        case Skipped(message=message):
            return JUnitCase(kind, name, "skipped", message, file=file)
        case InDoubt(message=message) | Unconfirmed(message=message):
            return JUnitCase(kind, name, "error", message, file=file)
        case _:
            assert_never(outcome)
