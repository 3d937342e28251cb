"""In which order changes are written. Pure.

What is referred to comes before what refers to it, then the order of `KINDS`:

    SLO → AlertDefinition → Dashboard → LogPolicySet → SavedView
     └──── creates that cannot be looked up, one at a time, last in their wave
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter

from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.kind import Kind
from reconciler.resource import Action, Change, Ref


def batches(changes: Sequence[Change]) -> Iterator[tuple[Kind, tuple[Change, ...]]]:
    """Yield what is sent together, in order.

    A create that cannot be looked up goes alone and late, so that a crash
    leaves at most one of them unsettled (docs/journal.md).
    """
    waves: dict[int, list[Change]] = {}
    levels = _levels({change.ref: change for change in changes})
    for change in changes:
        if change.action.writes:
            waves.setdefault(levels[change.ref], []).append(change)
    for _, wave in sorted(waves.items()):
        alone: list[tuple[Kind, tuple[Change, ...]]] = []
        for kind in KINDS:
            mine = [change for change in wave if change.ref.kind == kind.name]
            lonely = [change for change in mine if goes_alone(change)]
            alone.extend((kind, (change,)) for change in lonely)
            together = [change for change in mine if not goes_alone(change)]
            for start in range(0, len(together), kind.batch_size):
                yield kind, tuple(together[start : start + kind.batch_size])
        yield from alone


def goes_alone(change: Change) -> bool:
    """Tell whether a lost answer to this write could be settled by a person only."""
    return change.action is Action.CREATE and not BY_NAME[change.ref.kind].findable


def _levels(changes: Mapping[Ref, Change]) -> dict[Ref, int]:
    """Give each resource one level more than the highest it refers to. No cycles come here."""
    inner = {
        ref: [one for one in change.manifest.references if one in changes]
        for ref, change in changes.items()
    }
    levels: dict[Ref, int] = {}
    for ref in TopologicalSorter(inner).static_order():
        levels[ref] = 1 + max((levels[one] for one in inner[ref]), default=-1)
    return levels
