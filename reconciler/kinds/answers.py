"""Typed access to the service's replies."""

from __future__ import annotations

from reconciler.api.replies import check_whole
from reconciler.document import Json, Missing
from reconciler.errors import UnreadableReply
from reconciler.runtime.addresses import is_part

_SHOWN = 80


def member(document: Json | Missing, name: str) -> dict[str, Json]:
    """Return the object under a name. Raises UnreadableReply if there is none."""
    value = document.get(name) if isinstance(document, dict) else None
    if not isinstance(value, dict):
        raise UnreadableReply(f"the answer has no object `{name}`")
    return value


def members(document: Json | Missing, name: str) -> list[dict[str, Json]]:
    """Return the objects of the list under a name.

    Raises UnreadableReply if there is no list, or if it contains anything but objects: a list that
    was not sent is not an empty list.
    """
    value = document.get(name) if isinstance(document, dict) else None
    if not isinstance(value, list):
        raise UnreadableReply(f"the answer has no list `{name}`")
    objects = [item for item in value if isinstance(item, dict)]
    if len(objects) != len(value):
        raise UnreadableReply(f"the answer's list `{name}` holds something else than objects")
    return objects


def all_members(document: Json | Missing, name: str) -> list[dict[str, Json]]:
    """Return the objects of a list that has to be complete, as an overwrite depends on it.

    Raises UnreadableReply if the answer announces more than it contains, and as `members` does.
    """
    found = members(document, name)
    check_whole(document, name)
    return found


def any_members(document: Json | Missing, name: str) -> list[dict[str, Json]]:
    """Return the objects of a list that an answer may leave out when it is empty.

    Raises UnreadableReply for anything but objects.
    """
    left_out = isinstance(document, dict) and document.get(name) is None
    return [] if left_out else members(document, name)


def texts(document: Json | Missing, name: str) -> list[str]:
    """Return the texts of the list under a name; an absent list is empty."""
    value = document.get(name) if isinstance(document, dict) else None
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text(document: Json | Missing, name: str) -> str:
    """Return the text under a name, "" if there is none."""
    value = document.get(name) if isinstance(document, dict) else None
    return value if isinstance(value, str) else ""


def given_id(document: Json | Missing, name: str) -> str:
    """Return the id under a name, "" if there is none.

    It will be a part of paths. Raises UnreadableReply for a text that cannot be.
    """
    value = text(document, name)
    if value and not is_part(value):
        raise UnreadableReply(f"the answer's `{name}` cannot be an id: {value[:_SHOWN]!r}")
    return value


def without(document: dict[str, Json], names: frozenset[str]) -> dict[str, Json]:
    """Return an object without the fields that only the service sets."""
    return {key: value for key, value in document.items() if key not in names}
