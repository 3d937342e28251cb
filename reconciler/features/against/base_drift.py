"""Drift from the base branch: two plans of one change, compared.

One plan was made against live, the other against the manifests of the base branch. Both end at the
same declaration, so where they begin differently, live has drifted from the base branch. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    canonical_text,
    value_at,
)
from reconciler.errors import ReconcilerError
from reconciler.kinds import BY_NAME
from reconciler.model import Absent, Action, Change, Plan, Ref, Seen
from reconciler.redaction.templates import HIDDEN, holds_seal


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBeside:
    """A field with another live value than the base branch declares; both as they may be shown."""

    path: Path
    base: Json | Missing
    live: Json | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDifference:
    """A resource with different actions in a plan against live and one against the base branch.

    `base` and `live` are the names of their actions.
    """

    ref: Ref
    base: str
    live: str
    fields: tuple[FieldBeside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseDrift:
    """The differences between live and the base branch, from two plans of one change.

    `against` is the base branch's commit; `why` is why the differences are unknown, "" if they are
    known.
    """

    formats: ClassVar[str] = "reconciler.features.against.base_drift_formats:FORMATS"
    against: str
    strayed: tuple[BaseDifference, ...] = ()
    why: str = ""


_SHORTEST_ID = 8


def beside_base(
    made: Plan, commit: str, planned: Callable[[], tuple[Plan, Container[Ref]]]
) -> Plan:
    """Return a plan of the service with the differences between live and the base branch.

    `planned` returns the plan against that commit, and the resources that the emulator refused. If
    it fails, the plan says why.
    """
    try:
        base, refused = planned()
    except ReconcilerError as error:
        return made.with_section(BaseDrift(against=commit, why=str(error)))
    return made.with_section(BaseDrift(against=commit, strayed=strayed(made, base, refused)))


def strayed(live: Plan, base: Plan, unknown: Container[Ref] = ()) -> tuple[BaseDifference, ...]:
    """Return the resources that begin differently live than on the base branch, and the fields.

    Only what the service returned counts as live: neither what the journal remembers, nor a field
    that is not in the answer. The emulator refused the `unknown` resources as the base branch
    declares them. No field that holds a secret is returned: the plan against the base branch
    knows no values of secrets.
    """
    there = {change.ref: change for change in base.changes if change.ref not in unknown}
    known = _names(live), _names(base)
    return tuple(
        found
        for change in live.changes
        if (other := there.get(change.ref)) is not None
        and (found := _strayed(change, other, known)) is not None
    )


_Names = Mapping[str, str]


def _strayed(live: Change, base: Change, known: tuple[_Names, _Names]) -> BaseDifference | None:
    if not isinstance(live.observation, Seen | Absent):
        return None
    if Action.BLOCKED in (live.action, base.action):
        return None
    is_new = Action.CREATE in (live.action, base.action)
    # A resource that is new on one side has all its fields there: that says nothing about the
    # start.
    fields = () if is_new else tuple(_fields(live, base, known))
    if not fields and (not is_new or live.action is base.action):
        return None
    return BaseDifference(ref=live.ref, base=base.action.word, live=live.action.word, fields=fields)


def _fields(live: Change, base: Change, known: tuple[_Names, _Names]) -> Iterator[FieldBeside]:
    """Yield the fields in which the two began differently.

    Where a plan has no difference, the field began as declared.
    """
    here, there = (
        {difference.path: difference for difference in plan.differences} for plan in (live, base)
    )
    for path in sorted(here.keys() | there.keys(), key=lambda steps: list(map(str, steps))):
        mine, other = here.get(path), there.get(path)
        if _is_inside(path, here, there) or any(map(_is_secret, (mine, other))):
            continue
        began = _begun(live, path, other), _begun(base, path, mine)
        if any(map(_hides, began)):
            continue
        returned = [_returned(value, path, live) for value in began]
        texts = [_named(value, names) for value, names in zip(returned, known, strict=True)]
        if texts[0] != texts[1]:
            yield FieldBeside(path=path, base=returned[1], live=returned[0])


def _begun(side: Change, path: Path, other: Difference | None) -> Json | Missing:
    """Return the value that a side began with: as declared, where it has no difference there."""
    found = next((difference for difference in side.differences if difference.path == path), None)
    if found is not None:
        return found.before
    if any(difference.path[: len(path)] == path for difference in side.differences):
        shape = BY_NAME[side.ref.kind].shape
        document = side.observation.document if isinstance(side.observation, Seen) else ABSENT
        return _member_at(document if side.before is None else side.before, path, shape)
    return other.after if other is not None else ABSENT


def _member_at(document: Json | Missing, path: Path, shape: Shape) -> Json | Missing:
    """Return the value at a path that names the members of lists by identity."""
    for step in path:
        if isinstance(document, list) and isinstance(step, str):
            document = (by_identity(document, shape) or {}).get(step, ABSENT)
            shape = shape.item
        else:
            document = value_at(document, (step,))
            shape = shape.at(step) if isinstance(step, str) else shape.item
    return document


def _returned(value: Json | Missing, path: Path, live: Change) -> Json | Missing:
    """Return a value without the fields that no answer contains; ABSENT where nothing is left."""
    seen = live.observation
    if not isinstance(seen, Seen):
        return value
    for left_out in (*seen.recalled, *seen.unseen):
        if left_out[: len(path)] == path or path[: len(left_out)] == left_out:
            value = _without(value, left_out[len(path) :])
    return value


def _without(value: Json | Missing, path: Path) -> Json | Missing:
    """Return a value without the field at a path; ABSENT where that was its only field."""
    if not path:
        return ABSENT
    if not isinstance(value, dict) or path[0] not in value:
        return value
    rest = {key: inner for key, inner in value.items() if key != path[0]}
    inner = _without(value[str(path[0])], path[1:])
    kept = rest if inner is ABSENT else {**value, str(path[0]): inner}
    return kept or ABSENT


def _is_inside(path: Path, *sides: Mapping[Path, Difference]) -> bool:
    """Return whether a side already has a difference at a parent of this place."""
    return any(path[:length] in side for side in sides for length in range(1, len(path)))


def _is_secret(difference: Difference | None) -> bool:
    return difference is not None and any(map(_hides, (difference.before, difference.after)))


def _hides(value: Json | Missing) -> bool:
    return value is not ABSENT and (holds_seal(value) or HIDDEN in canonical_text(value))


def _names(plan: Plan) -> _Names:
    """Map the ids of a plan's resources to their names: each side has its own ids."""
    return {
        str(change.remote_id): str(change.ref)
        for change in plan.declared
        if change.remote_id is not None and len(str(change.remote_id)) >= _SHORTEST_ID
    }


def _named(value: Json | Missing, names: _Names) -> str:
    if value is ABSENT:
        return ""
    text = canonical_text(value)
    for remote_id, name in names.items():
        text = text.replace(remote_id, name)
    return text
