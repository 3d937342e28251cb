"""Characters and scalars that a text may contain, and the messages of parsers in plain words."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from reconciler.syntax.diagnostic import Lines

_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"

# The parser ends a line, and so a comment, at each of the last three, but reviewers of the file see
# no line end there.
_FORBIDDEN: Final = re.compile(f"[{_CONTROL}\u2028\u2029]")
_LONE_RETURN: Final = re.compile("\r(?!\n)")
BIDIRECTIONAL: Final = re.compile(f"[{_DIRECTIONS}]")
_UNSAFE: Final = re.compile(f"[{_CONTROL}{_DIRECTIONS}]")

SURROGATE_PAIR: Final = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)
# After an escaped backslash is no escape.
_ESCAPED_PAIR: Final = re.compile(rf"\\\\|{SURROGATE_PAIR.pattern}")

_PAIR: Final = len("\\ud83d\\ude00")
_JOINED: Final = re.compile(r"\\U[0-9A-F]{8}")

_NAMES: Final = {
    "\r": "a carriage return without a line feed",
    "\u0085": "the line separator \\u0085",
    "\u2028": "the line separator \\u2028",
    "\u2029": "the paragraph separator \\u2029",
    "\x00": "a NUL character",
    "\x1b": "an escape character (\\u001b)",
}


def first_forbidden(text: str) -> tuple[int, str] | None:
    """Return offset and character of the first character that is forbidden everywhere in a file."""
    # Two patterns, because one for both takes three times as long where neither is found.
    found = [_FORBIDDEN.search(text), _LONE_RETURN.search(text) if "\r" in text else None]
    places = [(match.start(), match.group()) for match in found if match is not None]
    return min(places, default=None)


def reordering(text: str, blocks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield the bidirectional characters outside block scalars; `blocks` are their offsets."""
    if text.isascii():
        return
    rest = list(reversed(blocks))
    for match in BIDIRECTIONAL.finditer(text):
        while rest and rest[-1][1] <= match.start():
            rest.pop()
        if not rest or match.start() < rest[-1][0]:
            yield match.start(), match.group()


def escaped_in(value: str, written: str) -> str:
    """Return the first unsafe character of a value that comes from an escape, or ""."""
    return next((element for element in _UNSAFE.findall(value) if element not in written), "")


def described(character: str) -> str:
    """Return the description of a character, with its number and never the character itself."""
    if character in _NAMES:
        return _NAMES[character]
    what = "bidirectional" if BIDIRECTIONAL.fullmatch(character) else "control"
    return f"the {what} character \\u{ord(character):04x}"


def paired(high: str, low: str) -> str:
    """Return the character of a surrogate pair, by its hexadecimal halves."""
    return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))


def joined_surrogates(text: str) -> tuple[str, tuple[int, ...]]:
    """Return JSON with pairs of surrogates written as in YAML, each two characters shorter.

    Also returns the offsets after which two characters are missing.
    """
    squeezed: list[int] = []

    def join(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()
        squeezed.append(match.start() - 2 * len(squeezed))
        return f"\\U{ord(paired(*match.groups())):08X}"

    return (_ESCAPED_PAIR.sub(join, text) if "\\u" in text else text), tuple(squeezed)


def parted_surrogates(value: str, read: str, start: int, lines: Lines) -> str:
    """Return a text without escapes as it is in the file, with its surrogate pairs separate.

    `read` is the text that the parser read, from the offset `start` on.
    """
    squeezed = lines.squeezed
    first, end = (bisect_left(squeezed, place) for place in (start, start + len(read)))
    ours = {squeezed[nth]: squeezed[nth] + 2 * nth for nth in range(first, end)}
    if not ours:
        return value
    rest = iter([ours.get(start + match.start()) for match in _JOINED.finditer(read)])

    def part(match: re.Match[str]) -> str:
        place = next(rest, None)
        return match.group() if place is None else lines.text[place : place + _PAIR]

    return _JOINED.sub(part, value)


CONSTANTS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}

NUMBER_STARTS: Final = frozenset("+-.0123456789")
EXACT_INTEGER = 2**53
LONGEST_INTEGER = 20

