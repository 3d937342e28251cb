"""JSON in the standard layout: numbers and texts keep their spelling, fields are ordered."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

from reconciler.syntax.tidy_yaml import Order

WIDEST = 100
"""Longest line on which a list or an object may stay in one piece."""

STEP = 2
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:" \t\r\n]+|\n')
_OPENING = frozenset("[{")
_CLOSING = frozenset("]}")


def tidy_json(text: str, order: Order) -> str:
    """Return JSON in the standard layout, with the fields of a manifest in order."""
    newline = "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"
    writer = _Writer(order)
    writer.read(text)
    writer.write()
    made = "".join(writer.parts) + "\n"
    return made.replace("\n", newline) if newline != "\n" else made


@dataclass(slots=True)
class _Writer:
    """Writer of JSON. `ends` has the end of each container by its start, -1 over several lines.

    `tokens` has no line breaks.
    """

    order: Order
    tokens: list[str] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Read the tokens of a text, and find which containers are on one line."""
        tokens = self.tokens
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
                self.ends[start] = len(tokens) if line == lines else -1
            tokens.append(piece)
        self.tokens = _ordered(tokens, self.order, self.ends)

    def write(self) -> None:
        """Write the tokens; a container that does not fit on a line gets a line for each member."""
        tokens, parts, ends = self.tokens, self.parts, self.ends
        place = depth = column = 0
        while place < len(tokens):
            piece = tokens[place]
            if piece in _OPENING:
                whole = self._whole(place, WIDEST - column)
                if whole:
                    parts.append(whole)
                    place = ends[place] if tokens[place + 1] not in _CLOSING else place + 1
                    column += len(whole)
                else:
                    depth += 1
                    column = depth * STEP
                    parts.append(f"{piece}\n{' ' * column}")
            elif piece in _CLOSING:
                depth -= 1
                column = depth * STEP + 1
                parts.append(f"\n{' ' * (column - 1)}{piece}")
            elif piece == ",":
                column = depth * STEP
                parts.append(f",\n{' ' * column}")
            elif piece == ":":
                column += 2
                parts.append(": ")
            else:
                column += len(piece)
                parts.append(piece)
            place += 1

    def _whole(self, place: int, room: int) -> str:
        """Return a container on one line, or "" if it does not stay on one."""
        if self.tokens[place + 1] in _CLOSING:
            return self.tokens[place] + self.tokens[place + 1]
        end = self.ends[place]
        if end < 0 or end - place > room:
            return ""
        spaced = {",": ", ", ":": ": "}
        whole = "".join(spaced.get(token, token) for token in self.tokens[place : end + 1])
        has_comma = self.tokens[end + 1 : end + 2] == [","]
        return whole if len(whole) + has_comma <= room else ""


def _ordered(tokens: list[str], order: Order, ends: dict[int, int]) -> list[str]:
    """Return the tokens with the fields of a manifest in order; `ends` is updated."""
    if tokens[:1] != ["{"]:
        return tokens
    fields: list[tuple[str, int]] = []
    depth, is_key = 0, False
    for place, piece in enumerate(tokens):
        if depth == 1 and is_key and piece[0] == '"':
            fields.append((piece[1:-1], place))
        depth += (piece in _OPENING) - (piece in _CLOSING)
        is_key = depth == 1 and (piece == "," or place == 0)
    names = order.of([name for name, _ in fields])
    if names is None:
        return tokens
    stops = [start - 1 for _, start in fields[1:]] + [len(tokens) - 1]
    spans = {name: (start, stop) for (name, start), stop in zip(fields, stops, strict=True)}
    made = ["{"]
    places = sorted(ends)
    moved = {0: -1 if ends[0] < 0 else len(tokens) - 1}
    for name in names:
        start, stop = spans[name]
        by = len(made) - start
        for at in places[bisect_left(places, start) : bisect_left(places, stop)]:
            moved[at + by] = ends[at] + by if ends[at] >= 0 else -1
        made.extend([*tokens[start:stop], ","])
    ends.clear()
    ends.update(moved)
    made[-1] = "}"
    return made
