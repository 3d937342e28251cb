"""Which members of a list a write removes for good. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.document import Json, by_identity, value_at
from reconciler.kinds.kind import Kind


def members_by_name(kind: Kind, document: Json) -> Mapping[str, Json]:
    """Give the members of a kind's list that can be destroyed; none where names repeat."""
    return by_identity(_list_at(document, kind), kind.shape.at(_destroyable(kind))) or {}


def _destroyable(kind: Kind) -> str:
    return kind.destroyable[0] if kind.destroyable else ""


def _list_at(document: Json, kind: Kind) -> list[Json]:
    value = value_at(document, kind.destroyable)
    return value if isinstance(value, list) else []


def members_destroyed(kind: Kind, live: dict[str, Json], body: dict[str, Json]) -> dict[str, Json]:
    """Map the name of each member that the write removes for good to what is lost with it.

    Members are told by name even where the live list has a name twice, or one
    without: of those the write keeps one at most.
    """
    identity = kind.shape.at(_destroyable(kind)).identity
    named = (value_at(member, identity) for member in _list_at(body, kind))
    kept = {name for name in named if isinstance(name, str)}
    gone: dict[str, Json] = {}
    for number, member in enumerate(_list_at(live, kind), 1):
        name = value_at(member, identity)
        if isinstance(name, str) and name in kept:
            kept.remove(name)
        elif isinstance(name, str) and name and name not in gone:
            gone[name] = member
        else:
            gone[f"number {number} of the list"] = member
    return gone
