"""A Lucene query as a function of a log row. How the service reads one is in docs/assumptions.md.

A word of a text is a run of letters, digits and `_`; a point or an apostrophe between two of these
is part of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from luqum import tree as lucene
from luqum.exceptions import ParseError
from luqum.thread import parse

from reconciler.features.alert_tests.log_row import LogRow, Values, all_values, text_of, values_of
from reconciler.queries import holes_in

Matches: TypeAlias = Callable[[LogRow], bool]
_Fits: TypeAlias = Callable[[str], bool]


class NotEvaluatedError(Exception):
    """Something cannot be evaluated without the service; the message says why."""


_WORD = re.compile(r"\w+(?:[.']\w+)*")
_BEFORE, _AFTER = r"(?<!\w)(?<!\w[.'])", r"(?!\w)(?![.']\w)"
_BETWEEN = r"(?![.']\w)\W+"
_REFUSED = (lucene.Prohibit, lucene.Not)
_JOINED = (lucene.AndOperation, lucene.OrOperation)
_MIXED = "AND or OR next to terms without an operator is not evaluated: write brackets"


def matcher(query: str) -> Matches:
    """Return a function that says whether a row matches; an empty query matches all rows.

    Raises NotEvaluatedError for a part that cannot be evaluated here.
    """
    if not query.strip():
        return lambda _: True
    if holes_in(query):
        raise NotEvaluatedError("the query has a variable that is filled in later")
    try:
        return _clause(parse(query), None)
    except (ParseError, ArithmeticError, ValueError):
        message = "the query is not valid Lucene: `reconciler validate` says where"
    except RecursionError:
        message = "the query is too deep"
    raise NotEvaluatedError(message)


def _clause(node: Any, field: str | None) -> Matches:
    match node:
        case lucene.BaseGroup() | lucene.Boost() | lucene.Plus():
            return _clause(node.children[0], field)
        case lucene.Not() | lucene.Prohibit():
            inner = _clause(node.children[0], field)
            return lambda row: not inner(row)
        case lucene.UnknownOperation():
            return _list(node.children, field)
        case lucene.AndOperation() | lucene.OrOperation():
            if any(isinstance(child, lucene.UnknownOperation) for child in node.children):
                raise NotEvaluatedError(_MIXED)
            clauses = [_clause(child, field) for child in node.children]
            return _all(clauses) if isinstance(node, lucene.AndOperation) else _any(clauses)
        case _:
            return _value(node, field)


def _all(clauses: Sequence[Matches]) -> Matches:
    return lambda row: all(holds(row) for holds in clauses)


def _any(clauses: Sequence[Matches]) -> Matches:
    return lambda row: any(holds(row) for holds in clauses)


def _list(children: Sequence[Any], field: str | None) -> Matches:
    """Return how terms without operators match.

    All terms with `+` must match, and none with `-` or `NOT`. Without any `+`, one of the other
    terms must match.
    """
    required = [_clause(child, field) for child in children if isinstance(child, lucene.Plus)]
    refused = [_clause(child, field) for child in children if isinstance(child, _REFUSED)]
    others = [
        _clause(child, field)
        for child in children
        if not isinstance(child, (lucene.Plus, *_REFUSED))
    ]
    if len(others) > 1 and any(isinstance(child, _JOINED) for child in children):
        raise NotEvaluatedError(_MIXED)
    if others and not required:
        required = [_any(others)]
    return _all([*required, *refused])


def _value(node: Any, field: str | None) -> Matches:
    match node:
        case lucene.SearchField():
            return _named(node)
        case lucene.Word():
            return _word(str(node.value), field)
        case lucene.Phrase():
            return _holds(_phrase(_literal(str(node.value)[1:-1])), field)
        case lucene.Regex():
            return _holds(_pattern(_regex(str(node.value)[1:-1])), field)
        case lucene.Range() | lucene.From() | lucene.To():
            return _range(*_ends(node), field)
        case _:
            raise NotEvaluatedError(f"`{str(node).strip()}` is not evaluated")


def _named(node: Any) -> Matches:
    name, written = _literal(str(node.name)), str(node).strip()
    if written == "*:*":
        return lambda _: True
    refused = (*_REFUSED, lucene.Plus)
    if name == "_exists_":
        if isinstance(node.expr, lucene.Word) and not _wildcards(node.expr.value):
            return _exists(_literal(node.expr.value))
    elif not _wildcards(name) and not isinstance(node.expr, refused):
        return _clause(node.expr, name)
    raise NotEvaluatedError(f"`{written}` is not evaluated")


def _exists(name: str) -> Matches:
    values = values_of(name)
    return lambda row: bool(values(row))


def _holds(fits: _Fits, field: str | None) -> Matches:
    """Return whether a value of the field fits; without a field, any value of the row's text."""
    values: Values = (lambda row: [*all_values(row)]) if field is None else values_of(field)
    return lambda row: any(fits(text_of(value)) for value in values(row))


def _word(written: str, field: str | None) -> Matches:
    if written in ("&&", "||") or written.startswith("!"):
        raise NotEvaluatedError(f"`{written}` is not read as an operator: write AND, OR or NOT")
    if written == "*":
        return (lambda _: True) if field is None else _exists(field)
    pieces = _wildcards(written)
    return _holds(_phrase(_literal(written)) if pieces is None else _glob(pieces), field)


_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def _literal(written: str) -> str:
    return _ESCAPED.sub(r"\1", written)


def _phrase(text: str) -> _Fits:
    """Return whether a value has these words next to each other, in this order, in any case.

    A text without any word, such as `-`, is the whole value.
    """
    words = _WORD.findall(text)
    if not words:
        return lambda value: value == text
    found = re.compile(
        _BEFORE + _BETWEEN.join(map(re.escape, words)) + _AFTER, re.IGNORECASE
    ).search
    return lambda value: found(value) is not None


