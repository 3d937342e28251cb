"""Places of declared values: what a manifest is to declare, as new values of documents of files.

A value is written in `spec`, in `overrides`, in an export, in an item of `forEach`, in a file that
`${file:}` includes, or in the variables of the project file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path as File
from typing import Final, TypeAlias

from reconciler.document import (
    ABSENT,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    canonical_text,
    followed,
    same,
    towards,
    value_at,
)
from reconciler.kinds import BY_NAME
from reconciler.model import Manifest, Ref
from reconciler.redaction.templates import pointing, written_out
from reconciler.syntax.expressions import (
    OPEN,
    Expression,
    ExpressionKind,
    escaped,
    parts_of,
    whole,
)
from reconciler.workspace.expression_scope import along, spelled
from reconciler.workspace.manifest_edits import Original, Originals, Script, parts_of_edit
from reconciler.workspace.reuse import FOR_EACH, written_items

_ELSEWHERE: Final = (ExpressionKind.EACH, ExpressionKind.FILE, ExpressionKind.VARIABLE)
"""Expressions with a value that is written at another place."""


@dataclass(frozen=True, slots=True)
class Place:
    """A part of the document `nth` of a file."""

    script: Script
    nth: int
    path: Path = ()

    @property
    def value(self) -> Json | Missing:
        """The value as it is written."""
        return value_at(self.script.values[self.nth], self.path)

    def at(self, *steps: str | int) -> Place:
        """Return the place of a part inside."""
        return Place(self.script, self.nth, (*self.path, *steps))


NewValue: TypeAlias = "tuple[Place, Json | Missing]"
"""A place, and the value that is to be written there."""


@dataclass(slots=True)
class ValueFinder:
    """ValueFinder of the places of values. `project` is the project file, None if there is none."""

    originals: Originals
    project: File | None
    environment: str

    def item_of(self, manifest: Manifest, original: Original) -> Place | None:
        """Return the place of the item of `forEach` that a manifest is made of."""
        member = manifest.source.item
        items = Place(original.script, original.nth, (FOR_EACH,))
        written = written_items(items.value) if items.value is not ABSENT else None
        found = self.behind(written, items, None) if isinstance(written, str) else items
        return None if found is None or member is None else found.at(member.number - 1)

    def behind(self, text: str, here: Place, item: Place | None) -> Place | None:
        """Return where the value of a text that is one expression is written."""
        match whole(text):
            case Expression(word=ExpressionKind.FILE, name=name):
                path = here.script.path.parent / name
                script = self.originals.script_at(path)
                held = [] if script is None else [*_held(script)]
                return Place(script, held[0]) if script is not None and len(held) == 1 else None
            case Expression(word=ExpressionKind.VARIABLE, name=name):
                return self._variable(name)
            case Expression(word=ExpressionKind.EACH, name=name) if item is not None:
                return _along(item, name)
            case _:
                return None

    def _variable(self, name: str) -> Place | None:
        script = None if self.project is None else self.originals.script_at(self.project)
        path = "environments", self.environment, "variables"
        return None if script is None else _along(Place(script, 0, path), name)


def _held(script: Script) -> Iterator[int]:
    return (nth for nth, value in enumerate(script.values) if value is not None)


def _along(place: Place, name: str) -> Place | None:
    values = place.value
    found = along(values, name) if isinstance(values, dict) else None
    return None if found is None else place.at(*found[0])


@dataclass(slots=True, kw_only=True)
class Respelling:
    """Writer of what one manifest is to declare, in the spelling of its files.

    `targets` are the resources that have an id, which a text refers to. With `in_place`, a value
    replaces `${var:}`, and the variable stays. `found` are the values to write at other places.
    """

    finder: ValueFinder
    item: Place | None
    targets: Mapping[str, Ref | str]
    in_place: bool = False
    found: list[NewValue] = field(default_factory=list)

    def at(
        self, written: Json, now: Json | Missing, wanted: Json, shape: Shape, here: Place
    ) -> Json:
        """Return what is to be written in place of `written`, which declares `now`."""
        if same(now, wanted, shape):
            return written
        if isinstance(written, str) and OPEN in written:
            return self._text(written, now, wanted, shape, here)
        if isinstance(written, dict) and isinstance(now, dict) and isinstance(wanted, dict):
            return self._fields(written, now, wanted, shape, here)
        if isinstance(written, list) and isinstance(now, list) and isinstance(wanted, list):
            return self._items(written, now, wanted, shape, here)
        return _spelled_like(written, self.out(wanted))

    def out(self, value: Json) -> Json:
        """Return a value as a manifest writes it."""
        return written_out(pointing(value, self.targets))

    def _fields(
        self,
        written: dict[str, Json],
        now: dict[str, Json],
        wanted: dict[str, Json],
        shape: Shape,
        here: Place,
    ) -> Json:
        fields = {
            key: self.at(value, now.get(key, ABSENT), wanted[key], shape.at(key), here)
            if key in wanted
            else value
            for key, value in written.items()
            if key in wanted or key not in now
        }
        added = {
            key: self.out(value)
            for key, value in wanted.items()
            if key not in written and not same(now.get(key, ABSENT), value, shape.at(key))
        }
        return {**fields, **added}

    def _items(
        self, written: list[Json], now: list[Json], wanted: list[Json], shape: Shape, here: Place
    ) -> Json:
        if len(written) != len(now):
            return self.out(wanted)
        mine, theirs = by_identity(now, shape), by_identity(wanted, shape)
        if mine is None or theirs is None:
            origins = [*_paired(now, wanted)]
        else:
            places = {name: nth for nth, name in enumerate(mine)}
            origins = [places.get(name) for name in theirs]
        return [
            self.out(item)
            if nth is None
            else self.at(written[nth], now[nth], item, shape.item, here)
            for nth, item in zip(origins, wanted, strict=True)
        ]

    def _text(
        self, written: str, now: Json | Missing, wanted: Json, shape: Shape, here: Place
    ) -> Json:
        """Return a text with expressions; what an expression gives is written at its own place."""
        found = whole(written)
        if found is not None:
            place = self._place_of(found, here)
            if place is None or place.value is ABSENT:
                return self.out(wanted)
            self.found.append((place, self.at(place.value, now, wanted, shape, place)))
            return written
        text = self.out(wanted)
        return self._parts(written, text, here) if isinstance(text, str) else text

    def _place_of(self, part: Expression, here: Place) -> Place | None:
        if part.word not in _ELSEWHERE or (self.in_place and part.word is ExpressionKind.VARIABLE):
            return None
        return self.finder.behind(part.spot.written, here, self.item)

    def _parts(self, written: str, text: str, here: Place) -> str:
        """Return a longer text: with another value of one expression, or with other words."""
        parts = [part for part in parts_of(written) if part != ""]
        known = [self._known(part, here) for part in parts]
        if any(value is None for value in known):
            return text
        texts = [str(value) for value in known]
        values = [
            (place, middle)
            for nth, part in enumerate(parts)
            if isinstance(part, Expression) and (place := self._place_of(part, here)) is not None
            if (middle := _between(text, texts, nth))
        ]
        if len(values) == 1:
            place, middle = values[0]
            self.found.append((place, _of_type(place.value, middle)))
            return written
        return _refitted(text, [*zip(parts, texts, strict=True)])

    def _known(self, part: object, here: Place) -> str | None:
        """Return the text of a part, None where it is not known."""
        if isinstance(part, str):
            return escaped(part)
        if not isinstance(part, Expression):
            return None
        if part.word not in _ELSEWHERE:
            return part.spot.written
        place = self.finder.behind(part.spot.written, here, self.item)
        value = ABSENT if place is None else place.value
        if isinstance(value, str | int | float) and OPEN not in str(value):
            return spelled(value)
        return None


def _between(text: str, texts: list[str], nth: int) -> str:
    """Return the text in place of one part, with as many words; "" if others differ too."""
    before, after = "".join(texts[:nth]), "".join(texts[nth + 1 :])
    if not (text.startswith(before) and text.endswith(after)):
        return ""
    middle = text[len(before) : len(text) - len(after)]
    return middle if len(middle.split()) == len(texts[nth].split()) else ""


def _refitted(text: str, parts: list[tuple[object, str]]) -> str:
    """Return a text with its values as expressions again; as it is if that is not unique."""
    rest, fitted = text, ""
    for part, value in parts:
        if not isinstance(part, Expression):
            continue
        if not value or rest.count(value) != 1:
            return text
        before, rest = rest.split(value)
        fitted += before + part.spot.written
    return fitted + rest


def _of_type(before: Json | Missing, text: str) -> Json:
    """Return a text as a number or a truth value where that is replaced."""
    if isinstance(before, str):
        return text
    try:
        found: Json = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float) else text


def _spelled_like(written: Json, value: Json) -> Json:
    """Return a whole number as an integer where one is written."""
    if not isinstance(written, int) or isinstance(written, bool):
        return value
    is_digits = isinstance(value, str) and value.lstrip("-").isdigit()
    is_integer = isinstance(value, float) and value.is_integer()
    return int(str(value)) if is_digits else int(value) if is_integer else value  # type: ignore[arg-type]  # a float


def _paired(now: list[Json], wanted: list[Json]) -> Iterator[int | None]:
    """Yield the index of the present item for each wanted one: equal ones, and those between."""
    old, new = (list(map(canonical_text, side)) for side in (now, wanted))
    for _, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield from (nth if nth < last else None for nth in range(first, first + end - start))


def new_values(
    manifest: Manifest,
    original: Original,
    sides: tuple[dict[str, Json], dict[str, Json]],
    spelling: Respelling,
) -> list[NewValue]:
    """Return the values to write, so that a manifest declares the second of two sides.

    The first is what it declares now. Raises WovenError, KeyError or IndexError where a value
    cannot be placed.
    """
    now, wanted = sides
    shape = BY_NAME[manifest.ref.kind].exact_shape
    here = Place(original.script, original.nth, ("spec",))
    own = here.value
    if isinstance(own, str):
        after = spelling.at(own, now, wanted, shape, here)
        return [*spelling.found, *([] if after == own else [(here, after)])]
    edit = towards(original.spec, spelling.at(original.spec, now, wanted, shape, here))
    values = list(spelling.found)
    for script, nth, part in () if edit is None else parts_of_edit(manifest.ref, original, edit):
        document = script.values[nth]
        after = followed(document, part, document)
        if script is original.script and isinstance(document, dict) and isinstance(after, dict):
            changed = [key for key in ("spec", "overrides") if after.get(key) != document.get(key)]
            values += [(Place(script, nth, (key,)), after.get(key, ABSENT)) for key in changed]
        else:
            values.append((Place(script, nth), after))
    return values
