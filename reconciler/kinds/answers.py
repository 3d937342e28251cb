"""Taking answers apart: the typed edge between replies and documents."""

from __future__ import annotations

from reconciler.document import Json, Missing
from reconciler.errors import UnreadableReply


def member(document: Json | Missing, name: str) -> dict[str, Json]:
    """Give the object under a name. Raises UnreadableReply where there is none."""
    value = document.get(name) if isinstance(document, dict) else None
    if not isinstance(value, dict):
        raise UnreadableReply(f"the answer has no object `{name}`")
    return value


def members(document: Json | Missing, name: str) -> list[dict[str, Json]]:
    """Give the objects of the list under a name; an absent list is empty.

    Raises UnreadableReply for anything else than objects.
    """
    value = document.get(name, []) if isinstance(document, dict) else None
    if value is None and isinstance(document, dict):
        return []
    if not isinstance(value, list):
        raise UnreadableReply(f"the answer has no list `{name}`")
    objects = [item for item in value if isinstance(item, dict)]
    if len(objects) != len(value):
        raise UnreadableReply(f"the answer's list `{name}` holds something else than objects")
    return objects


def texts(document: Json | Missing, name: str) -> list[str]:
    """Give the texts of the list under a name; an absent list is empty."""
    value = document.get(name) if isinstance(document, dict) else None
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text(document: Json | Missing, name: str) -> str:
    """Give the text under a name, "" where there is none."""
    value = document.get(name) if isinstance(document, dict) else None
    return value if isinstance(value, str) else ""


def without(document: dict[str, Json], names: frozenset[str]) -> dict[str, Json]:
    """Give an object less the fields that only the service sets."""
    return {key: value for key, value in document.items() if key not in names}
