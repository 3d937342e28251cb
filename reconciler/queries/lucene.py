"""Lucene: a library decides, and its positions are mapped to the whole query."""

from __future__ import annotations

import re
from typing import Any

from luqum.exceptions import ParseError
from luqum.thread import parse as parse_text
from luqum.tree import SearchField

from reconciler.queries import Parsed, QueryProblem, filled, holes_in, marked, unmarked

MOST_PARTS = 5_000
_POSITION = re.compile(r"at position (\d+)")
_TOKEN = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|/(?:[^/\\]|\\.)*/)|(?P<word>(?:\\.|[^\s()\[\]{}:"\\])+)"""
    r"|(?P<sign>\S)",
    re.DOTALL,
)
# In Lucene a single quote is a letter like others; the library refuses it at a word's start.
_QUOTE = re.compile(r"(?<![^\s(:\[{+-])'")
_CLOSING = {"(": (")",), "[": ("]", "}"), "{": ("}", "]")}
_UNENDED = {
    '"': 'this " is never closed',
    "/": "this / begins a regular expression that is never closed",
    "\\": "a backslash has nothing after it",
}
_EXISTS = "_exists_"


def parse_lucene(text: str) -> Parsed:
    """Parse a query with or without variables in it."""
    holes = holes_in(text)
    tried = _QUOTE.sub("_", filled(text, holes, marked))
    if len(tried) > MOST_PARTS and len(_TOKEN.findall(tried)) > MOST_PARTS:
        return Parsed()
    try:
        tree = parse_text(tried)
    except ParseError as error:
        wrong = _wrong(text, tried, str(error))
        hidden = any(hole.touches(wrong.start, wrong.start + wrong.width) for hole in holes)
        return Parsed() if hidden else Parsed(error=wrong)
    except (ArithmeticError, ValueError):
        # The library fails at a boost or distance as `1.2.3`, and at a slop that is not whole.
        return Parsed()
    return Parsed(fields=tuple(unmarked(name, holes) for name in _fields(tree)))


def _fields(tree: Any) -> dict[str, None]:
    """Return the names of the fields, without their escapes, in their order."""
    names: dict[str, None] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, SearchField):
            name = str(node.name)
            name = str(getattr(node.expr, "value", name)) if name == _EXISTS else name
            names[name.replace("\\", "")] = None
        waiting.extend(reversed(node.children))
    return names


def _wrong(text: str, tried: str, refused: str) -> QueryProblem:
    found = _POSITION.search(refused)
    opened = _opened(tried, len(tried) if found is None else int(found[1]))
    if found is None:
        return _ended(text, tried, opened)
    start = int(found[1])
    here = text[start : start + 1]
    message = _UNENDED.get(here)
    if here in (")", "]", "}") and not any(here in _CLOSING[bracket] for _, bracket in opened):
        message = f"this `{here}` closes nothing: remove it"
    return QueryProblem(message, start, 1) if message else _misplaced(text, start, opened)


def _misplaced(text: str, start: int, opened: list[tuple[int, str]]) -> QueryProblem:
    token = _TOKEN.match(text, start)
    written = token.group() if token is not None else text[start : start + 1]
    width = max(1, len(written))
    if opened and opened[-1][1] in "[{" and written != "TO":
        message = f"`{written}` is not allowed here: a range is written `[FROM TO UNTIL]`"
    elif written in ("AND", "OR"):
        message = f"`{written}` joins two conditions, and none is before it"
    elif written == ")":
        message = "a condition is missing before this `)`"
    else:
        message = f"`{written}` is not allowed here: quote it, or put a backslash before it"
    return QueryProblem(message, start, width)


def _ended(text: str, tried: str, opened: list[tuple[int, str]]) -> QueryProblem:
    if opened:
        start, bracket = opened[-1]
        return QueryProblem(
            f"this `{bracket}` is never closed: add `{_CLOSING[bracket][0]}`", start, 1
        )
    last = [*_TOKEN.finditer(tried)][-1]
    written = text[last.start() : last.end()]
    message = f"the query ends after `{written}`, where a condition is missing"
    return QueryProblem(message, last.start(), last.end() - last.start())


def _opened(text: str, end: int) -> list[tuple[int, str]]:
    """Return the brackets that are open at a position, the innermost last."""
    opened: list[tuple[int, str]] = []
    for token in _TOKEN.finditer(text, 0, end):
        sign = token["sign"]
        if sign in _CLOSING:
            opened.append((token.start(), sign))
        elif sign and opened and sign in _CLOSING[opened[-1][1]]:
            opened.pop()
    return opened
