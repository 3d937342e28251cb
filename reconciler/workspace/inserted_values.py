"""Values that expressions insert as a whole, from items and files, and their lookup by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import NamedTuple, Protocol

from reconciler.document import Json, Path
from reconciler.model import Member
from reconciler.syntax.diagnostic import Finding
from reconciler.syntax.parsed_text import Document, DocumentText

MOST_TRAILED = 8
"""Limit for the depth of files that include each other."""


def along(values: Mapping[str, Json], name: str) -> tuple[Path, Json] | None:
    """Return the value of a name and the steps to it: a key, or keys joined by dots.

    The longest key that leads on is used. Returns None if there is no value.
    """
    steps: list[str] = []
    while name not in values:
        at = name.rfind(".")
        while at > 0 and not isinstance(values.get(name[:at]), dict):
            at = name.rfind(".", 0, at)
        inner = values.get(name[:at]) if at > 0 else None
        if not isinstance(inner, dict):
            return None
        steps.append(name[:at])
        name, values = name[at + 1 :], inner
    return (*steps, name), values[name]


class Size(NamedTuple):
    """The size of a value: its nodes, the characters of its keys and texts, and its levels."""

    nodes: int
    text: int
    levels: int


@dataclass(slots=True)
class Measures:
    """The sizes of values, remembered by the identity of each value."""

    known: dict[int, tuple[Json, Size]] = field(default_factory=dict)

    def of(self, value: Json) -> Size:
        """Return the size of a value."""
        if isinstance(value, str):
            return Size(1, len(value), 0)
        if not isinstance(value, dict | list):
            return _SCALAR
        known = self.known.get(id(value))
        if known is None:
            inner = [
                self.of(member) for member in (value.values() if isinstance(value, dict) else value)
            ]
            size = Size(
                1 + sum(size.nodes for size in inner),
                sum(size.text for size in inner)
                + (sum(map(len, value)) if isinstance(value, dict) else 0),
                1 + max((size.levels for size in inner), default=0),
            )
            # The value is kept too, so that no other value gets its id.
            known = value, size
            self.known[id(value)] = known
        return known[1]


_SCALAR = Size(1, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Each:
    """One item of a `forEach`: its values and its place.

    `keys` are the keys of all items. Keys that a manifest uses are added to `used`; `named` are the
    keys that were used before.
    """

    values: Mapping[str, Json]
    text: DocumentText
    path: Path
    member: Member
    keys: frozenset[str]
    used: set[str]
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class IncludedFile:
    """An included file: path, name and document."""

    path: File
    name: str
    document: Document


class FileReader(Protocol):
    """Reader of the files that are included."""

    def content(self, named: str, inside: Inside, path: Path) -> IncludedFile | Finding | None:
        """Return the content of a file or the reason against it; None if it is already reported."""

    def spend(self, size: Size) -> bool:
        """Add a size to what is made; return whether the total is within the limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """The place of a document in which expressions are filled in, and what it may insert.

    `trail` is the chain of files that include each other, the file of the document last. Without
    `files` no file is included.
    """

    text: DocumentText
    trail: tuple[File, ...] = ()
    each: Each | None = None
    files: FileReader | None = None
    measure: Callable[[Json], Size] = field(default_factory=lambda: Measures().of)
