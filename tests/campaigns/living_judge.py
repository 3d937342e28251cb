"""The judge of `living`: in what two records of a service differ, as the service answers them.

What a deployment never answers, such as a zero that it leaves out, no client can keep or lose.
A fraction is one of 64 bits here: what a service rounds it rounds where it stores it, so that
what is read and written back is the same value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from world_others import BOARD_TIMES, without_times
from world_service import Live

from reconciler.emulator import Profile
from reconciler.emulator.alert_definition_endpoints import StoredAlertDefinition
from reconciler.emulator.dashboard_endpoints import StoredDashboard
from reconciler.emulator.log_policy_endpoints import LogPolicy
from reconciler.emulator.saved_view_endpoints import SavedView
from reconciler.emulator.slo_endpoints import SloDefinition
from reconciler.emulator.wire import WireObject, as_json, in_form

Path = tuple[str | int, ...]
"""Kind and id of a record, and then the keys and indices inside it."""

MODELS: dict[str, type[WireObject]] = {
    "SLO": SloDefinition,
    "AlertDefinition": StoredAlertDefinition,
    "Dashboard": StoredDashboard,
    "SavedView": SavedView,
    "LogPolicySet": LogPolicy,
}
SET_ANEW = {
    "SLO": {"updateTime", "revision", "type"},
    "AlertDefinition": {"alertVersionId", "updatedTime"},
    "Dashboard": {"updatedAt", "updatedOriginType", "updaterAuthorId", "updaterName"},
    "SavedView": set[str](),
    "LogPolicySet": {"id", "createdAt", "updatedAt"},
}
"""Fields of a record itself that a service sets at each write."""
SETS = frozenset(("groupByKeys", "severities", "dayOfWeek", "labels"))
"""Lists of the API document whose order says nothing."""
WIDGET = ("sections", "rows", "widgets")


def answered(live: Live, profile: Profile) -> Live:
    """Return the records as a service of this profile answers them."""
    # The lists of which an answer consists stand around a record.
    form = replace(profile, required_lists="sent")
    return {
        kind: {own: _answered(kind, record, form) for own, record in held.items()}
        for kind, held in live.items()
    }


def _answered(kind: str, record: Any, form: Profile) -> Any:
    if isinstance(record, list):
        return [_answered(kind, item, form) for item in record]
    return in_form(as_json(record), MODELS[kind], form)


def lost(before: Live, after: Live) -> Iterator[Path]:
    """Yield the places of values that are otherwise after, or not there any more.

    What a service sets anew at each write is none of them.
    """
    for kind, held in before.items():
        for own, record in held.items():
            for place in _lost(record, after[kind].get(own), (kind, own)):
                inside = place[3:] if kind == "LogPolicySet" else place[2:]
                if not inside or inside[0] not in SET_ANEW[kind]:
                    yield place


def is_due(place: Path, before: Live, after: Live) -> bool:
    """Return whether it is a time of a widget in which anything else differs too."""
    above = tuple(step for step in place[4:-2] if isinstance(step, str))
    if above != WIDGET or place[-1] not in BOARD_TIMES:
        return False
    widgets = _at(before, place[:-1]), _at(after, place[:-1])
    return bool(without_times(widgets[0]) != without_times(widgets[1]))


def _lost(before: Any, after: Any, place: Path) -> Iterator[Path]:
    match before, after:
        case dict(), dict():
            for key, value in before.items():
                yield from _lost(value, after.get(key), (*place, key))
        case list(), list() if place[-1] in SETS:
            if sorted(map(json.dumps, before)) != sorted(map(json.dumps, after)):
                yield place
        case list(), list() if len(before) == len(after):
            for at, (side, other) in enumerate(zip(before, after, strict=True)):
                yield from _lost(side, other, (*place, at))
        case _:
            if before != after or isinstance(before, bool) != isinstance(after, bool):
                yield place


def is_filled_in(place: Path, before: Live, after: Live) -> bool:
    """Return whether a zero is there after, and nothing or null was before.

    Services fill in zeros and leave them out at will, as docs/assumptions.md has it: none is
    an edit, and one that is declared comes with the next write, whatever that is about.
    """
    return _at(before, place) is None and _is_zero(_at(after, place))


def _is_zero(value: Any) -> bool:
    if isinstance(value, str):
        return not value or (value.isupper() and value.endswith("_UNSPECIFIED"))
    return not value and value != {}


def shown(place: Path, before: Live, after: Live) -> str:
    """Return what became of a value, in words."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return f"{path}: {_at(before, place)!r:.80} became {_at(after, place)!r:.80}"


def _at(value: Any, place: Path) -> Any:
    for step in place:
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value
