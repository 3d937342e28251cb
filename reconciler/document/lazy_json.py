"""Documents that stay text until they are used. Pure."""

from __future__ import annotations

import json
from typing import Any

from reconciler.document.values import Json


class LazyJson:
    """A document inside a JSON text; `place` lists the names of the objects around it.

    The JSON text is the part from `start` to `end` of a text that many documents share.
    """

    __slots__ = ("_opened", "_text", "end", "place", "start")

    def __init__(self, text: bytes, start: int, end: int, place: tuple[str, ...]) -> None:
        """Point at a text that was parsed before, and so can be parsed again."""
        self._text = text
        self.start, self.end, self.place = start, end, place
        self._opened: dict[str, Json] | None = None

    def open(self) -> dict[str, Json]:
        """Return the document; the same object until it is folded."""
        if self._opened is None:
            found = json.loads(self._text[self.start : self.end])
            for name in self.place:
                found = found[name]
            self._opened = found
        return self._opened

    def fold(self) -> None:
        """Make it text again."""
        self._opened = None


class LazyField:
    """A field of a dataclass without slots; its value may be packed."""

    def __set_name__(self, _: type, name: str) -> None:
        """Store the name of the field."""
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


def let_open(kind: type, name: str) -> None:
    """Allow a field of a dataclass to hold a packed value.

    This is done outside the class, where the descriptor is not taken for a default of the field.
    """
    field = LazyField()
    field.__set_name__(kind, name)
    setattr(kind, name, field)


def held(owner: object, name: str) -> Any:
    """Return the value of such a field as it is stored, to pass it on unopened."""
    return owner.__dict__[name]


def pack(owner: object, name: str, packed: LazyJson) -> None:
    """Store a value as text from now on."""
    owner.__dict__[name] = packed


def fold(owner: object, name: str) -> None:
    """Make a value text again, if it was text."""
    value = owner.__dict__[name]
    if isinstance(value, LazyJson):
        value.fold()
