"""A line diff of two long texts, with lines that are too long split into pieces. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from reconciler.report.safe import safe
from reconciler.report.words import alike, plural

CONTEXT = 2
LONGEST_PIECE = 88
MOST_COMPARED = 1_500

GOES_ON = " ↩"
"""The end of a piece if its line continues below."""

# A query or a sentence may be broken before an operator or a clause, and after a comma.
_BREAKS = re.compile(
    r"(?= (?:[-+*/|]|and|or|unless|by|on|AND|OR|NOT|WHERE|FROM|GROUP BY|filter) )|(?<=, )|(?<=\. )"
)


class DiffLine(NamedTuple):
    """A safe line of a diff. `…` means lines that are the same, with their number.

    A text that ends in `GOES_ON` continues in the next piece, on the line below.
    """

    sign: Literal["-", "+", " ", "…"]
    text: str


def line_diff(before: str, after: str, context: int = CONTEXT) -> tuple[DiffLine, ...]:
    """Return the removed and added lines with `context` lines around them.

    A line that is too long to read is broken where its language allows it. Nothing is lost: the
    pieces of a side are its whole text.
    """
    old, new = pieces(before), pieces(after)
    return tuple(_lines_of(old, new, context))


def pieces(text: str) -> list[str]:
    """Return the pieces of a text: its lines, the long lines broken. Joined, they are the text."""
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
        yield from (DiffLine("-", piece) for piece in was[first:last])
        yield from (DiffLine("+", piece) for piece in now[new_first:new_last])


def _same(lines: Sequence[str], head: int, tail: int) -> Iterator[DiffLine]:
    hidden = len(lines) - head - tail
    if hidden <= 1:
        yield from (DiffLine(" ", line) for line in lines)
        return
    yield from (DiffLine(" ", line) for line in lines[:head])
    yield DiffLine("…", f"{plural(hidden, 'line')} the same")
    yield from (DiffLine(" ", line) for line in lines[len(lines) - tail :])


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Return how to turn old into new; of very long texts only the common beginning is matched."""
    if max(len(old), len(new)) <= MOST_COMPARED:
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    head = alike(old, new)
    return [("equal", 0, head, 0, head), ("replace", head, len(old), head, len(new))]


def _shown(broken: Sequence[str]) -> list[str]:
    """Return pieces without line breaks; a mark shows that the line continues."""
    last = len(broken) - 1
    # A piece that ends no line is a line of its own to `splitlines`.
    return [
        safe(piece.removesuffix("\n"))
        + (GOES_ON if at < last and piece.splitlines() == [piece] else "")
        for at, piece in enumerate(broken)
    ]
