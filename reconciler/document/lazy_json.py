"""Documents that stay text until somebody looks at them. Pure."""

from __future__ import annotations

import json
from typing import Any

from reconciler.document.values import Json


class LazyJson:
    """A document inside a JSON text, by the names of the objects that it stands in.

    The JSON text is the part from `start` to `end` of one that many share.
    """

    __slots__ = ("_opened", "_text", "end", "place", "start")

    def __init__(self, text: bytes, start: int, end: int, place: tuple[str, ...]) -> None:
        """Point at a text that was read before, and so can be read again."""
        self._text = text
        self.start, self.end, self.place = start, end, place
        self._opened: dict[str, Json] | None = None

    def open(self) -> dict[str, Json]:
        """Give the document, the same one until it is folded."""
        if self._opened is None:
            found = json.loads(self._text[self.start : self.end])
            for name in self.place:
                found = found[name]
            self._opened = found
        return self._opened

    def fold(self) -> None:
        """Let it be text again."""
        self._opened = None


class LazyField:
    """A field of a dataclass without slots, whose value may be packed."""

    def __set_name__(self, _: type, name: str) -> None:
        """Learn what it is called."""
        self._name = name

    def __get__(self, one: object, _: type) -> Any:
        """Give the value, opened."""
        if one is None:
            return self
        held = one.__dict__[self._name]
        return held.open() if isinstance(held, LazyJson) else held

    def __set__(self, one: object, value: object) -> None:
        """Take a value, packed or not."""
        one.__dict__[self._name] = value


def let_open(kind: type, name: str) -> None:
    """Let a field of a dataclass hold what is packed; set apart it is no default of the field."""
    field = LazyField()
    field.__set_name__(kind, name)
    setattr(kind, name, field)


def held(one: object, name: str) -> Any:
    """Give the value of such a field as it is kept, to hand it on unopened."""
    return one.__dict__[name]


def pack(one: object, name: str, packed: LazyJson) -> None:
    """Keep a value as text from here on."""
    one.__dict__[name] = packed


def fold(one: object, name: str) -> None:
    """Let a value be text again, if it was."""
    value = one.__dict__[name]
    if isinstance(value, LazyJson):
        value.fold()
