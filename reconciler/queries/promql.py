"""PromQL: a library decides; the place and the text of an error are found here.

The library reports no position. Its time grows with the square of the number of operators for some
queries, and tens of thousands of them end the process: such a query is not parsed. A grammar of our
own finds the first token after which no query can go on, and shows what a query uses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial

import promql_parser

from reconciler.queries import Hole, Matcher, Parsed, QueryProblem, filled, holes_in, marked
from reconciler.syntax.suggestions import nearest


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


FUNCTIONS = frozenset(
    (
        *("abs", "absent", "absent_over_time", "acos", "acosh", "asin", "asinh", "atan", "atanh"),
        *("avg_over_time", "ceil", "changes", "clamp", "clamp_max", "clamp_min", "cos", "cosh"),
        *("count_over_time", "day_of_month", "day_of_week", "day_of_year", "days_in_month"),
        *("deg", "delta", "deriv", "double_exponential_smoothing", "exp", "floor", "hour"),
        *("histogram_avg", "histogram_count", "histogram_fraction", "histogram_quantile"),
        *("histogram_stddev", "histogram_stdvar", "histogram_sum", "holt_winters", "idelta"),
        *("increase", "info", "irate", "label_join", "label_replace", "last_over_time", "ln"),
        *("log10", "log2", "mad_over_time", "max_over_time", "min_over_time", "minute", "month"),
        *("pi", "predict_linear", "present_over_time", "quantile_over_time", "rad", "rate"),
        *("resets", "round", "scalar", "sgn", "sin", "sinh", "sort", "sort_by_label"),
        *("sort_by_label_desc", "sort_desc", "sqrt", "stddev_over_time", "stdvar_over_time"),
        *("sum_over_time", "tan", "tanh", "time", "timestamp", "vector", "year"),
    )
)
_SCALARS = frozenset(("scalar", "time", "pi"))
_BAD_ESCAPE = re.compile(
    r"""(?:[^\\]|\\(?:[abfnrtv\\'"]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}|U[0-9a-fA-F]{8}))*+"""
    r"(\\(?s:.)?)"
)
_TYPES = {
    "matrix": "a range, as `metric[5m]`",
    "vector": "a series",
    "scalar": "a number",
    "string": "text in quotes",
}
_EXPECTED = re.compile(r"expected type (\w+) in .*, got (\w+)")
_COUNTED = re.compile(r"expected (?:at least |at most )?(\d+) argument")
_OPERATORS = {"&": "and", "|": "or"}
_NO_REGEX = "illegal regex"
_TOLD = {
    "bool modifier": "`bool` goes with comparisons only, as `> bool`",
    "no arguments": "this has no arguments: name what is taken together",
    "wrong number of arguments": "this has too few arguments, or too many",
    "ranges only allowed": "a range in brackets follows a metric only: for others write `[5m:]`",
    "metric name must not": "the metric has its name twice: before the braces and in them",
    "set operator": "`and`, `or` and `unless` join series, and one side is a number",
    "comparisons between": "two numbers are compared with `bool`, as `1 > bool 2`",
    "offset modifier": "`offset` follows a metric, its range or a subquery: move it there",
    "offset may not": "`offset` appears twice",
    "duration must be": "a duration must be greater than 0",
    "vector selector must": "braces need one condition that an empty text does not meet",
    "no grouping allowed": "`and`, `or` and `unless` take no `group_left` or `group_right`",
    "@ modifier": "`@` follows a metric, its range or a subquery: move it there",
    "subquery is only": "a subquery follows what gives series, and this gives something else",
    "unary expression": "a sign can be only before a number or a series",
    "vector matching only": "`on` and `ignoring` need series on both sides",
}
"""Messages by the beginning of the library's message."""


def _problem(part: Token | QueryNode, message: str, meant: str = "") -> QueryProblem:
    return QueryProblem(message, part.start, max(1, part.end - part.start), meant)


def _describe_unparsed(text: str, unparsed: Unparsed) -> QueryProblem:  # noqa: PLR0911 - a table
    """Return why a query cannot go on at a token."""
    token, opened, last = unparsed.token, unparsed.opened, unparsed.last
    match token.sort:
        case TokenKind.END if opened is not None:
            closing = OPENING[opened.text]
            return _problem(opened, f"this `{opened.text}` is never closed: add `{closing}`")
        case TokenKind.END if last is not None:
            message = f"the query ends after `{last.text}`, where {unparsed.wanted} is missing"
            return _problem(last, message)
        case TokenKind.END:
            return QueryProblem("the query holds nothing but a comment", 0, 1)
        case TokenKind.UNCLOSED:
            what = "in its line" if "\n" in token.text else "before the query ends"
            return QueryProblem(f"this {token.text[0]} is never closed {what}", token.start, 1)
        case TokenKind.BAD_NUMBER:
            message = "is neither a number nor a duration, as `5m`"
            if opened is not None and opened.text == "[":
                message = "is no duration: write whole numbers with ms, s, m, h, d, w or y"
                message += ", as `1h30m`"
            return _problem(token, f"`{token.text}` {message}")
        case TokenKind.STRANGE:
            return _strange(text, token)
        case _:
            return _misplaced(unparsed)


def _strange(text: str, token: Token) -> QueryProblem:
    character = token.text
    if character in "&|":
        width = 2 if text.startswith(character * 2, token.start) else 1
        word = _OPERATORS[character]
        message = f"`{character * width}` is `{word}` in PromQL"
        return QueryProblem(message, token.start, width, word)
    if character in "\u201c\u201d\u2018\u2019":
        message = "a curly quote is no quote: write a straight one"
    elif character == ".":
        message = 'a name holds no `.`: write `{"a.b"}` for such a metric'
    else:
        message = f"`{character}` has no meaning here"
    return _problem(token, message)


def _misplaced(unparsed: Unparsed) -> QueryProblem:
    token, opened, last = unparsed.token, unparsed.opened, unparsed.last
    if token.is_sign(")", "]", "}") and opened is None:
        return _problem(token, f"this `{token.text}` closes nothing: remove it")
    outer = [OPENING[bracket.text] for bracket in unparsed.brackets[:-1]]
    if opened is not None and token.is_sign(*outer) and token.text != OPENING[opened.text]:
        closing = OPENING[opened.text]
        message = f"this `{opened.text}` is never closed: add `{closing}` before `{token.text}`"
        return _problem(opened, message)
    if token.is_sign(")") and last is not None and last.is_sign(","):
        return _problem(last, "a value is missing after this `,`: remove it")
    if token.is_sign("=") and "operator" in unparsed.wanted:
        return _problem(token, "`=` compares labels: values are compared with `==`", "==")
    if last is not None and last.sort is TokenKind.STRING and token.sort is TokenKind.NAME:
        return _problem(token, "a `,` is missing before this")
    return _problem(token, f"`{token.text}` is not allowed here, but {unparsed.wanted} is")


def _blamed(text: str, node: QueryNode, refused: str) -> QueryProblem:
    """Return the problem of the smallest part that is refused by itself."""
    at_string = _bad_string(node, refused)
    if at_string is not None:
        return at_string
    wrong: QueryNode | None = node
    while wrong is not None:
        node = wrong
        refused = refusal_of(text[node.start : node.end]) or refused
        wrong = next((part for part in node.inner if refusal_of(text[part.start : part.end])), None)
    return _said_of(node, refused)


def _bad_string(node: QueryNode, refused: str) -> QueryProblem | None:
    """Return the problem of a text with an invalid escape or regular expression."""
    for part in node.walk():
        tokens = [condition.value for condition in part.conditions]
        tokens += [part.head] if part.form is Form.TEXT else []
        for token in tokens:
            found = _bad_escape(token)
            if found is not None:
                return found
        for condition in part.conditions if refused.startswith(_NO_REGEX) else ():
            token = condition.value
            if condition.op in ("=~", "!~") and refusal_of(f"x{{a=~{token.text}}}") is not None:
                return _problem(token, f"`{meaning(token)}` is no regular expression of RE2")
    return None


def _bad_escape(token: Token) -> QueryProblem | None:
    found = None if token.text.startswith("`") else _BAD_ESCAPE.match(token.text)
    if found is None:
        return None
    message = f"`{found[1]}` is no escape: double the backslash, or quote with backticks"
    return QueryProblem(message, token.start + found.start(1), 2)


def _said_of(node: QueryNode, refused: str) -> QueryProblem:
    head = node.head
    if refused.startswith("unknown function"):
        near = nearest(head.text, FUNCTIONS | AGGREGATIONS)
        hint = f": did you mean `{near}`?" if near else ""
        return _problem(head, f"PromQL has no function `{head.text}`{hint}", near)
    expected = _EXPECTED.search(refused)
    if expected is not None:
        wanted, got = expected.groups()
        wrong = (part for part in node.inner if type_of(part) == got and got != wanted)
        message = f"wants {_TYPES.get(wanted, wanted)} here, not {_TYPES.get(got, got)}"
        return _problem(next(wrong, node), f"`{head.text}` {message}")
    counted = _COUNTED.search(refused)
    if counted is not None:
        message = f"`{head.text}` takes {counted[1]} arguments, and has {len(node.inner)}"
        return _problem(head, message)
    if refused.startswith("binary expression must contain"):
        wrong = (part for part in node.inner if type_of(part) in ("matrix", "string"))
        operand = next(wrong, node)
        what = "a range has to go through a function, as `rate(metric[5m])`,"
        what = what if type_of(operand) == "matrix" else "text"
        return _problem(operand, f"{what} cannot be an operand of `{head.text}`")
    known = (message for begun, message in _TOLD.items() if refused.startswith(begun))
    return _problem(head, next(known, f"this cannot be parsed: {refused}"))


_TYPE_OF = {
    Form.NUMBER: "scalar",
    Form.TEXT: "string",
    Form.RANGE: "matrix",
    Form.SUBQUERY: "matrix",
}


def type_of(node: QueryNode) -> str:
    """Return the library's name for the type of a part of a query."""
    match node.form:
        case Form.CALL:
            return "scalar" if node.head.text in _SCALARS else "vector"
        case Form.GROUP | Form.SIGNED | Form.SHIFTED:
            return type_of(node.inner[0])
        case Form.BINARY:
            sides = {type_of(part) for part in node.inner}
            return "scalar" if sides == {"scalar"} else "vector"
        case form:
            return _TYPE_OF.get(form, "vector")


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
        return "", _wrong_around(first, refused, holes)
    return "", _wrong(text, refused)


def _with_hyphens(text: str) -> str:
    """Replace hyphens between letters, as some exporters write them in names."""
    is_quoted = _quoted(text)
    return _HYPHEN.sub(lambda found: "-" if is_quoted(found.start()) else "_", text)


def refusal_of(text: str) -> str | None:
    """Return why the library refuses a query, None if it does not."""
    try:
        promql_parser.parse(text)
    except ValueError as error:
        return str(error)
    return None


def _tried(text: str, holes: list[Hole]) -> Iterator[str]:
    """Yield the query with placeholders for its variables: names, numbers, durations, `sum`."""
    is_quoted = _quoted(text)

    def stand_in(number: str, nth: int, hole: Hole) -> str:
        width = len(hole.written)
        if is_quoted(hole.start):
            return marked(nth, hole)
        is_alone = not text[hole.start - 1 : hole.start].isalnum()
        if number and is_alone:
            return number.ljust(width)
        before = text[: hole.start].rstrip()
        if (before.endswith(("[", ":")) and "[" in before) or before.lower().endswith("offset"):
            return "1m".ljust(width)
        if is_alone and text[hole.end : hole.end + 1] == "(":
            return "abs".ljust(width)[:width]
        return _NAME_LIKE.sub("_", hole.written)

    for number in ("", "1", "1m", "sum"):
        yield filled(text, holes, partial(stand_in, number))


def _quoted(text: str) -> Callable[[int], bool]:
    """Return a test of places: in quotes or a comment of a query, with its variables unread."""
    strings = re.finditer(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`|#[^\n]*""", text)
    spans = [found.span() for found in strings]
    return lambda place: any(start < place < end for start, end in spans)


def _wrong_around(text: str, refused: str, holes: list[Hole]) -> QueryProblem | None:
    """Return the problem, unless a variable's value may decide it."""
    wrong = _wrong(text, refused)
    near = (wrong.start - 1, wrong.start + wrong.width + 1)
    if any(hole.touches(*near) for hole in holes):
        return None
    is_quoted = _quoted(text)
    is_sure = all(is_quoted(hole.start) for hole in holes)
    # Its types may be right once the variables have their values.
    return wrong if is_sure or isinstance(read(text), Unparsed) else None


def _wrong(text: str, refused: str) -> QueryProblem:
    match read(text):
        case None:
            return QueryProblem("this is no query that can be parsed", 0, len(text.rstrip()))
        case Unparsed() as unparsed:
            return _describe_unparsed(text, unparsed)
        case node:
            return _blamed(text, node, refused)


def _facts(text: str, original: str) -> Parsed:
    """Return what a valid query uses; nothing if only the library can parse it.

    `original` has the same length, and has the variables where the text has placeholders.
    """
    node = read(text)
    if not isinstance(node, QueryNode):
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
