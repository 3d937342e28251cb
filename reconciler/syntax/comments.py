"""Comments of a YAML text: all of them, and those with `reconciler: ignore[CODE]`. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

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
    whole, lines = written(text), Lines(text)
    found: list[Ignoring] = []
    about: dict[int, int] = {}
    # From the last to the first: many comments one below the other are about one line.
    for start, end in reversed([*whole.comment_spans()]):
        match = _COMMENT.search(text, start, end)
        if match is not None and start < whole.readable:
            found.append(_read(match, lines, about))
    return found[::-1]


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
