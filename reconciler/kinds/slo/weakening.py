"""When an SLO promises less than before."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kinds.kind import Consent, Weakening
from reconciler.resource import Action, Change

TARGET_LOWERED = "slo-target-lowered"
_TARGET = ("targetThresholdPercentage",)


def weakens(change: Change) -> Iterator[Weakening]:
    """Yield the lowering of the target; a target that the service rounded is none."""
    if change.action is not Action.UPDATE:
        return
    for one in change.differences:
        before, after = one.before, one.after
        numbers = isinstance(before, int | float) and isinstance(after, int | float)
        if one.path == _TARGET and numbers and float(str(after)) < float(str(before)):
            said = f"its target would go down from {before} % to {after} %"
            yield Weakening(TARGET_LOWERED, said, "lowered in target", Consent.ALWAYS)
