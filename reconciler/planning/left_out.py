"""What a plan says of fields that the answer left out: it does not rest on live there. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reconciler.document import ABSENT, Difference, Json, value_at
from reconciler.kinds.kind import Kind
from reconciler.resource import Evidence, LostUnseen, NotInAnswer, Seen


def evidence_of(seen: Seen, found: Sequence[Difference]) -> Evidence:
    """Say what an action rests on: not on live, where the answer has none of what it is about."""
    unseen = [seen.cannot_tell(one.path) for one in found]
    recalled = [seen.recalls(one.path) for one in found]
    if not found or not all(map(max, unseen, recalled)):
        return Evidence.LIVE
    return Evidence.NONE if any(unseen) else Evidence.JOURNAL


def unseen_fields(seen: Seen, found: Sequence[Difference]) -> Iterator[NotInAnswer]:
    """Say which fields would be written over something that nobody knows."""
    told = [one.path for one in found if seen.cannot_tell(one.path)]
    fields = tuple(
        one for one in seen.unseen if any(one[: len(to)] == to[: len(one)] for to in told)
    )
    if fields:
        yield NotInAnswer(fields)


def lost_unseen(kind: Kind, seen: Seen, destroyed: Mapping[str, Json]) -> Iterator[LostUnseen]:
    """Say which of the members that are destroyed nobody knows whole."""
    inside = len(kind.destroyable) + 1
    fields = sorted({one[inside:] for one in seen.unseen})
    lacking = {
        name: [field for field in fields if value_at(member, field) is ABSENT]
        for name, member in destroyed.items()
    }
    lost = tuple(name for name, missing in lacking.items() if missing)
    if lost:
        named = {str(field[-1]) for name in lost for field in lacking[name]}
        yield LostUnseen(lost, tuple(sorted(named)))
