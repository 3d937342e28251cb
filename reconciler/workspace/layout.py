"""Layout of new or changed values, which follows the text around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate, pairwise

from yaml import SafeLoader, ScalarNode, SequenceNode, YAMLError, compose

from reconciler.document import Json, identical
from reconciler.kinds.envelope_fields import MANIFEST_KEYS
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import SyntaxNode, WrittenText
from reconciler.syntax.tidy_json import tidy_json
from reconciler.syntax.tidy_yaml import Order, tidy_yaml

ORDER = Order(
    ("apiVersion", "kind", "forEach", "metadata", *MANIFEST_KEYS, "spec"),
    needed=("apiVersion", "kind"),
)
"""The fields that a manifest begins with."""

MARK = "\ufeff"


def tidied(reading: Reading, *, is_json: bool) -> str | None:
    """Return a text without errors in the standard layout, or None if its meaning would change."""
    text = reading.lines.text
    if text.startswith(MARK):
        # The parser skips a second byte-order mark without counting it.
        return None
    tidy = tidy_json if is_json else tidy_yaml
    values = [document.value for document in reading.documents]
    for order in (ORDER, Order()):
        made = tidy(text, order)
        if made.count(MARK) != text.count(MARK):
            # The parser skips a mark at the start of a line, where it may be intended.
            continue
        if made == text or says(made, values, is_json=is_json):
            return made
    return None


def says(text: str, values: Sequence[Json], *, is_json: bool = False) -> bool:
    """Return whether a text has no errors, and holds these documents."""
    reading = read_text(text, is_json=is_json)
    found = [document.value for document in reading.documents]
    same = len(found) == len(values) and all(map(identical, found, values))
    return same and not reading.has_errors


def line_break(text: str) -> str:
    """Return the line break of the first line of a text."""
    return "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"


STEP = 2
_KEY_SEPARATOR = re.compile(r'"[ \t]*:([ \t]*)')
_ITEM_SEPARATOR = re.compile(r"[^\s,],([ \t]*)(?=[^\s])")
_TEXT = "tag:yaml.org,2002:str"
_INDICATOR = re.compile(r"[|>][-+]?([1-9])")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


@dataclass(frozen=True, slots=True)
class FileLayout:
    """The layout of one file: `step` indents a level, and `offset` the dash of a list.

    In JSON, `colon` and `comma` are the separators as they are written on one line.
    """

    is_json: bool
    newline: str = "\n"
    step: str = " " * STEP
    offset: int = STEP
    colon: str = ": "
    comma: str = ", "
    only_ascii: bool = False

    @classmethod
    def of(cls, where: WrittenText, *, is_json: bool) -> FileLayout:
        """Return the layout of a text."""
        text = where.text
        newline, found = line_break(text), [*_steps(where)]
        step = max(set(found), key=found.count) if found else " " * STEP
        if not is_json:
            return cls(is_json, newline, step, _dash_offset(where))
        colon, comma = _KEY_SEPARATOR.search(text), _ITEM_SEPARATOR.search(text)
        escaped = text.isascii() and "\\u" in text
        return cls(
            is_json,
            newline,
            step,
            colon=":" + (" " if colon is None else colon[1]),
            comma="," + (" " if comma is None else comma[1]),
            only_ascii=escaped,
        )

    def token(self, value: Json, like: SyntaxNode | None = None, *, in_flow: bool) -> str:
        """Return a scalar or an empty container as one word of the text."""
        if self.is_json:
            return json.dumps(value, ensure_ascii=self.only_ascii)
        if not isinstance(value, str):
            return json.dumps(value)
        style, candidate = like.style if like is not None else "", ""
        if style == "'":
            candidate = "'" + value.replace("'", "''") + "'"
        elif style != '"' and _is_text_to_all(value, in_flow=in_flow):
            candidate = value
        return candidate if _reads_as(candidate, value, in_flow=in_flow) else _double(value)

    def key(self, name: str, like: SyntaxNode | None = None, *, in_flow: bool) -> str:
        """Return the name of a field, quoted like another key."""
        if self.is_json or (like is not None and like.style == '"'):
            return json.dumps(name, ensure_ascii=self.only_ascii)
        return self.token(name, like, in_flow=in_flow)

    def flow(self, value: Json, like: SyntaxNode | None = None, margin: str | None = None) -> str:
        """Return a value in braces or brackets; with a `margin`, each member has its own line."""
        if not isinstance(value, dict | list) or not value:
            return self.token(value, like, in_flow=True)
        inner = None if margin is None else margin + self.step
        if isinstance(value, dict):
            members = [
                self.key(name, _some_key(like), in_flow=True)
                + self.colon
                + self.flow(element, field_of(like, name), inner)
                for name, element in _as_ordered(value, like)
            ]
        else:
            members = [self.flow(element, item_like(like, element), inner) for element in value]
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if inner is None:
            return f"{opening}{self.comma.join(members)}{closing}"
        joined = f",{self.newline}{inner}".join(members)
        return f"{opening}{self.newline}{inner}{joined}{self.newline}{margin}{closing}"

    def entry(
        self, name: str, value: Json, like: SyntaxNode | None, key: SyntaxNode | None
    ) -> list[str]:
        """Return the lines of a field of a block, without indentation."""
        head = self.key(name, key, in_flow=False) + ":"
        if is_block(value, like):
            offset = self.offset if isinstance(value, list) else len(self.step)
            return [head, *indented(self.block(value, like), offset)]
        lines = self.scalar(value, like)
        return [f"{head} {lines[0]}", *indented(lines[1:], len(self.step))]

    def item(self, value: Json, like: SyntaxNode | None, gap: int = 1) -> list[str]:
        """Return the lines of an item of a block list, with `gap` blanks after its dash."""
        lead = "-" + " " * gap
        lines = self.block(value, like) if is_block(value, like) else self.scalar(value, like)
        return [lead + lines[0], *indented(lines[1:], len(lead))]

    def block(self, value: Json, like: SyntaxNode | None) -> list[str]:
        """Return the lines of a container that is not empty, without indentation."""
        if isinstance(value, dict):
            return [
                line
                for name, element in _as_ordered(value, like)
                for line in self.entry(name, element, field_of(like, name), _some_key(like))
            ]
        assert isinstance(value, list)  # noqa: S101 - checked by `is_block` before
        return [line for element in value for line in self.item(element, item_like(like, element))]

    def scalar(self, value: Json, like: SyntaxNode | None) -> list[str]:
        """Return the lines of a scalar or flow value in a block; several make a block scalar."""
        if isinstance(value, dict | list):
            return [self.flow(value, like)]
        if isinstance(value, str) and "\n" in value and (lines := literal_block(value)):
            return lines
        return [self.token(value, like, in_flow=False)]


def describe_unreported(names: Sequence[str]) -> str:
    """Return the comment on fields that a service does not return, without its mark."""
    return f"{', '.join(names)}: not returned by the service; add it before this is changed"


def is_block(value: Json, like: SyntaxNode | None) -> bool:
    """Return whether a value is written as a block: not if it is empty, or `like` is in flow."""
    if not isinstance(value, dict | list) or not value:
        return False
    return like is None or not like.is_flow or not (like.values or like.keys)


def field_of(node: SyntaxNode | None, name: str) -> SyntaxNode | None:
    """Return the node under a name in a node, or None."""
    if node is None:
        return None
    keys = node.itself.keys
    return next((node.itself.values[nth] for nth, key in enumerate(keys) if key.text == name), None)


def item_like(node: SyntaxNode | None, value: Json) -> SyntaxNode | None:
    """Return the item of a list that has most field names in common with a value."""
    if node is None or node.itself.keys:
        return None
    mine = set(value) if isinstance(value, dict) else set()
    # The first items are enough, and each is searched.
    candidates = node.itself.values[:50]
    return max(
        candidates,
        key=lambda item: len(mine & {key.text for key in item.itself.keys}),
        default=None,
    )


def _as_ordered(value: dict[str, Json], like: SyntaxNode | None) -> list[tuple[str, Json]]:
    """Return the fields of an object in the order of `like`, followed by the other fields."""
    theirs = [key.text for key in like.itself.keys] if like is not None else []
    names = dict.fromkeys([*(name for name in theirs if name in value), *value])
    return [(name, value[name]) for name in names]


def _some_key(node: SyntaxNode | None) -> SyntaxNode | None:
    return node.itself.keys[0] if node is not None and node.itself.keys else None


def indented(lines: Iterable[str], by: int) -> Iterator[str]:
    """Yield lines with more indentation, except empty lines."""
    return (" " * by + line if line else line for line in lines)


def literal_block(value: str, indicator: int = 0) -> list[str] | None:
    """Return the lines of a literal block without indentation, its header first, or None.

    Some texts cannot be one. A text that begins with a blank needs an indentation `indicator`.
    """
    body = value.rstrip("\n")
    if not body.strip() or _UNSAFE.search(value.replace("\n", "").replace("\t", "")):
        return None
    if not indicator and body.lstrip("\n").startswith((" ", "\t")):
        return None
    ended = len(value) - len(body)
    chomping = {0: "-", 1: ""}.get(ended, "+")
    return [f"|{indicator or ''}{chomping}", *body.split("\n"), *[""] * max(0, ended - 1)]


def _rewrapped(source: Sequence[str], value: str) -> list[str] | None:
    """Return the lines of a folded text, broken where the old lines were as far as they agree.

    `source` are the old lines, and their words are the old text. Returns None where blanks count.
    """
    if (
        value != " ".join(value.split(" "))
        or "\n" in value
        or "  " in value
        or value.strip() != value
    ):
        return None
    old = [word for line in source for word in line.split()]
    ends = {*accumulate(len(line.split()) for line in source)}
    new = value.split(" ")
    breaks = {0, len(new)}
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            breaks |= {nth - first + start for nth in range(first + 1, last + 1) if nth in ends}
        elif last in ends:
            breaks.add(end)
    return [" ".join(new[start:end]) for start, end in pairwise(sorted(breaks))]


def in_its_lines(
    node: SyntaxNode, source: Sequence[str], value: str, column: int
) -> list[str] | None:
    """Return the lines of a text in the form of the `source` lines that it replaces, or None.

    `column` is that of the key or dash of the text; lines below the first one are indented.
    """
    below = next((line for line in source[1:] if line.strip()), source[-1])
    margin = len(below) - len(below.lstrip(" "))
    if node.style == "|":
        indicator = _INDICATOR.match(source[0])
        own = 0 if indicator is None else int(indicator[1])
        margin = column + own if own else margin
        lines = literal_block(value, own)
        if lines is None:
            margin = min(margin, column + 9)
            lines = literal_block(value, margin - column)
    elif node.style == ">":
        lines = _folded(source[1:], node.text, value)
    else:
        lines = _wrapped(node, source, value)
    return lines and [lines[0], *indented(lines[1:], margin)]


def _folded(source: Sequence[str], before: str, value: str) -> list[str] | None:
    """Return the lines of a folded text, or None if it has more than one paragraph."""
    body = value.rstrip("\n")
    ended = len(value) - len(body)
    if "\n" in before.rstrip("\n") or ended > 1:
        return None
    lines = _rewrapped([text for text in source if text.strip()], body)
    return lines and [">" if ended else ">-", *lines]


def _wrapped(node: SyntaxNode, source: Sequence[str], value: str) -> list[str] | None:
    """Return a plain or quoted text in several lines, or None if it needs another form."""
    quote = node.style
    if quote not in ("", "'", '"') or "\n" in node.text or set("'\"\\#:") & set(value):
        return None
    bare = [text.strip() for text in source]
    bare[0], bare[-1] = bare[0].removeprefix(quote), bare[-1].removesuffix(quote)
    if " ".join(bare) != node.text:
        return None
    lines = _rewrapped(bare, value)
    if not lines or (not quote and not value[:1].isalpha()):
        return None
    lines[0] = quote + lines[0]
    lines[-1] += quote
    return lines


def _double(value: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@lru_cache(maxsize=4096)
def _is_text_to_all(value: str, *, in_flow: bool) -> bool:
    """Return whether a plain scalar is text in YAML 1.1 too, which other tools read."""
    try:
        node = compose(f"[{value}, b]" if in_flow else value, SafeLoader)
    except YAMLError:
        return False
    found = node.value[:-1] if isinstance(node, SequenceNode) and in_flow else [node]
    texts = [child for child in found if isinstance(child, ScalarNode)]
    return [(text.tag, text.value) for text in texts] == [(_TEXT, value)]


def _reads_as(candidate: str, value: str, *, in_flow: bool) -> bool:
    """Return whether a word is read as this text at its place."""
    if not candidate or _UNSAFE.search(candidate):
        return False
    around = f"{{a: {candidate}, b: 1}}\n" if in_flow else f"a: {candidate} # c\nb: 1\n"
    return says(around, [{"a": value, "b": 1}])


def _steps(where: WrittenText) -> Iterator[str]:
    """Yield the indentation of each container with its own lines, relative to the outer one."""
    stack = [(document, "") for document in where.documents]
    while stack:
        node, margin = stack.pop()
        for nth, value in enumerate(node.values):
            key = node.keys[nth] if node.keys else value
            mine = margin
            before = where.text[where.line_start(key.opening) : key.opening]
            if not before.strip():
                mine = before
                more = mine.removeprefix(margin)
                if node.keys and margin != mine and mine.startswith(margin):
                    yield more
            elif not before.strip("- "):
                # The fields of an item begin after its dash, which is no step.
                mine = " " * len(before)
            if value.means is None:
                stack.append((value, mine))


def _dash_offset(where: WrittenText) -> int:
    """Return how many columns the dashes of most lists are right of the key above them."""
    found: list[int] = []
    stack = list(where.documents)
    while stack:
        node = stack.pop()
        for nth, value in enumerate(node.values):
            is_list = value.style == "[" and not value.is_flow and value.means is None
            if node.keys and is_list and not node.is_flow and value.values:
                column = where.column(dash_of(where, value, 0)) - where.column(node.keys[nth].start)
                found.append(column)
            stack.append(value)
    return max(set(found), key=found.count) if found else STEP


def dash_of(where: WrittenText, node: SyntaxNode, nth: int) -> int:
    """Return the position of the dash of an item."""
    if nth == 0:
        return node.start
    column = where.column(node.start)
    line = where.line_start(node.values[nth].opening)
    while where.text[line + column : line + column + 1] != "-" and line > node.start:
        line = where.line_start(line - 1)
    return line + column
