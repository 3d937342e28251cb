"""What a write would bring back though somebody rolled it back. Source: docs/guards.md."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from reconciler.document import ABSENT, Json
from reconciler.guards.rules import REVIEW, allowing, overriding, splitting
from reconciler.kinds import BY_NAME
from reconciler.kinds.taken_back import are_edited
from reconciler.project import Guards
from reconciler.project.settings import UNDOES_ROLLBACK
from reconciler.resource import Change, Objection, Plan, Ref, RemoteId, UndoesRollback
from reconciler.resource.guard_levels import EXPLICIT_LEVEL, REVIEW_LEVEL
from reconciler.sealed import references_in, resolve

Base: TypeAlias = Callable[[], Mapping[Ref, Json] | None]
"""Reads what the branch that a reviewed change is for declares, each as `spec`.

None where nobody can tell.
"""

Listed: TypeAlias = Callable[[Sequence[Objection]], Collection[str]]
"""Returns the keys of those objections that the reviewed plan listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderReview:
    """What is known of the review of a change; None for what is not.

    Before a merge its base branch tells what the change edits, and afterwards the reviewed plan
    has listed what it brought back.
    """

    base: Base | None = None
    listed: Listed | None = None


NO_REVIEW: Final = UnderReview()
_KEEP: Final = "keep what was rolled back: revert the change in the manifests"


def undone_rollbacks(plan: Plan, guards: Guards, review: UnderReview) -> tuple[Objection, ...]:
    """Return one objection for each rollback of a resource that a write would undo.

    A review consents to it where the reviewed change edits the manifest at each such field.
    """
    if UNDOES_ROLLBACK in guards.allow:
        return ()
    found = [(change, reason) for change in plan.changes for reason in _undone(change)]
    if not found:
        return ()
    objections = [_objection(change, reason, plan.environment) for change, reason in found]
    listed = review.listed(objections) if review.listed is not None else ()
    base = review.base() if review.base is not None else None
    ids = {one.ref: one.remote_id for one in plan.changes if one.remote_id is not None}
    return tuple(
        objection
        if objection.key in listed or _is_edited(change, reason, base, ids)
        else replace(objection, own_level=EXPLICIT_LEVEL, ways_out=objection.ways_out[1:])
        for objection, (change, reason) in zip(objections, found, strict=True)
    )


def _objection(change: Change, reason: UndoesRollback, environment: str) -> Objection:
    """Return what is objected to where a review can consent to it."""
    fields = "1 field" if len(reason.paths) == 1 else f"{len(reason.paths)} fields"
    who = reason.actor or "someone"
    return Objection(
        ref=change.ref,
        said=f" would bring back what {who} rolled back at {reason.at}, in {fields}",
        ways_out=(
            REVIEW,
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
    if base is None:
        return False
    before = base.get(change.ref, ABSENT)
    if before is not ABSENT:
        before = resolve(before, ids)
        # What a part of a plan does not know the id of could be the same as what is declared.
        if references_in(before):
            return False
    shape = BY_NAME[change.ref.kind].shape
    return are_edited(reason.paths, before, change.manifest.spec, shape)
