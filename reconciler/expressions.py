"""The syntax of `${...}` in manifests, for all who read, check, hide or offer it. Pure.

Every other `${...}` is data: dashboards and templates use such forms themselves.
A near miss of an expression is no data, as whoever wrote it meant one; `$${`
says that a `${` is meant as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, TypeAlias

from reconciler.suggestions import is_slip, nearest

OPEN: Final = "${"
LITERAL: Final = "$${"
"""How a `${` is written that is meant as text."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of a text by what stands there, and how often the same stands before it.

    `nth` is -1 where that was not counted.
    """

    written: str
    nth: int


class ExpressionKind(Enum):
    """What an expression gives; its value is the word that it begins with."""

    VARIABLE = "var"
    SECRET = "secret"  # noqa: S105 - the word, and no secret
    REFERENCE = "ref"
    EACH = "each"
    FILE = "file"


_PROCESS_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_NAMES: Final = {
    ExpressionKind.VARIABLE: re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*"),
    ExpressionKind.SECRET: re.compile(_PROCESS_NAME),
    ExpressionKind.REFERENCE: re.compile(r"[A-Za-z]+/[a-z0-9][a-z0-9._-]*"),
    ExpressionKind.EACH: re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*"),
    ExpressionKind.FILE: re.compile(r"[^\s{}$](?:[^{}$\r\n]*[^\s{}$])?"),
}
_SHOWN: Final = {
    ExpressionKind.VARIABLE: "NAME",
    ExpressionKind.SECRET: "NAME",
    ExpressionKind.REFERENCE: "Kind/name",
    ExpressionKind.EACH: "KEY",
    ExpressionKind.FILE: "PATH",
}
_WORDS: Final = {word.value: word for word in ExpressionKind}
# What other tools call the same things; `nearest` finds slips of the fingers.
_OTHER_WORDS: Final = {
    "env": ExpressionKind.SECRET,
    "environ": ExpressionKind.SECRET,
    "variable": ExpressionKind.VARIABLE,
    "variables": ExpressionKind.VARIABLE,
    "reference": ExpressionKind.REFERENCE,
    "references": ExpressionKind.REFERENCE,
    "include": ExpressionKind.FILE,
}

_COMMON_WORDS: Final = (ExpressionKind.EACH, ExpressionKind.FILE)

LONGEST_NAME: Final = 300
"""Characters of a near miss; what is longer is some other text, and is not searched to its end."""

FARTHEST: Final = 10_000
"""Up to this offset in a text an expression is told apart from others that read the same."""

_ANY: Final = "|".join(_WORDS)
_EXPRESSION: Final = re.compile(
    rf"\$\$\{{|\$\{{({_ANY}):([^}}]*)(\}}?)|\$\{{[ \t]*([A-Za-z]+)[ \t]*([:.])"
    rf"([^}}\n]{{0,{LONGEST_NAME}}})\}}"
)
_SEALED_BEGINS: Final = "${secret:"
_SEALED: Final = re.compile(rf"\$\{{secret:({_PROCESS_NAME}) (sha256:[0-9a-f]{{16}})\}}")
_SECRET: Final = re.compile(rf"\$\{{secret:({_PROCESS_NAME})\}}")
_ESCAPED_OPEN: Final = re.compile(r"\\(?:x|u00|U000000)24|\$\\")
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_LARGEST_CHARACTER: Final = 0x10FFFF

OPEN_PATTERN: Final = r"\$\{"
"""Where an expression begins in the text of a file that nobody parses."""

ANY_PATTERN: Final = rf"{OPEN_PATTERN}[^}}\n]*\}}"
"""An expression in such a text, whatever it names."""

EACH_PATTERN: Final = rf"{OPEN_PATTERN}{ExpressionKind.EACH.value}:([\w-]+)\}}"
FILE_PATTERN: Final = rf"{OPEN_PATTERN}{ExpressionKind.FILE.value}:([^}}\n]+)\}}"
"""What it names is the group of these two."""

EDITOR_PATTERN: Final = rf"\$\{{({_ANY}):[^}}]+\}}"
"""A regular expression for editors, which take an expression for a value of any type."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, and where it stands in the text."""

    word: ExpressionKind
    name: str
    spot: Spot


def whole(text: str) -> Expression | None:
    """Give the expression that a text consists of; None where it holds more, or none."""
    found = next((part for part in parts_of(text) if part != ""), None) if OPEN in text else None
    return found if isinstance(found, Expression) and found.spot.written == text else None


@dataclass(frozen=True, slots=True)
class Malformed:
    """What begins as an expression and is none."""

    word: ExpressionKind
    spot: Spot


@dataclass(frozen=True, slots=True)
class NearMiss:
    """What was likely meant as an expression, and would go out as text.

    `meant` is the expression, and `sure` tells that hardly anything else can be meant.
    """

    meant: str
    spot: Spot
    sure: bool


