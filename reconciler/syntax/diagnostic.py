"""Findings about a text: their stable codes, and complaints at their places.

Pure, but for the titles of codes, which are read from their pages.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path as FilePath
from typing import Final

from reconciler.document import Path
from reconciler.model import Member
from reconciler.runtime.rows import Loaded
from reconciler.syntax.expressions import OPEN, Spot


class Severity(Enum):
    """An error stops the run, a warning never does."""

    ERROR = "error"
    WARNING = "warning"


_PAGES: Final = FilePath(__file__).parents[1] / "report" / "explanations" / "codes"


@cache
def _codes() -> list[str]:
    return sorted(page.stem for page in _PAGES.glob("[A-Z][0-9][0-9][0-9].md"))


def _title(code: str) -> str:
    text = (_PAGES / f"{code}.md").read_text(encoding="utf-8")
    return text.partition(f"\n# {code}: ")[2].partition("\n")[0]


def _titles(letters: str) -> Mapping[str, str]:
    """Return the titles of the pages of codes with these first letters, letter after letter."""
    return Loaded(
        lambda: [code for letter in letters for code in _codes() if code[0] == letter], _title
    )


CODES: Final[Mapping[str, str]] = _titles("MLPT")
"""Findings that follow from files alone, with what they mean."""

AUDITED: Final[Mapping[str, str]] = _titles("A")
"""Findings from files and past events, which only `audit` looks for."""


class Advice(str):
    """A suggestion that is a sentence about what to do, not a replacement text."""

    __slots__ = ()


REMOVE = Advice("remove it")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about one place of one document.

    `path` leads from the root of the document. `at_key` points at the key instead of its value,
    `spot` at a part of its text. `suggestion` is the replacement text, or an `Advice` if more has
    to be done.
    """

    code: str
    path: Path
    message: str
    severity: Severity = Severity.ERROR
    suggestion: str = ""
    at_key: bool = field(default=False)
    spot: Spot | None = field(default=None)


def warning(
    code: str, path: Path, message: str, suggestion: str = "", *, at_key: bool = False
) -> Finding:
    """Return a finding that does not stop the run."""
    return Finding(code, path, message, Severity.WARNING, suggestion, at_key)


GUESSED = frozenset(("M314",))
"""Codes with suggestions that are guesses."""

WANTED = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int64_text": "a whole number, best written as text",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "text",
}
"""The required form of a value, by the pydantic type of the error."""

WIDEST_EXCERPT = 240
"""Characters that are kept of a line; the shown part is cut to the terminal."""
USUAL_EXCERPT = 120
"""Characters of a line that are shown if the width is unknown."""
WIDEST_MARK = 60
LONGEST_NAME = 80
LONGEST_MESSAGE = 600
LONGEST_SUGGESTION = 260
CUT = "…"

_NAMED = re.compile("`([^`]*)`")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of the file, cut to fit around a place.

    The last line contains the place: `width` characters from `start`, from 0.
    """

    lines: tuple[tuple[int, str], ...]
    start: int
    width: int

    def within(self, room: int) -> Excerpt:
        """Return the same lines, cut to `room` characters around the place."""
        number, whole = self.lines[-1]
        mark = room // 2
        if len(whole) > room and self.start >= mark:
            left = self.start + 1 - mark
            return Excerpt(((number, _cut(whole, left, room)),), mark - 1, min(self.width, mark))
        lines = tuple((nth, _cut(text, 0, room)) for nth, text in self.lines)
        return Excerpt(lines, self.start, min(self.width, max(1, room - self.start)))


@dataclass(frozen=True, slots=True, order=True)
class Complaint:
    """A problem, its place (from 1; line 0 is the whole file), and the suggested text.

    `ref` (`Kind/name`) and the path of the field stay the same when lines move; they are empty if
    the text itself is wrong. `environments` are the affected environments, empty if all that were
    checked are affected. `item` is the item of a `forEach` that the complaint is about. Inside a
    text of several lines, `begun` is the line of its key, otherwise 0.
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
    item: Member | None = field(default=None, compare=False)
    begun: int = field(default=0, compare=False)

    @classmethod
    def of_file(cls, file: str, code: str, message: str, suggestion: str = "") -> Complaint:
        """Return a complaint about a whole file."""
        return cls(file, line=0, column=0, code=code, message=message, suggestion=suggestion)

    @property
    def is_error(self) -> bool:
        """Return whether the complaint stops the run."""
        return self.severity is Severity.ERROR


