"""What expressions put in as a whole: values of items and files, and what they are found by."""

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
"""How many files may be included one by the other."""


def along(values: Mapping[str, Json], name: str) -> tuple[Path, Json] | None:
    """Give what a name leads to, and the steps: a key as it is, else keys joined by dots.

    The longest key that leads on counts; None where there is nothing.
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
    """What a value comes to: its nodes, the characters of its keys and texts, and its levels."""

    nodes: int
    text: int
    levels: int


@dataclass(slots=True)
class Measures:
    """How large values are. What was measured once is known by itself from then on."""

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
            # The value is kept too, so that no other takes its place in memory.
            known = value, size
            self.known[id(value)] = known
        return known[1]


_SCALAR = Size(1, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Each:
    """One item of a `forEach`: its values, and where it stands.

    `keys` are those of all items, and those that were named are noted in `used`; `named` are
    those of which that was known before.
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
    """What a file holds that is included: its document, and its name."""

    path: File
    name: str
    document: Document


class FileReader(Protocol):
    """What reads the files that are included."""

    def content(self, named: str, inside: Inside, path: Path) -> IncludedFile | Finding | None:
        """Give what a file holds, or why not; None where that is said already."""

    def spend(self, size: Size) -> bool:
        """Return whether as much more may be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """Where a document stands whose expressions are filled in, and what it may put in.

    `trail` are the files that include one another, the one of the document last; without
    `files` none is included.
    """

    text: DocumentText
    trail: tuple[File, ...] = ()
    each: Each | None = None
    files: FileReader | None = None
    measure: Callable[[Json], Size] = field(default_factory=lambda: Measures().of)
