"""The fields of a journal's lines: their types, and how each is read.

A reader of a field raises ValueError where it cannot read it, or JournalError with its own message.
Also the fields that a rollback takes back, and which of them are declared again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, Union

from pydantic import BeforeValidator, ConfigDict, Field, GetPydanticSchema
from pydantic.alias_generators import to_camel
from pydantic_core import core_schema

from reconciler.document import ABSENT, Json, Missing, Path, Shape, by_identity
from reconciler.errors import JournalError
from reconciler.model import NO_SERVER_INFO, Ref, RemoteId, ServerInfo
from reconciler.runtime.connection import is_part
from reconciler.syntax.expressions import find_sealed, sealed_parts


@dataclass(frozen=True, slots=True)
class LazyJson:
    """A document inside a JSON text, parsed when used; `place` names the objects around it."""

    text: bytes
    place: tuple[str, ...]

    def open(self) -> dict[str, Json]:
        """Return the document; callers must not change it."""
        return _opened(self.text, self.place)


@lru_cache(maxsize=64)
def _opened(text: bytes, place: tuple[str, ...]) -> dict[str, Json]:
    """Return a document of a line. A decision uses it several times, one after the other."""
    found: dict[str, Any] = json.loads(text)
    for name in place:
        found = found[name]
    return found


class LazyField:
    """A field of a dataclass without slots; its value may be a `LazyJson`, which it opens."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, _: type) -> Any:
        """Return the value, opened."""
        if owner is None:
            return self
        held = owner.__dict__[self._name]
        return held.open() if isinstance(held, LazyJson) else held

    def __set__(self, owner: object, value: object) -> None:
        """Store a value, packed or not."""
        owner.__dict__[self._name] = value


def held(owner: object, name: str) -> Any:
    """Return the value of a `LazyField` as it is stored, to pass it on unopened."""
    return owner.__dict__[name]


_SHOWN = 80

LineDocument: TypeAlias = dict[str, Json]


def _instance_of(kind: type) -> GetPydanticSchema:
    """Accept values of a type as they are: pydantic's own texts cannot hold lone surrogates."""
    schema = core_schema.is_instance_schema(kind)
    return GetPydanticSchema(lambda _source, _handler: schema)


def _read_by(function: Callable[[Any], object]) -> GetPydanticSchema:
    """Read a value by a function alone, which raises ValueError where it cannot."""
    schema = core_schema.no_info_plain_validator_function(function)
    return GetPydanticSchema(lambda _source, _handler: schema)


def _ref(value: Json) -> Ref:
    ref = Ref.parse(value) if isinstance(value, str) else None
    if ref is None:
        raise ValueError("Kind/name")
    return ref


def _remote_id(value: Json) -> RemoteId | None:
    if isinstance(value, str) and not is_part(value):
        raise JournalError(f"{value[:_SHOWN]!r} cannot be an id")
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return value
    raise ValueError("id")


def _known_id(value: Json) -> RemoteId:
    known = _remote_id(value)
    if known is None:
        raise ValueError("id")
    return known


def _path(value: Json) -> Path:
    if not isinstance(value, list):
        raise ValueError("path")  # noqa: TRY004 - pydantic passes other errors on
    return tuple(step for step in value if isinstance(step, str | int))


def _paths(value: Json) -> tuple[Path, ...]:
    if not isinstance(value, list):
        raise ValueError("paths")  # noqa: TRY004 - as above
    return tuple(map(_path, value))


def _reported(value: Json) -> ServerInfo:
    """Read what the service returned; a value of another form counts as nothing returned."""
    if not isinstance(value, dict):
        return NO_SERVER_INFO
    version, updated = value.get("version"), value.get("updated")
    ids, alerts = value.get("ids"), value.get("alerts")
    return ServerInfo(
        version=version if isinstance(version, str) else "",
        updated=updated if isinstance(updated, str) else "",
        ids={name: str(id_) for name, id_ in ids.items()} if isinstance(ids, dict) else {},
        alerts=tuple(map(str, alerts)) if isinstance(alerts, list) else None,
    )


