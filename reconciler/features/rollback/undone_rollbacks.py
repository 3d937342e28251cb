"""Writes that would bring back what was rolled back. Source: docs/guards.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from reconciler.document import ABSENT, Json
from reconciler.journal.line_fields import are_edited
from reconciler.kinds import BY_NAME
from reconciler.model import Change, GuardViolation, Plan, Ref, RemoteId, UndoesRollback
from reconciler.model.guard_levels import EXPLICIT_LEVEL, REVIEW_LEVEL
from reconciler.model.quoting import quoted
from reconciler.planning.guards import PlanUnderGuard
from reconciler.planning.guards.consent import UnderReview
from reconciler.planning.guards.remedies import allowing, overriding, reviewing, splitting
from reconciler.project import Guards
from reconciler.project.settings import UNDOES_ROLLBACK
from reconciler.redaction.templates import references_in, resolve

_KEEP: Final = "keep what was rolled back: revert the change in the manifests"


async def with_undone(asked: PlanUnderGuard) -> Plan:
    """Return the plan with an objection for each rollback of a resource that it would undo."""
    found = undone_rollbacks(asked.plan, asked.environment.guards, asked.review)
    return replace(asked.plan, guarded=(*asked.plan.guarded, *found))


def undone_rollbacks(plan: Plan, guards: Guards, review: UnderReview) -> tuple[GuardViolation, ...]:
    """Return one objection for each rollback of a resource that a write would undo.

    Its level is review where the reviewed change edits every such field, else explicit.
    """
    if UNDOES_ROLLBACK in guards.allow:
        return ()
    found = [(change, reason) for change in plan.changes for reason in _undone(change)]
    if not found:
        return ()
    objections = [_objection(change, reason, plan.environment) for change, reason in found]
    listed = review.listed(objections) if review.listed is not None else ()
    base = review.base() if review.base is not None else None
    ids = {change.ref: change.remote_id for change in plan.declared if change.remote_id is not None}
    return tuple(
        objection
        if objection.key in listed or _is_edited(change, reason, base, ids)
        else replace(objection, own_level=EXPLICIT_LEVEL, remedies=objection.remedies[1:])
        for objection, (change, reason) in zip(objections, found, strict=True)
    )


def _objection(change: Change, reason: UndoesRollback, environment: str) -> GuardViolation:
    """Return the objection at level review."""
    fields = "1 field" if len(reason.paths) == 1 else f"{len(reason.paths)} fields"
    who, words = reason.actor or "someone", " would bring back what {} rolled back at {}, in {}"
    return GuardViolation(
        ref=change.ref,
        said=words.format(quoted(who), quoted(reason.at), fields),
        figures=words.format(who, reason.at, fields),
        remedies=(
            reviewing(),
            _KEEP,
            splitting(change.ref),
            allowing(UNDOES_ROLLBACK, environment),
            overriding(UNDOES_ROLLBACK),
        ),
        code=UNDOES_ROLLBACK,
        own_level=REVIEW_LEVEL,
    )


def _undone(change: Change) -> Iterator[UndoesRollback]:
    if change.action.writes:
        for reason in change.reasons:
            if isinstance(reason, UndoesRollback):
                yield reason


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
