"""Where live is not as the base branch declares it: two plans of one change, held side by side.

One was made against live, the other against the base branch's manifests. What both would make
is the same, so where they begin elsewhere, live has drifted from the base branch. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reconciler.document import ABSENT, Difference, Json, Missing, Path, canonical_text
from reconciler.resource import Action, Change, Evidence, FieldBeside, Plan, Strayed
from reconciler.sealed import HIDDEN, holds_seal

_SHORTEST_ID = 8


def strayed(live: Plan, base: Plan) -> tuple[Strayed, ...]:
    """Give the resources that begin elsewhere live than on the base branch, and their fields.

    What nobody could see live is not among them, and no field that holds a secret: the plan
    against the base branch knows no values of secrets.
    """
    there = {one.ref: one for one in base.changes}
    known = _names(live), _names(base)
    return tuple(
        found
        for one in live.changes
        if (other := there.get(one.ref)) is not None
        and (found := _strayed(one, other, known)) is not None
    )


_Names = Mapping[str, str]


def _strayed(live: Change, base: Change, known: tuple[_Names, _Names]) -> Strayed | None:
    if live.evidence is Evidence.NONE or Action.BLOCKED in (live.action, base.action):
        return None
    is_new = Action.CREATE in (live.action, base.action)
    # What is new on one side has all its fields there, which says nothing of where it began.
    fields = () if is_new else tuple(_fields(live.differences, base.differences, known))
    if not fields and (not is_new or live.action is base.action):
        return None
    return Strayed(ref=live.ref, base=base.action.word, live=live.action.word, fields=fields)


def _fields(
    live: tuple[Difference, ...], base: tuple[Difference, ...], known: tuple[_Names, _Names]
) -> Iterator[FieldBeside]:
    """Yield where the two began with something else; what one is silent of is as declared."""
    here, there = ({one.path: one for one in some} for some in (live, base))
    for path in sorted(here.keys() | there.keys(), key=lambda one: list(map(str, one))):
        mine, other = here.get(path), there.get(path)
        if _is_inside(path, here, there) or any(map(_is_secret, (mine, other))):
            continue
        was = _begun(mine, other), _begun(other, mine)
        if _named(was[0], known[0]) != _named(was[1], known[1]):
            yield FieldBeside(path=path, base=was[1], live=was[0])


def _begun(mine: Difference | None, other: Difference | None) -> Json | Missing:
    """Give what a side began with: as declared, where it tells no difference."""
    if mine is not None:
        return mine.before
    return other.after if other is not None else ABSENT


def _is_inside(path: Path, *sides: Mapping[Path, Difference]) -> bool:
    """Tell a place below one that a side tells as a whole, and that says it already."""
    return any(path[:length] in side for side in sides for length in range(1, len(path)))


def _is_secret(one: Difference | None) -> bool:
    return one is not None and any(
        value == HIDDEN or holds_seal(value) for value in (one.before, one.after)
    )


def _names(plan: Plan) -> _Names:
    """Map the ids of a plan's resources to their names: each side has ids of its own."""
    return {
        str(one.remote_id): str(one.ref)
        for one in plan.changes
        if one.remote_id is not None and len(str(one.remote_id)) >= _SHORTEST_ID
    }


def _named(value: Json | Missing, names: _Names) -> str:
    if value is ABSENT:
        return ""
    text = canonical_text(value)
    for one, name in names.items():
        text = text.replace(one, name)
    return text
