"""Two long texts compared line by line, and lines that are too long to read in pieces. Pure."""

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

GOES_ON = " ↩"
"""What stands at the end of a piece of a line that goes on below it."""

# Where a query or a sentence may be broken: before an operator or a clause, and behind a comma.
_BREAKS = re.compile(
    r"(?= (?:[-+*/|]|and|or|unless|by|on|AND|OR|NOT|WHERE|FROM|GROUP BY|filter) )|(?<=, )|(?<=\. )"
)


class DiffLine(NamedTuple):
    """One line of a diff, safe. `…` stands for lines that are the same, and counts them.

    One that ends in `GOES_ON` is not at its end: the next piece of it stands below.
    """

    sign: Literal["-", "+", " ", "…"]
    text: str


def line_diff(before: str, after: str, context: int = CONTEXT) -> tuple[DiffLine, ...]:
    """Give the lines that go and come, with a few around them.

    A line that is too long to read is broken where its language allows it;
    nothing is lost by that: the pieces of a side are its whole text.
    """
    old, new = pieces(before), pieces(after)
    return tuple(_lines_of(old, new, context))


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


def _lines_of(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[DiffLine]:
    was, now = _shown(old), _shown(new)
    for tag, first, last, new_first, new_last in _opcodes(old, new):
        if tag == "equal":
            starts, ends = first == new_first == 0, (last, new_last) == (len(old), len(new))
            around = (0 if starts else context, 0 if ends else context)
            yield from _same(now[new_first:new_last], *around)
            continue
        yield from (DiffLine("-", one) for one in was[first:last])
        yield from (DiffLine("+", one) for one in now[new_first:new_last])


def _same(lines: Sequence[str], head: int, tail: int) -> Iterator[DiffLine]:
    hidden = len(lines) - head - tail
    if hidden <= 1:
        yield from (DiffLine(" ", line) for line in lines)
        return
    yield from (DiffLine(" ", line) for line in lines[:head])
    yield DiffLine("…", f"{plural(hidden, 'line')} the same")
    yield from (DiffLine(" ", line) for line in lines[len(lines) - tail :])


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Match lines; two giants only at their ends, as matching takes the product of both."""
    if max(len(old), len(new)) <= MOST_COMPARED:
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    return [("equal", 0, head, 0, head), ("replace", head, len(old), head, len(new))]


def _shown(broken: Sequence[str]) -> list[str]:
    """Show pieces without the breaks of their lines, and mark those behind which a line goes on."""
    last = len(broken) - 1
    return [
        safe(piece.removesuffix("\n")) + (GOES_ON if at < last and _goes_on(piece) else "")
        for at, piece in enumerate(broken)
    ]


def _goes_on(piece: str) -> bool:
    return piece.splitlines() == [piece]
