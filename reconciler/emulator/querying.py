"""From a query string to the tree that a model of a query reads.

Objects travel as dotted flat keys and arrays as repeated keys, as in
`filter.status=A&filter.status=B&pagination.pageSize=100`; another deployment
may send each object as JSON. Source: docs/assumptions.md.
"""

import json
from collections.abc import Iterable, Sequence

from reconciler.emulator.errors import InvalidRequestError
from reconciler.emulator.models.wire import JsonObject

_DEEPEST = 10


def dotted(items: Iterable[tuple[str, str]]) -> JsonObject:
    """Give a tree whose leaves are lists of texts."""
    tree: JsonObject = {}
    for key, text in items:
        *folders, name = key.split(".", _DEEPEST)
        place = tree
        for folder in folders:
            inner = place.setdefault(folder, {})
            if not isinstance(inner, dict):
                raise InvalidRequestError(f"{key}: {folder} is a value and an object")
            place = inner
        values = place.setdefault(name, [])
        if not isinstance(values, list):
            raise InvalidRequestError(f"{key}: a value and an object")
        values.append(text)
    return tree


def as_json_objects(items: Sequence[tuple[str, str]]) -> JsonObject:
    """Give a tree of what was sent where each object is one JSON text."""
    tree: dict[str, list[object]] = {}
    for key, text in items:
        tree.setdefault(key, []).append(_parsed(key, text) if text[:1] in ("{", "[") else text)
    return {key: _only(values) for key, values in tree.items()}


def _only(values: list[object]) -> object:
    match values:
        case [dict() | list() as only]:
            return only
        case _:
            return values


def _parsed(key: str, text: str) -> object:
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidRequestError(f"{key}: not JSON") from None
    return parsed
