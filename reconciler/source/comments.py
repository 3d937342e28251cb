"""Comments of a YAML text that ask something of us: `# reconciler: ignore[CODE] REASON`. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from yaml import ScalarEvent, StreamEndEvent, YAMLError
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.source.diagnostic import Lines
from reconciler.source.text import joined_surrogates

MARK = "reconciler: ignore"
_COMMENT = re.compile(r"(?:(?<=[ \t])|^)#[ \t]*reconciler: ignore([^\r\n]*)", re.MULTILINE)
_FORM = re.compile(r"[ \t]*\[([^\]]*)\](.*)")
_EMPTY = re.compile(r"[ \t\r]*(#.*)?")
_CODE = re.compile(r"[^,\s]+")


@dataclass(frozen=True, slots=True)
class Ignoring:
    """A comment of ours, at a line and column, and the line that it is about; all from 1.

    `codes` are None where it has another form.
    """

    line: int
    column: int
    about: int
    codes: tuple[str, ...] | None
    reason: str


def ignoring_comments(text: str) -> list[Ignoring]:
    """Give the comments that ask to ignore something. One that stands in a value is none.

    After a mistake of syntax there are none, as nobody can tell what a comment is there.
    """
    if MARK not in text:
        return []
    parsed, squeezed = joined_surrogates(text)
    lines = Lines(text, squeezed)
    starts, ends, readable = _scalars(parsed)
    found: list[Ignoring] = []
    for match in _COMMENT.finditer(parsed):
        before = bisect_right(starts, match.start()) - 1
        if match.start() < readable and not (before >= 0 and match.start() < ends[before]):
            found.append(_read(match, lines))
    return found


def _scalars(parsed: str) -> tuple[list[int], list[int], int]:
    """Give where scalars begin and end, and up to where the text can be read."""
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    with suppress(YAMLError):
        parser = CParser(parsed)
        while True:
            event: Any = parser.get_event()
            last = event.end_mark.index
            kind = event.__class__
            if kind is StreamEndEvent:
                return starts, ends, len(parsed)
            if kind is ScalarEvent:
                begin, end = event.start_mark.index, event.end_mark.index
                # A comment may follow the indicator of a block text.
                is_block = event.style in ("|", ">")
                starts.append(max(begin, parsed.find("\n", begin, end)) if is_block else begin)
                ends.append(end)
    return starts, ends, last


def _read(match: re.Match[str], lines: Lines) -> Ignoring:
    line, column = lines.place(match.start())
    form = _FORM.match(match[1])
    codes = tuple(_CODE.findall(form[1])) if form is not None else None
    reason = form[2].strip() if form is not None else ""
    is_alone = not lines.line(line)[: column - 1].strip()
    return Ignoring(line, column, _next(lines, line) if is_alone else line, codes, reason)


def _next(lines: Lines, line: int) -> int:
    """Give the line that a comment of its own line is about: the next that holds something."""
    last = lines.text.count("\n") + 1
    after = line + 1
    while after < last and _EMPTY.fullmatch(lines.line(after)):
        after += 1
    return after
