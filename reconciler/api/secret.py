"""The API key and other secrets: held so that nothing prints them. Source: docs/security.md."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from reconciler.errors import NotAuthorised

API_KEY = "RECONCILER_API_KEY"
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
    value = environ.get(API_KEY, "")
    if not value.strip():
        raise NotAuthorised(f"there is no API key: set {API_KEY}")
    if any(not "!" <= character <= "~" for character in value):
        raise NotAuthorised(
            f"{API_KEY} holds a space, a line break or a character that is not ASCII; "
            "no header can carry it"
        )
    return Secret(value)


# What is neither plain nor encoded as a whole holds one of these.
_MARKS = re.compile(r"[%\\&+]")


class Redaction:
    """The last filter before any text leaves the process.

    It knows a secret as it is, as hexadecimal digits, inside base64 wherever it
    begins there, and with any of its characters written as URLs, JSON, HTML or
    shells write them. What it cannot know is a secret that was cut or encrypted.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: list[str] = []
        self._secrets: list[str] = []
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Hide a secret from now on, in each form in which it may be written."""
        if len(secret) < SHORTEST_REDACTED:
            return
        encoded = secret.encode("utf-8", "surrogatepass")
        forms = {secret, encoded.hex(), encoded.hex().upper(), *_in_base64(encoded)}
        if not forms.issubset(self._forms):
            self._forms = sorted({*self._forms, *forms}, key=len, reverse=True)
            self._secrets.append(secret)

    def __call__(self, text: str) -> str:
        """Give the text with every secret replaced by `***`."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        if _MARKS.search(text):
            for secret in self._secrets:
                text = _spelt(secret).sub(HIDDEN, text)
        return text


def _in_base64(secret: bytes) -> Iterator[str]:
    """Give what of a secret is the same in base64, whatever stands before and after it."""
    for before in range(3):
        first = (before * 8 + 5) // 6
        last = (before + len(secret)) * 8 // 6
        padded = b"\0" * before + secret
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(padded).decode()[first:last]


# Compiling one takes longer than all else that most commands do.
@cache
def _spelt(secret: str) -> re.Pattern[str]:
    r"""Give a pattern for a secret whose characters are written in any mixture of ways.

    Each way begins with a literal, so that the search skips text that holds none
    of the first character, `%`, `\` and `&`.
    """
    return re.compile("".join(f"(?:{'|'.join(_spellings(one))})" for one in secret))


def _spellings(character: str) -> Iterator[str]:
    encoded = character.encode("utf-8", "surrogatepass")
    units = character.encode("utf-16-be", "surrogatepass").hex()
    yield re.escape(character)
    yield "".join(f"%(?:25)*{_digits(f'{byte:02x}')}" for byte in encoded)
    yield "".join(rf"\\\\*u{_digits(units[at : at + 4])}" for at in range(0, len(units), 4))
    yield "".join(rf"\\\\*x{_digits(f'{byte:02x}')}" for byte in encoded)
    yield rf"\\\\*(?:x|U0*){_digits(f'{ord(character):02x}')}"
    yield rf"&#(?:0*{ord(character)}|[xX]0*{_digits(f'{ord(character):x}')});"
    if character in _BY_NAME:
        yield _BY_NAME[character]
    if short := _BY_LETTER.get(character, character if not character.isalnum() else ""):
        yield rf"\\\\*{re.escape(short)}"
    if character == " ":
        yield r"\+"


def _digits(hexadecimal: str) -> str:
    return "".join(
        f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in hexadecimal
    )
