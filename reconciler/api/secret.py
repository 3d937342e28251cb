"""The API key and other secrets, kept so that nothing prints them. Source: docs/security.md."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from reconciler.errors import NotAuthorised
from reconciler.runtime.connection import KEY_VARIABLE, key_in

HIDDEN = "***"
SHORTEST_REDACTED = 4

_BY_LETTER = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_BY_NAME = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """Text that is printed as `***`; `reveal` is called only where a request is made."""

    _value: str = field(repr=False)

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def reveal(self) -> str:
        """Return the text itself."""
        return self._value


def key_from(environ: Mapping[str, str]) -> Secret:
    """Return the API key of the process environment.

    Raises NotAuthorised without a key, or for a key that no header can carry. The client library
    would print such a key in its own error, so it never receives it.
    """
    key = key_in(environ)
    if not key.strip():
        raise NotAuthorised(f"there is no API key: set {KEY_VARIABLE}")
    if any(not "!" <= character <= "~" for character in key):
        raise NotAuthorised(
            f"{KEY_VARIABLE} holds a space, a line break or a character that is not ASCII; "
            "no header can carry it"
        )
    return Secret(key)


# Text with escaped characters (URL, JSON, HTML, shell) holds one of these.
_MARKS = re.compile(r"[%\\&]")
_BLANKS = re.compile(r"\s+")
# Limits how often text is quoted inside quotes: each level doubles its backslashes. Without a
# limit, a text of backslashes alone would take quadratic time.
_BACKSLASHES = r"\\{1,16}"
_MORE_BACKSLASHES = r"\\{0,15}"
MOST_BLANKS = 64


class Redaction:
    """Filter for all text before it leaves the process, and before it is laid out.

    It finds a secret as plain text, as hexadecimal digits, inside base64 at any offset, and with
    any of its characters written as URLs, JSON, HTML or shells write them. It finds a secret in
    another case, and with other blanks or line breaks. It also finds each long line of a secret
    alone. It cannot find a secret that was cut or encrypted.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._encoded: list[str] = []
        self._pieces: list[str] = []
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Hide a secret from now on, in every form in which it may be written."""
        if len(secret) < SHORTEST_REDACTED:
            return
        encoded = {*_encoded(secret), *_encoded(_core(secret))}
        if not encoded.issubset(self._encoded):
            self._hide(encoded, _pieces(secret))

    def take(self, other: Redaction) -> None:
        """Hide from now on the secrets that another filter hides now."""
        self._hide(other._encoded, other._pieces)

    def _hide(self, encoded: Iterable[str], pieces: Iterable[str]) -> None:
        self._encoded = sorted({*self._encoded, *encoded}, key=len, reverse=True)
        self._pieces = sorted({*self._pieces, *pieces}, key=lambda piece: (-len(piece), piece))

    def __call__(self, text: str) -> str:
        """Return the text with every secret replaced by `***`."""
        if len(text) < SHORTEST_REDACTED or not self._pieces:
            return text
        if len(text) >= len(self._encoded[-1]):
            for form in self._encoded:
                if form in text:
                    text = text.replace(form, HIDDEN)
        is_plain = _MARKS.search(text) is None
        bare = _bare(text)
        for piece in self._pieces:
            # Compiling a pattern is slow, so a plain search comes first.
            if _needle(piece, is_plain=is_plain) in bare:
                pattern = _plain(piece) if is_plain else _written(piece)
                text = pattern.sub(HIDDEN, text)
        return text


LONGEST_ESCAPE = 12
_ESCAPES = re.compile(
    r"%(?:25)*(?P<byte>[0-9a-fA-F]{2})"
    # All backslashes at once, as quoting inside quotes doubles them.
    r"|\\+(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|[nrtbf])?"
    r"|&#(?:0*(?P<decimal>[0-9]{1,7})|[xX]0*(?P<digits>[0-9a-fA-F]{1,6}));"
    r"|&(?P<name>amp|lt|gt|quot|apos);",
)
_BETWEEN = r"[\s+]|\x1b\[[0-9;]*m"
_ALL_BETWEEN = re.compile(f"(?:{_BETWEEN})+")
_BY_REFERENCE = {reference[1:-1]: character for character, reference in _BY_NAME.items()}


def _bare(text: str) -> str:
    """Return the ASCII letters and signs of a text, without escapes and blanks, in lower case.

    Other characters are left out, as they are often escaped byte by byte.
    """
    if _MARKS.search(text):
        text = _ESCAPES.sub(_meant, text)
    if not text.isascii():
        text = text.encode("ascii", "ignore").decode()
    return _ALL_BETWEEN.sub("", text).casefold()


@cache
def _needle(piece: str, *, is_plain: bool) -> str:
    """Return a text that the bare form of every text with this piece of a secret contains.

    Text before a secret can look like an escape that includes its first characters, so these are
    cut off. If the secret is short, or looks like an escape itself, the result is "".
    """
    bare = _bare(piece)
    if is_plain:
        return bare
    is_telling = len(bare) >= 2 * LONGEST_ESCAPE and _MARKS.search(piece) is None
    return bare[LONGEST_ESCAPE:] if is_telling else ""


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
    """Return the part of a secret that services quote: without blanks around it, if long enough."""
    core = secret.strip()
    return core if len(core) >= SHORTEST_REDACTED else secret


def _pieces(secret: str) -> Iterator[str]:
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
    """Yield the part of a secret that is the same in base64, at any offset."""
    for before in range(3):
        first = (before * 8 + 5) // 6
        last = (before + len(secret)) * 8 // 6
        padded = b"\0" * before + secret
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(padded).decode()[first:last]


@cache
def _plain(secret: str) -> re.Pattern[str]:
    """Return a pattern for a secret as plain text, in any case, with any blanks."""
    return re.compile(f"(?i:{''.join(_each(secret, re.escape, _other_blanks))})")


# Compiling a pattern takes longer than all else that most commands do.
@cache
def _written(secret: str) -> re.Pattern[str]:
    """Return a pattern for a secret with characters written in any mixture of ways.

    The pattern begins with the set of possible first characters, so that the search skips all
    others. A lookbehind then finds which character it was.
    """
    spellings = _spellings(secret[0])
    begin = "".join(re.escape(start) for start, _ in spellings)
    first = "|".join(f"(?<={re.escape(start)}){rest}" for start, rest in spellings)
    others = "".join(_each(secret, _character, _any_blanks, 1))
    return re.compile(f"[{begin}](?i:(?:{first}){others})")


def _each(
    secret: str, character: Callable[[str], str], blanks: Callable[[str], str], at: int = 0
) -> Iterator[str]:
    """Yield a pattern for each character, and one for all blanks between two characters."""
    # In a short secret, flexible blanks would match ordinary words.
    is_exact = len(_BLANKS.sub(" ", secret.strip())) < SHORTEST_REDACTED
    while at < len(secret):
        found = None if is_exact else _BLANKS.match(secret, at)
        yield character(secret[at]) if found is None else blanks(found.group())
        at = at + 1 if found is None else found.end()


def _other_blanks(blanks: str) -> str:
    return f"(?:{_BETWEEN}){_as_many(blanks)}"


def _any_blanks(blanks: str) -> str:
    """Return a pattern for blanks, such as a line break with a margin, coloured or escaped."""
    known = "|".join(map(_character, sorted({*blanks, *" \t\n\r"})))
    return f"(?:{_BETWEEN}|{known}){_as_many(blanks)}"


def _as_many(blanks: str) -> str:
    return f"{{1,{max(MOST_BLANKS, 2 * len(blanks))}}}?"


def _character(character: str) -> str:
    return f"(?:{'|'.join(re.escape(start) + rest for start, rest in _spellings(character))})"


@cache
def _spellings(character: str) -> tuple[tuple[str, str], ...]:
    """Return each way of writing a character: its first literal, and a pattern for the rest."""
    cases = [
        form
        for form in dict.fromkeys((character, character.lower(), character.upper()))
        if len(form) == 1
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
        # A letter outside ASCII is one escape here, by its code point, and several bytes above.
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
