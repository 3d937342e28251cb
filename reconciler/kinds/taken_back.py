"""What a rollback takes back of what was declared, and what of that is declared again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from reconciler.document import ABSENT, Json, Missing, Path, Shape, by_identity
from reconciler.expressions import find_sealed, sealed_parts
from reconciler.journal.line_fields import FieldTakenBack


def fields_taken_back(declared: Json, instead: Json, shape: Shape) -> tuple[FieldTakenBack, ...]:
    """Return each field in which a rollback puts something `instead` of what was `declared`."""
    wrote, put = ends_of(declared, shape), ends_of(instead, shape)
    return tuple(
        FieldTakenBack(path=path, wrote=wrote.get(path, ABSENT), put=put.get(path, ABSENT))
        for path in dict.fromkeys((*wrote, *put))
        if not _are_one(path, wrote.get(path, ABSENT), put.get(path, ABSENT), shape)
    )


def brought_back(
    fields: Iterable[FieldTakenBack], declared: Json, shape: Shape
) -> tuple[FieldTakenBack, ...]:
    """Return those of the fields that are declared as they were before the rollback."""
    now = ends_of(declared, shape)
    return tuple(
        field
        for field in fields
        if _are_one(field.path, now.get(field.path, ABSENT), field.wrote, shape)
    )


def are_edited(paths: Iterable[Path], base: Json | Missing, declared: Json, shape: Shape) -> bool:
    """Return whether what is at every one of the paths is declared otherwise than in `base`.

    A secret has another value in one place than in another, which is no edit of a manifest.
    """
    was = {} if base is ABSENT else ends_of(base, shape)
    now = ends_of(declared, shape)
    return all(
        not _are_one(path, _named(was.get(path, ABSENT)), _named(now.get(path, ABSENT)), shape)
        for path in paths
    )


def _named(value: Json | Missing) -> Json | Missing:
    """Return a text with the names of its secrets in place of their seals."""
    if not isinstance(value, str) or find_sealed(value) is None:
        return value
    parts = sealed_parts(str(value))
    return "".join(part if isinstance(part, str) else f"{{{part[0]}}}" for part in parts)


def _are_one(path: Path, one: Json | Missing, other: Json | Missing, shape: Shape) -> bool:
    """Return whether two ends are one; of two orders only what both have has a place."""
    here = shape.along(path)
    if here.identity and isinstance(one, list) and isinstance(other, list):
        return [name for name in one if name in other] == [name for name in other if name in one]
    return here.are_one(one, other)


def ends_of(document: Json, shape: Shape) -> Mapping[Path, Json]:
    """Return the values of a document that hold no others, by their places.

    Items of a keyed list go by their names; at its own place is the order of these.
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
