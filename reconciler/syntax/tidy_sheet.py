"""The lines of a text that is written anew, and the comments between its nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

STEP = 2
BLANKS = " \t\r\n"
"""What YAML takes for blank: Python strips much more, which is a part of texts."""

MARKER = "---"
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(slots=True)
class Sheet:
    """What is written: `out` are whole lines, `line` is the one that goes on, if any.

    Lines before `kept` are the text of a value, whose empty ones stay. `closed` are the blocks
    that ended since the last node, by the source's column and ours, the innermost first.
    """

    out: list[str] = field(default_factory=list)
    line: str | None = None
    kept: int = 0
    closed: list[tuple[int, int]] = field(default_factory=list)

    def between(self, gap: str, source: int, column: int) -> None:
        """Write the comments and the empty line between two nodes.

        The node that follows belongs to a block at a column of the source, which is now another.
        """
        if "#" in gap:
            self._comments(gap, source, column)
        elif gap.count("\n") > 1 and _EMPTY_LINE.search(gap) is not None:
            self._blank()
        self.closed = []

    def beside(self, gap: str, column: int) -> None:
        """Write the comments between an anchor and what it names, which goes on below them."""
        if "#" in gap:
            self.between(gap, 0, column)

    def _comments(self, gap: str, source: int, column: int) -> None:
        pieces = gap.split("\n")
        is_parted = False
        for nth, piece in enumerate(pieces):
            place = piece.find("#")
            if place < 0:
                is_parted |= 0 < nth < len(pieces) - 1 and not piece.strip(BLANKS)
                continue
            comment, before = piece[place:].rstrip(BLANKS), piece[:place]
            if not nth and self.line is not None and "?" not in before:
                blanks = before[len(before.rstrip(BLANKS)) :]
                self.line += ("  " if "\t" in blanks else blanks or " ") + comment
                self.end_line()
                continue
            self.end_line()
            if is_parted:
                self._blank()
            self.out.append(" " * self._column_of(place, source, column) + comment)
            is_parted = False
        if is_parted:
            self._blank()

    def _column_of(self, place: int, source: int, column: int) -> int:
        """Give the column of a comment: that of the block that it stood in."""
        if place > source:
            for theirs, ours in self.closed:
                if theirs <= place:
                    return ours
        return column

    def _blank(self) -> None:
        self.end_line()
        if self.out and (len(self.out) == self.kept or self.out[-1] not in ("", MARKER)):
            self.out.append("")

    def end_line(self) -> None:
        """End the line that goes on."""
        if self.line is not None:
            self.out.append(self.line)
            self.line = None

    def put(self, token: str, column: int) -> None:
        """Write a token behind the others of its line, or at a column of a new one."""
        self.line = " " * column + token if self.line is None else f"{self.line} {token}"

    def put_lines(self, lines: Sequence[str], column: int) -> None:
        """Write a token over several lines, those below the first at a column."""
        for nth, line in enumerate(lines):
            if nth:
                self.out.append(self.line or "")
                self.line = " " * column + line if line else ""
            else:
                self.put(line, column)

    def end(self) -> None:
        """End the last line of a document, and drop the empty ones after it."""
        self.end_line()
        while len(self.out) > self.kept and self.out[-1] == "":
            self.out.pop()
