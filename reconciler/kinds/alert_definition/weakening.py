"""When an alert would tell less than before, or nobody at all.

It is judged by what the plan compares with, so by the journal too.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import Json, Missing
from reconciler.kinds.kind import Consent, Weakening
from reconciler.resource import Action, Change, Remembered, Seen

SILENCED = "alert-silenced"
DELETED = "alert-deleted"
LOWERED = "alert-priority-lowered"
CONSENTS = (SILENCED, DELETED)

_PRIORITY = "ALERT_DEF_PRIORITY_P"
_LOWEST = 5  # what an absent priority means, as the name of its value says


def weakens(change: Change) -> Iterator[Weakening]:
    """Yield what a write of an alert takes away.

    Of an alert that nobody has seen, it is judged by what is sent: what it takes away is not
    known, and whether it leaves the alert silent is.
    """
    if change.action not in (Action.UPDATE, Action.ASSERT):
        return
    unseen = change.action is Action.ASSERT
    names = _names(change)
    for one in change.differences:
        match one.path:
            case ("enabled",) if one.before is True or (unseen and one.after is False):
                said = "it would be disabled"
                yield Weakening(SILENCED, said, "disabled", Consent.WITH_OPEN_INCIDENTS, names)
            case ("phantomMode",) if one.after is True:
                said = "it would be set to phantom"
                yield Weakening(
                    SILENCED, said, "set to phantom", Consent.WITH_OPEN_INCIDENTS, names
                )
            case ("deleted",) if one.after is True:
                yield Weakening(DELETED, "it would be deleted", "deleted", Consent.ALWAYS)
            case ("priority",) if _rank(one.after) > _rank(one.before) > 0:
                said = (
                    f"its priority would go down from P{_rank(one.before)} to P{_rank(one.after)}"
                )
                yield Weakening(LOWERED, said, "lowered in priority")


def _rank(priority: Json | Missing) -> int:
    """Give 1 for P1 to 5 for P5, and 0 for a value that nobody here knows."""
    if not isinstance(priority, str):
        return _LOWEST
    digit = priority.removeprefix(_PRIORITY)[:1]
    known = priority.startswith(_PRIORITY) and digit in tuple("12345")
    return int(digit) if known else 0


def _names(change: Change) -> frozenset[str]:
    known = change.observation
    before = known.document if isinstance(known, Seen | Remembered) else {}
    names = (document.get("name") for document in (before, change.body))
    return frozenset(name for name in names if isinstance(name, str) and name)