_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class BadScalar(Exception):
    """A plain scalar that no JSON document can carry; `code` is a code of `diagnostic.CODES`."""

    def __init__(self, code: str, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.suggestion = suggestion


def number(text: str) -> str | int | float:
    """Return the number that a plain scalar spells, or the text itself if it is no number."""
    if _INTEGER.fullmatch(text):
        return _integer(text, text.lstrip("+-"), 10)
    if _BASED.fullmatch(text):
        return _integer(text, text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
        raise BadScalar("M105", f"`{_short(text)}` is too large for a number")
    if _NOT_FINITE.fullmatch(text):
        raise BadScalar("M105", f"`{text}` is not a number that JSON can carry: write one that is")
    return text


def has_leading_zero(text: str) -> bool:
    """Return whether an integer looks like an octal number of older YAML."""
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits.isdigit()


def _integer(text: str, digits: str, base: int) -> int:
    digits = digits.lstrip("0")
    # Python refuses integers of thousands of digits, and is slow with shorter ones.
    if len(digits) <= LONGEST_INTEGER:
        value = int(digits or "0", base)
        if value <= EXACT_INTEGER:
            return -value if text[0] == "-" else value
    message = f"`{_short(text)}` is beyond ±2^53, where JSON numbers lose digits: quote it"
    raise BadScalar("M106", message, f'"{text}"')


def _short(text: str) -> str:
    return text if len(text) <= 2 * LONGEST_INTEGER else text[: 2 * LONGEST_INTEGER] + "…"


_BRACE: Final = re.compile(r"\{\s*$")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')

_NO_TAGS: Final = "tags are not supported: remove it"
_NO_DIRECTIVES: Final = (
    "a line that begins with `%` is a directive of YAML: remove it, or quote the text"
)
_NO_TABS: Final = "a tab cannot indent YAML: use spaces"
_PROBLEMS: Final = {
    "mapping values are not allowed in this context": (
        "a `: ` is not expected here: indent the line like its neighbours, or quote the text"
    ),
    "found unexpected end of stream": "the quote that opens here is never closed: close it",
    "found unexpected document indicator": (
        "the quote that opens here is not closed before the next `---`: close it"
    ),
    "found unknown escape character": (
        "this escape is not known: double the backslash, or quote with ' instead of \""
    ),
    "found invalid Unicode character escape code": (
        "this escape is half of a surrogate pair: write the character itself, or both halves"
    ),
    "did not find expected ',' or '}'": "a `,` or the closing `}` is missing before this place",
    "did not find expected ',' or ']'": "a `,` or the closing `]` is missing before this place",
    "did not find expected node content": "a value is missing before this place",
    "did not find expected '-' indicator": (
        "an item of this list must begin with `- ` at the same indentation"
    ),
    "did not find expected key": (
        "a key is expected here: indent the line like its neighbours, or quote the text before it"
    ),
    "could not find expected ':'": (
        "a key ends with `:`, and this line has none: add it, or indent the line deeper than the "
        "key that it belongs to"
    ),
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
    "found duplicate %YAML directive": "the line `%YAML` appears twice",
    "found undefined tag handle": _NO_TAGS,
    "found duplicate %TAG directive": _NO_TAGS,
    "did not find expected tag URI": _NO_TAGS,
    "did not find the expected '>'": _NO_TAGS,
    "did not find expected '!'": _NO_TAGS,
    "did not find URI escaped octet": _NO_TAGS,
    "found an incorrect leading UTF-8 octet": _NO_TAGS,
    "found an incorrect trailing UTF-8 octet": _NO_TAGS,
    "could not find expected directive name": _NO_DIRECTIVES,
    "found unexpected non-alphabetical character": _NO_DIRECTIVES,
    "found unknown directive name": _NO_DIRECTIVES,
    "did not find expected version number": _NO_DIRECTIVES,
    "did not find expected digit or '.' character": _NO_DIRECTIVES,
    "found extremely long version number": _NO_DIRECTIVES,
    "did not find expected whitespace": _NO_DIRECTIVES,
    "did not find expected whitespace or line break": _NO_DIRECTIVES,
    "did not find expected alphabetic or numeric character": (
        "an anchor is `&` and a name of letters and digits: add it, or quote the text"
    ),
    "found an indentation indicator equal to 0": (
        "a text cannot be indented by 0: write `|` alone, and indent the text below it"
    ),
    "found a tab character where an indentation space is expected": _NO_TABS,
    "found a tab character that violates indentation": _NO_TABS,
    "did not find expected hexdecimal number": (
        "this escape lacks digits: `\\xFF`, `\\uFFFF` and `\\UFFFFFFFF` have two, four and eight"
    ),
    "mapping keys are not allowed in this context": (
        "a key cannot begin here: start a new line, indented like its neighbours"
    ),
    "found unexpected ':'": "a plain text between brackets cannot hold this `:`: quote the text",
}


@dataclass(frozen=True, slots=True)
class Misplaced:
    """An error of a text and its offset, from 0. The parser may report a later place.

    `text` is what belongs there, "" if that is not known.
    """

    offset: int
    message: str
    text: str = ""
    code: str = "M101"


_NOT_CLOSED = "did not find expected ','"
_CLOSING = {"{": "}", "[": "]"}
_NO_TEXT = frozenset(("", *" \n\r\t\"'[]{}"))


def spoken_problem(problem: str, context: str, here: str, before: str = "") -> str:
    """Return a plain message for a YAML parser problem; `here` is the text from its place on.

    `before` is the text from the enclosing bracket up to there. A message may contain "{line}",
    which the caller replaces by the line of that bracket.
    """
    if here[:1] == "\t":
        return _NO_TABS
    is_broken = here[:1] in _CLOSING and before[-1:] not in _NO_TEXT
    if before[:1] in _CLOSING and is_broken and problem.startswith(_NOT_CLOSED):
        around = f"{before[0]}…{_CLOSING[before[0]]}"
        return f"a plain text inside of `{around}` cannot hold this `{here[0]}`: quote the text"
    if before[:1] in _CLOSING and "\n" in before and problem.startswith(_NOT_CLOSED):
        opening, closing = before[0], _CLOSING[before[0]]
        return f"the closing `{closing}` is missing: its `{opening}` is on line {{line}}"
    if here[:1] == ":" and problem.startswith(_NOT_CLOSED):
        return "a key must be on one line with its `:`, and have at most 1,024 characters"
    if problem in _PROBLEMS:
        return _PROBLEMS[problem].replace("{here}", here[:1])
    return ", ".join(part for part in (context, problem) if part) or "not well-formed"


def is_begun_earlier(problem: str) -> bool:
    """Return whether an error is at the place where the parser began to look."""
    return problem in {
        # A quoted text goes on to the end of its document.
        "found unexpected end of stream",
        "found unexpected document indicator",
        "could not find expected ':'",
    }


def spoken_collection_key(before: str) -> str:
    """Return why a list or a mapping cannot be a key; `before` is the text just before it."""
    if _BRACE.search(before):
        return "`{{` opens a mapping inside a mapping: quote the whole text"
    return "a key must be text, not a list or a mapping"


def departure_from_json(text: str) -> Misplaced | None:
    """Return the first place that is YAML but not JSON: a comment, trailing comma or bare word."""
    if not text.strip():
        return None
    constants: list[str] = []
    departure = None
    try:
        # Numbers stay text, because 5,000 digits would raise ValueError.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=constants.append)
    except json.JSONDecodeError as error:
        departure = Misplaced(error.pos, _spoken_json(error, text))
    if constants:
        # The parser met it before any error.
        matches = _TOKEN.finditer(text)
        place = next(match for match in matches if not match.group().startswith('"'))
        return Misplaced(place.start(), f"`{place.group()}` is not a number of JSON", code="M105")
    return departure


_JSON_PROBLEMS: Final = {
    "Expecting property name": "a key between double quotes is expected here",
    "Expecting ':'": "a `:` is missing before this place",
    "Expecting ','": "a `,` or a closing bracket is missing before this place",
    "Expecting value": "a value is expected here: a text is written between double quotes",
    "Unterminated string": "the quote that opens here is never closed",
    "Invalid control character": "a text must be on one line: write a line break as `\\n`",
    "Invalid \\": "this escape is not known to JSON: double the backslash",
}
"""Messages by the beginnings of the messages of Python's JSON parser, which has no codes."""

NO_COMMENTS: Final = "this is not JSON, which has no comments"


def _spoken_json(error: json.JSONDecodeError, text: str) -> str:
    here = text[error.pos : error.pos + 2]
    if error.msg.startswith("Illegal trailing comma") or (
        here[:1] in ("}", "]") and text[: error.pos].rstrip().endswith(",")
    ):
        return "this is not JSON: there is a comma before the closing bracket"
    if here[:1] == "#":
        return f"{NO_COMMENTS}: remove it, or name the file .yaml"
    if here in ("//", "/*"):
        return f"{NO_COMMENTS}: remove it"
    if error.msg == "Extra data":
        return "this is not JSON: a file holds one value, and more follows it"
    if here[:1] == "'":
        return "this is not JSON, where texts are between double quotes"
    spoken = (message for begins, message in _JSON_PROBLEMS.items() if error.msg.startswith(begins))
    return f"this is not JSON: {next(spoken, 'no value can begin here')}"
