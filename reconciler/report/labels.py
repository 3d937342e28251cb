"""Labels of places and values in spoken form: the widget "Errors", 99.5 %, 1 h 30 min, P1. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reconciler.document import ABSENT, Json, Missing, Path, stored_name, value_at
from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import KnownValues, Part, Unit
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import NOTHING, Facts, facts_within
from reconciler.kinds.times import duration
from reconciler.model import Change
from reconciler.redaction.templates import references_in
from reconciler.report.counts import live_document
from reconciler.report.safe import safe
from reconciler.report.words import as_json

_VERSION = re.compile(r"V\d+$")
BETWEEN = " · "
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class FieldLabel(NamedTuple):
    """A part of a resource, and its field; both are safe text on one line.

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
    """An item of a list. It is `named` where a person named it; else it is only counted."""

    words: str
    named: bool
    unique: bool = True


@dataclass(slots=True)
class Lists:
    """Indices of the lists of unchanged documents, built once for each list.

    Without them, each of many items would be searched for among all the others.
    """

    _places: dict[tuple[int, Path], tuple[object, dict[str, int]]] = field(default_factory=dict)
    _named: dict[tuple[int, Path | None, type[Part] | None], tuple[object, Counter[str]]] = field(
        default_factory=dict
    )

    def place(self, items: Sequence[Json], step: str, identity: Path) -> int:
        """Return the index of the first item with this identity, -1 for none."""
        # The list is kept with its index, so that no other list gets its id.
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

    def named(self, items: Sequence[Json], facts: Facts, steps: Path | None = None) -> Counter[str]:
        """Return how many items have each name: those of a list, or of the lists inside them.

        `steps` lead from each item to its list, None for the list itself.
        """
        key = id(items), steps, facts.part
        known = self._named.get(key)
        if known is None:
            inside = [items] if steps is None else [value_at(item, steps) for item in items]
            lists = [found for found in inside if isinstance(found, list)]
            names = (name_of(item, facts) for found in lists for item in found)
            known = self._named[key] = items, Counter(names)
        return known[1]


@dataclass(slots=True)
class _Walk:
    """A walk along a path: the documents reached, and the items passed."""

    here: list[Json | Missing]
    facts: Facts
    unsaid: frozenset[str]
    lists: Lists
    items: list[_Item] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    siblings: list[list[Json]] = field(default_factory=list)

    def into_field(self, key: str) -> None:
        self.fields.append(key)
        self.facts = facts_within(self.facts, key)
        self.here = [value_at(document, (key,)) for document in self.here]

    def into_item(self, step: str | int) -> None:
        lists = [document for document in self.here if isinstance(document, list)]
        found = [item_at(items, step, self.facts, self.lists) for items in lists]
        index, items = next(
            ((index, items) for (index, _), items in zip(found, lists, strict=True) if index >= 0),
            (-1, []),
        )
        self.facts = facts_within(self.facts, step)
        *prefix, key = self.fields or [""]
        wrapping = [text for text in prefix if text not in self.unsaid]
        if wrapping:
            self.items.append(_Item(".".join(wrapping), named=False))
        if len(items) != 1 or key not in self.unsaid:
            self.items.append(self._item(singular(key), step, index, items))
        self.siblings = lists
        self.fields = []
        self.here = [item for _, item in found]

    def _item(self, noun: str, step: str | int, index: int, items: Sequence[Json]) -> _Item:
        if index < 0:
            return _Item(f"{noun} {as_json(step)}".lstrip(), named=isinstance(step, str))
        name = name_of(items[index], self.facts)
        if not name:
            return _Item(f"{noun} {index + 1}".lstrip(), named=False)
        here = self.lists.named(items, self.facts)[name]
        around = sum(
            self.lists.named(parents, self.facts, tuple(self.fields))[name]
            for parents in self.siblings[:1]
        )
        words = f"{noun} {as_json(name)}" if here == 1 else f"{noun} {index + 1} {as_json(name)}"
        return _Item(words.lstrip(), named=True, unique=around <= here)


def spoken_place(
    path: Path,
    *documents: Json | Missing,
    facts: Facts = NOTHING,
    unsaid: frozenset[str] = frozenset(),
    lists: Lists | None = None,
) -> FieldLabel:
    """Return the label of a path, from the first of the documents that contains the item.

    Items of lists are labelled by their title or name, else counted from 1. An item without a name
    is left out where a named item inside is enough. `facts` describe the documents. Steps that are
    `unsaid` only wrap others. `lists` are the indices of the same documents, shared where many
    places are labelled.
    """
    walk = _Walk(list(documents), facts, unsaid, lists or Lists())
    for step in path:
        if isinstance(step, int) or any(isinstance(document, list) for document in walk.here):
            walk.into_item(step)
        else:
            walk.into_field(step)
    shown = [text for text in walk.fields if text not in unsaid] or walk.fields[-1:]
    return FieldLabel(safe(_subject(walk.items)), safe(".".join(shown)))


