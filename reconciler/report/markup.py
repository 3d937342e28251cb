"""Foreign text inside markdown: code spans, fences and elements that nothing in it can close."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reconciler.report.safe import safe

_BACKTICKS = re.compile(r"`+")
SHORTEST_FENCE = 3


def code(text: str, longest: int | None = None) -> str:
    """Give foreign text as a code span that holds in a table cell too."""
    shown = safe(text, longest).replace("|", "\\|")
    ticks = "`" * (_longest_run(shown) + 1)
    # A space keeps a backtick at the edge apart, and an empty span from being two fences.
    edge = " " if "`" in shown or not shown else ""
    return f"{ticks}{edge}{shown}{edge}{ticks}"


def fenced(language: str, lines: Sequence[str]) -> str:
    """Give safe lines as a fenced block, the fence longer than any run of backticks inside."""
    body = "\n".join(lines)
    fence = "`" * max(SHORTEST_FENCE, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def element(name: str, text: str) -> str:
    """Give foreign text inside an HTML element, all that could mean anything escaped."""
    inside = "".join(
        character if character.isalnum() or character in " -_./" else f"&#{ord(character)};"
        for character in safe(text)
    )
    return f"<{name}>{inside}</{name}>"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
