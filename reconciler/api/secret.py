"""The API key and other secrets: held so that nothing prints them. Source: docs/security.md."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from reconciler.errors import NotAuthorised
from reconciler.keys import KEY_VARIABLE, key_in

HIDDEN = "***"
SHORTEST_REDACTED = 4

_BY_LETTER = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_BY_NAME = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """Text that shows itself as `***`; `reveal` is called where a request is made."""

    _value: str = field(repr=False)

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def reveal(self) -> str:
        """Give the text itself."""
        return self._value


def key_from(environ: Mapping[str, str]) -> Secret:
    """Give the API key of the process environment.

    Raises NotAuthorised without one, or with one that no header can carry. The
    client library would print such a key in its own error, so it never sees it.
    """
    value = key_in(environ)
    if not value.strip():
        raise NotAuthorised(f"there is no API key: set {KEY_VARIABLE}")
    if any(not "!" <= character <= "~" for character in value):
        raise NotAuthorised(
            f"{KEY_VARIABLE} holds a space, a line break or a character that is not ASCII; "
            "no header can carry it"
        )
    return Secret(value)


# What is written in another way than plain, or than encoded as a whole, holds one of these.
_MARKS = re.compile(r"[%\\&]")
_BLANKS = re.compile(r"\s+")
# How often text is put into quotes inside quotes: each time doubles its backslashes. Without a
# bound, a text of backslashes alone would take the square of its length.
_BACKSLASHES = r"\\{1,16}"
_MORE_BACKSLASHES = r"\\{0,15}"
MOST_BLANKS = 64


class Redaction:
    """The last filter before any text leaves the process, and the first before it is laid out.

    It knows a secret as it is, as hexadecimal digits, inside base64 wherever it
    begins there, and with any of its characters written as URLs, JSON, HTML or
    shells write them; in large and small letters, without the blanks around it,
    with other blanks or line breaks inside, and each long line of it alone.
    What it cannot know is a secret that was cut or encrypted.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._encoded: list[str] = []
        self._pieces: list[_Piece] = []
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Hide a secret from now on, in each form in which it may be written."""
        if len(secret) < SHORTEST_REDACTED:
            return
        encoded = {*_encoded(secret), *_encoded(_core(secret))}
        if encoded.issubset(self._encoded):
            return
        self._encoded = sorted({*self._encoded, *encoded}, key=len, reverse=True)
        pieces = {*self._pieces, *map(_Piece, _pieces(secret))}
        self._pieces = sorted(pieces, key=lambda one: (-len(one.text), one.text))

    def take(self, other: Redaction) -> None:
        """Hide from now on what another filter hides by now."""
        self._encoded = sorted({*self._encoded, *other._encoded}, key=len, reverse=True)
        pieces = {*self._pieces, *other._pieces}
        self._pieces = sorted(pieces, key=lambda one: (-len(one.text), one.text))

    def __call__(self, text: str) -> str:
        """Give the text with every secret replaced by `***`."""
        if len(text) < SHORTEST_REDACTED or not self._pieces:
            return text
        if len(text) >= len(self._encoded[-1]):
            for form in self._encoded:
                if form in text:
                    text = text.replace(form, HIDDEN)
        is_plain = _MARKS.search(text) is None
        bare = _bare(text)
        for piece in self._pieces:
            if piece.may_be_in(bare, is_plain=is_plain):
                pattern = _plain(piece.text) if is_plain else _written(piece.text)
                text = pattern.sub(HIDDEN, text)
        return text


@dataclass(frozen=True, slots=True)
class _Piece:
    """A secret, or a line of one, and what a text surely holds that holds it."""

    text: str
    _bare: str = field(init=False)
    _behind: str = field(init=False)

    def __post_init__(self) -> None:
        bare = _bare(self.text)
        object.__setattr__(self, "_bare", bare)
        # What stands before a secret can look like an escape that takes its first characters with
        # it. One that itself looks like an escape, or is short, tells too little.
        is_telling = len(bare) >= 2 * LONGEST_ESCAPE and _MARKS.search(self.text) is None
        object.__setattr__(self, "_behind", bare[LONGEST_ESCAPE:] if is_telling else "")

    def may_be_in(self, bare: str, *, is_plain: bool) -> bool:
        """Tell quickly whether a text is worth the search, which has to be compiled first."""
        return (self._bare if is_plain else self._behind) in bare


LONGEST_ESCAPE = 12
_ESCAPES = re.compile(
    r"%(?:25)*(?P<byte>[0-9a-fA-F]{2})"
    # All backslashes at once, as text in quotes inside quotes doubles them.
    r"|\\+(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|[nrtbf])?"
    r"|&#(?:0*(?P<decimal>[0-9]{1,7})|[xX]0*(?P<digits>[0-9a-fA-F]{1,6}));"
    r"|&(?P<name>amp|lt|gt|quot|apos);",
)
_BETWEEN = r"[\s+]|\x1b\[[0-9;]*m"
_ALL_BETWEEN = re.compile(f"(?:{_BETWEEN})+")
_BY_REFERENCE = {reference[1:-1]: one for one, reference in _BY_NAME.items()}


def _bare(text: str) -> str:
    """Give the ASCII letters and signs of a text, without escapes, blanks and capitals.

    Other characters are escaped byte by byte as often as whole, and tell nothing here.
    """
    if _MARKS.search(text):
        text = _ESCAPES.sub(_meant, text)
    if not text.isascii():
        text = text.encode("ascii", "ignore").decode()
    return _ALL_BETWEEN.sub("", text).casefold()


def _meant(escape: re.Match[str]) -> str:
    if escape["name"]:
        return _BY_REFERENCE[escape["name"]]
    if escape["decimal"]:
        number = int(escape["decimal"])
    else:
        digits = escape["byte"] or escape["x"] or escape["u"] or escape["U"] or escape["digits"]
        number = int(digits or "20", 16)
    return chr(number) if number <= sys.maxunicode else ""


def _core(secret: str) -> str:
    """Give what services quote of a secret: all but the blanks around it, if enough is left."""
    core = secret.strip()
    return core if len(core) >= SHORTEST_REDACTED else secret


def _pieces(secret: str) -> Iterator[str]:
    """Yield the secret, and each of its lines that is long enough to be one."""
    core = _core(secret)
    yield core
    for line in core.splitlines():
        if len(line.strip()) >= SHORTEST_REDACTED:
            yield line.strip()


def _encoded(secret: str) -> Iterator[str]:
    written = secret.encode(errors="surrogatepass")
    yield written.hex()
    yield written.hex().upper()
    yield from _in_base64(written)


def _in_base64(secret: bytes) -> Iterator[str]:
    """Give what of a secret is the same in base64, whatever stands before and after it."""
    for before in range(3):
        first = (before * 8 + 5) // 6
        last = (before + len(secret)) * 8 // 6
        padded = b"\0" * before + secret
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(padded).decode()[first:last]


@cache
def _plain(secret: str) -> re.Pattern[str]:
    """Give a pattern for a secret as it is, but for capitals and blanks."""
    return re.compile(f"(?i:{''.join(_each(secret, re.escape, _other_blanks))})")


# Compiling one takes longer than all else that most commands do.
@cache
def _written(secret: str) -> re.Pattern[str]:
    """Give a pattern for a secret whose characters are written in any mixture of ways.

    It begins with the set of characters with which it may begin, so that the search
    skips all others; which of them it was is looked up behind it.
    """
    spellings = _spellings(secret[0])
    begin = "".join(re.escape(start) for start, _ in spellings)
    first = "|".join(f"(?<={re.escape(start)}){rest}" for start, rest in spellings)
    others = "".join(_each(secret, _character, _any_blanks, 1))
    return re.compile(f"[{begin}](?i:(?:{first}){others})")


def _each(
    secret: str, character: Callable[[str], str], blanks: Callable[[str], str], at: int = 0
) -> Iterator[str]:
    """Yield a pattern for each character, and one for all blanks between two."""
    # Of what is short, a blank more or less would be found in ordinary words.
    is_exact = len(_BLANKS.sub(" ", secret.strip())) < SHORTEST_REDACTED
    while at < len(secret):
        found = None if is_exact else _BLANKS.match(secret, at)
        yield character(secret[at]) if found is None else blanks(found.group())
        at = at + 1 if found is None else found.end()


def _other_blanks(blanks: str) -> str:
    return f"(?:{_BETWEEN}){_as_many(blanks)}"


def _any_blanks(blanks: str) -> str:
    """Give a pattern for blanks, as those of a line break and a margin, painted or escaped."""
    known = "|".join(map(_character, sorted({*blanks, *" \t\n\r"})))
    return f"(?:{_BETWEEN}|{known}){_as_many(blanks)}"


def _as_many(blanks: str) -> str:
    return f"{{1,{max(MOST_BLANKS, 2 * len(blanks))}}}?"


def _character(character: str) -> str:
    return f"(?:{'|'.join(re.escape(start) + rest for start, rest in _spellings(character))})"


@cache
def _spellings(character: str) -> tuple[tuple[str, str], ...]:
    """Give each way of writing a character: the literal that it begins with, and a pattern."""
    cases = [
        one
        for one in dict.fromkeys((character, character.lower(), character.upper()))
        if len(one) == 1
    ]
    return (
        *((case, "") for case in cases),
        *((("+", ""),) if character == " " else ()),
        ("%", f"(?:25)*(?:{'|'.join(map(_behind_percent, cases))})"),
        ("\\", f"{_MORE_BACKSLASHES}(?:{'|'.join(_behind_backslash(character, cases))})"),
        ("&", f"(?:{'|'.join(_behind_ampersand(character, cases))})"),
    )


def _behind_percent(character: str) -> str:
    return "%(?:25)*".join(f"{byte:02x}" for byte in _bytes(character))


def _behind_backslash(character: str, cases: Iterable[str]) -> Iterator[str]:
    for case in cases:
        units = case.encode("utf-16-be", "surrogatepass").hex()
        yield _BACKSLASHES.join(f"u{units[at : at + 4]}" for at in range(0, len(units), 4))
        yield _BACKSLASHES.join(f"x{byte:02x}" for byte in _bytes(case))
        # A letter that is one byte here is two of them above.
        yield rf"(?:x|U0*){ord(case):02x}" if not case.isascii() else f"U0*{ord(case):02x}"
    if short := _BY_LETTER.get(character, character if not character.isalnum() else ""):
        yield re.escape(short)


def _behind_ampersand(character: str, cases: Iterable[str]) -> Iterator[str]:
    for case in cases:
        yield f"#(?:0*{ord(case)}|x0*{ord(case):x});"
    if character in _BY_NAME:
        yield _BY_NAME[character][1:]


def _bytes(character: str) -> bytes:
    return character.encode(errors="surrogatepass")
