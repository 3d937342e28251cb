"""What stands in a query for a value that is known only when it runs.

Dashboards write `$name`, `${name}`, `[[name]]` and `{{name}}`; what a manifest fills in late, a
secret or an id, looks like the second. Each is replaced by as many characters, so no place moves.
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
    """A variable in a query, by its place and as it is written."""

    start: int
    written: str

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.written)

    def touches(self, start: int, end: int) -> bool:
        """Tell whether it stands in a part of the text, or right beside it."""
        return self.start <= end and start <= self.end


def holes_in(text: str) -> list[Hole]:
    """Give the variables of a text in their order."""
    if "$" not in text and "{{" not in text and "[[" not in text:
        return []
    return [Hole(found.start(), found.group()) for found in _VARIABLE.finditer(text)][:MOST]


def filled(text: str, holes: list[Hole], stand_in: Callable[[int, Hole], str]) -> str:
    """Put as many characters into the place of each variable."""
    parts, end = [], 0
    for nth, hole in enumerate(holes):
        parts += [text[end : hole.start], stand_in(nth, hole)]
        end = hole.end
    return "".join((*parts, text[end:]))


def marked(nth: int, hole: Hole) -> str:
    """Give a stand-in of letters that nobody writes, which tell the variable."""
    return chr(_FIRST + nth) * len(hole.written)


def unmarked(text: str, holes: list[Hole]) -> str:
    """Write the variables again where their stand-ins are."""
    for nth, hole in enumerate(holes):
        text = text.replace(marked(nth, hole), hole.written)
    return text
