"""Placeholders in a query for values that are known only when it runs.

Dashboards write `$name`, `${name}`, `[[name]]` and `{{name}}`; the secrets and ids that a manifest
fills in late look like the second form. Each is replaced by as many characters, so no position
changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_VARIABLE = re.compile(
    r"\$\{[^{}\n]*\}|\$\w+|\[\[\s*[\w.:]+\s*\]\]|\{\{\s*[\w.$]+\s*\}\}", re.ASCII
)
_FIRST = 0xE000
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Hole:
    """A variable in a query, by its position and as written."""

    start: int
    written: str

    @property
    def end(self) -> int:
        """The position after its last character."""
        return self.start + len(self.written)

    def touches(self, start: int, end: int) -> bool:
        """Return whether it is in a part of the text, or right next to it."""
        return self.start <= end and start <= self.end


def holes_in(text: str) -> list[Hole]:
    """Return the variables of a text in their order."""
    if "$" not in text and "{{" not in text and "[[" not in text:
        return []
    return [Hole(found.start(), found.group()) for found in _VARIABLE.finditer(text)][:MOST]


def filled(text: str, holes: list[Hole], stand_in: Callable[[int, Hole], str]) -> str:
    """Return the text with each variable replaced by a placeholder of the same length."""
    parts, end = [], 0
    for nth, hole in enumerate(holes):
        parts += [text[end : hole.start], stand_in(nth, hole)]
        end = hole.end
    return "".join((*parts, text[end:]))


def marked(nth: int, hole: Hole) -> str:
    """Return a placeholder of private-use letters; the letter identifies the variable."""
    return chr(_FIRST + nth) * len(hole.written)


def unmarked(text: str, holes: list[Hole]) -> str:
    """Return the text with the variables in place of their placeholders."""
    for nth, hole in enumerate(holes):
        text = text.replace(marked(nth, hole), hole.written)
    return text
