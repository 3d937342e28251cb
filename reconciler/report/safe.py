"""Foreign text made harmless for terminal, JSON, HTML and workflow; for Markdown see `markdown.py`.

Pure, except for the filter that removes secrets, which is set where the process begins.
"""

import json
import re
from collections.abc import Callable
from itertools import accumulate
from unicodedata import combining, east_asian_width

_CONTROL = "\x00-\x1f"
# Controls, characters that reorder a line, and invisible characters (tags, fillers, shy hyphens).
_OTHERS = (
    "\x7f-\x9f\xad\ud800-\udfff\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# `##[` and `##word[` begin a command of a CI runner anywhere in a line.
_RUNNER_COMMAND = r"#(?=#[A-Za-z]*\[)"
_UNSAFE = re.compile(f"[{_CONTROL}{_OTHERS}]|{_RUNNER_COMMAND}")
_UNSAFE_IN_JSON = re.compile(f"[{_OTHERS}]|{_RUNNER_COMMAND}")
# `::word` begins a command at the start of a line, where the first cell of a table is.
_LINE_COMMAND = re.compile(r"\s*:(?=:[A-Za-z])")
ELLIPSIS = "…"


_filters: list[Callable[[str], str]] = []


def hide_with(take_out: Callable[[str], str]) -> None:
    """Remove secrets from all foreign text from now on, before it is cut, broken or escaped.

    After layout, half a secret may be at the end of a line, where no filter recognizes it.
    """
    _filters[:] = [take_out]


def hidden(text: str) -> str:
    """Return the text without secrets, for code that splits it before it is made safe."""
    for take_out in _filters:
        text = take_out(text)
    return text


def safe(text: str, longest: int | None = None) -> str:
    """Return the text on one line, with control and bidirectional characters as escapes."""
    shown = text = hidden(text)
    if not (text.isascii() and text.isprintable()) or "##" in text:
        shown = _UNSAFE.sub(_escaped, text)
    if command := _LINE_COMMAND.match(shown):
        shown = f"{command.group()[:-1]}\\u003a{shown[command.end() :]}"
    if longest is not None and len(shown) > longest:
        return shown[: max(0, longest - 1)] + ELLIPSIS
    return shown


def columns(text: str) -> int:
    """Return the number of columns that a text needs in a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(combining(character) > 0 for character in text)


def cut(text: str, width: int) -> str:
    """Return a text cut to `width` columns of a terminal; a wide character needs two."""
    if columns(text) <= width:
        return text
    ends = accumulate(columns(character) for character in text)
    return text[: sum(end < width for end in ends)] + ELLIPSIS


def json_text(document: object, *, one_line: bool = False) -> str:
    """Return a document as JSON ending in a line break, with the strings of `safe_json`."""
    text = json.dumps(document, ensure_ascii=False, indent=None if one_line else 2)
    return safe_json(text) + "\n"


def safe_json(text: str) -> str:
    """Return a JSON text with every unsafe character in its strings escaped."""
    return _UNSAFE_IN_JSON.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    units = match.group().encode("utf-16-be", "surrogatepass")
    # Two units, as JSON writes them, for characters beyond the first plane.
    numbers = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return known.get(match.group(), "".join(f"\\u{number}" for number in numbers))


_REFERENCES = str.maketrans({character: f"&#{ord(character)};" for character in "&<>\"'`"})


def for_html(text: str) -> str:
    """Return the text on one line, for the content of an element or a quoted attribute value.

    Not for `script` or `style`, which contain no text, and not for an address: there a harmless
    text may still name a harmful scheme.
    """
    return safe(text).translate(_REFERENCES)


_DATA = str.maketrans({"%": "%25", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", ":": "%3A", ",": "%2C"})


def for_workflow_data(text: str) -> str:
    """Return the text for the part after the second `::`; line breaks are kept, as `%0A`."""
    return "\n".join(safe(line) for line in text.split("\n")).translate(_DATA)


def for_workflow_property(text: str) -> str:
    """Return the text, on one line, for the value of a property."""
    return safe(text).translate(_PROPERTY)
