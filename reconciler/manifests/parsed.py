"""What reading a text gives: documents with positions, and flaws of the text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reconciler.complaint import Lines
from reconciler.document import Json, Path
from reconciler.finding import Severity, Spot
from reconciler.manifests.positions import Positions


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with the text itself; line and column from 1."""

    code: str
    line: int
    column: int
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR


@dataclass(slots=True)
class Document:
    """One document of a file."""

    lines: Lines
    value: Json = None
    positions: Positions = field(default_factory=Positions)

    @property
    def text(self) -> str:
        """The text of the whole file."""
        return self.lines.text

    def locate(self, path: Path = (), *, at_key: bool = False) -> tuple[int, int]:
        """Give line and column, from 1, of the nearest place on `path` that was written."""
        return self.lines.place(self.positions.offset(self.value, path, at_key=at_key))

    def locate_spot(self, path: Path, spot: Spot) -> tuple[int, int]:
        """Give line and column of a part of a text; where the text begins if it is not found.

        An escape may hide it, and it may stand where an alias was written.
        """
        start, following = self.positions.scalar(self.value, path)
        begin = self.lines.in_text(start)
        end = begin + WIDEST_SEARCH if following is None else self.lines.in_text(following)
        found = _nth(spot, written_scalar(self.text, begin, end))
        return self.lines.place_in_text(begin + max(0, found))


def written_scalar(text: str, begin: int, end: int) -> str:
    """Give a scalar as it stands in a text, at most up to `end`, so without a comment after it."""
    window = text[begin : min(end, begin + WIDEST_SEARCH)]
    form = _WRITTEN.get(window[:1], _PLAIN)
    found = form.match(window)
    return found.group() if found is not None else window


def _nth(spot: Spot, written: str) -> int:
    """Give where the part stands, -1 where it is not found."""
    place = -1
    for _ in range(spot.nth + 1):
        place = written.find(spot.written, place + 1)
        if place < 0:
            return -1
    return place


WIDEST_SEARCH = 1 << 16
"""Characters of a file: a text of some thousands may be written with escapes and indentation."""

_WRITTEN = {
    '"': re.compile(r'"(?:[^"\\]+|\\.)*"', re.DOTALL),
    "'": re.compile(r"'(?:[^']+|'')*'"),
    "*": re.compile(r"\*[^\s,\]}]*"),
    "|": re.compile(r".*", re.DOTALL),
    ">": re.compile(r".*", re.DOTALL),
}
_PLAIN = re.compile(r"(?:[^#]+|(?<!\s)#)*")


@dataclass(slots=True)
class Reading:
    """Everything one file gave. What was read before a syntax error is kept."""

    lines: Lines
    documents: list[Document] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)

    @property
    def has_errors(self) -> bool:
        """Whether something in the text itself stops a run."""
        return any(flaw.severity is Severity.ERROR for flaw in self.flaws)
