"""What an apply did, as JUnit."""

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
from reconciler.report.reasons import message_of, ways_out_of

_SUITE = "reconciler apply"


def applied_junit(plan: Plan, outcomes: Sequence[Outcome]) -> str:
    """Give the XML, ending in a line break.

    What was refused has failed, what is in doubt or unconfirmed is an error, and what was not
    reached is skipped.
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
        case Written(message=said) | Unchanged(message=said):
            return JUnitCase(kind, name, details=(said,) if said else (), file=file)
        case Refused():
            ways_out = ways_out_of(outcome)
            return JUnitCase(
                kind, name, "failure", message_of(outcome), details=ways_out, file=file
            )
        case Skipped(message=said):
            return JUnitCase(kind, name, "skipped", said, file=file)
        case InDoubt(message=said) | Unconfirmed(message=said):
            return JUnitCase(kind, name, "error", said, file=file)
        case _:
            assert_never(outcome)
