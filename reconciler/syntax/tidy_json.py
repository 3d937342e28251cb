"""JSON in the standard layout: numbers and texts keep their spelling, fields are ordered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reconciler.syntax.tidy_yaml import Order, with_breaks_of

WIDEST = 100
"""Longest line on which a list or an object may stay in one piece."""

STEP = 2
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:" \t\r\n]+|\n')
_OPENING = frozenset("[{")
_CLOSING = frozenset("]}")


def tidy_json(text: str, order: Order) -> str:
    """Return JSON in the standard layout, with the fields of a manifest in order."""
    made = "".join(_write(_ordered(_read(text), order))) + "\n"
    return with_breaks_of(text, made)


@dataclass(slots=True)
class _Token:
    """A token that is no line break.

    `length` is the number of tokens to the end of a container on one line, else 0.
    """

    text: str
    length: int = 0


def _read(text: str) -> list[_Token]:
    """Return the tokens of a text."""
    tokens: list[_Token] = []
    stack: list[tuple[int, int]] = []
    lines = 0
    for piece in _TOKEN.findall(text):
        if piece == "\n":
            lines += 1
            continue
        if piece in _OPENING:
            stack.append((len(tokens), lines))
        elif piece in _CLOSING:
            start, line = stack.pop()
            tokens[start].length = len(tokens) - start if line == lines else 0
        tokens.append(_Token(piece))
    return tokens


def _write(tokens: list[_Token]) -> Iterator[str]:
    """Yield the text; a container that does not fit on a line gets a line for each member."""
    place = depth = column = 0
    while place < len(tokens):
        piece = tokens[place].text
        if piece in _OPENING:
            whole = _whole(tokens, place, WIDEST - column)
            if whole:
                place += tokens[place].length or 1
                column += len(whole)
                yield whole
            else:
                depth += 1
                column = depth * STEP
                yield f"{piece}\n{' ' * column}"
        elif piece in _CLOSING:
            depth -= 1
            column = depth * STEP + 1
            yield f"\n{' ' * (column - 1)}{piece}"
        elif piece == ",":
            column = depth * STEP
            yield f",\n{' ' * column}"
        elif piece == ":":
            column += 2
            yield ": "
        else:
            column += len(piece)
            yield piece
        place += 1


def _whole(tokens: list[_Token], place: int, room: int) -> str:
    """Return a container on one line, or "" if it does not stay on one."""
    if tokens[place + 1].text in _CLOSING:
        return tokens[place].text + tokens[place + 1].text
    length = tokens[place].length
    if not 0 < length <= room:
        return ""
    spaced = {",": ", ", ":": ": "}
    end = place + length + 1
    whole = "".join(spaced.get(token.text, token.text) for token in tokens[place:end])
    has_comma = end < len(tokens) and tokens[end].text == ","
    return whole if len(whole) + has_comma <= room else ""


def _ordered(tokens: list[_Token], order: Order) -> list[_Token]:
    """Return the tokens with the fields of a manifest in order."""
    if not tokens or tokens[0].text != "{":
        return tokens
    fields: list[tuple[str, int]] = []
    depth, is_key = 0, False
    for place, token in enumerate(tokens):
        piece = token.text
        if depth == 1 and is_key and piece[0] == '"':
            fields.append((piece[1:-1], place))
        depth += (piece in _OPENING) - (piece in _CLOSING)
        is_key = depth == 1 and (piece == "," or place == 0)
    names = order.of([name for name, _ in fields])
    if names is None:
        return tokens
    stops = [start - 1 for _, start in fields[1:]] + [len(tokens) - 1]
    spans = {name: (start, stop) for (name, start), stop in zip(fields, stops, strict=True)}
    made = tokens[:1]
    for name in names:
        start, stop = spans[name]
        made.extend([*tokens[start:stop], _Token(",")])
    return [*made[:-1], tokens[-1]]
