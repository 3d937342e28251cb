"""One complaint about one file, with what a reader needs to see it there. Pure."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from reconciler.document import Path
from reconciler.expressions import OPEN
from reconciler.finding import Finding, Severity

WIDEST_EXCERPT = 120
WIDEST_MARK = WIDEST_EXCERPT // 2
LONGEST_NAME = 80
LONGEST_MESSAGE = 600
LONGEST_SUGGESTION = 260
CUT = "…"

_LONG_NAME = re.compile(rf"`([^`]{{{LONGEST_NAME - 1}}})[^`]{{2,}}`")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines as they stand in the file, cut to what fits around the place.

    The last one holds the place: `width` characters from `start`, from 0.
    """

    lines: tuple[tuple[int, str], ...]
    start: int
    width: int


@dataclass(frozen=True, slots=True, order=True)
class Complaint:
    """What is wrong, where (from 1; line 0 is the file as a whole), and what to write instead.

    `ref` (`Kind/name`) and the path of the field stay what they are when lines
    move; they are empty where the text itself is wrong. `environments` are those
    that it holds in, empty where it holds in all that were looked at.
    """

    file: str
    line: int
    column: int
    code: str
    message: str
    suggestion: str = ""
    severity: Severity = field(default=Severity.ERROR, compare=False)
    excerpt: Excerpt | None = field(default=None, compare=False)
    ref: str = field(default="", compare=False)
    path: Path = field(default=(), compare=False)
    environments: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_error(self) -> bool:
        """Whether it stops the run."""
        return self.severity is Severity.ERROR


class Lines:
    """The text of a file by its lines, which are counted when first asked for.

    `squeezed` are offsets in what the parser read, after each of which the file
    holds two characters more.
    """

    __slots__ = ("_starts", "squeezed", "text")

    def __init__(self, text: str, squeezed: Sequence[int] = ()) -> None:
        self.text = text
        self.squeezed = squeezed
        self._starts: array[int] | None = None

    def place(self, offset: int) -> tuple[int, int]:
        """Give line and column, from 1, of an offset in what the parser read."""
        return self.place_in_text(self.in_text(offset))

    def in_text(self, offset: int) -> int:
        """Give an offset in the file for one in what the parser read."""
        return offset + 2 * bisect_left(self.squeezed, offset)

    def place_in_text(self, offset: int) -> tuple[int, int]:
        """Give line and column, from 1, of an offset in the file."""
        starts = self._counted()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Give a line without its break; "" where there is none."""
        starts = self._counted()
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].removesuffix("\r")

    def excerpt(self, line: int, column: int) -> Excerpt:
        """Give the line before a place and the line itself, cut around the place."""
        whole = self.line(line)
        width = _width(whole[column - 1 :])
        if len(whole) > WIDEST_EXCERPT and column > WIDEST_MARK:
            left = column - WIDEST_MARK
            return Excerpt(((line, _cut(whole, left)),), column - 1 - left, width)
        shown = [(line, _cut(whole, 0))]
        if line > 1:
            shown.insert(0, (line - 1, _cut(self.line(line - 1), 0)))
        return Excerpt(tuple(shown), column - 1, width)

    def _counted(self) -> array[int]:
        if self._starts is None:
            self._starts = array("L", [0])
            self._starts.extend(match.end() for match in re.finditer("\n", self.text))
        return self._starts


def complaint_at(file: str, lines: Lines, line: int, column: int, finding: Finding) -> Complaint:
    """Make a complaint of a finding; names and messages of any length become readable."""
    message = _LONG_NAME.sub(rf"`\1{CUT}`", finding.message)
    if len(message) > LONGEST_MESSAGE:
        message = message[: LONGEST_MESSAGE - 1] + CUT
    suggestion = finding.suggestion if len(finding.suggestion) <= LONGEST_SUGGESTION else ""
    excerpt = lines.excerpt(line, column)
    return Complaint(
        file, line, column, finding.code, message, suggestion, finding.severity, excerpt
    )


def _cut(line: str, left: int) -> str:
    shown = line[left : left + WIDEST_EXCERPT]
    if left:
        shown = CUT + shown[1:]
    return shown[:-1] + CUT if left + WIDEST_EXCERPT < len(line) else shown


def _width(rest: str) -> int:
    """Width of the token that begins here: an expression, a quoted text, or up to a delimiter."""
    closing = "}" if rest.startswith(OPEN) else rest[:1]
    if closing in ("'", '"', "}"):
        end = rest.find(closing, 1)
        return min(end + 1 if end > 0 else len(rest), WIDEST_MARK)
    width = 0
    while width < min(len(rest), WIDEST_MARK) and rest[width] not in " ,]}#\t\r":
        width += 1
    return max(1, width - rest[:width].endswith(":"))
