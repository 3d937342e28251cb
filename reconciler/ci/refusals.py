"""Refusals that a change causes: guards that no review lifts, and blocked resources.

They fail the plan, before anything is merged. Refusals that the plan of the base branch has too do
not count. Source: docs/ci.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from reconciler.ci.forge.event import Event
from reconciler.ci.result import Failure
from reconciler.errors import ExitCode, ReconcilerError, worst
from reconciler.model import Action, Change, GuardViolation, Plan
from reconciler.model.guard_levels import EXPLICIT_LEVEL, FROZEN
from reconciler.operations.open_session import Session
from reconciler.operations.plan_and_drift import failures_of, plan_now
from reconciler.operations.reporter import Silent
from reconciler.planning.guards.plan_limits import NEW_JOURNAL
from reconciler.report.reasons import notes_of
from reconciler.report.words import plural
from reconciler.workspace.workspace import Workspace

DECIDED_AT_THE_APPLY: Final = (FROZEN, NEW_JOURNAL)
"""Guards that depend on the time of the apply, not on the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Refusals of an apply after any review.

    `of_base` counts the refusals of the base branch; `is_base` is true where the plan is the base's
    own.
    """

    guards: Sequence[GuardViolation] = ()
    blocked: Sequence[Change] = ()
    of_base: int = 0
    is_base: bool = False

    @property
    def codes(self) -> set[int]:
        """Return the exit codes of an apply with these refusals."""
        guarded = {int(ExitCode.GUARDED)} if self.guards else set[int]()
        return guarded | ({int(ExitCode.PARTIAL)} if self.blocked else set[int]())

    @property
    def lines(self) -> tuple[str, ...]:
        """Return a line for each refusal; the text is foreign and not yet safe."""
        return (
            *(
                f"{guard.message} [{guard.code}]: no review consents to that"
                for guard in self.guards
            ),
            *(
                f"{change.ref} cannot be done: {'; '.join(notes_of(change))}"
                for change in self.blocked
            ),
        )

    @property
    def beside(self) -> str:
        """Return the line that counts the refusals of the base branch, "" for none."""
        if not self.of_base:
            return ""
        where = (
            "this plan, and no change brings it" if self.is_base else "the base branch's plan too"
        )
        return f"{plural(self.of_base, 'refusal')} in {where}"


NO_REFUSALS: Final = Refusals()


def refusals_of(made: Plan, session: Session, event: Event) -> Refusals:
    """Return the refusals of a plan that the plan of the base branch does not have.

    Without an event there is no base branch, and all count. On the default branch none counts.
    """
    found = _refusals_in(made)
    if not found.codes:
        return found
    if session.base is not None:
        base = _plan_of(session.base(), session)
        return without(found, _refusals_in(base)) if base is not None else found
    return replace(without(found, found), is_base=True) if event.name else found


def without(found: Refusals, base: Refusals) -> Refusals:
    """Return refusals without those that another plan has too."""
    keys = {guard.key for guard in base.guards}
    reasons = {change.ref: change.reasons for change in base.blocked}
    guards = tuple(guard for guard in found.guards if guard.key not in keys)
    blocked = tuple(change for change in found.blocked if reasons.get(change.ref) != change.reasons)
    gone = len(found.guards) + len(found.blocked) - len(guards) - len(blocked)
    return Refusals(guards=guards, blocked=blocked, of_base=gone)


def failure_of(made: Plan, refusals: Refusals, *, fails: bool) -> Failure | None:
    """Return why a job fails after its plan; None where it does not.

    It fails where the plan is not complete, and, with `fails`, where the change causes refusals.
    """
    unknown = failures_of(made)
    if unknown:
        reason = "the plan is not complete, or cannot be applied as it is"
        return Failure(code=worst(unknown | refusals.codes), errors=(reason, *refusals.lines))
    if not (refusals.codes and fails):
        return None
    reason = "the change brings what an apply would refuse"
    return Failure(code=worst(refusals.codes), errors=refusals.lines, said=reason)


def _refusals_in(made: Plan) -> Refusals:
    return Refusals(
        guards=tuple(
            guard
            for guard in made.guarded
            if guard.level == EXPLICIT_LEVEL and guard.code not in DECIDED_AT_THE_APPLY
        ),
        blocked=tuple(change for change in made.changes if change.action is Action.BLOCKED),
    )


def _plan_of(base: Workspace | None, session: Session) -> Plan | None:
    """Return the plan of what the base branch declares; None where it cannot be planned."""
    if base is None:
        return None
    session = replace(session, workspace=base, others=base.left_out, reporter=Silent())
    try:
        return asyncio.run(plan_now(session, session.journal().history))
    except ReconcilerError:
        return None