Text = Annotated[str, _instance_of(str)]
Said = Annotated[str, _read_by(str)]
Flag = Annotated[bool, _read_by(lambda value: value is True)]
Operation = Annotated[
    Literal["create", "replace"],
    _read_by(lambda value: "create" if value == "create" else "replace"),
]
Count = Annotated[int, Field(strict=True)]
Object = Annotated[LineDocument, _instance_of(dict)]
GivenObject = Annotated[LineDocument | None, _instance_of(dict)]
"""None means left out; null is refused."""

NamedRef = Annotated[Ref, _read_by(_ref)]
MaybeId = Annotated[RemoteId | None, _read_by(_remote_id)]
KnownId = Annotated[RemoteId, _read_by(_known_id)]
Value = Annotated[Union[Json, Missing], _instance_of(object)]  # noqa: UP007 - `Json` is a forward reference
PathField = Annotated[Path, _read_by(_path)]
ToldField = Annotated[ServerInfo, _read_by(_reported)]
PathsField = Annotated[tuple[Path, ...], _read_by(_paths)]


def in_lines(name: str) -> str:
    """Return the key of a field in a journal line: in camel case, but `from` for `origin`."""
    return "from" if name == "origin" else to_camel(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine:
    """The base of all lines: fields have camel case names in lines."""

    __pydantic_config__: ClassVar = ConfigDict(alias_generator=in_lines)


@dataclass(frozen=True, slots=True)
class Rewritten(JournalLine):
    """A field that the service stored differently from what was sent (docs/plan.md)."""

    path: PathField
    sent: Value = ABSENT
    got: Value = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVersion(JournalLine):
    """A version of a resource that a write made, and when that was journaled."""

    version: Text
    at: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSeal(JournalLine):
    """A value that a secret had: the secret's name, and the seal of the value."""

    name: Text
    seal: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDrift(JournalLine):
    """Drift of a resource: a digest of how it drifted, and since when that is known."""

    ref: NamedRef
    how: Text
    since: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenVerdict(JournalLine):
    """The verdict on one alert: quieter, same, noisier or unknown."""

    ref: NamedRef
    verdict: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTakenBack(JournalLine):
    """A field that a rollback put back.

    `wrote` is what was declared until then, and `put` is what replaced it. Either is absent where
    nothing was declared.
    """

    path: PathField
    wrote: Value = ABSENT
    put: Value = ABSENT


_LISTED = BeforeValidator(lambda value: value if isinstance(value, list) else [])
Versions = Annotated[tuple[KnownVersion, ...], _LISTED]
Seals = Annotated[tuple[KnownSeal, ...], _LISTED]
Drifts = Annotated[tuple[SeenDrift, ...], _LISTED]
Verdicts = Annotated[tuple[SeenVerdict, ...], _LISTED]
Pairs = Annotated[tuple[Rewritten, ...], _LISTED]
FieldsTakenBack = Annotated[tuple[FieldTakenBack, ...], _LISTED]


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack(JournalLine):
    """The fields of a resource that one rollback put back, when, and who ran it."""

    at: Text
    actor: Text
    fields: FieldsTakenBack


AllTakenBack = Annotated[tuple[TakenBack, ...], _LISTED]
Refs = Annotated[tuple[NamedRef, ...], _LISTED]
Names = Annotated[tuple[Text, ...], _LISTED]


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
    """Return whether two values are the same.

    Of two orders, only the items in both are compared.
    """
    here = shape.along(path)
    if here.identity and isinstance(value, list) and isinstance(other, list):
        mine = [name for name in value if name in other]
        return mine == [name for name in other if name in value]
    return here.are_one(value, other)


def ends_of(document: Json, shape: Shape) -> Mapping[Path, Json]:
    """Return the innermost values of a document by their paths.

    A path leads to an item of a keyed list by its name. The path of such a list leads to the order
    of its items.
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
