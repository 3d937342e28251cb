"""Layout of new or changed values, and edits of a text by the places of its parts.

The layout follows the text around a value. A library that writes YAML formats the whole file: it
wraps long lines, indents lists and changes quotes. A repair should be as small as a careful edit by
hand, so edits are made by line and column, in JSON too. The caller reads the result again and
compares it (`fixes.py`).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from typing import assert_never

from yaml import SafeLoader, ScalarNode, SequenceNode, YAMLError, compose

from reconciler.document import Json, Path, identical
from reconciler.kinds import repairs
from reconciler.kinds.field_traits import MANIFEST_KEYS
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import SyntaxNode, WrittenText
from reconciler.syntax.tidy import Order, line_break, tidy_json, tidy_yaml

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
        """Return the lines of a scalar or flow value in a block; a block scalar has several."""
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
    nth = None if node is None else node.itself.place_at(name)
    return None if node is None or nth is None else node.itself.values[nth]


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

    `source` are the old lines, and their words are the old text. Returns None where blanks have a
    meaning.
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


METADATA: Path = ("metadata",)
_LINE = re.compile(r"\n(?=[^\r\n])")
"""The break before a line that is not empty."""


@dataclass(frozen=True, slots=True, order=True)
class Splice:
    """The span from `start` to `end`, and the text that replaces it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Editor:
    """Writer of the edits for repairs in one document; paths begin at `prefix`.

    An alias is followed: the edit is made where its value is written.
    """

    written: WrittenText
    document: SyntaxNode
    prefix: Path

    def edits(self, made: repairs.Round) -> Iterator[Splice]:  # noqa: C901 - a table of repairs
        """Yield the edits for a round of repairs."""
        gone: dict[Path, set[str]] = defaultdict(set)
        for repair in made:
            match repair:
                case repairs.Drop() | repairs.MoveId():
                    gone[repair.path[:-1]].add(str(repair.path[-1]))
                    if isinstance(repair, repairs.MoveId):
                        yield self._id_moved(self._at(repair.path))
                case repairs.Rename():
                    yield self._renamed(repair.path, repair.name)
                case repairs.Negate():
                    yield self._renamed(repair.path, repair.name)
                    yield _instead(self._at(repair.path), json.dumps(repair.value))
                case repairs.Unquote():
                    yield _instead(self._at(repair.path), json.dumps(repair.number))
                case repairs.Unwrap():
                    yield from self._unwrapped(self._at(repair.path), repair.steps)
                case repairs.Wrap():
                    yield from self._wrapped(self._at(repair.path), repair.name)
                case repairs.Lift():
                    yield from self._lifted(repair)
                case _:
                    assert_never(repair)
        for path, names in gone.items():
            yield from self.without(self._at(path), names)

    def _at(self, path: Path) -> SyntaxNode:
        return self.document.at((*self.prefix, *path))

    def _renamed(self, path: Path, name: str) -> Splice:
        holder = self._at(path[:-1])
        key = holder.keys[holder.place_of(str(path[-1]))]
        return _instead(key, _quoted_as(key, name))

    def _id_moved(self, value: SyntaxNode) -> Splice:
        """Return the splice that writes an id after the name, in the metadata."""
        metadata = self.document.at(METADATA)
        empty = next((key for key in metadata.keys if key.text == "id"), None)
        if empty is not None:
            return Splice(empty.end, metadata.at(("id",)).end, f": {self._shown(value)}")
        nth = metadata.place_of("name")
        key, name = metadata.keys[nth], metadata.values[nth]
        entry = f"{_quoted_as(key, 'id')}: {self._shown(value)}"
        if metadata.is_flow:
            return Splice(name.end, name.end, f", {entry}")
        end = self.written.line_end(max(key.end, name.end))
        return Splice(end, end, f"{self._break}{' ' * self.written.column(key.start)}{entry}")

    def _shown(self, node: SyntaxNode) -> str:
        return self.written.text[node.start : node.end]

    @property
    def _break(self) -> str:
        return line_break(self.written.text)

    def without(self, holder: SyntaxNode, names: set[str]) -> Iterator[Splice]:
        """Yield the splices that remove fields, adjacent fields together."""
        marked = [(nth, key.text in names) for nth, key in enumerate(holder.keys)]
        if all(is_gone for _, is_gone in marked):
            yield self._emptied(holder)
            return
        for is_gone, group in groupby(marked, key=lambda mark: mark[1]):
            if is_gone:
                places = [nth for nth, _ in group]
                cut = self._cut_in_line if holder.is_flow else self._cut_lines
                yield cut(holder, places[0], places[-1])

    def _emptied(self, holder: SyntaxNode) -> Splice:
        if holder.is_flow:
            kept = self._kept(holder.start, holder.end, self.written.column(holder.start))
            return Splice(holder.start, holder.end, "{" + (f" {kept}" if kept else "") + "}")
        end = self.written.line_end(holder.end)
        column = self.written.column(holder.start)
        kept = self._kept(holder.start, end, column).rstrip(" ")
        after = f"{self._break}{' ' * column}{kept.rstrip()}" if kept else ""
        return Splice(holder.start, end, "{}" + after)

    def _kept(self, start: int, end: int, column: int) -> str:
        """Return the comments of removed text, a line each, and the indentation after them."""
        comments = self.written.comments(start, end)
        return "".join(f"{comment}{self._break}{' ' * column}" for comment in comments)

    def _cut_lines(self, holder: SyntaxNode, first: int, last: int) -> Splice:
        start = holder.keys[first].start
        column = self.written.column(start)
        if not self.written.opens_line(start):
            # The dash of a list is before it.
            end = holder.keys[last + 1].start
            return Splice(start, end, self._kept(start, end, column))
        start = self.written.line_start(start)
        end = self.written.line_end(max(holder.keys[last].end, holder.values[last].end))
        comments = self.written.comments(start, end)
        if comments:
            return Splice(start, end, self._break.join(indented(comments, column)))
        after = self.written.text.find("\n", end)
        return Splice(start, len(self.written.text) if after < 0 else after + 1, "")

    def _cut_in_line(self, holder: SyntaxNode, first: int, last: int) -> Splice:
        if last + 1 < len(holder.keys):
            start, end = holder.keys[first].start, holder.keys[last + 1].start
        else:
            start = max(holder.values[first - 1].end, holder.keys[first - 1].end)
            end = max(holder.values[last].end, holder.keys[last].end)
        kept = self._kept(start, end, self.written.column(holder.keys[first].start))
        return Splice(start, end, f" {kept}" if kept else "")

    def _wrapped(self, holder: SyntaxNode, name: str) -> Iterator[Splice]:
        if holder.is_flow:
            first = holder.keys[0]
            yield Splice(holder.start, holder.start, f"{{{_quoted_as(first, name)}: ")
            yield Splice(holder.end, holder.end, "}")
            return
        column = self.written.column(holder.start)
        inner = f"{self._break}{' ' * (column + STEP)}"
        yield Splice(holder.start, holder.start, f"{name}:{inner}")
        for found in _LINE.finditer(self.written.text, holder.start, holder.end):
            yield Splice(found.end(), found.end(), " " * STEP)

    def _lifted(self, repair: repairs.Lift) -> Iterator[Splice]:
        """Yield the splices that move an entry after the content around it, with its comments."""
        outer, holder = self._at(repair.path[:-2]), self._at(repair.path[:-1])
        nth = holder.place_of(str(repair.path[-1]))
        key, value = holder.keys[nth], holder.values[nth]
        heads = repair.steps[:-1]
        if holder.is_flow or outer.is_flow:
            yield self._cut_in_line(holder, nth, nth)
            names = [_quoted_as(key, step) for step in repair.steps]
            entry = f"{': {'.join(names)}: {self._shown(value)}{'}' * len(heads)}"
            if outer.is_flow:
                yield Splice(holder.end, holder.end, f", {entry}")
            else:
                column = self.written.column(outer.keys[0].start)
                end = self.written.line_end(max(holder.end, value.end))
                yield Splice(end, end, f"{self._break}{' ' * column}{entry}")
            return
        start = self.written.line_start(key.start)
        end = self.written.line_end(max(key.end, value.end))
        column = self.written.column(outer.keys[0].start)
        lines = [f"{' ' * (column + STEP * depth)}{head}:" for depth, head in enumerate(heads)]
        body = self.written.text[start:end]
        more = column + STEP * len(heads) - self.written.column(key.start)
        moved = re.sub(
            r"^ +", lambda found: " " * max(0, len(found[0]) + more), body, flags=re.MULTILINE
        )
        entry_text = self._break.join((*lines, moved))
        last = self.written.line_end(max(key.end for key in (*outer.keys, *outer.values)))
        if last == end:
            yield Splice(start, end, entry_text)
            return
        yield Splice(start, self.written.text.find("\n", end) + 1, "")
        yield Splice(last, last, f"{self._break}{entry_text}")

    def _unwrapped(self, holder: SyntaxNode, steps: Path) -> Iterator[Splice]:
        nth = holder.place_of(str(steps[0]))
        key, value = holder.keys[nth], holder.values[nth]
        inner = holder.at(steps)
        column = self.written.column(key.start)
        if holder.is_flow:
            yield self._spilled(key, value, inner)
            return
        end = self.written.line_end(max(value.end, inner.end))
        lines = self.written.comments(key.end, inner.start)
        if inner.is_flow:
            pairs = zip(inner.keys, inner.values, strict=True)
            lines += self._between(inner, end)
            lines += [f"{self._shown(node)}: {self._shown(member)}" for node, member in pairs]
        else:
            body = self.written.text[inner.start : end]
            less = self.written.column(inner.start) - column
            lines.append(re.sub(rf"(?<=\n) {{1,{less}}}", "", body) if less > 0 else body)
        start = self.written.line_start(key.start)
        yield Splice(start, end, self._break.join(indented(lines, column)))

    def _between(self, inner: SyntaxNode, end: int) -> list[str]:
        """Return the comments of a mapping outside of its values, and after it."""
        places = [inner.start]
        for key, value in zip(inner.keys, inner.values, strict=True):
            places.extend((key.start, max(key.end, value.end)))
        places.append(end)
        spans = zip(places[::2], places[1::2], strict=True)
        return [comment for start, stop in spans for comment in self.written.comments(start, stop)]

    def _spilled(self, key: SyntaxNode, value: SyntaxNode, inner: SyntaxNode) -> Splice:
        """Return the splice that replaces an entry by the content of its braces."""
        content = self.written.text[inner.start + 1 : inner.end - 1]
        first, column = inner.keys[0].start, self.written.column(key.start)
        less = self.written.column(first) - column
        if less > 0 and self.written.opens_line(first) and self.written.opens_line(key.start):
            content = re.sub(rf"(?<=\n) {{1,{less}}}", "", content)
        if not self.written.comments(inner.start, inner.end):
            content = content.strip().removesuffix(",").rstrip()
        kept = self._kept(key.end, inner.start, column) + self._kept(inner.end, value.end, column)
        content = f" {kept}{content}" if kept else content
        return Splice(key.start, max(value.end, inner.end), content)


def _instead(node: SyntaxNode, text: str) -> Splice:
    return Splice(node.start, node.end, text)


def _quoted_as(key: SyntaxNode, name: str) -> str:
    return f"{key.style}{name}{key.style}" if key.style in ("'", '"') else name


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """Return a text with splices applied; those at one place keep their recorded order.

    Lines that are inserted within a cut replace it. Of two other overlapping splices, the later is
    skipped.
    """
    parts: list[str] = []
    place = 0
    for splice in sorted(splices, key=lambda splice: (splice.start, splice.end)):
        if splice.start >= place:
            parts.extend((text[place : splice.start], splice.text))
            place = splice.end
        elif splice.start == splice.end:
            newline = splice.text[: len(splice.text) - len(splice.text.lstrip("\r\n"))]
            ended = text[:place].endswith("\n")
            parts.append(splice.text.removeprefix(newline) + newline if ended else splice.text)
    return "".join((*parts, text[place:]))
