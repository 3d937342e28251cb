"""The grammar of PromQL, to find the first token after which no query can go on.

A library decides whether a query is valid; this grammar finds the place. The tree also shows what a
query uses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
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


_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII
)
_DURATION = re.compile(
    r"(?=[0-9])(?:[0-9]+y)?(?:[0-9]+w)?(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m(?!s))?"
    r"(?:[0-9]+s)?(?:[0-9]+ms)?",
    re.ASCII,
)
_SHAPES = r"""(?:[ \t\r\n]+|\#[^\n]*)*
    (?:(?P<STRING> '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | `[^`]*` )
    |(?P<UNCLOSED> ['"`](?s:.)* )
    |(?P<NUMBER> [0-9][\w.]*(?:(?<=[eE])[+-][0-9]+)? | \.[0-9]\w* )
    |(?P<NAME> NAMES )
    |(?P<SIGN> =~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],@:] )
    |(?P<END> \Z )
    |(?P<STRANGE> (?s:.) ))"""
_OUTSIDE = re.compile(_SHAPES.replace("NAMES", r"[A-Za-z_:][\w:]*"), re.ASCII | re.VERBOSE)
# The colon of a subquery is not part of a name.
_INSIDE = re.compile(_SHAPES.replace("NAMES", r"[A-Za-z_]\w*"), re.ASCII | re.VERBOSE)
_LAST = (TokenKind.END, TokenKind.UNCLOSED, TokenKind.STRANGE, TokenKind.BAD_NUMBER)
OPENING = {"(": ")", "[": "]", "{": "}"}


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of a query, the end last; an invalid token ends the list."""
    place = 0
    inside: list[str] = [""]
    while True:
        token = _token_at(text, place, inside[-1])
        if token.is_sign(*OPENING):
            inside.append(token.text)
        elif token.is_sign(*OPENING.values()) and len(inside) > 1:
            inside.pop()
        yield token
        if token.sort in _LAST:
            return
        place = token.end


def _token_at(text: str, place: int, inside: str) -> Token:
    found = (_INSIDE if inside in ("{", "[") else _OUTSIDE).match(text, place)
    assert found is not None and found.lastgroup is not None  # noqa: S101, PT018 - any character fits
    word, sort = found[found.lastgroup], TokenKind[found.lastgroup]
    if sort is TokenKind.NUMBER:
        sort = _sort_of(word)
    elif sort is TokenKind.NAME and word.lower() in ("inf", "nan") and inside != "{":
        sort = TokenKind.NUMBER
    return Token(sort, word, *found.span(found.lastgroup))


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


AGGREGATIONS = frozenset(
    (
        *("sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "count_values"),
        *("bottomk", "topk", "quantile", "limitk", "limit_ratio"),
    )
)
_SIGNS = ("+", "-", "*", "/", "%", "^", "==", "!=", ">", "<", ">=", "<=")
_WORDS = ("and", "or", "unless", "atan2")
_GROUPING = ("bool", "on", "ignoring", "by", "without", "group_left", "group_right", "offset")
_DURATIONS = (TokenKind.NUMBER, TokenKind.DURATION)
_LABEL_SIGNS = ("=", "!=", "=~", "!~")
DEEPEST = 200


class Form(Enum):
    """The form of a node."""

    NUMBER = "number"
    TEXT = "text"
    SELECTOR = "selector"
    CALL = "call"
    AGGREGATION = "aggregation"
    GROUP = "group"
    SIGNED = "signed"
    BINARY = "binary"
    RANGE = "range"
    SUBQUERY = "subquery"
    SHIFTED = "shifted"


@dataclass(frozen=True, slots=True)
class Condition:
    """A matcher; `label` is None for a metric name alone in quotes."""

    label: Token | None
    op: str
    value: Token


@dataclass(slots=True)
class QueryNode:
    """A part of a query; `head` is its name or operator, or its first token."""

    form: Form
    start: int
    end: int
    head: Token
    inner: list[QueryNode] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)

    def walk(self) -> Iterator[QueryNode]:
        """Yield this node and all nodes inside, outer nodes first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.inner))


class Unparsed(Exception):
    """The first token that is not allowed at its place; `wanted` is what is allowed.

    `brackets` are the brackets open there, and `last` is the token before.
    """

    def __init__(self, reader: _Reader, wanted: str) -> None:
        super().__init__(wanted)
        self.token, self.last, self.wanted = reader.here, reader.last, wanted
        self.brackets = tuple(reader.opened)
        self.opened = self.brackets[-1] if self.brackets else None


class _TooDeep(Exception):
    """The query is nested deeper than any real query."""


def read(text: str) -> QueryNode | Unparsed | None:
    """Return a query or its first wrong token; None if it is nested deeper than any real query."""
    try:
        return _Reader([*tokens_of(text)]).whole()
    except Unparsed as unparsed:
        return unparsed
    except _TooDeep:
        return None


@dataclass(slots=True)
class _Reader:
    tokens: list[Token]
    at: int = 0
    opened: list[Token] = field(default_factory=list)
    depth: int = 0

    @property
    def here(self) -> Token:
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    @property
    def after(self) -> Token:
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    @property
    def last(self) -> Token | None:
        return self.tokens[self.at - 1] if self.at else None

    def take(self) -> Token:
        token = self.here
        self.at += 1
        return token

    def skip(self, *words: str) -> bool:
        """Consume a token if it is one of these signs or words; return whether it is."""
        is_wanted = self.here.is_sign(*words) or self.here.is_word(*words)
        self.at += is_wanted
        return is_wanted

    def expect(self, wanted: str, *sorts: TokenKind) -> Token:
        if self.here.sort not in sorts:
            raise Unparsed(self, wanted)
        return self.take()

    def open(self) -> Token:
        token = self.take()
        self.opened.append(token)
        return token

    def close(self, wanted: str) -> Token:
        """Consume the bracket that closes the last open one; `wanted` is also allowed there."""
        if not self.here.is_sign(OPENING[self.opened[-1].text]):
            closing = OPENING[self.opened[-1].text]
            raise Unparsed(self, f"{wanted} or `{closing}`" if wanted else f"`{closing}`")
        self.opened.pop()
        return self.take()

    def whole(self) -> QueryNode:
        node = self.expression()
        if self.here.sort is not TokenKind.END:
            raise Unparsed(self, "an operator")
        return node

    def expression(self) -> QueryNode:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _TooDeep
        left = self.signed()
        while self.here.is_sign(*_SIGNS) or self.here.is_word(*_WORDS):
            operator = self.take()
            self.matching()
            right = self.signed()
            left = QueryNode(Form.BINARY, left.start, right.end, operator, [left, right])
        self.depth -= 1
        return left

    def matching(self) -> None:
        """Skip what may follow an operator."""
        self.skip("bool")
        if self.skip("on", "ignoring"):
            self.labels()
            if self.skip("group_left", "group_right") and self.here.is_sign("("):
                self.labels()
        while self.here.is_word("fill", "fill_left", "fill_right") and self.after.is_sign("("):
            self.take()
            self.open()
            self.signed()
            self.close("")

    def labels(self) -> Token:
        if not self.here.is_sign("("):
            raise Unparsed(self, "`(` and labels")
        self.open()
        while not self.here.is_sign(")"):
            self.expect("a label", TokenKind.NAME, TokenKind.STRING)
            if not self.skip(","):
                break
        return self.close("`,`")

    def signed(self) -> QueryNode:
        signs = []
        while self.here.is_sign("+", "-"):
            signs.append(self.take())
        if len(signs) > DEEPEST:
            raise _TooDeep
        node = self.followed(self.primary())
        for sign in reversed(signs):
            node = QueryNode(Form.SIGNED, sign.start, node.end, sign, [node])
        return node

    def primary(self) -> QueryNode:  # noqa: PLR0911 - a table
        token = self.here
        match token.sort:
            case TokenKind.NUMBER | TokenKind.DURATION:
                return self.single(Form.NUMBER)
            case TokenKind.STRING:
                return self.single(Form.TEXT)
            case TokenKind.NAME if token.is_word(*AGGREGATIONS) and self.is_aggregation():
                return self.aggregation()
            case TokenKind.NAME if self.after.is_sign("(") and not token.is_word(*_GROUPING):
                return self.call()
            case TokenKind.NAME if not token.is_word(*_GROUPING[:3]) and not self.after.is_sign(
                "("
            ):
                self.take()
                return self.selector(token)
            case TokenKind.SIGN if token.text == "{":
                return self.selector(token)
            case TokenKind.SIGN if token.text == "(":
                self.open()
                inner = self.expression()
                end = self.close("an operator")
                return QueryNode(Form.GROUP, token.start, end.end, token, [inner])
            case _:
                raise Unparsed(self, "a value")

    def single(self, form: Form) -> QueryNode:
        token = self.take()
        return QueryNode(form, token.start, token.end, token)

    def is_aggregation(self) -> bool:
        return self.after.is_sign("(") or self.after.is_word("by", "without")

    def aggregation(self) -> QueryNode:
        head = self.take()
        is_grouped = self.skip("by", "without")
        if is_grouped:
            self.labels()
        if not self.here.is_sign("("):
            raise Unparsed(self, "`(`")
        inner, end = self.arguments()
        if not is_grouped and self.skip("by", "without"):
            end = self.labels()
        return QueryNode(Form.AGGREGATION, head.start, end.end, head, inner)

    def call(self) -> QueryNode:
        head = self.take()
        inner, end = self.arguments()
        return QueryNode(Form.CALL, head.start, end.end, head, inner)

    def arguments(self) -> tuple[list[QueryNode], Token]:
        self.open()
        inner: list[QueryNode] = []
        while not self.here.is_sign(")") or (inner and self.last is not None):
            inner.append(self.expression())
            if not self.skip(","):
                break
        return inner, self.close("`,`, an operator")

    def selector(self, head: Token) -> QueryNode:
        node = QueryNode(Form.SELECTOR, head.start, head.end, head)
        if not self.here.is_sign("{"):
            return node
        self.open()
        while not self.here.is_sign("}"):
            node.conditions.append(self.condition())
            if not self.skip(",", "or"):
                break
        node.end = self.close("`,`").end
        return node

    def condition(self) -> Condition:
        label = self.expect("a label", TokenKind.NAME, TokenKind.STRING)
        if label.sort is TokenKind.STRING and self.here.is_sign(",", "}"):
            return Condition(None, "=", label)
        if not self.here.is_sign(*_LABEL_SIGNS):
            raise Unparsed(self, "`=`, `!=`, `=~` or `!~`")
        op = self.take().text
        return Condition(label, op, self.expect("a value in quotes", TokenKind.STRING))

    def followed(self, node: QueryNode) -> QueryNode:
        """Read what follows a value: ranges, offsets and times."""
        for _ in range(DEEPEST):
            if self.here.is_sign("["):
                node = self.bracketed(node)
            elif self.here.is_word("offset"):
                head = self.take()
                self.skip("+", "-")
                end = self.expect("a duration", *_DURATIONS).end
                node = QueryNode(Form.SHIFTED, node.start, end, head, [node])
            elif self.here.is_sign("@"):
                node = self.timed(node)
            else:
                return node
        raise _TooDeep

    def timed(self, node: QueryNode) -> QueryNode:
        head = self.take()
        if self.here.is_word("start", "end") and self.after.is_sign("("):
            self.take()
            self.open()
            return QueryNode(Form.SHIFTED, node.start, self.close("").end, head, [node])
        self.skip("+", "-")
        end = self.expect("a time in seconds, `start()` or `end()`", TokenKind.NUMBER).end
        return QueryNode(Form.SHIFTED, node.start, end, head, [node])

    def bracketed(self, node: QueryNode) -> QueryNode:
        head = self.open()
        self.expect("a duration, as `5m`", *_DURATIONS)
        if not self.skip(":"):
            return QueryNode(Form.RANGE, node.start, self.close("`:`").end, head, [node])
        if not self.here.is_sign("]"):
            self.expect("a duration", *_DURATIONS)
        return QueryNode(Form.SUBQUERY, node.start, self.close("").end, head, [node])
