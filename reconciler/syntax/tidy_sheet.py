"""Lines of a text that is written again, and the comments between its nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

STEP = 2
BLANKS = " \t\r\n"
"""The blanks of YAML: Python strips many more characters, which are part of texts."""

MARKER = "---"
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(slots=True)
class Sheet:
    """The written text: `out` are complete lines, `line` is the unfinished line, if any.

    Lines before `kept` belong to the text of a value, so their empty lines stay. `closed` are the
    blocks that ended since the last node, innermost first, each with its column in the source and
    in the result.
    """

    out: list[str] = field(default_factory=list)
    line: str | None = None
    kept: int = 0
    closed: list[tuple[int, int]] = field(default_factory=list)

    def between(self, gap: str, source: int, column: int) -> None:
        """Write the comments and the empty line between two nodes.

        The next node belongs to a block at column `source` of the source, which is now at `column`.
        """
        if "#" in gap:
            self._comments(gap, source, column)
        elif gap.count("\n") > 1 and _EMPTY_LINE.search(gap) is not None:
            self._blank()
        self.closed = []

    def beside(self, gap: str, column: int) -> None:
        """Write the comments between an anchor and its node, which continues below them."""
        if "#" in gap:
            self.between(gap, 0, column)

    def _comments(self, gap: str, source: int, column: int) -> None:
        pieces = gap.split("\n")
        has_gap = False
        for nth, piece in enumerate(pieces):
            place = piece.find("#")
            if place < 0:
                has_gap |= 0 < nth < len(pieces) - 1 and not piece.strip(BLANKS)
                continue
            comment, before = piece[place:].rstrip(BLANKS), piece[:place]
            if not nth and self.line is not None and "?" not in before:
                blanks = before[len(before.rstrip(BLANKS)) :]
                self.line += ("  " if "\t" in blanks else blanks or " ") + comment
                self.end_line()
                continue
            self.end_line()
            if has_gap:
                self._blank()
            self.out.append(" " * self._column_of(place, source, column) + comment)
            has_gap = False
        if has_gap:
            self._blank()

    def _column_of(self, place: int, source: int, column: int) -> int:
        """Return the new column of a comment: the column of the block that contained it."""
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
        """End the unfinished line."""
        if self.line is not None:
            self.out.append(self.line)
            self.line = None

    def put(self, token: str, column: int) -> None:
        """Write a token after the others of its line, or at a column of a new line."""
        self.line = " " * column + token if self.line is None else f"{self.line} {token}"

    def put_lines(self, lines: Sequence[str], column: int) -> None:
        """Write a token of several lines; all lines but the first begin at a column."""
        for nth, line in enumerate(lines):
            if nth:
                self.out.append(self.line or "")
                self.line = " " * column + line if line else ""
            else:
                self.put(line, column)

    def end(self) -> None:
        """End the last line of a document, and remove the empty lines after it."""
        self.end_line()
        while len(self.out) > self.kept and self.out[-1] == "":
            self.out.pop()
