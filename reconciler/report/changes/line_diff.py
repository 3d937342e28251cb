"""Two long texts as the lines that differ. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from reconciler.report.safe import safe
from reconciler.report.words import plural

CONTEXT = 2
LONGEST_PIECE = 88
MOST_COMPARED = 1_500

# Where a query or a sentence may be broken: before an operator or a clause, and behind a comma.
_BREAKS = re.compile(
    r"(?= (?:[-+*/|]|and|or|unless|by|on|AND|OR|NOT|WHERE|FROM|GROUP BY|filter) )|(?<=, )|(?<=\. )"
)


class Line(NamedTuple):
    """One line of a diff, safe. `…` stands for lines that are the same, and counts them."""

    sign: Literal["-", "+", " ", "…"]
    text: str


def line_diff(before: str, after: str, context: int = CONTEXT) -> tuple[Line, ...]:
    """Give the lines that go and come, with a few around them.

    A line that is too long to read is broken where its language allows it;
    nothing is lost by that: the pieces of a side are its whole text.
    """
    old, new = pieces(before), pieces(after)
    return tuple(_lines(old, new, context))


def pieces(text: str) -> list[str]:
    """Break a text into lines, and long lines into pieces. Joined, they are the text."""
    return [piece for line in text.splitlines(keepends=True) for piece in _broken(line)]


def _broken(line: str) -> Iterator[str]:
    if len(line) <= LONGEST_PIECE:
        yield line
        return
    piece = ""
    for part in _BREAKS.split(line):
        if piece and len(piece) + len(part) > LONGEST_PIECE:
            yield piece
            piece = ""
        piece += part
    if piece:
        yield piece


def _lines(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[Line]:
    for tag, first, last, new_first, new_last in _opcodes(old, new):
        if tag == "equal":
            starts, ends = first == new_first == 0, (last, new_last) == (len(old), len(new))
            yield from _same(old[first:last], 0 if starts else context, 0 if ends else context)
            continue
        yield from (Line("-", _shown(piece)) for piece in old[first:last])
        yield from (Line("+", _shown(piece)) for piece in new[new_first:new_last])


def _same(lines: Sequence[str], head: int, tail: int) -> Iterator[Line]:
    hidden = len(lines) - head - tail
    if hidden <= 1:
        yield from (Line(" ", _shown(piece)) for piece in lines)
        return
    yield from (Line(" ", _shown(piece)) for piece in lines[:head])
    yield Line("…", f"{plural(hidden, 'line')} the same")
    yield from (Line(" ", _shown(piece)) for piece in lines[len(lines) - tail :])


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Match lines; two giants only at their ends, as matching takes the product of both."""
    if max(len(old), len(new)) <= MOST_COMPARED:
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    return [("equal", 0, head, 0, head), ("replace", head, len(old), head, len(new))]


def _shown(piece: str) -> str:
    """Show a line without its break, and what it has at its end where that cannot be seen."""
    bare = piece.removesuffix("\n")
    return safe(bare)
