"""The fields that a rollback takes back, and which of them are declared again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from reconciler.document import ABSENT, Json, Missing, Path, Shape, by_identity
from reconciler.journal.line_fields import FieldTakenBack
from reconciler.syntax.expressions import find_sealed, sealed_parts


def fields_taken_back(declared: Json, instead: Json, shape: Shape) -> tuple[FieldTakenBack, ...]:
    """Return each field that a rollback changes from what was `declared` to `instead`."""
    wrote, put = ends_of(declared, shape), ends_of(instead, shape)
    return tuple(
        FieldTakenBack(path=path, wrote=wrote.get(path, ABSENT), put=put.get(path, ABSENT))
        for path in dict.fromkeys((*wrote, *put))
        if not _are_same(path, wrote.get(path, ABSENT), put.get(path, ABSENT), shape)
    )


def brought_back(
    fields: Iterable[FieldTakenBack], declared: Json, shape: Shape
) -> tuple[FieldTakenBack, ...]:
    """Return the fields that are declared as they were before the rollback."""
    now = ends_of(declared, shape)
    return tuple(
        field
        for field in fields
        if _are_same(field.path, now.get(field.path, ABSENT), field.wrote, shape)
    )


def are_edited(paths: Iterable[Path], base: Json | Missing, declared: Json, shape: Shape) -> bool:
    """Return whether the value at every path differs from that in `base`.

    Secrets are compared by name: another value of a secret is no edit of a manifest.
    """
    was = {} if base is ABSENT else ends_of(base, shape)
    now = ends_of(declared, shape)
    return all(
        not _are_same(path, _named(was.get(path, ABSENT)), _named(now.get(path, ABSENT)), shape)
        for path in paths
    )


def _named(value: Json | Missing) -> Json | Missing:
    """Return a text with the names of its secrets in place of their seals."""
    if not isinstance(value, str) or find_sealed(value) is None:
        return value
    parts = sealed_parts(str(value))
    return "".join(part if isinstance(part, str) else f"{{{part[0]}}}" for part in parts)


def _are_same(path: Path, value: Json | Missing, other: Json | Missing, shape: Shape) -> bool:
    """Return whether two values are the same; two orders are compared in what both have."""
    here = shape.along(path)
    if here.identity and isinstance(value, list) and isinstance(other, list):
        mine = [name for name in value if name in other]
        return mine == [name for name in other if name in value]
    return here.are_one(value, other)


def ends_of(document: Json, shape: Shape) -> Mapping[Path, Json]:
    """Return the innermost values of a document by their paths.

    A path leads to an item of a keyed list by its name. The path of the list has their order.
    """
    return dict(_ends(document, shape, ()))


def _ends(document: Json, shape: Shape, path: Path) -> Iterator[tuple[Path, Json]]:
    if isinstance(document, dict) and document:
        for key, value in document.items():
            yield from _ends(value, shape.at(key), (*path, key))
        return
    if isinstance(document, list) and document and not shape.unordered:
        named = by_identity(document, shape)
        if named is not None:
            yield path, [*named]
            for name, item in named.items():
                yield from _ends(item, shape.item, (*path, name))
            return
        if any(isinstance(item, dict | list) for item in document):
            for index, item in enumerate(document):
                yield from _ends(item, shape.item, (*path, index))
            return
    yield path, document
