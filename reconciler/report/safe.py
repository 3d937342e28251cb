"""The one gate for foreign text: harmless in a terminal, a log or a table (S8)."""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]"
)
ELLIPSIS = "…"


def safe(text: str, longest: int | None = None) -> str:
    """Give the text on one line, control and bidirectional characters by their numbers."""
    shown = _UNSAFE.sub(_escaped, text) if not text.isprintable() else text
    if longest is not None and len(shown) > longest:
        return shown[: max(0, longest - 1)] + ELLIPSIS
    return shown


def _escaped(match: re.Match[str]) -> str:
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return known.get(match.group(), f"\\u{ord(match.group()):04x}")