def place_in(
    kind: Kind | None, path: Path, *documents: Json | Missing, lists: Lists | None = None
) -> FieldLabel:
    """Return the label of a path, from the first document (version of a resource) that has it."""
    unsaid = kind.unsaid if kind else frozenset[str]()
    return spoken_place(path, *documents, facts=facts_of_kind(kind), unsaid=unsaid, lists=lists)


def places_in(change: Change) -> Callable[[Path], FieldLabel]:
    """Return a function that labels paths of a resource, by its sent and its live document."""
    kind, documents = BY_NAME.get(change.ref.kind), (change.body, live_document(change))
    lists = Lists()
    return lambda path: place_in(kind, path, *documents, lists=lists)


def facts_of_kind(kind: Kind | None) -> Facts:
    """Return the facts of `spec` as a whole; no facts for an unknown kind."""
    return NOTHING if kind is None else Facts(part=kind.spec)


def item_at(
    items: Sequence[Json], step: str | int, facts: Facts, lists: Lists | None = None
) -> tuple[int, Json | Missing]:
    """Return an item, by identity or index, with its index; `(-1, ABSENT)` where it is missing.

    `facts` are those of the list: in a list without facts, only indices find an item.
    """
    if isinstance(step, int):
        return (step, items[step]) if step < len(items) else (-1, ABSENT)
    if facts.keyed is None:
        return -1, ABSENT
    index = (lists or Lists()).place(items, step, facts.keyed.identity)
    return (index, items[index]) if index >= 0 else (-1, ABSENT)


def name_of(item: Json, facts: Facts = NOTHING) -> str:
    """Return the name that a person gave an item of a list, "" for none; `facts` are the item's."""
    for path in (facts.part or Part).called:
        name = value_at(item, path)
        if isinstance(name, str) and name:
            return name
    return ""


def standing(
    path: Path, document: Json | Missing, facts: Facts, lists: Lists | None = None
) -> tuple[int, int] | None:
    """Return the position, from 1, of an item in a keyed list, and the number of items.

    None for any other place. In a list of policies, for example, the order has meaning.
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
    """Return items joined from the inside out, without the counted items around a unique name."""
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
    """Return the name of one item of a list: `query definition` for `queryDefinitions`."""
    plural = _HUMP.sub(" ", _VERSION.sub("", key)).lower()
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural.removesuffix("s")


MOST_DIGITS = 18
"""The most digits of a number in a text. A longer text is no time, and is shown as text."""

_MILLISECONDS = {Unit.MILLISECONDS: 1, Unit.SECONDS: 1_000, Unit.MINUTES: 60_000}
_COUNTED = re.compile(r"(\d+)_([A-Z]+)")


def spoken_value(document: Json | Missing, facts: Facts = NOTHING) -> str:
    """Return a value whole, on one line of safe text, by the facts of its place.

    Text of people is quoted; values of an enumeration lose their common prefix. The words are
    exact: two values never have the same words, except two spellings of one number.
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
    return safe(_in_quotes(document) if isinstance(document, str) else as_json(document))


def _in_quotes(text: str) -> str:
    """Return a quoted text, in single quotes where it contains double quotes, as queries do."""
    if '"' in text and text.isprintable() and not set("'\\") & set(text):
        return f"'{text}'"
    return as_json(text)


def _short(text: str, listed: KnownValues) -> str:
    """Return a value of an enumeration without its prefix; any other text is quoted."""
    if text not in listed.values or not listed.prefix:
        return as_json(text)
    short = text.removeprefix(listed.prefix)
    if found := _COUNTED.fullmatch(short):
        return f"{found[1]} {found[2].lower()}"
    return short


def number_of(document: Json | Missing) -> float | int | None:
    """Return a number, or the number in a text such as `900s` or `250`; None for anything else."""
    if isinstance(document, str):
        digits = document.removesuffix("s")
        is_number = digits.isdecimal() and digits.isascii() and len(digits) <= MOST_DIGITS
        return int(digits) if is_number else None
    if isinstance(document, int | float) and not isinstance(document, bool):
        return document
    return None


def with_unit(number: float, unit: Unit) -> str:
    """Return a number with its unit; a whole time in the largest units that divide it."""
    if unit in _MILLISECONDS and isinstance(number, int) and number > 0:
        return duration(number * _MILLISECONDS[unit])
    return unit.of(number)
