"""Single values: absent, zero, equal; texts and digests; the shape of a place."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from enum import Enum
from typing import Final, TypeAlias, TypeGuard
from unicodedata import normalize

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Path: TypeAlias = tuple[str | int, ...]


class Missing(Enum):
    """The one value that says that a document has nothing at a path."""

    ABSENT = "absent"


ABSENT: Final = Missing.ABSENT

_INT64 = re.compile(r"-?[0-9]{1,19}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DURATION = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def day_of(text: object) -> date | None:
    """Read a calendar day, as 2027-03-31; return None for any other form."""
    if isinstance(text, str) and _DAY.fullmatch(text):
        with suppress(ValueError):
            return date.fromisoformat(text)
    return None


def duration_of(text: str, units: str) -> timedelta | None:
    """Read a duration, as 90m or 2w, in one of the units; return None for any other form."""
    match = _DURATION.fullmatch(text)
    if match is None or match[2] not in units:
        return None
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def value_at(document: Json | Missing, path: Sequence[str | int]) -> Json | Missing:
    """Return the value at a path of keys and indices, `ABSENT` if there is none."""
    for step in path:
        if isinstance(document, dict) and isinstance(step, str):
            document = document.get(step, ABSENT)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return ABSENT
    return document


def texts_in(document: Json) -> Iterator[str]:
    """Yield the texts of a document in their order, without the names of its fields."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def texts_at(document: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a document in their order, each with its path."""
    if isinstance(document, str):
        yield path, document
    elif isinstance(document, dict | list):
        for step, value in document.items() if isinstance(document, dict) else enumerate(document):
            yield from texts_at(value, (*path, step))


def each_text(document: Json, change: Callable[[str], Json]) -> Json:
    """Return a document with each text changed, templates too."""
    if isinstance(document, dict):
        return {key: each_text(value, change) for key, value in document.items()}
    if isinstance(document, list):
        return [each_text(item, change) for item in document]
    return change(document) if isinstance(document, str) else document


def is_zero(value: Json | Missing, enumeration: str = "") -> bool:
    """Return whether a service may show or drop `value` at will (docs/plan.md).

    `enumeration` is the prefix of the values of the enumeration. Without a prefix the value is free
    text, in which `OWNER_UNSPECIFIED` is a name like any other.
    """
    if isinstance(value, str):
        named = value.startswith(enumeration) and value.endswith("UNSPECIFIED")
        return value == "" or (enumeration != "" and named)
    return value is ABSENT or value is None or value == [] or (_is_number(value) and value == 0)


def _are_equal(before: Json | Missing, after: Json | Missing) -> bool:
    """Return whether two values are equal; zero, absent and null all differ."""
    if _is_number(before) and _is_number(after):
        return before == after and isinstance(before, bool) == isinstance(after, bool)
    if isinstance(before, str) and isinstance(after, str):
        return before == after
    return type(before) is type(after) and before == after


def _zero_kind(value: Json | Missing) -> type | None:
    """Return the type of a zero: `""` and 0 differ, though each equals absent."""
    if value is ABSENT or value is None:
        return None
    if isinstance(value, str):
        return str
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _spelled_number(value: Json | Missing) -> Json | Missing:
    return int(value) if isinstance(value, str) and _INT64.fullmatch(value) else value


def _is_number(value: Json | Missing) -> TypeGuard[int | float]:
    return isinstance(value, int | float)


def identical(left: Json, right: Json) -> bool:
    """Return whether two documents are equal, at C speed; False may still mean `same`.

    Python treats True as equal to 1, so equal containers are compared by their text too.
    """
    if left != right:
        return False
    if isinstance(left, dict | list):
        return _text(left) == _text(right)
    return isinstance(left, bool) == isinstance(right, bool)


def canonical_text(document: Json) -> str:
    """Return the canonical text of a document: keys sorted, numbers by value, no spaces."""
    text = _text(document)
    # Two searches for plain text come first: a search by pattern costs more than all else here.
    may_be = ".0" in text or "e+" in text
    return _text(_canonical(document)) if may_be and _INTEGRAL_FLOAT.search(text) else text


def digest(document: Json) -> str:
    """Return `sha256:…` of the canonical text."""
    # A service may return half of a surrogate pair, which plain UTF-8 cannot encode.
    text = canonical_text(document).encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(text).hexdigest()


