"""Comments of a YAML text: all of them, and those with `reconciler: ignore[CODE]`. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from yaml import ScalarEvent, StreamEndEvent, YAMLError
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.syntax.characters import joined_surrogates
from reconciler.syntax.diagnostic import Lines
from reconciler.syntax.syntax_tree import written

MARK = "reconciler: ignore"
_COMMENT = re.compile(r"(?:(?<=[ \t])|^)#[ \t]*reconciler: ignore([^\r\n]*)", re.MULTILINE)
_FORM = re.compile(r"[ \t]*\[([^\]]*)\](.*)")
_EMPTY = re.compile(r"[ \t\r]*(#.*)?")
_CODE = re.compile(r"[^,\s]+")


@dataclass(frozen=True, slots=True)
class Ignoring:
    """An ignoring comment: its line and column, and the line that it is about; all from 1.

    `codes` is None if the comment has another form.
    """

    line: int
    column: int
    about: int
    codes: tuple[str, ...] | None
    reason: str


def comments_lost(before: str, after: str) -> list[str]:
    """Return the comments of a YAML text that are missing from another text.

    Both are read by another scanner than the one that edits use, so that one mistake does not hide
    the other. A text that this scanner cannot read is read as edits read it.
    """
    if "#" not in before:
        return []
    from ruamel.yaml.error import YAMLError as CannotScan  # noqa: PLC0415 - only for edits

    try:
        lost = _scanned(before) - _scanned(after)
    except (CannotScan, ValueError):
        lost = Counter(written(before).comments()) - Counter(written(after).comments())
    return sorted(lost.elements())


def _scanned(text: str) -> Counter[str]:
    """Return how often each comment is in a text, without blanks around it."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - only for edits

    found: Counter[str] = Counter()
    # Some comments are in lists, each with the empty lines and comments below it.
    left = [token.comment for token in YAML().scan(text)]
    while left:
        match left.pop():
            case None:
                pass
            case list() | tuple() as several:
                left.extend(several)
            case comment:
                lines = (line.strip() for line in comment.value.split("\n"))
                found.update(line for line in lines if line.startswith("#"))
    return found


def ignoring_comments(text: str) -> list[Ignoring]:
    """Return the comments that ignore complaints. A comment mark inside a value is not counted.

    Nothing after a syntax error is returned, as comments there cannot be recognised.
    """
    if MARK not in text:
        return []
    parsed, squeezed = joined_surrogates(text)
    lines = Lines(text, squeezed)
    starts, ends, readable = _scalars(parsed)
    found: list[Ignoring] = []
    about: dict[int, int] = {}
    # From the last to the first: many comments one below the other are about one line.
    for match in reversed([*_COMMENT.finditer(parsed)]):
        before = bisect_right(starts, match.start()) - 1
        if match.start() < readable and not (before >= 0 and match.start() < ends[before]):
            found.append(_read(match, lines, about))
    return found[::-1]


def _scalars(parsed: str) -> tuple[list[int], list[int], int]:
    """Return where scalars begin and end, and the place up to which the text can be read."""
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
                # A comment may follow the indicator of a block scalar.
                is_block = event.style in ("|", ">")
                starts.append(max(begin, parsed.find("\n", begin, end)) if is_block else begin)
                ends.append(end)
    return starts, ends, last


def _read(match: re.Match[str], lines: Lines, about: dict[int, int]) -> Ignoring:
    """Return a comment; `about` has the lines that the comments below it are about."""
    line, column = lines.place(match.start())
    form = _FORM.match(match[1])
    codes = tuple(_CODE.findall(form[1])) if form is not None else None
    reason = form[2].strip() if form is not None else ""
    if lines.line(line)[: column - 1].strip():
        return Ignoring(line, column, line, codes, reason)
    about[line] = _next(lines, line, about)
    return Ignoring(line, column, about[line], codes, reason)


def _next(lines: Lines, line: int, about: Mapping[int, int]) -> int:
    """Return the line that a comment on its own line is about: the next line with content."""
    after = line + 1
    while after not in about and after < lines.count and _EMPTY.fullmatch(lines.line(after)):
        after += 1
    return about.get(after, after)
