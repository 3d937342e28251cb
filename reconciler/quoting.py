"""Foreign names inside our own sentences, where backticks say what is a name. Pure."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 60
"""Of a name in a sentence, in characters; more of it tells a reader nothing."""

CUT: Final = "…"


def plain(text: str, longest: int = LONGEST) -> str:
    """Give foreign text on one line, cut, without a backtick that would end a name or begin one."""
    shown = " ".join(text.replace("`", "'").split())
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}{CUT}"


def quoted(text: str, longest: int = LONGEST) -> str:
    """Give foreign text as a name in a sentence: between backticks, and holding none."""
    return f"`{plain(text, longest)}`"


def quoted_pair(first: str, second: str) -> str:
    """Give two foreign names as one with a slash, each cut for itself."""
    return f"`{plain(first)}/{plain(second)}`"
