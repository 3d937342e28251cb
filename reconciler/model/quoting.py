"""Foreign names inside our own sentences, in backticks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LONGEST: Final = 60
"""Longest name in a sentence, in characters; more of it would not help the reader."""

CUT: Final = "…"


def plain(text: str, longest: int = LONGEST) -> str:
    """Return foreign text on one line, cut, without backticks that would end or begin a name."""
    shown = " ".join(text.replace("`", "'").split())
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}{CUT}"


def quoted(text: str, longest: int = LONGEST) -> str:
    """Return foreign text as a name in a sentence: in backticks, without inner backticks."""
    return f"`{plain(text, longest)}`"


def quoted_pair(first: str, second: str) -> str:
    """Return two foreign names as one name with a slash, each cut by itself."""
    return f"`{plain(first)}/{plain(second)}`"


def and_more(shown: str, rest: int, joint: str = "") -> str:
    """Return a list in a sentence with the number of what is not shown, if there is any."""
    return f"{shown}{joint} and {rest:,} more" if rest > 0 else shown


def listed(texts: Sequence[str], most: int, joint: str = ", ") -> str:
    """Return the first few texts as a list in a sentence, and how many more there are."""
    return and_more(joint.join(texts[:most]), len(texts) - most, joint.rstrip(", "))
