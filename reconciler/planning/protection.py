"""What is said of a change whose resource is protected, or will be. Pure.

The journal decides and not the manifest, so that no merge can lift a protection
and use that at once.
"""

from __future__ import annotations

from dataclasses import replace

from reconciler.resource import Action, Change, ProtectionTurns


def with_protection(change: Change, protected: bool) -> Change:
    """Note on a change whether it is protected, and whether that ends or begins with it."""
    change = replace(change, protected=protected)
    if not change.turns_protection or change.action is Action.BLOCKED:
        return change
    turns = ProtectionTurns(begins=change.manifest.protect)
    return replace(change, reasons=(*change.reasons, turns))