# As Python writes them, `1.0` and `1e+16`, at the end of a value.
_INTEGRAL_FLOAT = re.compile(r"\d(?:\.0|e\+\d+)(?=[,\]}]|\Z)")
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False
)


def _text(document: Json) -> str:
    return _ENCODER.encode(document)


def _canonical(document: Json) -> Json:
    if isinstance(document, dict):
        return {key: _canonical(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_canonical(item) for item in document]
    if isinstance(document, float) and document.is_integer():
        return int(document)
    return document


@dataclass(frozen=True, slots=True)
class Shape:
    """The known structure of one place of a document, which says how it is compared.

    `identity` is the path inside a list item to its name; `alternatives` are groups of fields, and
    an object has at most one field of each group. `numeric_text` says that text spells an int64,
    which equals the number. `enumeration` is the prefix of the values of an enumeration, "" for
    free text. With `exact`, a zero differs from absent: documents that only we
    wrote are compared in this way.
    """

    fields: Mapping[str, Shape] = field(default_factory=dict)
    items: Shape | None = None
    values: Shape | None = None
    identity: tuple[str, ...] = ()
    alternatives: tuple[frozenset[str], ...] = ()
    unordered: bool = False
    numeric_text: bool = False
    enumeration: str = ""
    exact: bool = False

    def at(self, key: str) -> Shape:
        """Return the shape of the value under `key`; `ANY` if nothing is known."""
        return self.fields.get(key) or self.values or self._any

    def along(self, path: Path) -> Shape:
        """Return the shape at a path of keys, and of names or indices of items."""
        shape = self
        for step in path:
            shape = shape.at(str(step)) if shape.items is None else shape.item
        return shape

    @property
    def item(self) -> Shape:
        """The shape of a list's items; `ANY` if nothing is known."""
        return self.items or self._any

    @property
    def _any(self) -> Shape:
        return EXACT if self.exact else ANY

    def are_one(self, before: Json | Missing, after: Json | Missing) -> bool:
        """Return whether the service treats two values as equal.

        The values are not both objects or both lists.
        """
        if self.numeric_text:
            before, after = _spelled_number(before), _spelled_number(after)
        if (
            not self.exact
            and is_zero(before, self.enumeration)
            and is_zero(after, self.enumeration)
        ):
            kinds = _zero_kind(before), _zero_kind(after)
            return None in kinds or kinds[0] is kinds[1]
        return _are_equal(before, after)

    @property
    def known(self) -> bool:
        """Return whether the inner fields are known at all."""
        return bool(self.fields or self.items or self.values)

    def ousted_by(self, declared: Mapping[str, Json]) -> frozenset[str]:
        """Return the fields that a declared object excludes: the alternatives to its own fields."""
        if not self.alternatives:
            return frozenset()
        return frozenset(
            key
            for group in self.alternatives
            if not group.isdisjoint(declared)
            for key in group - declared.keys()
        )


ANY: Final = Shape()
EXACT: Final = Shape(exact=True)


def exactly(shape: Shape) -> Shape:
    """Return a shape by which documents are compared `exact` at every depth."""
    return replace(
        shape,
        fields={name: exactly(inner) for name, inner in shape.fields.items()},
        items=exactly(shape.items) if shape.items is not None else None,
        values=exactly(shape.values) if shape.values is not None else None,
        exact=True,
    )


def by_identity(items: Sequence[Json], shape: Shape) -> dict[str, Json] | None:
    """Return list items by their identity; None if an item has none or two items share one.

    The keys are the names as services are known to store them, so that an item with a rewritten
    name is still found. If that gives two items the same name, the keys are the names as written.
    """
    if not shape.identity:
        return None
    indexed: dict[str, Json] = {}
    for item in items:
        key = value_at(item, shape.identity)
        if not isinstance(key, str) or key == "" or key in indexed:
            return None
        indexed[key] = item
    stored = {stored_name(key): item for key, item in indexed.items()}
    return stored if len(stored) == len(indexed) and "" not in stored else indexed


def stored_name(name: str) -> str:
    """Return a name as services are known to store it: no white space around it, in NFC."""
    return name.strip() if name.isascii() else normalize("NFC", name).strip()