_SIGNS = re.compile(r"\\(.)|([*?])|([^\\*?]+)", re.DOTALL)


def _wildcards(written: str) -> list[str] | None:
    """Return expressions for the pieces between the `*` of a word; None if it has no wildcard."""
    pieces, is_plain = [""], True
    for part in _SIGNS.finditer(written):
        if part[2] == "*":
            pieces.append("")
        else:
            pieces[-1] += "." if part[2] else re.escape(part[1] or part[3])
        is_plain = is_plain and not part[2]
    return None if is_plain else pieces


def _glob(pieces: list[str]) -> _Fits:
    """Return whether a pattern is the whole of a value, or of one of its words, in any case.

    Each piece is looked for after the piece before it, so no pattern takes long.
    """
    first, *middle = [re.compile(piece, re.IGNORECASE | re.DOTALL) for piece in pieces]
    last = middle.pop() if middle else None

    def is_whole(value: str) -> bool:
        if last is None:
            return first.fullmatch(value) is not None
        found = first.match(value)
        for piece in middle:
            found = found and piece.search(value, found.end())
        # Each sign of the last piece is one character.
        end = len(value) - ends
        return found is not None and found.end() <= end and last.fullmatch(value, end) is not None

    ends = len(_ESCAPED.sub("_", pieces[-1]))
    return lambda value: is_whole(value) or any(map(is_whole, _WORD.findall(value)))


LONGEST_MATCHED: Final = 1_000
"""Characters of a value that a regular expression is compared with; longer ones do not match."""

MOST_REPEATS: Final = 3
_REPEAT = r"(?:[*+]|\{\d*,\d*\}|\{\d+\})"
_REPEATS = re.compile(_REPEAT)


def _pattern(regex: str) -> _Fits:
    """Return whether an expression is the whole of a value, or of one of its words, in any case.

    An expression that may take long is not evaluated.
    """
    bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "_", regex)
    if _is_nested(bare) or len(_REPEATS.findall(bare)) > MOST_REPEATS:
        message = "a regular expression with repeats inside of repeats, or many, is not evaluated"
        raise NotEvaluatedError(message)
    try:
        whole = re.compile(regex, re.IGNORECASE | re.DOTALL).fullmatch
    except (re.error, OverflowError, RecursionError):
        raise NotEvaluatedError("this regular expression is not evaluated") from None
    return lambda value: (
        len(value) <= LONGEST_MATCHED
        and (
            whole(value) is not None
            or any(whole(word) is not None for word in _WORD.findall(value))
        )
    )


def _is_nested(bare: str) -> bool:
    """Return whether a group that is repeated has a repeat or a choice inside."""
    varied: list[bool] = [False]
    for index, sign in enumerate(bare):
        if sign == "(":
            varied.append(False)
        elif sign == ")" and len(varied) > 1:
            inner = varied.pop()
            if inner and _REPEATS.match(bare, index + 1):
                return True
            varied[-1] |= inner
        elif sign in "*+?{|":
            varied[-1] = True
    return False


_PART = re.compile(r"\\(.)|\[\^?\]?(?:\\.|[^\]\\])*\]|([~@&<#\"])|([\^$])|(\(\?)|.", re.DOTALL)
_CLASSES = frozenset("dDwWsS")


def _regex(written: str) -> str:
    """Return a Lucene regular expression as one of Python.

    Lucene has no anchors: `^` and `$` are letters. Its own signs `~ @ & < # "` are not evaluated.
    """
    parts = []
    for part in _PART.finditer(written):
        escaped, own, anchor, extension = part.groups()
        if own or extension or (escaped and escaped.isalnum() and escaped not in _CLASSES):
            raise NotEvaluatedError(f"`{part[0]}` of a regular expression is not evaluated")
        if escaped and escaped not in _CLASSES:
            parts.append(re.escape(escaped))
        else:
            parts.append(f"\\{anchor}" if anchor else part[0])
    return "".join(parts)


_End: TypeAlias = tuple[str | None, bool]
"""An end of a range, None if the range is open there, and whether the end is inside."""


def _ends(node: Any) -> tuple[_End, _End]:
    match node:
        case lucene.From():
            return _end(node.a, node.include), _OPEN
        case lucene.To():
            return _OPEN, _end(node.a, node.include)
        case _:
            return _end(node.low, node.include_low), _end(node.high, node.include_high)


_OPEN: _End = (None, False)


def _end(node: Any, included: bool) -> _End:
    match node:
        case lucene.Phrase():
            return _literal(node.value[1:-1]), included
        case lucene.Word():
            return (None if node.value == "*" else _literal(node.value)), included
        case _:
            message = f"`{str(node).strip()}` as the end of a range is not evaluated"
            raise NotEvaluatedError(message)


def _range(low: _End, high: _End, field: str | None) -> Matches:
    """Return whether a value is between two ends: numbers by size, else as text in any case."""
    if field is None:
        raise NotEvaluatedError("a range without a field is not evaluated")
    written = [text for text, _ in (low, high) if text is not None]
    key: Callable[[str], Any] = str.casefold
    if written and all(number_of(text) is not None for text in written):
        key = number_of
    least, most = (None if text is None else key(text) for text, _ in (low, high))

    def is_between(value: str) -> bool:
        found = key(value)
        return (
            found is not None
            and (least is None or least < found or (low[1] and least == found))
            and (most is None or found < most or (high[1] and found == most))
        )

    return _holds(is_between, field)


def number_of(text: str) -> float | None:
    """Return the number that a text is; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None
