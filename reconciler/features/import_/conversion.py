"""Conversion of documents of other tools, and what of them is left behind. Pure.

A converter is two functions: `recognise(document)`, and `convert(document, source, beside)`.
`source` describes where the document is, for people, and `beside` has all documents of its file. A
converter reads a document only through `Fields`, which record what was not read: `Notes.unread`
names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final, Protocol, TypeVar

from reconciler.document import Json, Missing, Path, value_at
from reconciler.errors import ExitCode
from reconciler.features.import_.records import Left
from reconciler.kinds.kind import Kind
from reconciler.report.safe import safe

_Value = TypeVar("_Value")

MOST_MADE = 5_000
"""Resources of one document; the rest is left behind and reported."""

MOST_LEFT = 1_000
"""Parts that are named, as many as the panels of the largest dashboard; more are counted."""

MOST_FIELDS = 200
NOTHING_ALIKE = "no counterpart that is taken over"
LONGEST_NAMED = 120
MOST_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Converted:
    """A resource as the `spec` of a manifest; `comments` are about the places below them.

    `left_behind` are parts of its source that no manifest has, or only nearly. `where` is its
    place, which is added once the converter is done.

    Resources of one `name` get different manifest names by their `labels`, else by the `digest` of
    their source. `labels` is None for a resource that has no labels.
    """

    kind: Kind
    name: str
    spec: dict[str, Json]
    comments: Mapping[Path, str] = field(default_factory=dict)
    left_behind: tuple[Left, ...] = ()
    labels: Mapping[str, str] | None = None
    digest: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a document; `left_behind` are parts that belong to no resource."""

    made: tuple[Converted, ...] = ()
    left_behind: tuple[Left, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """The context of a document: the documents of its file, and ids by names.

    Where there are ids, `met` collects the names of all resources that may have an id.
    """

    documents: Sequence[Json] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)


ALONE: Final = Beside()


class Converter(Protocol):
    """A module that knows one other tool."""

    def recognise(self, document: Json) -> bool:
        """Return whether a document belongs to the tool."""

    def convert(self, document: Json, source: str, beside: Beside = ALONE) -> Conversion:
        """Return the result of a document; a document in another form is left behind."""


