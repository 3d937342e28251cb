"""Sentences that fit a terminal: broken between words, which the terminal itself does not do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.report.safe import columns
from reconciler.report.style import Style

_HANG = "  "
_PAINT = re.compile(r"\x1b\[[0-9;]*m")


def fitted(text: str, style: Style) -> str:
    """Break each line that is wider than the terminal between words; in a pipe nothing is broken.

    What goes on is moved to the right. A word that is wider than the terminal stands whole.
    """
    if not style.terminal:
        return text
    return "\n".join(part for line in text.split("\n") for part in _parts(line, style.width))


def _parts(line: str, width: int) -> Iterator[str]:
    if _columns(line) <= width:
        yield line
        return
    body = line.lstrip(" ")
    margin = line[: len(line) - len(body)]
    first, *words = body.split(" ")
    part = margin + first
    for word in words:
        if _columns(part) + 1 + _columns(word) > width:
            yield part.rstrip(" ")
            part = margin + _HANG + word
        else:
            part += f" {word}"
    yield part


def _columns(text: str) -> int:
    return columns(_PAINT.sub("", text))
