"""PromQL: a library decides; the place and the text of an error are found here.

The library reports no position. Its time grows with the square of the number of operators for some
queries, and tens of thousands of them end the process: such a query is not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import promql_parser

from reconciler.queries import Matcher, Parsed, QueryProblem
from reconciler.queries.promql_blame import blamed, describe_unparsed
from reconciler.queries.promql_grammar import Form, TooDeep, Unparsed, read
from reconciler.queries.promql_tokens import Token, TokenKind, meaning
from reconciler.queries.standins import Hole, filled, holes_in, marked

MOST_SIGNS = 500
_SIGN = re.compile(r"[-+*/%^<>=(){}\[\],@]|\b(?:and|or|unless|atan2|offset)\b", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=[A-Za-z_])-(?=[A-Za-z_])")
_NAME_LIKE = re.compile(r"[^A-Za-z0-9_:]", re.ASCII)


def parse_promql(text: str) -> Parsed:
    """Parse a query with or without variables in it."""
    good, wrong = judged(text)
    return _facts(good, text) if good else Parsed(error=wrong)


def judged(text: str) -> tuple[str, QueryProblem | None]:
    """Return the query as the library accepts it, "" if it does not, and its problem."""
    if len(_SIGN.findall(text)) > MOST_SIGNS:
        return "", None
    holes = holes_in(text)
    first, *others = dict.fromkeys(_tried(text, holes)) if holes else (text,)
    refused = refusal_of(first)
    if refused is None:
        return first, None
    for tried in (*others, _with_hyphens(first)):
        if refusal_of(tried) is None:
            return tried, None
    if holes:
        return "", _wrong_around(first, refused, holes).error
    return "", _wrong(text, refused)


def _with_hyphens(text: str) -> str:
    """Replace hyphens between letters, as some exporters write them in names."""
    quoted = _quoted(text)

    def joined(found: re.Match[str]) -> str:
        place = found.start()
        return "-" if any(start < place < end for start, end in quoted) else "_"

    return _HYPHEN.sub(joined, text)


def refusal_of(text: str) -> str | None:
    """Return why the library refuses a query, None if it does not."""
    try:
        promql_parser.parse(text)
    except ValueError as error:
        return str(error)
    return None


def _tried(text: str, holes: list[Hole]) -> Iterator[str]:
    """Yield the query with placeholders for its variables: names, numbers, durations, `sum`."""
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
    """Return where texts in quotes and comments are, in a query with its variables unread."""
    strings = re.finditer(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`|#[^\n]*""", text)
    return [found.span() for found in strings]


def _wrong_around(text: str, refused: str, holes: list[Hole]) -> Parsed:
    """Return the problem, unless a variable's value may decide it."""
    wrong = _wrong(text, refused)
    near = (wrong.start - 1, wrong.start + wrong.width + 1)
    if any(hole.touches(*near) for hole in holes):
        return Parsed()
    quoted = _quoted(text)
    if all(any(start < hole.start < end for start, end in quoted) for hole in holes):
        return Parsed(error=wrong)
    # Its types may be right once the variables have their values.
    return Parsed(error=wrong) if _is_unparsed(text) else Parsed()


def _is_unparsed(text: str) -> bool:
    try:
        read(text)
    except Unparsed:
        return True
    except TooDeep:
        return False
    return False


def _wrong(text: str, refused: str) -> QueryProblem:
    try:
        node = read(text)
    except Unparsed as unparsed:
        return describe_unparsed(text, unparsed)
    except TooDeep:
        return QueryProblem("this is no query that can be parsed", 0, len(text.rstrip()))
    return blamed(text, node, refused, refusal_of)


def _facts(text: str, original: str) -> Parsed:
    """Return what a valid query uses; nothing if only the library can parse it.

    `original` has the same length, and has the variables where the text has placeholders.
    """
    try:
        node = read(text)
    except (Unparsed, TooDeep):
        return Parsed()
    metrics: dict[str, None] = {}
    matchers: dict[Matcher, None] = {}
    for part in node.walk():
        if part.form is not Form.SELECTOR:
            continue
        if part.head.sort is TokenKind.NAME:
            metrics[_written(part.head, original)] = None
        for condition in part.conditions:
            label = "__name__" if condition.label is None else _written(condition.label, original)
            value = _written(condition.value, original)
            if label == "__name__" and condition.op == "=":
                metrics[value] = None
            else:
                matchers[Matcher(label, condition.op, value)] = None
    return Parsed(metrics=tuple(metrics), matchers=tuple(matchers))


def _written(token: Token, original: str) -> str:
    """Return a name, or the content of a text in quotes, as written: with its variables."""
    written = replace(token, text=original[token.start : token.end])
    return meaning(written) if token.sort is TokenKind.STRING else written.text
