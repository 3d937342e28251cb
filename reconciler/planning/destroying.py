"""Which members of a list a write removes for good. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping

from reconciler.document import Json, Path, by_identity, stored_name, value_at
from reconciler.kinds.kind import Kind


def members_by_name(kind: Kind, document: Json) -> Mapping[str, Json]:
    """Give the members of a kind's list that can be destroyed; none where names repeat.

    A name that a service stores otherwise finds its member too.
    """
    found = by_identity(_list_at(document, kind), kind.shape.at(_destroyable(kind))) or {}
    return {**found, **{_name_in(kind)(one): one for one in found.values()}}


def _destroyable(kind: Kind) -> str:
    return kind.destroyable[0] if kind.destroyable else ""


def _list_at(document: Json, kind: Kind) -> list[Json]:
    value = value_at(document, kind.destroyable)
    return value if isinstance(value, list) else []


def members_destroyed(
    kind: Kind, live: dict[str, Json], body: dict[str, Json], remade: Container[Path] = ()
) -> dict[str, Json]:
    """Map the name of each member that the write removes for good to what is lost with it.

    Members are told by name even where the live list has a name twice, or one
    without: of those the write keeps one at most. A name that a service stores
    otherwise than it is written is the same, unless another member has it as it is.
    `remade` are the paths of those that are there again after every write.
    """
    kept = Counter(filter(None, map(_name_in(kind), _list_at(body, kind))))
    named = [*enumerate(map(_name_in(kind), _list_at(live, kind)), 1)]
    left = [(number, name) for number, name in named if not _taken(kept, name)]
    kept = Counter(map(stored_name, kept.elements()))
    gone: dict[str, Json] = {}
    for number, name in left:
        again = (*kind.destroyable, stored_name(name)) in remade
        if not again and not _taken(kept, stored_name(name)):
            said = name if name and name not in gone else f"number {number} of the list"
            gone[said] = _list_at(live, kind)[number - 1]
    return gone


def _taken(kept: Counter[str], name: str) -> bool:
    """Tell whether a name is among those that stay, and count it as one of them."""
    found = kept[name] > 0
    kept[name] -= found
    return found


def _name_in(kind: Kind) -> Callable[[Json], str]:
    """Give what gives the name of a member, "" where it has none."""
    identity = kind.shape.at(_destroyable(kind)).identity

    def name(member: Json) -> str:
        found = value_at(member, identity)
        return found if isinstance(found, str) else ""

    return name
