"""Tokens of a PromQL query with their places. Invalid text becomes a token that says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class TokenKind(Enum):
    """The kind of a token."""

    NAME = "a name"
    NUMBER = "a number"
    DURATION = "a duration"
    STRING = "text in quotes"
    SIGN = "a sign"
    BAD_NUMBER = "a number or duration that is none"
    UNCLOSED = "text without a closing quote"
    STRANGE = "a character that means nothing here"
    END = "the end"


@dataclass(frozen=True, slots=True)
class Token:
    """One token, from `start` up to `end`."""

    sort: TokenKind
    text: str
    start: int
    end: int

    def is_sign(self, *signs: str) -> bool:
        """Return whether it is one of these signs."""
        return self.sort is TokenKind.SIGN and self.text in signs

    def is_word(self, *words: str) -> bool:
        """Return whether it is one of these words, in upper or lower case."""
        return self.sort is TokenKind.NAME and self.text.lower() in words


_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")
_STRING = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`""")
_NUMERIC = re.compile(r"[0-9][\w.]*(?:(?<=[eE])[+-][0-9]+)?|\.[0-9]\w*", re.ASCII)
_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII
)
_DURATION = re.compile(
    r"(?=[0-9])(?:[0-9]+y)?(?:[0-9]+w)?(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m(?!s))?"
    r"(?:[0-9]+s)?(?:[0-9]+ms)?",
    re.ASCII,
)
_NAME = re.compile(r"[A-Za-z_:][\w:]*", re.ASCII)
# The colon of a subquery is not part of a name.
_LABEL = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SIGN = re.compile(r"=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],@:]")
OPENING = {"(": ")", "[": "]", "{": "}"}


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of a query, the end last; an invalid token ends the list."""
    place = 0
    inside: list[str] = []
    while True:
        space = _SPACE.match(text, place)
        place = space.end() if space is not None else place
        token = _token_at(text, place, inside[-1] if inside else "")
        if token.is_sign(*OPENING):
            inside.append(token.text)
        elif token.is_sign(*OPENING.values()) and inside:
            inside.pop()
        yield token
        if token.sort in (
            TokenKind.END,
            TokenKind.UNCLOSED,
            TokenKind.STRANGE,
            TokenKind.BAD_NUMBER,
        ):
            return
        place = token.end


def _token_at(text: str, place: int, inside: str) -> Token:  # noqa: PLR0911 - a table
    if place >= len(text):
        return Token(TokenKind.END, "", place, place)
    if text[place] in "'\"`":
        found = _STRING.match(text, place)
        if found is None:
            return Token(TokenKind.UNCLOSED, text[place:], place, len(text))
        return Token(TokenKind.STRING, found.group(), place, found.end())
    if (found := _NUMERIC.match(text, place)) is not None:
        return Token(_sort_of(found.group()), found.group(), place, found.end())
    if (found := (_LABEL if inside in ("{", "[") else _NAME).match(text, place)) is not None:
        word = found.group()
        sort = (
            TokenKind.NUMBER if word.lower() in ("inf", "nan") and inside != "{" else TokenKind.NAME
        )
        return Token(sort, word, place, found.end())
    if (found := _SIGN.match(text, place)) is not None:
        return Token(TokenKind.SIGN, found.group(), place, found.end())
    return Token(TokenKind.STRANGE, text[place], place, place + 1)


def _sort_of(word: str) -> TokenKind:
    if _NUMBER.fullmatch(word):
        return TokenKind.NUMBER
    return TokenKind.DURATION if _DURATION.fullmatch(word) else TokenKind.BAD_NUMBER


def meaning(token: Token) -> str:
    """Return the content of a text in quotes."""
    if token.text.startswith("`"):
        return token.text[1:-1]
    try:
        return str(ast.literal_eval(token.text))
    except (ValueError, SyntaxError):
        return token.text[1:-1]
