"""Places and values as people say them: the widget "Errors", 99.5 %, 1 h 30 min, P1. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from reconciler.document import ABSENT, Json, Missing, Path, stored_name, value_at
from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import KnownValues, Part, Unit
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import NOTHING, Facts, facts_within
from reconciler.model import Change
from reconciler.redaction.templates import references_in
from reconciler.report.counts import live_document
from reconciler.report.safe import safe

_VERSION = re.compile(r"V\d+$")
BETWEEN = " · "
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class FieldLabel(NamedTuple):
    """A part of a resource, and which of its fields; both are safe text on one line.

    `subject` is empty for the resource itself, `field` for the whole subject.
    """

    subject: str
    field: str

    @property
    def words(self) -> str:
        """Both on one line: `widget "Errors" · title`."""
        return BETWEEN.join(filter(None, self))


@dataclass(frozen=True, slots=True)
class _Item:
    """One item of a list: `named` by what a person called it, or only counted."""

    words: str
    named: bool
    unique: bool = True


@dataclass(slots=True)
class Lists:
    """What was counted in the lists of documents that stay as they are, in each list once.

    Without it, each of many items would be looked for among all the others.
    """

    _places: dict[tuple[int, Path], tuple[object, dict[str, int]]] = field(default_factory=dict)
    _named: dict[tuple[int, Path, type[Part] | None], tuple[object, Counter[str]]] = field(
        default_factory=dict
    )

    def place(self, items: Sequence[Json], step: str, identity: Path) -> int:
        """Return the index of the first item with this identity, -1 for none."""
        # The list is kept with what is known of it, so that no other gets its id.
        _, places = self._places.get((id(items), identity), (None, None))
        if places is None:
            places = {}
            for index, item in enumerate(items):
                name = value_at(item, identity)
                if isinstance(name, str):
                    places.setdefault(name, index)
                    places.setdefault(stored_name(name), index)
            self._places[id(items), identity] = items, places
        return places.get(step, -1)

    def named(self, items: Sequence[Json], facts: Facts) -> Counter[str]:
        """Return how many items of a list people call by each name."""
        return self._counted(items, (), facts, lambda: (name_of(item, facts) for item in items))

    def cousins(self, parents: Sequence[Json], steps: Path, facts: Facts) -> Counter[str]:
        """Return the same of all the lists that items of a list have at one place."""

        def names() -> Iterator[str]:
            for items in (value_at(parent, steps) for parent in parents):
                yield from (
                    (name_of(item, facts) for item in items) if isinstance(items, list) else ()
                )

        return self._counted(parents, steps, facts, names)

    def _counted(
        self,
        items: Sequence[Json],
        steps: Path,
        facts: Facts,
        names: Callable[[], Iterator[str]],
    ) -> Counter[str]:
        key = id(items), steps, facts.part
        known = self._named.get(key)
        if known is None:
            known = self._named[key] = items, Counter(names())
        return known[1]


@dataclass(slots=True)
class _Walk:
    """How far a path was walked, and what was met on the way."""

    here: list[Json | Missing]
    facts: Facts
    unsaid: frozenset[str]
    lists: Lists
    items: list[_Item] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    siblings: list[list[Json]] = field(default_factory=list)

    def into_field(self, key: str) -> None:
        """Go into a field of an object."""
        self.fields.append(key)
        self.facts = facts_within(self.facts, key)
        self.here = [value_at(document, (key,)) for document in self.here]

    def into_item(self, step: str | int) -> None:
        """Go into an item of a list, by its identity or its index."""
        lists = [document for document in self.here if isinstance(document, list)]
        found = [item_at(items, step, self.facts, self.lists) for items in lists]
        index, items = next(
            ((index, items) for (index, _), items in zip(found, lists, strict=True) if index >= 0),
            (-1, []),
        )
        self.facts = facts_within(self.facts, step)
        *prefix, key = self.fields or [""]
        said = [text for text in prefix if text not in self.unsaid]
        if said:
            self.items.append(_Item(".".join(said), named=False))
        if len(items) != 1 or key not in self.unsaid:
            self.items.append(self._item(singular(key), step, index, items))
        self.siblings = lists
        self.fields = []
        self.here = [item for _, item in found]

    def _item(self, noun: str, step: str | int, index: int, items: Sequence[Json]) -> _Item:
        if index < 0:
            return _Item(f"{noun} {_quoted(step)}".lstrip(), named=isinstance(step, str))
        name = name_of(items[index], self.facts)
        if not name:
            return _Item(f"{noun} {index + 1}".lstrip(), named=False)
        here = self.lists.named(items, self.facts)[name]
        around = sum(
            self.lists.cousins(parents, tuple(self.fields), self.facts)[name]
            for parents in self.siblings[:1]
        )
        words = f"{noun} {_quoted(name)}" if here == 1 else f"{noun} {index + 1} {_quoted(name)}"
        return _Item(words.lstrip(), named=True, unique=around <= here)


def spoken_place(
    path: Path,
    *documents: Json | Missing,
    facts: Facts = NOTHING,
    unsaid: frozenset[str] = frozenset(),
    lists: Lists | None = None,
) -> FieldLabel:
    """Say where a path leads, in the first of the documents that holds what it names.

    Items of lists are called by their title or name, else counted from 1; those
    without a name are left out where a named one inside says enough. Of the documents
    `facts` are known. Steps that are `unsaid` only wrap others. `lists` are those of the same
    documents, where many places of them are said.
    """
    walk = _Walk(list(documents), facts, unsaid, lists or Lists())
    for step in path:
        if isinstance(step, int) or any(isinstance(document, list) for document in walk.here):
            walk.into_item(step)
        else:
            walk.into_field(step)
    said = [text for text in walk.fields if text not in unsaid] or walk.fields[-1:]
    return FieldLabel(safe(_subject(walk.items)), safe(".".join(said)))


def place_in(
    kind: Kind | None, path: Path, *documents: Json | Missing, lists: Lists | None = None
) -> FieldLabel:
    """Say where a path leads in documents of a kind."""
    unsaid = kind.unsaid if kind else frozenset[str]()
    return spoken_place(path, *documents, facts=facts_of_kind(kind), unsaid=unsaid, lists=lists)


def places_in(change: Change) -> Callable[[Path], FieldLabel]:
    """Give how places of a resource are called, by what is sent and by what is live."""
    kind, documents = BY_NAME.get(change.ref.kind), (change.body, live_document(change))
    lists = Lists()
    return lambda path: place_in(kind, path, *documents, lists=lists)


def facts_of_kind(kind: Kind | None) -> Facts:
    """Give what is known of `spec` as a whole; nothing of a kind that is not known."""
    return NOTHING if kind is None else Facts(part=kind.spec)


def item_at(
    items: Sequence[Json], step: str | int, facts: Facts, lists: Lists | None = None
) -> tuple[int, Json | Missing]:
    """Find an item by its identity or index; `(-1, ABSENT)` where it is not there.

    `facts` are those of the list: a list that has none is known by indices alone.
    """
    if isinstance(step, int):
        return (step, items[step]) if step < len(items) else (-1, ABSENT)
    if facts.keyed is None:
        return -1, ABSENT
    index = (lists or Lists()).place(items, step, facts.keyed.identity)
    return (index, items[index]) if index >= 0 else (-1, ABSENT)


def name_of(item: Json, facts: Facts = NOTHING) -> str:
    """Give what a person called an item of a list, of which `facts` are known; "" for nothing."""
    for path in (facts.part or Part).called:
        value = value_at(item, path)
        if isinstance(value, str) and value:
            return value
    return ""


def standing(
    path: Path, document: Json | Missing, facts: Facts, lists: Lists | None = None
) -> tuple[int, int] | None:
    """Give the position from 1 of a keyed list's item, and how many there are.

    None for any other place. In a list of policies, say, the order is meaning.
    """
    here, found = document, None
    for step in path:
        found = None
        if isinstance(here, list) and isinstance(step, str):
            index, item = item_at(here, step, facts, lists)
            if item is not ABSENT:
                found = index + 1, len(here)
            here = item
        else:
            here = value_at(here, (step,))
        facts = facts_within(facts, step)
    return found


def _subject(items: Sequence[_Item]) -> str:
    """Join items from the inside out, without those that only count what stands around a name."""
    if not items:
        return ""
    inner = items[-1]
    words = inner.words
    for item in reversed(items[:-1]):
        if item.named or not (inner.named and inner.unique):
            words += f" {'in' if inner.named else 'of'} {item.words}"
            inner = item
    return words


def singular(key: str) -> str:
    """Give what one item of a list is called: `query definition` for `queryDefinitions`."""
    plural = _HUMP.sub(" ", _VERSION.sub("", key)).lower()
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural.removesuffix("s")


def _quoted(name: str | int) -> str:
    return json.dumps(name, ensure_ascii=False)


MOST_DIGITS = 18
"""Of a number that is written as text; what is longer is no time, and stays the text it is."""

_MILLISECONDS = {Unit.MILLISECONDS: 1, Unit.SECONDS: 1_000, Unit.MINUTES: 60_000}
_COUNTED = re.compile(r"(\d+)_([A-Z]+)")
_STEPS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))


def spoken_value(document: Json | Missing, facts: Facts = NOTHING) -> str:
    """Give a value whole, on one line of safe text, by what is known of its place.

    Text of a person's own is quoted; values of an enumeration go without their
    common prefix. What is said is exact: two values never read the same, but
    for the spelling of one and the same number.
    """
    if document is ABSENT:
        return "(absent)"
    if references := references_in(document):
        return safe(f"(known after apply: {', '.join(sorted(map(str, references)))})")
    if isinstance(document, list) and facts.items is not None and facts.items.listed:
        return "[" + ", ".join(_scalar(item, facts.items) for item in document) + "]"
    return _scalar(document, facts)


def _scalar(document: Json, facts: Facts) -> str:
    if facts.unit is not None and (number := number_of(document)) is not None:
        return with_unit(number, facts.unit)
    if facts.listed is not None and isinstance(document, str):
        return safe(_short(document, facts.listed))
    return safe(_in_quotes(document) if isinstance(document, str) else _json(document))


def _in_quotes(text: str) -> str:
    """Quote a text; with the other sign where it is full of the usual one, as queries are."""
    if '"' in text and text.isprintable() and not set("'\\") & set(text):
        return f"'{text}'"
    return _json(text)


def _json(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False)


def _short(text: str, listed: KnownValues) -> str:
    """Leave out the prefix of values that the enumeration lists; any other is quoted."""
    if text not in listed.values or not listed.prefix:
        return _json(text)
    short = text.removeprefix(listed.prefix)
    if found := _COUNTED.fullmatch(short):
        return f"{found[1]} {found[2].lower()}"
    return short


def number_of(document: Json | Missing) -> float | int | None:
    """Give a number, or that of a text such as `900s` or `250`; None for anything else."""
    if isinstance(document, str):
        digits = document.removesuffix("s")
        is_number = digits.isdecimal() and digits.isascii() and len(digits) <= MOST_DIGITS
        return int(digits) if is_number else None
    if isinstance(document, int | float) and not isinstance(document, bool):
        return document
    return None


def with_unit(number: float, unit: Unit) -> str:
    """Give a number with its unit; a whole time in the largest units that divide it up."""
    if unit in _MILLISECONDS and isinstance(number, int) and number > 0:
        return duration(number * _MILLISECONDS[unit])
    return f"{plain_number(number)} {unit.value}"


def duration(milliseconds: int) -> str:
    """Give a time above zero, exactly: `1 h 30 min`."""
    words = []
    for sign, size in _STEPS:
        count, milliseconds = divmod(milliseconds, size)
        if count:
            words.append(f"{count} {sign}")
    return " ".join(words)


def plain_number(number: float) -> str:
    """Give a number without a fraction that is zero, and without powers of a tenth."""
    text = json.dumps(number)
    if "e-" in text:
        text = format(Decimal(text), "f")
    return text.removesuffix(".0")
