"""The plan of a rollback: the resources that are put back, and what prevents it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reconciler.document import Json, Missing, Shape, by_identity
from reconciler.kinds import BY_NAME
from reconciler.model import (
    Action,
    Change,
    MadeAnew,
    Plan,
    PutBack,
    Reason,
    Ref,
    RollsBack,
    Seen,
    UndoesRollback,
)
from reconciler.planning.consequences import members_by_name
from reconciler.planning.make_plan import PlanTarget, plan_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoring:
    """The inputs of a rollback's plan, besides the documents that are its manifests.

    `said` is the reason of each resource. `owned` are the documents that the journal is to record
    as declared, where that is not all that is put back. `blocked` are the changes that cannot be
    put back, and `beside` the other known resources.
    """

    remark: RollsBack
    said: Mapping[Ref, PutBack] = field(default_factory=dict)
    owned: Mapping[Ref, dict[str, Json]] = field(default_factory=dict)
    blocked: tuple[Change, ...] = ()
    beside: tuple[Ref, ...] = ()


def with_restored(made: Plan, place: PlanTarget, restoring: Restoring) -> Plan:
    """Return the plan of the whole rollback, from the plan of the resources that are put back."""
    order = {name: index for index, name in enumerate(BY_NAME)}
    changes = [*(_said(change, restoring) for change in made.declared), *restoring.blocked]
    changes.sort(key=lambda change: (order[change.ref.kind], change.ref.name))
    return replace(
        made,
        changes=(*changes, *made.orphans),
        digest=plan_digest(place, changes),
        remarks=(restoring.remark, *made.remarks),
        beside=restoring.beside,
        perhaps_beside=(),
    )


def _said(change: Change, restoring: Restoring) -> Change:
    """Add the state to which a resource is put back, and its members that are created again."""
    owned, put_back = restoring.owned.get(change.ref, change.declared), restoring.said[change.ref]
    # A rollback of a rollback brings back what that removed, and says so itself.
    found = tuple(reason for reason in change.reasons if not isinstance(reason, UndoesRollback))
    # The first reason of a blocked change is why it is blocked.
    reasons: tuple[Reason, ...] = (
        (*found, put_back) if change.action is Action.BLOCKED else (put_back, *found)
    )
    made_again = _made_anew(change)
    if made_again:
        reasons = (*reasons, MadeAnew(made_again))
    return replace(change, declared=owned, reasons=reasons)


def _made_anew(change: Change) -> tuple[str, ...]:
    """Return the names of the members that a write creates."""
    kind, live = BY_NAME[change.ref.kind], change.observation
    if change.action is not Action.UPDATE or not kind.destroyable or not isinstance(live, Seen):
        return ()
    there = members_by_name(kind, live.document)
    return tuple(name for name in members_by_name(kind, change.body) if name not in there)


def at_places_of(document: Json, declared: Json | Missing, shape: Shape) -> Json:
    """Return the parts of a whole document at the places that are declared.

    A declared list is declared whole. What is not declared stays undeclared, so that no later apply
    removes it because it is no longer declared.
    """
    if isinstance(document, dict) and isinstance(declared, dict):
        return {
            key: at_places_of(value, declared[key], shape.at(key))
            for key, value in document.items()
            if key in declared
        }
    if isinstance(document, list) and isinstance(declared, list):
        theirs, ours = by_identity(document, shape), by_identity(declared, shape)
        if theirs is not None and ours is not None:
            return [
                at_places_of(item, ours[name], shape.item) if name in ours else item
                for name, item in theirs.items()
            ]
    return document
