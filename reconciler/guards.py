"""What a plan may not do without consent. Source: failure-cases.md, R22 and R23."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.document import value_at
from reconciler.kinds import KINDS
from reconciler.kinds.kind import Kind
from reconciler.project import Guards
from reconciler.resource import Action, Change, Plan, Ref, Remembered, Seen


@dataclass(frozen=True, slots=True)
class Objection:
    """A guard that stands in the way, and the flag that lifts it."""

    ref: Ref | None
    message: str
    way_out: str


def objections(
    plan: Plan, guards: Guards, *, allow_destroy: bool, override: bool
) -> list[Objection]:
    """Give what must be consented to before the plan is applied."""
    found = [] if allow_destroy else list(map(_destroying, filter(_destroys, plan.changes)))
    if not override:
        for kind in KINDS:
            objection = _too_many(kind, plan, guards)
            if objection is not None:
                found.append(objection)
    return found


def _destroys(change: Change) -> bool:
    return change.action.writes and bool(change.destroys)


def _destroying(change: Change) -> Objection:
    names = ", ".join(f"`{name}`" for name in change.destroys)
    foreign = f" ({len(change.foreign)} not written by this journal)" if change.foreign else ""
    said = f"{change.ref} destroys {len(change.destroys)}{foreign}: {names}"
    return Objection(change.ref, said, "--allow-destroy")


def _too_many(kind: Kind, plan: Plan, guards: Guards) -> Objection | None:
    known = changed = 0
    for change in plan.changes:
        if change.ref.kind == kind.name and isinstance(change.observation, Seen | Remembered):
            of_change = _counts(kind, change)
            known += of_change[0]
            changed += of_change[1]
    if known < guards.minimum or changed * 100 <= known * guards.max_change_percent:
        return None
    share = changed * 100 // known
    said = (
        f"{changed} of {known} known {kind.name} resources would change ({share} %); "
        f"the guard allows {guards.max_change_percent} %"
    )
    way_out = "--override-guard REASON, or `guards: {maxChangePercent: N}` in reconciler.yaml"
    return Objection(None, said, way_out)


def _counts(kind: Kind, change: Change) -> tuple[int, int]:
    """Count what is known and what changes; members count where one write covers many."""
    if not kind.destroyable:
        return 1, change.action is Action.UPDATE
    observed = change.observation
    live = value_at(observed.document, kind.destroyable) if isinstance(observed, Seen) else None
    depth = len(kind.destroyable)
    touched = {
        one.path[: depth + 1]
        for one in change.differences
        if len(one.path) > depth and one.operation != "add"
    }
    return len(live) if isinstance(live, list) else 0, len(touched)
