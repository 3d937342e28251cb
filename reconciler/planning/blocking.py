"""What cannot be done, and what depends on it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reconciler.document import Json
from reconciler.resource import (
    Action,
    Change,
    DependsOn,
    Evidence,
    Manifest,
    Observation,
    Reason,
    Ref,
)


def blocked_change(
    manifest: Manifest,
    declared: dict[str, Json],
    observation: Observation,
    evidence: Evidence,
    reason: Reason,
) -> Change:
    """Give a change that cannot be done from the beginning, and why."""
    return Change(
        manifest=manifest,
        action=Action.BLOCKED,
        evidence=evidence,
        observation=observation,
        declared=declared,
        body=declared,
        reasons=(reason,),
    )


def blocked(change: Change, reasons: Iterable[Reason]) -> Change:
    """Give the change as one that cannot be done, and why."""
    return replace(
        change,
        action=Action.BLOCKED,
        differences=(),
        destroys=(),
        lost=(),
        foreign=(),
        reasons=(*reasons, *change.reasons),
    )


def with_blocked_dependants(changes: Sequence[Change]) -> list[Change]:
    """Block what depends on something blocked, as it would be skipped."""
    by_ref = {change.ref: change for change in changes}
    dependants: dict[Ref, list[Ref]] = {}
    for change in changes:
        for ref in change.manifest.references:
            dependants.setdefault(ref, []).append(change.ref)
    waiting = [change.ref for change in changes if change.action is Action.BLOCKED]
    while waiting:
        ref = waiting.pop()
        for dependant in dependants.get(ref, ()):
            change = by_ref[dependant]
            if change.action.writes:
                by_ref[dependant] = blocked(change, [DependsOn((ref,))])
                waiting.append(dependant)
    return list(by_ref.values())
