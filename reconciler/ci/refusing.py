"""What a change brings that no review can consent to, or that cannot be done at all.

A plan fails with that before anything is merged. What the base branch's own plan has too is not
the change's. Source: docs/ci.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from reconciler.ci.result import Failure
from reconciler.errors import ExitCode, ReconcilerError, worst
from reconciler.forge.event import Event
from reconciler.guards.freeze import FROZEN
from reconciler.guards.rules import NEW_JOURNAL
from reconciler.manifests.workspace import Workspace
from reconciler.report.reasons import notes_of
from reconciler.report.words import plural
from reconciler.resource import Action, Change, Objection, Plan
from reconciler.resource.guard_levels import EXPLICIT_LEVEL
from reconciler.session.opening import Bench
from reconciler.session.planning import failures_of, plan_now
from reconciler.session.voice import Silent

DECIDED_AT_THE_APPLY: Final = (FROZEN, NEW_JOURNAL)
"""Guards that hold or not at the moment of an apply, whatever the change is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """What would be refused though it was reviewed. `of_base` counts what is not the change's."""

    guards: Sequence[Objection] = ()
    blocked: Sequence[Change] = ()
    of_base: int = 0

    @property
    def codes(self) -> set[int]:
        """The exit codes that it comes to."""
        guarded = {int(ExitCode.GUARDED)} if self.guards else set[int]()
        return guarded | ({int(ExitCode.PARTIAL)} if self.blocked else set[int]())

    @property
    def lines(self) -> tuple[str, ...]:
        """What the change brings, a line each; foreign text, not yet safe."""
        guards = (f"{one.message} [{one.code}]: no review consents to that" for one in self.guards)
        return (*guards, *map(_blocked_line, self.blocked))

    @property
    def beside(self) -> str:
        """The line on what the base branch has too, "" for nothing."""
        if not self.of_base:
            return ""
        return f"{plural(self.of_base, 'refusal')} in the plan of the base branch too"


NO_REFUSALS: Final = Refusals()


def refusals_of(made: Plan, bench: Bench, event: Event) -> Refusals:
    """Return what a change brings, by a plan of the base branch where the plan has refusals.

    Without an event the base branch is not known, and all refusals are the change's. A commit of
    the default branch brings none.
    """
    found = _refusals_in(made)
    if not found.codes:
        return found
    if bench.base is not None:
        base = _plan_of(bench.base(), bench)
        return without(found, _refusals_in(base)) if base is not None else found
    return without(found, found) if event.name else found


def without(found: Refusals, base: Refusals) -> Refusals:
    """Return refusals without those that another plan has too."""
    keys, lines = {one.key for one in base.guards}, {_blocked_line(one) for one in base.blocked}
    guards = tuple(one for one in found.guards if one.key not in keys)
    blocked = tuple(one for one in found.blocked if _blocked_line(one) not in lines)
    gone = len(found.guards) + len(found.blocked) - len(guards) - len(blocked)
    return Refusals(guards=guards, blocked=blocked, of_base=gone)


def _blocked_line(change: Change) -> str:
    return f"{change.ref} cannot be done: {'; '.join(notes_of(change))}"


def failure_of(made: Plan, refusals: Refusals, *, fails: bool) -> Failure | None:
    """Return why a plan fails: it is not complete, or brings what would be refused, if that does.

    None where neither is so.
    """
    unknown = failures_of(made)
    if unknown:
        said = "the plan is not complete, or cannot be applied as it is"
        return Failure(code=worst(unknown | refusals.codes), errors=(said, *refusals.lines))
    if not (refusals.codes and fails):
        return None
    said = "the change brings what an apply would refuse"
    return Failure(code=worst(refusals.codes), errors=refusals.lines, said=said)


def _refusals_in(made: Plan) -> Refusals:
    return Refusals(
        guards=tuple(
            one
            for one in made.guarded
            if one.level == EXPLICIT_LEVEL and one.code not in DECIDED_AT_THE_APPLY
        ),
        blocked=tuple(one for one in made.changes if one.action is Action.BLOCKED),
    )


def _plan_of(base: Workspace | None, bench: Bench) -> Plan | None:
    """Return the plan of what the base branch declares; None where it cannot be planned."""
    if base is None:
        return None
    bench = replace(bench, workspace=base, others=base.left_out, voice=Silent())
    try:
        return asyncio.run(plan_now(bench, bench.journal().history))
    except ReconcilerError:
        return None
