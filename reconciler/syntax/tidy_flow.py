"""Parts of YAML between braces or brackets, and keys."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reconciler.syntax.tidy_scalars import folded_lines
from reconciler.syntax.tidy_sheet import BLANKS, STEP, Sheet

LONGEST_KEY = 1000
"""Longest key that is written with a colon after it; the parser looks at most 1,024 ahead."""

_ANCHOR = re.compile(r"&[\w-]+")
_COMMENTS = re.compile(r"(?:[ \t\r\n]+|(?<![^ \t\r\n])#[^\n]*)*")


@dataclass(slots=True)
class FlowPart:
    """A part in flow from `start` to `end`; the part itself begins at `own`, after an anchor.

    `style` is the quote of a text or the opening bracket of a container. The members of a mapping
    are alternating keys and values.
    """

    start: int
    end: int
    own: int
    anchor: str = ""
    style: str = ""
    members: list[FlowPart] | None = None

    def pairs(self) -> list[tuple[FlowPart | None, FlowPart]]:
        """Return each value with its key, which is None in a list."""
        members = self.members or []
        if self.style == "{":
            return list(zip(members[::2], members[1::2], strict=True))
        return [(None, member) for member in members]


def split_anchor(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the anchor at the start of a node, and the place where the node itself begins."""
    found = _ANCHOR.match(text, start)
    place = found.end() if found is not None else start
    return text[start:place], after_comments(text, place, end)


def after_comments(text: str, place: int, end: int | None = None) -> int:
    """Return the first place that is neither blank nor comment, from a place on."""
    stop = len(text) if end is None else end
    found = _COMMENTS.match(text, place, stop)
    return found.end() if found is not None else place


def is_long_key(written: str, style: str) -> bool:
    """Return whether a key does not fit on a line with its colon."""
    return style in ("|", ">") or "\n" in written or len(written) > LONGEST_KEY


def on_one_line(text: str, part: FlowPart) -> str:
    """Return a part that is on one line, with one blank after each comma and colon."""
    lead = f"&{part.anchor} " if part.anchor else ""
    if part.members is None:
        return (lead + text[part.own : part.end]).rstrip(BLANKS)
    joined = ", ".join(_member(text, key, value) for key, value in part.pairs())
    return f"{lead}{{{joined}}}" if part.style == "{" else f"{lead}[{joined}]"


def _member(text: str, key: FlowPart | None, value: FlowPart) -> str:
    if key is None:
        return on_one_line(text, value)
    name = on_one_line(text, key)
    if value.start == value.end:
        return name
    if is_long_key(name, key.style):
        name = f"? {name} "
    return f"{name}: {on_one_line(text, value)}"


@dataclass(slots=True)
class FlowWriter:
    """Writer of the flow parts of a text onto a sheet."""

    text: str
    sheet: Sheet

    def put(self, part: FlowPart, column: int) -> None:
        """Write a part in flow; if it has several lines, each member gets a line."""
        text = self.text
        if "\n" not in text[part.start : part.end]:
            self.sheet.put(on_one_line(text, part), column)
            return
        if part.anchor:
            self.sheet.put(f"&{part.anchor}", column)
            self.sheet.beside(text[part.start + 1 + len(part.anchor) : part.own], column)
        if not part.style or part.members is None:
            if part.own < part.end:
                self.sheet.put_lines(folded_lines(text[part.own : part.end], part.style), column)
            return
        self.sheet.put(part.style, column)
        is_bare = text[part.own] not in "{["
        place = part.own if is_bare else part.own + 1
        pairs = part.pairs()
        for nth, (key, value) in enumerate(pairs):
            self.sheet.between(text[place : (key or value).start], 0, column + STEP)
            self.sheet.end_line()
            if key is not None:
                self._key(key, value, column + STEP)
            else:
                self.put(value, column + STEP)
            # The parser places a missing value after the comments that follow its key.
            is_left_out = key is not None and value.start == value.end
            place = key.end if key is not None and is_left_out else value.end
            if nth + 1 < len(pairs):
                self.sheet.line = (self.sheet.line or "") + ","
        closing = part.end if is_bare else part.end - 1
        self.sheet.between(text[place:closing], 0, column + STEP)
        self.sheet.end_line()
        self.sheet.line = " " * column + ("}" if part.style == "{" else "]")

    def _key(self, key: FlowPart, value: FlowPart, column: int) -> None:
        written = on_one_line(self.text, key)
        is_long = is_long_key(written, key.style)
        if is_long:
            self.sheet.put("?", column)
            self.put(key, column + STEP)
        else:
            self.sheet.put(written, column)
        if value.start == value.end:
            return
        if not is_long:
            self.sheet.line = f"{self.sheet.line}:"
        gap = self.text[key.end : value.start]
        if "#" in gap:
            self.sheet.between(gap, 0, column + STEP)
        if is_long:
            self.sheet.put(":", column)
        is_joined = value.members is not None and self.sheet.line is not None
        self.put(value, column if is_joined else column + STEP)
