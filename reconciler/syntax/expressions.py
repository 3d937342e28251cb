"""The syntax of `${...}` in manifests, for reading, checking, hiding and completing it. Pure.

Every other `${...}` is data: dashboards and templates use such forms themselves. A near miss of an
expression is no data, because its author meant an expression; `$${` is a literal `${`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

from reconciler.syntax.suggestions import is_slip, nearest

OPEN: Final = "${"
LITERAL: Final = "$${"
"""The spelling of a literal `${`."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of a text: its characters, and how often the same characters come before it.

    `nth` is -1 if that was not counted.
    """

    written: str
    nth: int


class ExpressionKind(Enum):
    """The kinds of expressions; the value is the word that an expression begins with."""

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
# Words of other tools for the same things; `nearest` finds typing errors.
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
"""Longest near miss in characters; a longer text is something else, and not searched."""

FARTHEST: Final = 10_000
"""Up to this offset in a text, expressions with the same text are distinguished."""

_ANY: Final = "|".join(_WORDS)
_EXPRESSION: Final = re.compile(
    rf"\$\$\{{|\$\{{({_ANY}):([^}}]*)(\}}?)|\$\{{[ \t]*([A-Za-z]+)[ \t]*([:.])"
    rf"([^}}\n]{{0,{LONGEST_NAME}}})\}}"
)
_SEALED_BEGINS: Final = "${secret:"
_SEALED: Final = re.compile(rf"\$\{{secret:({_PROCESS_NAME}) (sha256:[0-9a-f]{{16}})\}}")
_SECRET: Final = re.compile(rf"\$\{{secret:({_PROCESS_NAME})\}}")
_ESCAPED_OPEN: Final = re.compile(r"\\(?:x|u00|U000000)24|\$\\")
NUMBERED_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_LARGEST_CHARACTER: Final = 0x10FFFF

OPEN_PATTERN: Final = r"\$\{"
"""The beginning of an expression in the text of a file that is not parsed."""

ANY_PATTERN: Final = rf"{OPEN_PATTERN}[^}}\n]*\}}"
"""Any expression in such a text."""

EACH_PATTERN: Final = rf"{OPEN_PATTERN}{ExpressionKind.EACH.value}:([\w-]+)\}}"
FILE_PATTERN: Final = rf"{OPEN_PATTERN}{ExpressionKind.FILE.value}:([^}}\n]+)\}}"
"""In these two patterns, the group is the name."""

EDITOR_PATTERN: Final = rf"\$\{{({_ANY}):[^}}]+\}}"
"""A pattern for editors, which accept an expression for a value of any type."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, and its place in the text."""

    word: ExpressionKind
    name: str
    spot: Spot


def whole(text: str) -> Expression | None:
    """Return the expression that is the whole text, or None."""
    found = next((part for part in parts_of(text) if part != ""), None) if OPEN in text else None
    return found if isinstance(found, Expression) and found.spot.written == text else None


