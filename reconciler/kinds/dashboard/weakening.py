"""When a dashboard is changed that somebody locked."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.kinds.kind import Consent, Weakening
from reconciler.resource import Action, Change, Seen

LOCKED = "dashboard-locked"


def weakens(change: Change) -> Iterator[Weakening]:
    """Yield any change of what is locked live; the API itself lets locked dashboards be written."""
    live = change.observation
    locked = isinstance(live, Seen) and live.document.get("isLocked") is True
    if change.action is Action.UPDATE and locked:
        fields = len(change.differences)
        said = f"it is locked live, and {fields} of its fields would change"
        yield Weakening(LOCKED, said, consent=Consent.ALWAYS)
