"""Foreign text made harmless for terminal, JSON, HTML and workflow; for Markdown see `markdown.py`.

Pure, but for the filter that takes secrets out, which is set where the process begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import accumulate
from unicodedata import combining, east_asian_width

_CONTROL = "\x00-\x1f"
# Controls, what reorders a line, and what is there without being seen (tags, fillers, shy hyphens).
_OTHERS = (
    "\x7f-\x9f\xad\ud800-\udfff\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# `##[` and `##word[` begin a command of a CI runner wherever they stand in a line.
_RUNNER_COMMAND = r"#(?=#[A-Za-z]*\[)"
_UNSAFE = re.compile(f"[{_CONTROL}{_OTHERS}]|{_RUNNER_COMMAND}")
_UNSAFE_IN_JSON = re.compile(f"[{_OTHERS}]|{_RUNNER_COMMAND}")
# `::word` begins one at the start of a line, where a table's first cell stands.
_LINE_COMMAND = re.compile(r"\s*:(?=:[A-Za-z])")
ELLIPSIS = "…"


_filters: list[Callable[[str], str]] = []


def hide_with(take_out: Callable[[str], str]) -> None:
    """Take secrets out of all foreign text from now on, before it is cut, broken or escaped.

    Of what is laid out, half a secret stands at the end of one line, and no filter knows it.
    """
    _filters[:] = [take_out]


def hidden(text: str) -> str:
    """Give the text without any secret, for what takes it apart before it is made safe."""
    for take_out in _filters:
        text = take_out(text)
    return text


def safe(text: str, longest: int | None = None) -> str:
    """Give the text on one line, control and bidirectional characters by their numbers."""
    shown = text = hidden(text)
    if not (text.isascii() and text.isprintable()) or "##" in text:
        shown = _UNSAFE.sub(_escaped, text)
    if command := _LINE_COMMAND.match(shown):
        shown = f"{command.group()[:-1]}\\u003a{shown[command.end() :]}"
    if longest is not None and len(shown) > longest:
        return shown[: max(0, longest - 1)] + ELLIPSIS
    return shown


def columns(text: str) -> int:
    """Count the columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(combining(character) > 0 for character in text)


def cut(text: str, width: int) -> str:
    """Cut a text to so many columns of a terminal; a wide character takes two."""
    if columns(text) <= width:
        return text
    ends = accumulate(columns(character) for character in text)
    return text[: sum(end < width for end in ends)] + ELLIPSIS


def json_text(document: object, *, one_line: bool = False) -> str:
    """Give a document as JSON ending in a line break, its strings as `safe_json` has them."""
    text = json.dumps(document, ensure_ascii=False, indent=None if one_line else 2)
    return safe_json(text) + "\n"


def safe_json(text: str) -> str:
    """Give a JSON text whose strings hold no unsafe character but as an escape."""
    return _UNSAFE_IN_JSON.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    units = match.group().encode("utf-16-be", "surrogatepass")
    # Two units, as JSON writes them, for what lies beyond the first plane.
    numbers = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return known.get(match.group(), "".join(f"\\u{number}" for number in numbers))


_REFERENCES = str.maketrans({character: f"&#{ord(character)};" for character in "&<>\"'`"})


def for_html(text: str) -> str:
    """Give the text on one line, for an element's content or a quoted attribute's value.

    Not for `script` or `style`, whose content is not text, and not for an
    address: there a harmless text may still name a harmful scheme.
    """
    return safe(text).translate(_REFERENCES)


_DATA = str.maketrans({"%": "%25", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", ":": "%3A", ",": "%2C"})


def for_workflow_data(text: str) -> str:
    """Give the text for what follows the second `::`; its line breaks are kept, as `%0A`."""
    return "\n".join(safe(line) for line in text.split("\n")).translate(_DATA)


def for_workflow_property(text: str) -> str:
    """Give the text, on one line, for the value of a property."""
    return safe(text).translate(_PROPERTY)