@dataclass(frozen=True, slots=True, order=True)
class Suppressed:
    """A complaint that is not reported, and why."""

    complaint: Complaint
    reason: str


class Lines:
    """The text of a file by lines, which are counted on first use.

    `squeezed` are the offsets in the parsed text of surrogate pairs, each two characters longer in
    the file.
    """

    __slots__ = ("_starts", "squeezed", "text")

    def __init__(self, text: str, squeezed: Sequence[int] = ()) -> None:
        self.text = text
        self.squeezed = squeezed
        self._starts: array[int] | None = None

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column, from 1, of an offset in the parsed text."""
        return self.place_in_text(self.in_text(offset))

    def in_text(self, offset: int) -> int:
        """Return the offset in the file for an offset in the parsed text."""
        return offset + 2 * bisect_left(self.squeezed, offset)

    def place_in_text(self, offset: int) -> tuple[int, int]:
        """Return line and column, from 1, of an offset in the file."""
        starts = self._counted()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the file of a line and column, from 1, that exist."""
        return self._counted()[line - 1] + column - 1

    @property
    def count(self) -> int:
        """Return the number of lines; the text after the last break is a line."""
        return len(self._counted())

    def line(self, number: int) -> str:
        """Return a line without its break, or "" if it does not exist."""
        starts = self._counted()
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].removesuffix("\r")

    def excerpt(self, line: int, column: int) -> Excerpt:
        """Return the line of a place and the line before it, cut around the place."""
        whole = self.line(line)
        shown = [(line, whole)]
        if line > 1:
            shown.insert(0, (line - 1, self.line(line - 1)))
        width = _width(whole[column - 1 :], whole[: column - 1])
        return Excerpt(tuple(shown), column - 1, width).within(WIDEST_EXCERPT)

    def _counted(self) -> array[int]:
        if self._starts is None:
            self._starts = array("L", [0])
            self._starts.extend(match.end() for match in re.finditer("\n", self.text))
        return self._starts


def _cut_name(named: re.Match[str]) -> str:
    """Return a name of a message, cut to the maximum length with its backquotes."""
    name = named[1]
    return named[0] if len(name) <= LONGEST_NAME else f"`{name[: LONGEST_NAME - 1]}{CUT}`"


def complaint_at(file: str, lines: Lines, line: int, column: int, finding: Finding) -> Complaint:
    """Return the complaint for a finding; long names and messages are cut."""
    message = _NAMED.sub(_cut_name, finding.message)
    if len(message) > LONGEST_MESSAGE:
        message = message[: LONGEST_MESSAGE - 1] + CUT
    suggestion = finding.suggestion if len(finding.suggestion) <= LONGEST_SUGGESTION else ""
    excerpt = lines.excerpt(line, column)
    return Complaint(
        file,
        line,
        column,
        code=finding.code,
        message=message,
        suggestion=suggestion,
        severity=finding.severity,
        excerpt=excerpt,
    )


def _cut(line: str, left: int, room: int) -> str:
    shown = line[left : left + room]
    if left:
        shown = CUT + shown[1:]
    return shown[:-1] + CUT if left + room < len(line) else shown


_KEY_BEFORE = re.compile(r"[ \t]*(?:- +)*[A-Za-z_][\w.-]*: +")
_MEANS_MORE = frozenset("'\"{[|>&*!$")


def _width(rest: str, before: str) -> int:
    """Return the width of the token here: an expression, a quoted text, or up to a delimiter.

    A plain value directly after its key extends to the end of the line.
    """
    if rest[:1] not in _MEANS_MORE and _KEY_BEFORE.fullmatch(before):
        bare = re.split(r"[ \t]#", rest[:WIDEST_MARK], maxsplit=1)[0].rstrip()
        return max(1, len(bare))
    closing = "}" if rest.startswith(OPEN) else rest[:1]
    if closing in ("'", '"', "}"):
        end = rest.find(closing, 1)
        return min(end + 1 if end > 0 else len(rest), WIDEST_MARK)
    width = 0
    while width < min(len(rest), WIDEST_MARK) and rest[width] not in " ,]}#\t\r":
        width += 1
    return max(1, width - rest[:width].endswith(":"))
