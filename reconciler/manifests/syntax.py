"""What the parsers say of a text that is not well-formed, in words for whoever wrote it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Never

_BRACE: Final = re.compile(r"\{\s*$")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')

_PROBLEMS: Final = {
    "mapping values are not allowed in this context": (
        "a `: ` is not expected here: indent the line like its neighbours, or quote the text"
    ),
    "found unexpected end of stream": "the file ends inside a quoted text: close its quote",
    "found unexpected document indicator": (
        "`---` stands inside a quoted text: close its quote before"
    ),
    "found unknown escape character": (
        "this escape is not known: double the backslash, or quote with ' instead of \""
    ),
    "found invalid Unicode character escape code": "this escape is half of a surrogate pair",
    "did not find expected ',' or '}'": "a `,` or the closing `}` is missing before this place",
    "did not find expected ',' or ']'": "a `,` or the closing `]` is missing before this place",
    "did not find expected '-' indicator": (
        "an item of this list must begin with `- ` at the same indentation"
    ),
    "did not find expected key": (
        "a key is expected here: indent the line like its neighbours, or quote the text before it"
    ),
    "could not find expected ':'": "a key must end with `: ` on its own line",
    "block sequence entries are not allowed in this context": (
        "a list cannot begin on the line of its key: start a new line before `- `"
    ),
    "did not find expected <document start>": "a new document must begin with a line `---`",
    "did not find expected comment or line break": (
        "after `|` or `>` the text begins on the next line"
    ),
    "found character that cannot start any token": (
        "a plain text cannot begin with `{here}`: quote the text"
    ),
    "found incompatible YAML document": "this version of YAML is not known: remove the line",
    "found duplicate %YAML directive": "the line `%YAML` stands twice",
    "found undefined tag handle": "tags are not supported: remove it",
}


@dataclass(frozen=True, slots=True)
class NotJson:
    """Where a text departs from JSON, from 0, and how."""

    offset: int
    message: str
    code: str = "M101"


class _NotFinite(Exception):
    pass


def spoken_problem(problem: str, context: str, here: str) -> str:
    """Say what the YAML parser found; `here` is the text from the place on."""
    if here[:1] == "\t":
        return "a tab cannot indent YAML: use spaces"
    if here[:1] == ":" and problem.startswith("did not find expected ','"):
        return "a key must stand on one line with its `:`, and have at most 1,024 characters"
    if problem in _PROBLEMS:
        return _PROBLEMS[problem].replace("{here}", here[:1])
    return ", ".join(part for part in (context, problem) if part) or "not well-formed"


def spoken_collection_key(before: str) -> str:
    """Say why a list or a mapping cannot be a key; `before` is the text just before it."""
    if _BRACE.search(before):
        return "`{{` opens a mapping inside a mapping: quote the whole text"
    return "a key must be text, not a list or a mapping"


def departure_from_json(text: str) -> NotJson | None:
    """Find what YAML takes and JSON does not: comments, trailing commas, bare words."""
    if not text.strip():
        return None
    try:
        # Numbers stay text: one of 5,000 digits is a ValueError otherwise.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        return NotJson(error.pos, _spoken_json(error, text))
    except _NotFinite:
        matches = _TOKEN.finditer(text)
        place = next(match for match in matches if not match.group().startswith('"'))
        return NotJson(place.start(), f"`{place.group()}` is not a number of JSON", "M105")
    return None


def _refuse(constant: str) -> Never:
    raise _NotFinite(constant)


def _spoken_json(error: json.JSONDecodeError, text: str) -> str:
    here = text[error.pos : error.pos + 2]
    if error.msg.startswith("Illegal trailing comma") or (
        here[:1] in ("}", "]") and text[: error.pos].rstrip().endswith(",")
    ):
        return "this is not JSON: a comma stands before the closing bracket"
    if here[:1] == "#" or here in ("//", "/*"):
        return "this is not JSON, which has no comments: remove it, or name the file .yaml"
    if error.msg == "Extra data":
        return "this is not JSON: a file holds one value, and more follows it"
    return f"this is not JSON: {error.msg[0].lower()}{error.msg[1:]}"
