"""Characters that no manifest may hold as they are. Source: failure-cases.md, S5."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from reconciler.complaint import Lines

_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_BIDIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"

# The parser ends a line, and so a comment, at each of the last three, where
# those who review the file see none.
_FORBIDDEN: Final = re.compile(f"[{_CONTROL}\u2028\u2029]")
_LONE_RETURN: Final = re.compile("\r(?!\n)")
_REORDERING: Final = re.compile(f"[{_BIDIRECTIONAL}]")
_UNSAFE: Final = re.compile(f"[{_CONTROL}{_BIDIRECTIONAL}]")

# An escaped backslash is taken too, so that what follows it is no escape.
_SURROGATE_PAIR: Final = re.compile(
    r"\\(?:\\|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2}))"
)

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
    """Give offset and character of what may stand nowhere in a file."""
    # Apart, as one pattern with both takes three times as long where neither is found.
    found = [_FORBIDDEN.search(text), _LONE_RETURN.search(text) if "\r" in text else None]
    places = [(match.start(), match.group()) for match in found if match is not None]
    return min(places, default=None)


def reordering(text: str, blocks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield the bidirectional characters outside block texts, whose offsets are `blocks`."""
    if text.isascii():
        return
    rest = list(reversed(blocks))
    for match in _REORDERING.finditer(text):
        while rest and rest[-1][1] <= match.start():
            rest.pop()
        if not rest or match.start() < rest[-1][0]:
            yield match.start(), match.group()


def escaped_in(value: str, written: str) -> str:
    """Give the first unsafe character of a value that came in by an escape, or ""."""
    return next((one for one in _UNSAFE.findall(value) if one not in written), "")


def described(character: str) -> str:
    """Name a character by its number, never as itself."""
    if character in _NAMES:
        return _NAMES[character]
    what = "bidirectional" if _REORDERING.fullmatch(character) else "control"
    return f"the {what} character \\u{ord(character):04x}"


def joined_surrogates(text: str) -> tuple[str, tuple[int, ...]]:
    """Write JSON's pairs of surrogates as YAML writes them, which takes two characters fewer.

    Gives the offsets after which these two are missing, too.
    """
    squeezed: list[int] = []

    def join(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()
        squeezed.append(match.start() - 2 * len(squeezed))
        high, low = (int(half, 16) for half in match.groups())
        return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08X}"

    return (_SURROGATE_PAIR.sub(join, text) if "\\u" in text else text), tuple(squeezed)


def parted_surrogates(value: str, read: str, start: int, lines: Lines) -> str:
    """Give a text that knows no escapes as it stands in the file, its pairs not joined.

    `read` is what the parser read for it, from the offset `start` on.
    """
    squeezed = lines.squeezed
    first, end = (bisect_left(squeezed, place) for place in (start, start + len(read)))
    ours = {squeezed[nth]: squeezed[nth] + 2 * nth for nth in range(first, end)}
    if not ours:
        return value
    places = [ours.get(start + match.start()) for match in _JOINED.finditer(read)]
    rest = iter(places)

    def part(match: re.Match[str]) -> str:
        place = next(rest, None)
        return match.group() if place is None else lines.text[place : place + _PAIR]

    return _JOINED.sub(part, value)