class Fields:
    """An object of a document that records which of its fields were read.

    A field counts as read if its value has the requested type. A field that is read as an object,
    or as a list of objects, counts field by field.
    """

    __slots__ = ("_inner", "_read", "document")

    def __init__(self, document: Json) -> None:
        self.document: dict[str, Json] = document if isinstance(document, dict) else {}
        self._read: set[str] = set()
        self._inner: dict[str, list[Fields]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self.document

    def value(self, key: str) -> Json:
        """Return a value of any type, None for none."""
        self._read.add(key)
        return self.document.get(key)

    def text(self, key: str) -> str:
        """Return a text, "" for anything else."""
        value = self.document.get(key)
        return self._noted(key, value) if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        """Return whether a field is true."""
        value = self.document.get(key)
        return isinstance(value, bool) and self._noted(key, value)

    def number(self, key: str) -> Decimal | None:
        """Return a number, None for anything else."""
        number = number_of(self.document.get(key))
        return None if number is None else self._noted(key, number)

    def scalar(self, key: str) -> str | None:
        """Return a plain value as a text, None for anything else."""
        value = self.document.get(key)
        if isinstance(value, bool):
            return self._noted(key, str(value).lower())
        return self._noted(key, str(value)) if isinstance(value, str | int | float) else None

    def scalars(self) -> Iterator[tuple[str, str]]:
        """Yield the plain values of all fields, as texts by their keys."""
        for key in self.document:
            if (value := self.scalar(key)) is not None:
                yield key, value

    def inner(self, *path: str) -> Fields:
        """Return an object at a path; an empty object for anything else."""
        fields = self
        for key in path:
            value = fields.document.get(key)
            if not isinstance(value, dict):
                return Fields({})
            fields = fields._inner.setdefault(key, [Fields(value)])[0]
        return fields

    def each(self, key: str) -> list[Fields]:
        """Return the objects of a list; none for anything else."""
        value = self.document.get(key)
        if key not in self._inner and isinstance(value, list):
            self._inner[key] = [Fields(element) for element in value if isinstance(element, dict)]
        return self._inner.get(key, []) if isinstance(value, list) else []

    def take(self, *keys: str) -> None:
        """Count plain values as read that the manifest has in another way, or does not need."""
        for key in keys:
            self.scalar(key)

    def take_all(self) -> None:
        """Count every field as read."""
        self._read.update(self.document)
        for key in self.document.keys() & self._inner.keys():
            for fields in self._inner[key]:
                fields.take_all()

    def unread(self) -> Iterator[str]:
        """Yield the names of the fields that were not read, without empty fields."""
        for key, value in self.document.items():
            if key in self._inner:
                for fields in self._inner[key]:
                    yield from (f"{key}.{name}" for name in fields.unread())
                elements = value if isinstance(value, list) else []
                if key not in self._read and not all(isinstance(item, dict) for item in elements):
                    yield key
            elif key not in self._read and value not in (None, "", [], {}):
                yield key

    def without(self, key: str) -> Fields:
        """Return the same fields without one, sharing the record of what was read."""
        rest = Fields({name: value for name, value in self.document.items() if name != key})
        rest._read, rest._inner = self._read, self._inner
        return rest

    def _noted(self, key: str, value: _Value) -> _Value:
        self._read.add(key)
        return value


class Notes:
    """Parts that are left behind, in the order in which they were found, each once.

    Parts above the limit are counted. Fields that were not read come last.
    """

    def __init__(self) -> None:
        self._left: dict[Left, None] = {}
        self._unread: dict[Left, None] = {}
        self._more = 0

    def leave(self, what: str, why: str, *, is_whole: bool = False) -> None:
        """Add a part, or a whole rule, SLO or dashboard; foreign names in it are made harmless."""
        code = ExitCode.PARTIAL if is_whole else ExitCode.DONE
        self._note(self._left, Left(safe(what), safe(why), code))

    def unread(self, called: str, fields: Fields) -> None:
        """Add the unread fields of an object, in one line, and count them as read."""
        names = [*dict.fromkeys(fields.unread())]
        fields.take_all()
        shown = [named(name) for name in names[:MOST_FIELDS]]
        if len(names) > MOST_FIELDS:
            shown.append(f"and {len(names) - MOST_FIELDS:,} more fields")
        if shown:
            text = safe(": ".join(filter(None, (called, ", ".join(shown)))))
            self._note(self._unread, Left(text, NOTHING_ALIKE))

    def _note(self, where: dict[Left, None], left: Left) -> None:
        if left in where or len(where) < MOST_LEFT:
            where[left] = None
        else:
            self._more += 1

    @property
    def all(self) -> tuple[Left, ...]:
        """All parts that were added."""
        more = (Left(f"{self._more:,} more", "too many to name"),) if self._more else ()
        return (*self._left, *self._unread, *more)


def text_at(document: Json, *path: str) -> str:
    """Return a text at a path, "" where there is none."""
    value = value_at(document, path)
    return value if isinstance(value, str) else ""


def number_of(value: Json | Missing) -> Decimal | None:
    """Return a number, from a number or a text; else None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    is_usual = number.is_finite() and (not number or abs(number.adjusted()) <= MOST_DIGITS)
    return number if is_usual else None


def plain(number: Decimal) -> int | float:
    """Return a number as JSON writes it."""
    return int(number) if number == number.to_integral_value() else float(number)


_DURATION = re.compile(
    r"(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?"
)
_SECONDS = (604_800, 86_400, 3_600, 60, 1)


def seconds_of(text: str) -> int | None:
    """Return a duration such as `1h30m` in seconds, None for any other text."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    return sum(
        int(count) * number for count, number in zip(found.groups(), _SECONDS, strict=True) if count
    )


def named(text: str) -> str:
    """Return a foreign name for a report, cut where it is very long."""
    shown = safe(" ".join(text[: 4 * LONGEST_NAMED].split()))
    return shown if len(shown) <= LONGEST_NAMED else f"{shown[:LONGEST_NAMED]}…"


def bracketed(query: str) -> str:
    """Return a query in brackets; a line break keeps a comment from hiding the closing bracket."""
    query = query.strip()
    return f"({query}\n)" if "#" in query else f"({query})"
