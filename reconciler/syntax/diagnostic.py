"""Findings about a text: their stable codes, and complaints at their places.

Pure.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from reconciler.document import Path
from reconciler.model import Member
from reconciler.syntax.expressions import OPEN, Spot


class Severity(Enum):
    """An error stops the run, a warning never does."""

    ERROR = "error"
    WARNING = "warning"


CODES: dict[str, str] = {
    "M101": "the file is not well-formed YAML or JSON",
    "M102": "a key appears twice in one mapping",
    "M103": "merge keys (<<) are not supported",
    "M104": "tags are not supported",
    "M105": "a number is not finite",
    "M106": "an integer is beyond what JSON carries exactly",
    "M107": "a key is not text",
    "M108": "aliases form a cycle, or there are too many",
    "M109": "the document is nested too deeply",
    "M110": "the file, a line or a scalar is too large",
    "M111": "the file is not UTF-8, or holds control or bidirectional characters",
    "M112": "the file cannot be read",
    "M113": "the file holds no manifest",
    "M114": "a number has a leading zero",
    "M115": "the workspace is too large, or has too many mistakes",
    "M116": "a comment that asks to ignore complaints is malformed",
    "M117": "a comment ignores what is not complained of",
    "M118": "the file cannot be formatted without changing what it says",
    "M119": "a line of the baseline is no accepted complaint",
    "M201": "the document is not a manifest",
    "M202": "apiVersion is missing or unknown",
    "M203": "kind is missing or unknown",
    "M204": "metadata is missing or malformed",
    "M205": "a name has the wrong form",
    "M206": "an id is missing or has the wrong form",
    "M207": "an environment is not in the project file",
    "M208": "an unknown field next to spec or in metadata",
    "M209": "an id is used in environments where it may be that of another",
    "M210": "an exemption is malformed",
    "M211": "an exemption has ended",
    "M212": "overrides are malformed, or cannot be merged",
    "M213": "a forEach is malformed, or makes nothing",
    "M214": "a part of the items of a forEach is never used",
    "M215": "a test of an alert is malformed",
    "M301": "a value has the wrong type",
    "M302": "a required field is missing",
    "M303": "a field is unknown, and close to a known one",
    "M304": "a field is not in the API document",
    "M305": "a field is set by the service",
    "M306": "an enumeration value is close to a listed one",
    "M307": "a value is beyond what services are known to accept",
    "M308": "fields exclude each other",
    "M309": "a value breaks a bound of the API document",
    "M310": "a field disagrees with another",
    "M311": "a boolean is written in a form that is text",
    "M312": "ids inside one list are equal",
    "M313": "a literal looks like a key",
    "M314": "a number is likely in another unit",
    "M401": "two manifests have one name",
    "M402": "two manifests have one identity",
    "M403": "there is more than one log policy set",
    "M404": "a spec file cannot be used",
    "M405": "references form a cycle",
    "M406": "a sample of logs is malformed",
    "M501": "an expression names an unknown variable",
    "M502": "an expression names a secret that is not set",
    "M503": "an expression names an unknown resource",
    "M504": "an expression is malformed, or nearly one",
    "M505": "an expression names a secret that may not be sent",
    "M511": "an expression names what an item of forEach does not have",
    "M512": "an included file cannot be used",
    "M513": "a list or a mapping is inside a text",
    "L201": "an alert has no description",
    "L202": "an alert leads to no runbook",
    "L203": "a P1 alert sends no notification",
    "L204": "a notification is grouped by what the alert is not",
    "L205": "a webhook notifies more often than the incident",
    "L206": "a threshold can never be crossed",
    "L207": "a threshold is always crossed",
    "L208": "a window is shorter than the evaluation delay",
    "L209": "an alert is off, and no day says until when",
    "L301": "an SLO leaves no error budget",
    "L302": "an SLO is watched by no alert",
    "L401": "two widgets next to each other have one title",
    "L402": "a widget has an empty query",
    "L403": "a widget has one query twice",
    "L404": "a variable is never used",
    "L405": "two dashboards have one title",
    "L406": "a query names a variable that the dashboard does not declare",
    "L501": "a policy is never reached",
    "L601": "a saved view shows a fixed time",
    "L901": "a PromQL query cannot be parsed",
    "L902": "a Lucene query cannot be parsed",
    "P101": "the project file is malformed",
    "P102": "the base URL is not safe",
    "P103": "an expression of a rule cannot be used",
    "P104": "an example of a rule is missing, or does not come out as it should",
    "T101": "a test of an alert does not hold",
    "T102": "a test of an alert cannot be evaluated",
    "T103": "the log lines of a test cannot be used",
}

"""Findings that follow from files alone."""

AUDITED: dict[str, str] = {
    "A101": "an alert never fired",
    "A102": "an alert fires every day",
    "A103": "incidents of an alert are open for weeks",
    "A104": "an alert is over within a minute",
    "A105": "an alert fired and sent no notification",
    "A106": "an alert fired and leads to no runbook",
    "A107": "two alerts look for the same, with other thresholds",
    "A108": "an alert is off for long",
    "A109": "an alert has no test",
    "A201": "no alert watches an SLO",
    "A301": "no log meets a policy",
}
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
