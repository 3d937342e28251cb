"""One complaint about one file, with what a reader needs to see it there."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.finding import Severity

WIDEST_EXCERPT = 120


@dataclass(frozen=True, slots=True, order=True)
class Complaint:
    """What is wrong, where (from 1), and what to write instead.

    `excerpt` holds the line before and the line itself, as they stand in the
    file, cut to what fits around the column; `shift` is how much was cut.
    """

    file: str
    line: int
    column: int
    code: str
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR
    excerpt: tuple[tuple[int, str], ...] = ()
    shift: int = 0
    width: int = 1

    @property
    def is_error(self) -> bool:
        """Whether it stops the run."""
        return self.severity is Severity.ERROR


def excerpt_of(text: str, line: int, column: int) -> tuple[tuple[tuple[int, str], ...], int, int]:
    """Give the lines to show, the columns cut on their left, and the width to underline."""
    lines = text.split("\n", line)[:line] if line else []
    if len(lines) < line:
        return (), 0, 1
    shift = max(0, column - WIDEST_EXCERPT // 2) if len(lines[-1]) > WIDEST_EXCERPT else 0
    shown = tuple(
        (number, lines[number - 1][shift : shift + WIDEST_EXCERPT].rstrip("\r"))
        for number in (line - 1, line)
        if number >= 1
    )
    return shown, shift, _width(lines[-1][column - 1 :])


def _width(rest: str) -> int:
    """Width of the token that begins here: a quoted text, or up to a blank or a delimiter."""
    if rest[:1] in ("'", '"'):
        end = rest.find(rest[0], 1)
        return min(end + 1 if end > 0 else len(rest), WIDEST_EXCERPT // 2)
    width = 0
    while width < len(rest) and rest[width] not in " ,]}#\t\r":
        width += 1
    return max(1, min(width - rest[:width].endswith(":"), WIDEST_EXCERPT // 2))
