"""Position in the file of a character of a text's value. Pure."""

from __future__ import annotations

import re

from reconciler.document import Path
from reconciler.syntax.parsed_text import Document, written_scalar

_ESCAPE = re.compile(r"\\(?:x..|u....|U........|.)", re.DOTALL)
_BLANK_ESCAPES = frozenset(("\\n", "\\t", "\\ ", "\\r", "\\v", "\\f", "\\\n", "\\_", "\\N"))
_BLOCKS = ("|", ">")


def locate_inside(document: Document, path: Path, value: str, offset: int) -> tuple[int, int]:
    """Return line and column, from 1, of the character at an offset of a text's value.

    Folding and indentation add and remove only blanks, so the other characters are counted. For an
    alias it is the place of the alias.
    """
    start, following = document.positions.scalar(document.value, path)
    begin = document.lines.in_text(start)
    end = len(document.text) if following is None else document.lines.in_text(following)
    written = written_scalar(document.text, begin, end)
    return document.lines.place_in_text(begin + _within(written, value, offset))


def _within(written: str, value: str, offset: int) -> int:
    if written.startswith("*"):
        return 0
    count = sum(not character.isspace() for character in value[:offset])
    at, last = _content(written), 0
    while at < len(written):
        step, is_blank = _next(written, at)
        if not is_blank:
            if not count:
                return at
            count, last = count - 1, at + step
            if not count and offset >= len(value.rstrip()):
                return last
        at += step
    return last


def _content(written: str) -> int:
    """Return where the text itself begins: after a quote, or after the header line of a block."""
    if written.startswith(_BLOCKS):
        return written.find("\n") + 1 or len(written)
    return 1 if written[:1] in ("'", '"') else 0


def _next(written: str, at: int) -> tuple[int, bool]:
    """Return the length of the next character as written, and whether it is a blank."""
    quote, character = written[:1], written[at]
    if quote == "'" and written.startswith("''", at):
        return 2, False
    escape = _ESCAPE.match(written, at) if quote == '"' and character == "\\" else None
    if escape is not None:
        return len(escape.group()), escape.group() in _BLANK_ESCAPES
    return 1, character.isspace()
