"""PromQL: a library judges, and what it refuses is found and said in our words.

The library tells no place. It reads some things in time that grows with the square of the
operators, and ends the process where they are tens of thousands: such a query is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import promql_parser

from reconciler.queries import Matcher, Parsed, Wrong
from reconciler.queries.promql_blame import blamed, unparsed_words
from reconciler.queries.promql_grammar import Condition, Form, TooDeep, Unparsed, read
from reconciler.queries.promql_tokens import Sort, Token, meaning, tokens_of
from reconciler.queries.standins import Hole, filled, holes_in, marked, unmarked

MOST_SIGNS = 500
MOST_TRIED = 4
_NAME_LIKE = re.compile(r"[^A-Za-z0-9_:]", re.ASCII)


def parse_promql(text: str) -> Parsed:
    """Parse a query with or without variables in it."""
    holes = holes_in(text)
    if sum(token.sort is Sort.SIGN for token in tokens_of(text)) > MOST_SIGNS:
        return Parsed()
    if not holes:
        refused = refusal_of(text)
        if refused is not None:
            return Parsed(error=_wrong(text, refused))
        return _facts(text, [])
    first, *others = dict.fromkeys(_tried(text, holes))
    refused = refusal_of(first)
    for tried in (first, *others):
        if refusal_of(tried) is None:
            return _facts(first, holes)
    return _wrong_around(first, refused or "", holes)


def refusal_of(text: str) -> str | None:
    """Give why the library refuses a query, None where it does not."""
    try:
        promql_parser.parse(text)
    except ValueError as error:
        return str(error)
    return None


def _tried(text: str, holes: list[Hole]) -> Iterator[str]:
    """Yield the query with stand-ins for its variables, which may stand for a name or a number."""
    quoted = _quoted(text)

    def stand_in(number: str) -> str:
        def one(nth: int, hole: Hole) -> str:
            if any(start < hole.start < end for start, end in quoted):
                return marked(nth, hole)
            is_alone = not text[hole.start - 1 : hole.start].isalnum()
            if number and is_alone:
                return number.ljust(len(hole.written))
            before = text[: hole.start].rstrip()
            if (before.endswith(("[", ":")) and "[" in before) or before.lower().endswith("offset"):
                return "1m".ljust(len(hole.written))
            if is_alone and text[hole.end : hole.end + 1] == "(":
                return "abs".ljust(len(hole.written))[: len(hole.written)]
            return _NAME_LIKE.sub("_", hole.written)

        return filled(text, holes, one)

    for number in ("", "1", "1m", "sum"):
        yield stand_in(number)


def _quoted(text: str) -> list[tuple[int, int]]:
    """Give where texts in quotes stand, in a query whose variables mean nothing yet."""
    strings = re.finditer(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`|#[^\n]*""", text)
    return [found.span() for found in strings]


def _wrong_around(text: str, refused: str, holes: list[Hole]) -> Parsed:
    """Give what is wrong where it cannot be a variable's value that decides."""
    wrong = _wrong(text, refused)
    is_far = not any(hole.touches(wrong.start - 1, wrong.start + wrong.width + 1) for hole in holes)
    try:
        read(text)
    except Unparsed:
        return Parsed(error=wrong) if is_far else Parsed()
    except TooDeep:
        return Parsed()
    # Its types may be right once the variables have their values.
    return Parsed()


def _wrong(text: str, refused: str) -> Wrong:
    try:
        node = read(text)
    except Unparsed as unparsed:
        return unparsed_words(text, unparsed)
    except TooDeep:
        return Wrong("this is no query that can be parsed", 0, len(text.rstrip()))
    return blamed(text, node, refused, refusal_of)


def _facts(text: str, holes: list[Hole]) -> Parsed:
    """Give what a good query uses; one that only the library can read says nothing of it."""
    try:
        node = read(text)
    except (Unparsed, TooDeep):
        return Parsed()
    named = {text[hole.start : hole.end]: hole.written for hole in holes}
    metrics: dict[str, None] = {}
    matchers: dict[Matcher, None] = {}
    for one in node.walk():
        if one.form is Form.SELECTOR:
            if one.head.sort is Sort.NAME:
                metrics[_written(one.head, holes, named)] = None
            for condition in one.conditions:
                found = _matcher(condition, holes, named)
                if found.label == "__name__" and found.op == "=":
                    metrics[found.value] = None
                else:
                    matchers[found] = None
    return Parsed(metrics=tuple(metrics), matchers=tuple(matchers))


def _matcher(condition: Condition, holes: list[Hole], named: dict[str, str]) -> Matcher:
    label = "__name__" if condition.label is None else _written(condition.label, holes, named)
    return Matcher(label, condition.op, unmarked(meaning(condition.value), holes))


def _written(token: Token, holes: list[Hole], named: dict[str, str]) -> str:
    """Give a name as it was written, its variables too."""
    if token.sort is Sort.STRING:
        return unmarked(meaning(token), holes)
    text = token.text
    for hole in holes:
        if token.start <= hole.start and hole.end <= token.end:
            stand_in = next((one for one, its in named.items() if its == hole.written), "")
            text = text.replace(stand_in, hole.written, 1) if stand_in else text
    return text
