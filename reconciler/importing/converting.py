"""What documents of other tools become, and what of them is left behind. Pure.

A converter is two functions: `recognise(document)`, and `convert(document, source, beside)`, where
`source` says for people where the document stands, and `beside` are all documents of its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Protocol

from reconciler.document import Json, Path
from reconciler.kinds.kind import Kind
from reconciler.report.safe import safe

MOST_MADE = 5_000
"""Resources of one document: what is above is left behind, and said."""

MOST_LEFT = 500
LONGEST_NAMED = 120
MOST_DIGITS = 15


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """Something of a document that no manifest holds, or only nearly, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Converted:
    """A resource as the `spec` of a manifest; `comments` stand above the places they are about."""

    kind: Kind
    name: str
    spec: dict[str, Json]
    comments: Mapping[Path, str] = field(default_factory=dict)
    left_behind: tuple[LeftBehind, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a document became; `left_behind` is what belongs to no resource that was made."""

    made: tuple[Converted, ...] = ()
    left_behind: tuple[LeftBehind, ...] = ()


class Converter(Protocol):
    """A module that knows one other tool."""

    def recognise(self, document: Json) -> bool:
        """Tell whether a document is one of the tool's."""

    def convert(self, document: Json, source: str, beside: Sequence[Json] = ()) -> Conversion:
        """Give what a document becomes; one that is not as the tool writes it is left behind."""


class Notes:
    """What is left behind, in the order in which it was met, each once; too much is counted."""

    def __init__(self) -> None:
        self._left: dict[LeftBehind, None] = {}
        self._more = 0

    def leave(self, what: str, why: str) -> None:
        """Note one thing; foreign names in it are made harmless."""
        one = LeftBehind(safe(what), safe(why))
        if one in self._left:
            return
        if len(self._left) >= MOST_LEFT:
            self._more += 1
        else:
            self._left[one] = None

    @property
    def all(self) -> tuple[LeftBehind, ...]:
        """Everything that was noted."""
        more = (LeftBehind(f"{self._more:,} more", "too many to name"),) if self._more else ()
        return (*self._left, *more)


def at(document: Json, *path: str) -> Json:
    """Give what stands at a path of keys, None where nothing does."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def text_at(document: Json, *path: str) -> str:
    """Give a text at a path, "" where there is none."""
    value = at(document, *path)
    return value if isinstance(value, str) else ""


def objects_at(document: Json, *path: str) -> list[dict[str, Json]]:
    """Give the objects of a list at a path; anything else there is passed over."""
    value = at(document, *path)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def scalars_at(document: Json, *path: str) -> Iterator[tuple[str, str]]:
    """Yield the plain values of an object at a path, as texts by their keys."""
    value = at(document, *path)
    for key, one in value.items() if isinstance(value, dict) else ():
        if isinstance(one, bool):
            yield key, str(one).lower()
        elif isinstance(one, str | int | float):
            yield key, str(one)


def number_of(value: Json) -> Decimal | None:
    """Give a number that somebody may have meant, written as one or as a text; else None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    is_usual = number.is_finite() and (not number or abs(number.adjusted()) <= MOST_DIGITS)
    return number if is_usual else None


def plain(number: Decimal) -> int | float:
    """Give a number as JSON has it."""
    return int(number) if number == number.to_integral_value() else float(number)


_DURATION = re.compile(
    r"(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?"
)
_SECONDS = (604_800, 86_400, 3_600, 60, 1)


def seconds_of(text: str) -> int | None:
    """Give a duration as `1h30m` in seconds, None for what is none."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    return sum(
        int(count) * each for count, each in zip(found.groups(), _SECONDS, strict=True) if count
    )


def named(text: str) -> str:
    """Give a name of somebody else's for a report, cut where it is very long."""
    shown = safe(" ".join(text[: 4 * LONGEST_NAMED].split()))
    return shown if len(shown) <= LONGEST_NAMED else f"{shown[:LONGEST_NAMED]}…"


def bracketed(query: str) -> str:
    """Give a query in brackets; a comment at its end would hide the closing one."""
    query = query.strip()
    return f"({query}\n)" if "#" in query else f"({query})"
