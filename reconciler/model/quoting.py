"""Foreign names inside our own sentences, in backticks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LONGEST: Final = 60
"""Longest name in a sentence, in characters; more of it would not help the reader."""

CUT: Final = "…"

SHOWN_BY_VERBOSE: Final = "-v shows them"
"""How to see what a list on a terminal leaves out."""


def plain(text: str, longest: int = LONGEST) -> str:
    """Return foreign text on one line, cut, without backticks that would end or begin a name."""
    shown = " ".join(text.replace("`", "'").split())
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}{CUT}"


def quoted(text: str, longest: int = LONGEST) -> str:
    """Return foreign text as a name in a sentence: in backticks, without inner backticks."""
    return f"`{plain(text, longest)}`"


def quoted_pair(first: str, second: str) -> str:
    """Return two foreign names as one name with a slash; each is cut separately."""
    return f"`{plain(first)}/{plain(second)}`"


def and_more(rest: int, noun: str = "", hint: str = "") -> str:
    """Return `and 3 more` for the items that a list leaves out, "" for none.

    With a noun it is `and 3 fields more`; a hint says in brackets how to see them.
    """
    if rest <= 0:
        return ""
    counted = f"{rest:,} {noun}{'s' * (rest > 1)}" if noun else f"{rest:,}"
    return f"and {counted} more" + (f" ({hint})" if hint else "")


def listed(texts: Sequence[str], most: int, joint: str = ", ") -> str:
    """Return the first few texts as a list in a sentence, and how many more there are."""
    parts = joint.join(texts[:most]), and_more(len(texts) - most)
    return (joint.rstrip(", ") + " ").join(filter(None, parts))
