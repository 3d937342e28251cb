"""PromQL: a library decides; the place and the text of an error are found here.

The library reports no position. Its time grows with the square of the number of operators for some
queries, and tens of thousands of them end the process: such a query is not parsed. A table of
states finds the first token after which no query can go on, and shows what a query uses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise

import promql_parser

from reconciler.queries import Hole, Matcher, Parsed, QueryProblem, filled, holes_in, marked
from reconciler.syntax.scalars import CURLY
from reconciler.syntax.suggestions import nearest

AGGREGATIONS = frozenset(
    (
        *("sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "count_values"),
        *("bottomk", "topk", "quantile", "limitk", "limit_ratio"),
    )
)
_GAP = r"(?:[ \t\r\n]+|\#[^\n]*)*"
_SHAPES = r"""GAP
    (?:(?P<STRING> '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | `[^`]*` )
    |(?P<UNCLOSED> ['"`](?s:.)* )
    |(?P<NUMBER> (?:0[xX][0-9a-fA-F]+
        |(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.]) )
    |(?P<DURATION> (?=[0-9])(?:[0-9]+y)?(?:[0-9]+w)?(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m(?!s))?
        (?:[0-9]+s)?(?:[0-9]+ms)?(?![\w.]) )
    |(?P<BAD_NUMBER> [0-9][\w.]*(?:(?<=[eE])[+-][0-9]+)? | \.[0-9]\w* )
    |(?P<NAME> NAMES )
    |(?P<SIGN> =~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],@:] )
    |(?P<END> \Z )
    |(?P<STRANGE> (?s:.) ))
    (?=GAP(?:(?P<bracket>\()|(?P<by>(?i:by|without)\b))?)""".replace("GAP", _GAP)
_OUTSIDE = re.compile(_SHAPES.replace("NAMES", r"[A-Za-z_:][\w:]*"), re.ASCII | re.VERBOSE)
# The colon of a subquery is not part of a name.
_INSIDE = re.compile(_SHAPES.replace("NAMES", r"[A-Za-z_]\w*"), re.ASCII | re.VERBOSE)
OPENING = {"(": ")", "[": "]", "{": "}"}

_VALUE: dict[str, str] = {
    "+ -": "sign",
    "NUMBER DURATION STRING inf nan": "after",
    "NAME": "named",
    "NAME(": "call",
    "{": "label>after",
    "(": "group>after",
    "bool on ignoring by( without( group_left( group_right( offset(": "",
    " ".join(f"{name}( {name}~" for name in AGGREGATIONS): "aggregation",
}
_AFTER = {
    "+ - * / % ^ == != > < >= <= and or unless atan2": "operator",
    "[": "range>after",
    "offset": "offset",
    "@": "time",
}
_FILL = {**_VALUE, "fill( fill_left( fill_right(": "fill"}
_STATES: dict[str, dict[str, str]] = {
    **dict.fromkeys(("value", "sign", "argument", "group"), _VALUE),
    "arguments": {**_VALUE, ")": "close"},
    "after": _AFTER,
    "named": {**_AFTER, "{": "label>after"},
    "call": {"(": "arguments>after"},
    "aggregation": {"by without": "by", "(": "arguments>aggregated"},
    "by": {"(": "names>group_of"},
    "group_of": {"(": "arguments>after"},
    "aggregated": {**_AFTER, "by without": "by_after"},
    "by_after": {"(": "names>after"},
    "operator": {**_FILL, "bool": "bool", "on ignoring": "on"},
    "bool": {**_FILL, "on ignoring": "on"},
    "on": {"(": "names>joined"},
    "joined": {**_FILL, "group_left group_right group_left( group_right(": "side"},
    "side": {**_FILL, "(": "names>filled"},
    "filled": _FILL,
    "fill": {"(": "group>filled"},
    "names": {"NAME STRING": "name", ")": "close"},
    "name": {",": "names", ")": "close"},
    "label": {"NAME": "matcher", "STRING": "quoted", "}": "close"},
    "matcher": {"= != =~ !~": "op"},
    "quoted": {"= != =~ !~": "op", ",": "label", "}": "close"},
    "op": {"STRING": "matched"},
    "matched": {", or": "label", "}": "close"},
    "range": {"NUMBER DURATION": "length"},
    "length": {":": "step", "]": "close"},
    "step": {"NUMBER DURATION": "stepped", "]": "close"},
    "stepped": {"]": "close"},
    "offset": {"+ -": "shift", "NUMBER DURATION": "after"},
    "shift": {"NUMBER DURATION": "after"},
    "time": {"start( end(": "bound", "+ -": "second", "NUMBER inf nan": "after"},
    "second": {"NUMBER inf nan": "after"},
    "bound": {"(": "closed>after"},
    "closed": {")": "close"},
}
"""The tokens that each state allows, and the state after them.

The key of a token is its text or its sort. It ends with `(` if a bracket follows the token, and
with `~` if `by` or `without` follows. An empty state means that the token is not allowed. For an
opening bracket, `x>y` means: state `x` inside it, and state `y` after its `close`.
"""
_STEPS = {
    state: {key: to for keys, to in steps.items() for key in keys.split()}
    for state, steps in _STATES.items()
}
_ENDS = {
    "": {"END": "end"},
    "group": {")": "close"},
    "arguments": {")": "close", ",": "argument"},
}
"""Further tokens that may follow a complete value, by the bracket around it."""
_WANTED = {
    **dict.fromkeys(("on", "by", "by_after"), "`(` and labels"),
    **dict.fromkeys(("names", "label"), "a label"),
    **dict.fromkeys(("matcher", "quoted"), "`=`, `!=`, `=~` or `!~`"),
    **dict.fromkeys(("step", "offset", "shift"), "a duration"),
    **dict.fromkeys(("time", "second"), "a time in seconds, `start()` or `end()`"),
    "group_of": "`(`",
    "name": "`,` or `)`",
    "op": "a value in quotes",
    "matched": "`,` or `}`",
    "range": "a duration, as `5m`",
    "length": "`:` or `]`",
    "stepped": "`]`",
    "closed": "`)`",
}
_WANTED_AFTER = {"group": "an operator or `)`", "arguments": "`,`, an operator or `)`"}
_MODIFIERS = ("bool", "on", "names>joined", "side", "names>filled", "fill", "group>filled", "close")


@dataclass(frozen=True, slots=True)
class Token:
    """One token, from `start` up to `end`; `to` is the state after it, "" if it is not allowed."""

    sort: str
    text: str
    start: int
    end: int
    to: str

    def is_sign(self, *signs: str) -> bool:
        """Return whether it is one of these signs."""
        return self.sort == "SIGN" and self.text in signs


@dataclass(frozen=True, slots=True)
class Scan:
    """The tokens up to the first that is not allowed; what is open and what is `wanted` there.

    `wanted` is "" for a whole query.
    """

    tokens: list[Token]
    opened: list[Token]
    wanted: str


def read(text: str) -> Scan:
    """Return the tokens of a query up to its end, or up to the first that is not allowed."""
    tokens: list[Token] = []
    opened: list[Token] = []
    state, around, place = "value", "", 0
    while True:
        shapes = _INSIDE if opened and opened[-1].text in "{[" else _OUTSIDE
        found = shapes.match(text, place)
        assert found is not None  # noqa: S101 - any character fits
        sort = next(name for name, word in found.groupdict().items() if word is not None)
        word, follows = found[sort], "(" if found["bracket"] else "~" if found["by"] else ""
        allowed = _STEPS[state]
        is_complete = state in ("after", "named", "aggregated")
        if is_complete:
            allowed = {**allowed, **_ENDS[around]}
        named = word.lower()
        keys = (named + follows, named, sort + follows, sort)
        to = next((allowed[key] for key in keys if key in allowed), "")
        token = Token(sort, word, *found.span(sort), to)
        tokens.append(token)
        if to == "end":
            return Scan(tokens, opened, "")
        if not to:
            after = _WANTED_AFTER.get(around, "an operator")
            return Scan(tokens, opened, after if is_complete else _WANTED.get(state, "a value"))
        if ">" in to:
            opened.append(token)
        state = to.partition(">")[0]
        if to == "close":
            state = opened.pop().to.partition(">")[2]
        around = opened[-1].to.partition(">")[0] if opened else ""
        place = token.end


def meaning(text: str) -> str:
    """Return the content of a text in quotes."""
    with suppress(ValueError, SyntaxError):
        if not text.startswith("`"):
            return str(ast.literal_eval(text))
    return text[1:-1]


def inside(part: Sequence[Token]) -> tuple[Token, list[Sequence[Token]]]:
    """Return the head of a part of a query, and the parts inside it.

    The head is its operator, else its `offset`, `@` or range, else its first token.
    """
    depths = [*accumulate((">" in token.to) - (token.to == "close") for token in part)]
    outer = [nth for nth, token in enumerate(part) if depths[nth] == (">" in token.to)]
    for nth in reversed(outer):
        if part[nth].to == "operator":
            after = (place for place in outer if place > nth)
            right = next(place for place in after if part[place].to not in _MODIFIERS)
            return part[nth], [part[:nth], part[right:]]
    if part[0].to == "sign":
        return part[0], [part[1:]]
    for nth in reversed(outer):
        if part[nth].to in ("offset", "time", "range>after"):
            return part[nth], [part[:nth]]
    cuts = [nth for nth in outer if part[nth].to.startswith(("group>", "arguments>"))]
    if cuts:
        cuts += [
            nth for nth, token in enumerate(part) if (depths[nth], token.to) == (1, "argument")
        ]
        cuts.append(next(nth for nth in outer if nth > cuts[0]))
    return part[0], [part[start + 1 : end] for start, end in pairwise(cuts) if end > start + 1]


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


_UNITS = {
    f"{name}{plural}": unit
    for unit, names in (
        ("ms", ("ms", "msec", "millisecond")),
        ("s", ("s", "sec", "second")),
        ("m", ("m", "min", "minute")),
        ("h", ("h", "hr", "hour")),
        ("d", ("d", "day")),
        ("w", ("w", "week")),
        ("y", ("y", "yr", "year")),
    )
    for name in names
    for plural in ("", "s" * (name != unit))
}
_NAMED_UNIT = re.compile(r"([0-9]+)([A-Za-z]+)")
_VALUE_OF_LABEL = re.compile(rf"""[^\s,{{}}()\[\]'"`\\{CURLY}]+""")
_RANGE_INSIDE = re.compile(r"""[ \t]*(?:[,{][ \t]*)?(\[[^\[\]{}'"`\n]*\])[ \t]*\}?""")
_CURLY_QUOTED = re.compile(rf"""[{CURLY}]([^{CURLY}'"`\\\n]*)[{CURLY}]""")


def _duration_meant(text: str) -> str:
    """Return a duration with its unit as PromQL has it; "" where that is not certain."""
    found = _NAMED_UNIT.fullmatch(text)
    unit = _UNITS.get(found[2]) if found is not None else None
    return f"{found[1]}{unit}" if found is not None and unit else ""


def _unclosed_bracket(text: str, opened: Token, end: int, message: str) -> QueryProblem:
    closing = OPENING[opened.text]
    inside = text[opened.start : end].rstrip()
    message = f"this `{opened.text}` is never closed: add `{closing}`{message}"
    return QueryProblem(message, opened.start, len(inside), inside + closing)


def _problem(part: Token | Sequence[Token], message: str, meant: str = "") -> QueryProblem:
    first, last = (part, part) if isinstance(part, Token) else (part[0], part[-1])
    return QueryProblem(message, first.start, max(1, last.end - first.start), meant)


def _describe_unparsed(text: str, scan: Scan) -> QueryProblem:  # noqa: PLR0911 - a table
    """Return why a query cannot go on at the last token."""
    *before, token = scan.tokens
    opened = scan.opened[-1] if scan.opened else None
    match token.sort:
        case "END" if opened is not None:
            return _unclosed_bracket(text, opened, before[-1].end, "")
        case "END" if before:
            last = before[-1]
            message = f"the query ends after `{last.text}`, where {scan.wanted} is missing"
            return _problem(last, message)
        case "END":
            return QueryProblem("the query holds nothing but a comment", 0, 1)
        case "UNCLOSED":
            what = "in its line" if "\n" in token.text else "before the query ends"
            return QueryProblem(f"this {token.text[0]} is never closed {what}", token.start, 1)
        case "BAD_NUMBER":
            meant = ""
            message = "is neither a number nor a duration, as `5m`"
            if opened is not None and opened.text == "[":
                message = "is no duration: write whole numbers with ms, s, m, h, d, w or y"
                message += ", as `1h30m`"
                meant = _duration_meant(token.text)
            return _problem(token, f"`{token.text}` {message}", meant)
        case "STRANGE":
            return _strange(text, token)
        case _:
            return _misplaced(text, token, before[-1] if before else None, scan)


def _other_form(text: str, scan: Scan) -> QueryProblem | None:
    """Return the problem of a form with a certain meaning that PromQL writes in another way."""
    *before, token = scan.tokens
    if scan.wanted == _WANTED["op"] and (found := _VALUE_OF_LABEL.match(text, token.start)):
        message = "a label's value must be in quotes"
        return QueryProblem(message, token.start, len(found[0]), f'"{found[0]}"')
    if scan.wanted in (_WANTED["matched"], _WANTED["label"]):
        return _range_in_braces(text, before, token)
    if scan.wanted == _WANTED["length"]:
        meant = _duration_meant(before[-1].text + token.text)
        if meant:
            return _problem((before[-1], token), f"a duration has no blank: write `{meant}`", meant)
    return None


def _range_in_braces(text: str, before: Sequence[Token], token: Token) -> QueryProblem | None:
    """Return the problem of a range that is written before the `}` of its labels."""
    last = before[-1]
    is_first = last.is_sign("{")
    if last.sort == "NAME" or (is_first and (len(before) == 1 or before[-2].sort != "NAME")):
        return None
    # A comma or a blank before the range is replaced too, and so are braces without a label.
    starts = last.start if last.is_sign(",", "{") else last.end, token.start
    found = next(filter(None, (_RANGE_INSIDE.match(text, start) for start in starts)), None)
    if found is None:
        return None
    meant = found[1] if found[0].startswith("{") else f"}}{found[1]}"
    message = "a range follows the `}` of the labels"
    return QueryProblem(message, found.start(), len(found[0]), meant)


def _strange(text: str, token: Token) -> QueryProblem:
    character = token.text
    if character in "&|":
        width = 2 if text.startswith(character * 2, token.start) else 1
        word = _OPERATORS[character]
        message = f"`{character * width}` is `{word}` in PromQL"
        return QueryProblem(message, token.start, width, word)
    if character in CURLY:
        message = "a curly quote is no quote: write a straight one"
        if found := _CURLY_QUOTED.match(text, token.start):
            return QueryProblem(message, token.start, len(found[0]), f'"{found[1]}"')
    elif character == ".":
        message = 'a name holds no `.`: write `{"a.b"}` for such a metric'
    else:
        message = f"`{character}` has no meaning here"
    return _problem(token, message)


def _misplaced(text: str, token: Token, last: Token | None, scan: Scan) -> QueryProblem:
    if token.is_sign(")", "]", "}") and not scan.opened:
        return _problem(token, f"this `{token.text}` closes nothing: remove it")
    closings = [OPENING[bracket.text] for bracket in scan.opened]
    if token.is_sign(*closings[:-1]) and token.text != closings[-1]:
        return _unclosed_bracket(text, scan.opened[-1], token.start, f" before `{token.text}`")
    if last is not None and token.is_sign(")") and last.is_sign(","):
        return _problem(last, "a value is missing after this `,`: remove it")
    if token.is_sign("=") and "operator" in scan.wanted:
        return _problem(token, "`=` compares labels: values are compared with `==`", "==")
    if last is not None and last.sort == "STRING" and token.sort == "NAME":
        return _problem(token, "a `,` is missing before this")
    return _problem(token, f"`{token.text}` is not allowed here, but {scan.wanted} is")


def _text_of(text: str, part: Sequence[Token]) -> str:
    return text[part[0].start : part[-1].end]


def _blamed(text: str, tokens: Sequence[Token], refused: str) -> QueryProblem:
    """Return the problem of the smallest part that is refused by itself."""
    at_string = _bad_string(tokens, refused)
    if at_string is not None:
        return at_string
    part = tokens
    while True:
        refused = refusal_of(_text_of(text, part)) or refused
        head, inner = inside(part)
        wrong = next((own for own in inner if refusal_of(_text_of(text, own))), None)
        if wrong is None:
            types = [(_type_of(_text_of(text, own)), own) for own in inner]
            return _said_of(part, head, types, refused)
        part = wrong


def _bad_string(tokens: Sequence[Token], refused: str) -> QueryProblem | None:
    """Return the problem of a text with an invalid escape or regular expression."""
    for token in tokens:
        if token.sort != "STRING" or token.text.startswith("`") or token.to == "name":
            continue
        found = _BAD_ESCAPE.match(token.text)
        if found is not None:
            message = f"`{found[1]}` is no escape: double the backslash, or quote with backticks"
            return QueryProblem(message, token.start + found.start(1), 2)
    for op, token in pairwise(tokens) if refused.startswith(_NO_REGEX) else ():
        if op.is_sign("=~", "!~") and refusal_of(f"x{{a=~{token.text}}}") is not None:
            return _problem(token, f"`{meaning(token.text)}` is no regular expression of RE2")
    return None


def _said_of(
    part: Sequence[Token], head: Token, inner: list[tuple[str, Sequence[Token]]], refused: str
) -> QueryProblem:
    if refused.startswith("unknown function"):
        near = nearest(head.text, FUNCTIONS | AGGREGATIONS)
        hint = f": did you mean `{near}`?" if near else ""
        return _problem(head, f"PromQL has no function `{head.text}`{hint}", near)
    expected = _EXPECTED.search(refused)
    if expected is not None:
        wanted, got = expected.groups()
        wrong = next((own for type_, own in inner if type_ == got and got != wanted), part)
        message = f"wants {_TYPES.get(wanted, wanted)} here, not {_TYPES.get(got, got)}"
        return _problem(wrong, f"`{head.text}` {message}")
    counted = _COUNTED.search(refused)
    if counted is not None:
        message = f"`{head.text}` takes {counted[1]} arguments, and has {len(inner)}"
        return _problem(head, message)
    if refused.startswith("binary expression must contain"):
        operands = (pair for pair in inner if pair[0] in ("matrix", "string"))
        type_, operand = next(operands, ("", part))
        what = "a range has to go through a function, as `rate(metric[5m])`,"
        what = what if type_ == "matrix" else "text"
        return _problem(operand, f"{what} cannot be an operand of `{head.text}`")
    known = (message for begun, message in _TOLD.items() if refused.startswith(begun))
    return _problem(head, next(known, f"this cannot be parsed: {refused}"))


def _type_of(text: str) -> str:
    """Return the type of a part of a query by the function that accepts it, as `vector`."""
    calls = {"vector": f"abs({text}\n)", "matrix": f"rate({text}\n)", "scalar": f"vector({text}\n)"}
    return next((name for name, call in calls.items() if refusal_of(call) is None), "string")


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
    for tried in (*others, _without_hyphens(first)):
        if refusal_of(tried) is None:
            return tried, None
    if holes:
        return "", _wrong_around(first, refused, holes)
    return "", _wrong(text, refused)


def _without_hyphens(text: str) -> str:
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
    """Return a function that returns whether a position is in quotes or in a comment."""
    strings = re.finditer(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`|#[^\n]*""", text)
    spans = [found.span() for found in strings]
    return lambda place: any(start < place < end for start, end in spans)


def _wrong_around(text: str, refused: str, holes: list[Hole]) -> QueryProblem | None:
    """Return the problem, unless a variable's value may decide it."""
    wrong = _wrong(text, refused)
    # A bracket without its end is wrong where it begins.
    is_cut = wrong.meant.startswith(text[wrong.start : wrong.start + wrong.width])
    near = (wrong.start - 1, wrong.start + (1 if is_cut else wrong.width) + 1)
    if any(hole.touches(*near) for hole in holes):
        return None
    is_quoted = _quoted(text)
    is_sure = all(is_quoted(hole.start) for hole in holes)
    # Its types may be right once the variables have their values.
    return wrong if is_sure or read(text).wanted else None


def _wrong(text: str, refused: str) -> QueryProblem:
    scan = read(text)
    if scan.wanted:
        return _other_form(text, scan) or _describe_unparsed(text, scan)
    return _blamed(text, scan.tokens[:-1], refused)


def _facts(text: str, original: str) -> Parsed:
    """Return what a valid query uses; nothing if only the library can parse it.

    `original` has the same length, and has the variables where the text has placeholders.
    """
    scan = read(text)
    metrics: dict[str, None] = {}
    matchers: dict[Matcher, None] = {}
    label = op = ""
    for token, after in pairwise(scan.tokens) if not scan.wanted else ():
        written = original[token.start : token.end]
        if token.to == "named":
            metrics[written] = None
        elif token.to == "op":
            op = token.text
        elif token.to == "quoted" and after.is_sign(",", "}"):
            metrics[meaning(written)] = None
        elif token.to in ("matcher", "quoted"):
            label = meaning(written) if token.sort == "STRING" else written
        elif token.to == "matched" and (label, op) == ("__name__", "="):
            metrics[meaning(written)] = None
        elif token.to == "matched":
            matchers[Matcher(label, op, meaning(written))] = None
    return Parsed(metrics=tuple(metrics), matchers=tuple(matchers))