TextPart: TypeAlias = str | Expression | Malformed | NearMiss
"""A piece of a text; what is plain text has no escape left in it."""


def form_of(word: ExpressionKind) -> str:
    """Give the form of an expression, as `${var:NAME}`."""
    return expression(word, _SHOWN[word])


def expression(word: ExpressionKind, name: str) -> str:
    """Write an expression."""
    return f"${{{word.value}:{name}}}"


def parts_of(text: str) -> Iterator[TextPart]:
    """Yield the pieces of a text in their order."""
    end = 0
    for match in _EXPRESSION.finditer(text):
        found = _part(match, text)
        if found is not None:
            yield text[end : match.start()]
            yield found
            end = match.end()
    yield text[end:]


def _part(match: re.Match[str], text: str) -> TextPart | None:
    written = match.group()
    if written == LITERAL:
        return OPEN
    word, name, closed, other, separator, rest = match.groups()
    # Counting through a megabyte for each of its expressions would take minutes.
    near_enough = match.start() < FARTHEST
    spot = Spot(written, text.count(written, 0, match.start()) if near_enough else -1)
    if word is None:
        return _near_miss(other, separator, rest.strip(), spot)
    kind = _WORDS[word]
    if closed and _NAMES[kind].fullmatch(name):
        return Expression(kind, name, spot)
    return Malformed(kind, spot)


def _near_miss(word: str, separator: str, name: str, spot: Spot) -> NearMiss | None:
    folded = word.casefold()
    if separator == ".":
        # Other tools read fields so, and only the very word makes it doubtful.
        kind = _WORDS.get(folded)
    else:
        kind = _OTHER_WORDS.get(folded) or _WORDS.get(nearest(folded, _WORDS))
        if kind in _COMMON_WORDS and not is_slip(folded, kind.value):
            # Dashboards have variables that are called so, as in `${filter:csv}`.
            kind = None
    if kind is None or not _NAMES[kind].fullmatch(name):
        return None
    return NearMiss(expression(kind, name), spot, sure=separator == ":")


def escaped(text: str) -> str:
    """Write a text so that reading its expressions gives it back as it is.

    Only what would be read as an expression, or be complained of as nearly one, is escaped;
    so most texts are given back themselves.
    """
    if OPEN not in text:
        return text
    written, end = "", 0
    for match in _EXPRESSION.finditer(text):
        if _part(match, text) is not None:
            written += f"{text[end : match.start()]}${match.group()}"
            end = match.end()
    written += text[end:]
    parts = [*parts_of(written)]
    # What is malformed may hold others, which are seen once it is escaped.
    is_same = all(isinstance(part, str) for part in parts) and "".join(map(str, parts)) == text
    return written if is_same else text.replace(OPEN, LITERAL)


# A file is asked about once for each document in it, and once for each item that makes one.
@lru_cache(maxsize=4)
def may_stand_in(source: str) -> bool:
    """Tell whether a file's text may hold an expression, also where quotes hide its signs."""
    return OPEN in source or _ESCAPED_OPEN.search(source) is not None


def secrets_in(source: str) -> set[str]:
    """Give the names of the secrets that a file's text holds, also where it cannot be parsed."""
    if not may_stand_in(source):
        return set()
    return {*_SECRET.findall(source), *_SECRET.findall(_ESCAPE.sub(_unescaped, source))}


def _unescaped(match: re.Match[str]) -> str:
    number = int(next(filter(None, match.groups())), 16)
    return chr(number) if number <= _LARGEST_CHARACTER else match.group()


def is_open(text: str) -> bool:
    """Tell a text that is filled in only when it is sent, so that its form says nothing."""
    return _opens(text, ExpressionKind.SECRET) or _opens(text, ExpressionKind.REFERENCE)


def holds_reference(text: str) -> bool:
    """Tell a text that waits for the id of another resource."""
    return _opens(text, ExpressionKind.REFERENCE)


def _opens(text: str, word: ExpressionKind) -> bool:
    return f"{OPEN}{word.value}:" in text


def sealed_form(name: str, seal: str) -> str:
    """Write what stands for a secret in plans and journals."""
    return expression(ExpressionKind.SECRET, f"{name} {seal}")


def find_sealed(text: str) -> re.Match[str] | None:
    """Find the first that `sealed_form` wrote; its groups are name and seal."""
    # Looking for what it begins with is much cheaper, and nearly always enough.
    return _SEALED.search(text) if _SEALED_BEGINS in text else None


def sealed_parts(text: str) -> Iterator[str | tuple[str, str]]:
    """Yield the pieces of a text as journals keep it: plain, or a secret's name and its seal."""
    end = 0
    for match in _SEALED.finditer(text):
        yield text[end : match.start()]
        yield match[1], match[2]
        end = match.end()
    yield text[end:]