@dataclass(frozen=True, slots=True)
class Malformed:
    """A text that begins like an expression, but is malformed."""

    word: ExpressionKind
    spot: Spot


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A text that was probably meant as an expression, and would be sent as text.

    `meant` is the expression, and `sure` says that hardly anything else can be meant.
    """

    meant: str
    spot: Spot
    sure: bool


TextPart: TypeAlias = str | Expression | Malformed | NearMiss
"""A piece of a text; plain text has no escapes left."""


def form_of(word: ExpressionKind) -> str:
    """Return the form of an expression, such as `${var:NAME}`."""
    return expression(word, _SHOWN[word])


def expression(word: ExpressionKind, name: str) -> str:
    """Return an expression as text."""
    return f"${{{word.value}:{name}}}"


_Part = TypeVar("_Part")


def pieces(
    text: str, pattern: re.Pattern[str], part: Callable[[re.Match[str]], _Part | None]
) -> Iterator[str | _Part]:
    """Yield the result of `part` for each match, and the texts between.

    Where `part` returns None, the match stays in the text.
    """
    end = 0
    for match in pattern.finditer(text):
        found = part(match)
        if found is not None:
            yield text[end : match.start()]
            yield found
            end = match.end()
    yield text[end:]


def parts_of(text: str) -> Iterator[TextPart]:
    """Yield the pieces of a text in their order."""
    return pieces(text, _EXPRESSION, _part)


def _part(match: re.Match[str]) -> TextPart | None:
    text, written = match.string, match.group()
    if written == LITERAL:
        return OPEN
    word, name, closed, other, separator, rest = match.groups()
    # Counting in a megabyte for each of its expressions would take minutes.
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
        # Other tools read fields this way, so only the exact word is a near miss.
        kind = _WORDS.get(folded)
    else:
        kind = _OTHER_WORDS.get(folded) or _WORDS.get(nearest(folded, _WORDS))
        if kind in _COMMON_WORDS and not is_slip(folded, kind.value):
            # Dashboards have variables with these names, as in `${filter:csv}`.
            kind = None
    if kind is None or not _NAMES[kind].fullmatch(name):
        return None
    return NearMiss(expression(kind, name), spot, sure=separator == ":")


def escaped(text: str) -> str:
    """Return a text with escapes, so that reading its expressions returns the original text.

    Only expressions and near misses are escaped, so most texts are returned unchanged.
    """
    if OPEN not in text:
        return text
    written = "".join(
        pieces(text, _EXPRESSION, lambda match: f"${match.group()}" if _part(match) else None)
    )
    parts = [*parts_of(written)]
    # A malformed expression may contain others, which are found once it is escaped.
    is_same = all(isinstance(part, str) for part in parts) and "".join(map(str, parts)) == text
    return written if is_same else text.replace(OPEN, LITERAL)


def refitted(text: str, values: Iterable[tuple[Expression, str]]) -> str | None:
    """Return a text with its values as expressions again, in order; None if that is not unique."""
    rest, fitted = text, ""
    for part, value in values:
        if not value or rest.count(value) != 1:
            return None
        before, rest = rest.split(value)
        fitted += before + part.spot.written
    return fitted + rest


# A file is checked once for each document in it, and for each item that makes a document.
@lru_cache(maxsize=4)
def is_allowed_in(source: str) -> bool:
    """Return whether a file's text may contain an expression, even if escapes hide it."""
    return OPEN in source or _ESCAPED_OPEN.search(source) is not None


def secrets_in(source: str) -> set[str]:
    """Return the names of the secrets in a file's text, even if it cannot be parsed."""
    if not is_allowed_in(source):
        return set()
    return {*_SECRET.findall(source), *_SECRET.findall(NUMBERED_ESCAPE.sub(_unescaped, source))}


def _unescaped(match: re.Match[str]) -> str:
    number = int(next(filter(None, match.groups())), 16)
    return chr(number) if number <= _LARGEST_CHARACTER else match.group()


def is_open(text: str) -> bool:
    """Return whether a text is filled in only when it is sent, so its form means nothing."""
    return _opens(text, ExpressionKind.SECRET) or _opens(text, ExpressionKind.REFERENCE)


def holds_reference(text: str) -> bool:
    """Return whether a text waits for the id of another resource."""
    return _opens(text, ExpressionKind.REFERENCE)


def _opens(text: str, word: ExpressionKind) -> bool:
    return f"{OPEN}{word.value}:" in text


def sealed_form(name: str, seal: str) -> str:
    """Return the text that replaces a secret in plans and journals."""
    return expression(ExpressionKind.SECRET, f"{name} {seal}")


def find_sealed(text: str) -> re.Match[str] | None:
    """Return the first match of a text by `sealed_form`; its groups are name and seal."""
    # A search for its beginning is much cheaper, and nearly always enough.
    return _SEALED.search(text) if _SEALED_BEGINS in text else None


def sealed_parts(text: str) -> Iterator[str | tuple[str, str]]:
    """Yield the pieces of a text of a journal: plain text, or the name and seal of a secret."""
    return pieces(text, _SEALED, lambda match: (match[1], match[2]))
