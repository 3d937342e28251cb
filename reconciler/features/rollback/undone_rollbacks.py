"""Writes that would bring back what was rolled back. Source: docs/guards.md."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from reconciler.document import ABSENT, Json
from reconciler.errors import ReconcilerError
from reconciler.features.rollback.roll_back import ROLLBACK, states_before, way_back
from reconciler.journal.entries import Entry, Started
from reconciler.journal.history import runs_of
from reconciler.journal.line_fields import are_edited
from reconciler.journal.writes import before_run
from reconciler.kinds import BY_NAME
from reconciler.model import Change, GuardViolation, Plan, Ref, RemoteId, UndoesRollback
from reconciler.model.guards import ARGUMENTS, EXPLICIT_LEVEL, REVIEW_LEVEL, ResourceRemedy
from reconciler.model.quoting import quoted
from reconciler.operations.open_session import Session
from reconciler.planning.guards import PlanUnderGuard, UnderReview
from reconciler.planning.guards.plan_limits import allowing, overriding, reviewing, splitting
from reconciler.project import Guards
from reconciler.project.settings import UNDOES_ROLLBACK
from reconciler.redaction.templates import references_in, resolve
from reconciler.runtime.advice import from_journal

_KEEP: Final = "keep what was rolled back"


ManifestsEdited: TypeAlias = Callable[[str, Sequence[Ref]], Collection[Ref]]
"""Returns the resources with a manifest that `rollback RUN REF… --write` edits."""


def _all(_: str, refs: Sequence[Ref]) -> Collection[Ref]:
    return refs


def _edited(session: Session, undone: str, refs: Sequence[Ref]) -> Collection[Ref]:
    try:
        states = states_before(session, session.journal(), undone, refs, live=False)
    except ReconcilerError:
        return ()
    return {ref for file in way_back(session, states).files() for ref in file.refs}


async def with_undone(asked: PlanUnderGuard) -> Plan:
    """Return the plan with an objection for each rollback of a resource that it would undo."""
    session = asked.session
    edited = partial(_edited, session) if isinstance(session, Session) else _all
    found = undone_rollbacks(
        asked.plan, asked.environment.guards, asked.review, asked.entries, edited=edited
    )
    return replace(asked.plan, guarded=(*asked.plan.guarded, *found))


def undone_rollbacks(
    plan: Plan,
    guards: Guards,
    review: UnderReview,
    entries: Callable[[], Sequence[Entry]] = tuple,
    *,
    edited: ManifestsEdited = _all,
) -> tuple[GuardViolation, ...]:
    """Return one objection for each rollback of a resource that a write would undo.

    Its level is review where the reviewed change edits every such field, else explicit. `entries`
    reads those of the journal, and `edited` finds what `rollback RUN --write` edits.
    """
    if UNDOES_ROLLBACK in guards.allow:
        return ()
    found = [
        (change, reason)
        for change in plan.changes
        for reason in (change.reasons if change.action.writes else ())
        if isinstance(reason, UndoesRollback)
    ]
    if not found:
        return ()
    restoring = _restoring(entries())
    runs: dict[str, list[Ref]] = {}
    for change, reason in found:
        if undone := restoring.get((change.ref, reason.at)):
            runs.setdefault(undone, []).append(change.ref)
    written = {(ref, undone) for undone, refs in runs.items() for ref in edited(undone, refs)}
    objections = [
        _objection(
            change,
            reason,
            plan.environment,
            _keeping(
                change.ref,
                undone
                if (change.ref, undone := restoring.get((change.ref, reason.at))) in written
                else None,
            ),
        )
        for change, reason in found
    ]
    listed = review.listed(objections) if review.listed is not None else ()
    base = review.base() if review.base is not None else None
    ids = {change.ref: change.remote_id for change in plan.declared if change.remote_id is not None}
    return tuple(
        objection
        if objection.key in listed or _is_edited(change, reason, base, ids)
        else replace(objection, own_level=EXPLICIT_LEVEL, remedies=objection.remedies[1:])
        for objection, (change, reason) in zip(objections, found, strict=True)
    )


def _objection(
    change: Change, reason: UndoesRollback, environment: str, keeping: str
) -> GuardViolation:
    """Return the objection at level review."""
    fields = "1 field" if len(reason.paths) == 1 else f"{len(reason.paths)} fields"
    who, words = reason.actor or "someone", " would bring back what {} rolled back at {}, in {}"
    return GuardViolation(
        ref=change.ref,
        said=words.format(quoted(who), quoted(reason.at), fields),
        figures=words.format(who, reason.at, fields),
        remedies=(
            reviewing(),
            keeping,
            splitting(change.ref),
            allowing(UNDOES_ROLLBACK, environment),
            overriding(UNDOES_ROLLBACK),
        ),
        code=UNDOES_ROLLBACK,
        own_level=REVIEW_LEVEL,
    )


def _restoring(entries: Sequence[Entry]) -> dict[tuple[Ref, str], str]:
    """Map resources and times of rollbacks to the run that was rolled back.

    `rollback RUN --write` edits the manifests to declare the same. A resource is left out where the
    journal lacks the run, or where the rollback did not restore the declaration before the run.
    """
    runs = runs_of(entries)
    found: dict[tuple[Ref, str], str] = {}
    for run in runs:
        undone = run.entry.command.removeprefix(f"{ROLLBACK} ")
        named = [other for other in runs if other.entry.run.startswith(undone)]
        if undone == run.entry.command or len(named) != 1:
            continue
        before = {state.ref: state.last for state in before_run(entries, named[0])}
        written = (entry for entry in entries[run.begins : run.ends] if isinstance(entry, Started))
        for entry in written:
            last = before.get(entry.ref)
            if last is not None and last.declared == entry.declared:
                found |= {(entry.ref, taken.at): undone for taken in entry.takes_back}
    return found


def _keeping(ref: Ref, undone: str | None) -> str:
    """Return how to keep what was rolled back."""
    if undone is None:
        return f"{_KEEP}: revert the change in the manifests"
    return ResourceRemedy(
        *(
            f"{_KEEP}: `{from_journal('rollback', f'{undone} {refs} --write')}` edits the "
            "manifests, and lists what is to be edited by hand"
            for refs in (ref, ARGUMENTS)
        )
    )


def _is_edited(
    change: Change,
    reason: UndoesRollback,
    base: Mapping[Ref, Json] | None,
    ids: Mapping[Ref, RemoteId],
) -> bool:
    if base is None or change.manifest is None:
        return False
    before = base.get(change.ref, ABSENT)
    if before is not ABSENT:
        before = resolve(before, ids)
        # A reference to a resource outside this part of the plan has no id: it may be unchanged.
        if references_in(before):
            return False
    shape = BY_NAME[change.ref.kind].shape
    return are_edited(reason.paths, before, change.manifest.spec, shape)
