"""Members of lists that go by their identity: which of them are not there at all. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document.comparing import Difference
from reconciler.document.shape import Shape, by_identity
from reconciler.document.values import ABSENT, Json, Path, is_zero


def members_missing(difference: Difference, shape: Shape) -> Iterator[Path]:
    """Yield the members that only `after` has, and so with all they hold.

    A service may store a value otherwise; a member that is not there was not stored.
    """
    if difference.operation not in ("add", "change") or difference.after is ABSENT:
        return
    if not is_zero(difference.before):
        return
    *above, _ = difference.path or ("",)
    if difference.operation == "add" and shape.along(tuple(above)).identity:
        yield difference.path
    else:
        yield from _members(difference.after, shape.along(difference.path), difference.path)


def _members(document: Json, shape: Shape, path: Path) -> Iterator[Path]:
    if isinstance(document, dict):
        for key, value in document.items():
            if (inner := shape.at(key)).known:
                yield from _members(value, inner, (*path, key))
    elif isinstance(document, list) and shape.identity:
        named = by_identity(document, shape)
        names = range(len(document)) if named is None else named
        yield from ((*path, name) for name in names)
    elif isinstance(document, list) and shape.item.known:
        for index, item in enumerate(document):
            yield from _members(item, shape.item, (*path, index))
