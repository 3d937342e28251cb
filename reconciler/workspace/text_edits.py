"""Edits of a text by the places of its parts, so that nothing else moves.

A library that writes YAML formats the whole file: it wraps long lines, indents lists and changes
quotes. A repair should be as small as a careful edit by hand. There are few kinds of repairs, so
they are made by line and column, in JSON too. The caller reads the result again and compares it
(`fixes.py`).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import assert_never

from reconciler.document import Edit, Gone, Json, ListItems, Path, Put, Shape, Within, value_at
from reconciler.kinds.repairs import (
    Drop,
    Lift,
    MoveId,
    Negate,
    Rename,
    Round,
    Unquote,
    Unwrap,
    Wrap,
)
from reconciler.syntax.expressions import OPEN, ExpressionKind, expression, whole
from reconciler.syntax.syntax_tree import SyntaxNode, WrittenText
from reconciler.workspace.layout import FileLayout, block_text, dash_of, is_block, rewrapped


class WovenError(Exception):
    """An edit that would change other values too; the message says where to edit by hand."""


def split(
    edit: Edit, base: Mapping[str, Json], patch: Mapping[str, Json], shape: Shape
) -> tuple[dict[str, Edit], dict[str, Edit]]:
    """Return the edits of the fields of `spec`, and of the patch that is merged into it.

    Raises WovenError for an edit that belongs to neither alone.
    """
    if not isinstance(edit, Within):
        raise KeyError("spec")
    own: dict[str, Edit] = {}
    over: dict[str, Edit] = {}
    for key, inside in edit.fields.items():
        if key not in patch:
            own[key] = inside
            continue
        below, above, inner = base.get(key), patch[key], shape.at(key)
        if isinstance(above, dict) and isinstance(inside, Within) and _may_hold(below):
            mine, theirs = split(inside, below if isinstance(below, dict) else {}, above, inner)
            own |= {key: Within(mine)} if mine else {}
            over |= {key: Within(theirs)} if theirs else {}
        elif isinstance(above, list) and isinstance(below, list) and inner.identity:
            raise WovenError(f"`{key}` is merged of `spec` and `overrides`: edit it by hand")
        elif isinstance(inside, Gone) and key in base:
            over[key] = Put(None)
        else:
            over[key] = inside
    return own, over


def _may_hold(below: Json) -> bool:
    """Return whether a patch is merged into this value: an object, or a text with expressions."""
    return isinstance(below, dict) or (isinstance(below, str) and OPEN in below)


def check_own(edit: Edit, written: Json, root: Json) -> None:
    """Raise WovenError for an edit of a value that comes from an expression.

    `written` is the value at the place of the edit, and `root` the whole `spec`.
    """
    match edit:
        case Within(fields=fields):
            _check_open(written, is_inside=True)
            for key, field in fields.items():
                check_own(field, value_at_key(written, key), root)
        case ListItems(items=items):
            _check_open(written, is_inside=True)
            for item in items:
                if item.origin is not None and item.edit is not None:
                    found = value_at(root, item.origin)
                    check_own(item.edit, found if isinstance(found, dict | list) else None, root)
        case Put() | Gone():
            _check_open(written, is_inside=False)


def value_at_key(written: Json, key: str) -> Json:
    """Return the value of a key, or None if there is none."""
    return written.get(key) if isinstance(written, dict) else None


def _check_open(written: Json, *, is_inside: bool) -> None:
    found = whole(written) if isinstance(written, str) else None
    if found is not None and (
        is_inside or found.word in (ExpressionKind.FILE, ExpressionKind.EACH)
    ):
        source = expression(found.word, found.name)
        raise WovenError(f"`{source}` gives what was edited, maybe elsewhere too: edit it by hand")


STEP = 2
METADATA: Path = ("metadata",)


@dataclass(frozen=True, slots=True, order=True)
class Splice:
    """The span from `start` to `end`, and the text that replaces it."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Sequence[Splice]) -> str:
    """Return a text with edits applied, equal edits once; of two that overlap, the earlier."""
    parts: list[str] = []
    place = 0
    for edit in sorted(set(edits)):
        if edit.start >= place:
            parts.extend((text[place : edit.start], edit.text))
            place = edit.end
    return "".join((*parts, text[place:]))


@dataclass(frozen=True, slots=True)
class Editor:
    """Writer of the edits for repairs in one document; paths begin at `prefix`.

    An alias is followed: the edit is made where its value is written.
    """

    written: WrittenText
    document: SyntaxNode
    prefix: Path

    def edits(self, made: Round) -> Iterator[Splice]:
        """Yield the edits for a round of repairs."""
        gone: dict[Path, set[str]] = defaultdict(set)
        for repair in made:
            match repair:
                case Drop() | MoveId():
                    gone[repair.path[:-1]].add(str(repair.path[-1]))
                case Rename() | Negate() | Unquote() | Unwrap() | Wrap() | Lift():
                    yield from self._edit(repair)
                case _:
                    assert_never(repair)
            if isinstance(repair, MoveId):
                yield self._id_moved(self._at(repair.path))
        for path, names in gone.items():
            yield from self.without(self._at(path), names)

    def _at(self, path: Path) -> SyntaxNode:
        return self.document.at((*self.prefix, *path))

    def _edit(self, repair: Rename | Negate | Unquote | Unwrap | Wrap | Lift) -> Iterator[Splice]:
        match repair:
            case Rename():
                yield self._renamed(repair.path, repair.name)
            case Negate():
                yield self._renamed(repair.path, repair.name)
                yield _instead(self._at(repair.path), json.dumps(repair.value))
            case Unquote():
                yield _instead(self._at(repair.path), json.dumps(repair.number))
            case Unwrap():
                yield from self._unwrapped(self._at(repair.path), repair.steps)
            case Wrap():
                yield from self._wrapped(self._at(repair.path), repair.name)
            case Lift():
                yield from self._lifted(repair)
            case _:
                assert_never(repair)

    def _renamed(self, path: Path, name: str) -> Splice:
        holder = self._at(path[:-1])
        key = holder.keys[holder.place_of(str(path[-1]))]
        return _instead(key, _quoted_as(key, name))

    def _id_moved(self, value: SyntaxNode) -> Splice:
        """Return the splice that writes an id after the name, in the metadata."""
        metadata = self.document.at(METADATA)
        empty = next((key for key in metadata.keys if key.text == "id"), None)
        if empty is not None:
            null = metadata.at(("id",))
            return Splice(empty.end, null.end, f": {self._shown(value)}")
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
        first = self.written.text.find("\n")
        return "\r\n" if self.written.text[: first + 1].endswith("\r\n") else "\n"

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
        kept = self._break.join(f"{' ' * column}{comment}" for comment in comments)
        if comments:
            return Splice(start, end, kept)
        after = self.written.text.find("\n", end)
        return Splice(start, len(self.written.text) if after < 0 else after + 1, "")

    def _cut_in_line(self, holder: SyntaxNode, first: int, last: int) -> Splice:
        if last + 1 < len(holder.keys):
            start, end = holder.keys[first].start, holder.keys[last + 1].start
            kept = self._kept(start, end, self.written.column(start))
            return Splice(start, end, f" {kept}" if kept else "")
        before = holder.values[first - 1]
        start = max(before.end, holder.keys[first - 1].end)
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
        for start in self._lines_after(holder.start, holder.end):
            yield Splice(start, start, " " * STEP)

    def _lifted(self, repair: Lift) -> Iterator[Splice]:
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

    def _lines_after(self, start: int, end: int) -> Iterator[int]:
        """Yield the starts of the lines after the line of `start`, without empty lines."""
        place = self.written.text.find("\n", start, end) + 1
        while place:
            if self.written.text[place : place + 1] not in ("\n", "\r", ""):
                yield place
            place = self.written.text.find("\n", place, end) + 1

    def _unwrapped(self, holder: SyntaxNode, steps: Path) -> Iterator[Splice]:
        nth = holder.place_of(str(steps[0]))
        key, value = holder.keys[nth], holder.values[nth]
        inner = holder.at(steps)
        column = self.written.column(key.start)
        if holder.is_flow:
            yield self._spilled(key, value, inner)
            return
        end = self.written.line_end(max(value.end, inner.end))
        lines = [
            f"{' ' * column}{comment}" for comment in self.written.comments(key.end, inner.start)
        ]
        if inner.is_flow:
            pairs = zip(inner.keys, inner.values, strict=True)
            entries = [
                f"{' ' * column}{self._shown(node)}: {self._shown(member)}"
                for node, member in pairs
            ]
            comments = self._between(inner, end)
            lines += [*(f"{' ' * column}{comment}" for comment in comments), *entries]
        else:
            body = self.written.text[inner.start : end]
            less = self.written.column(inner.start) - column
            dedented = re.sub(rf"(?<=\n) {{1,{less}}}", "", body) if less > 0 else body
            lines.append(f"{' ' * column}{dedented}")
        start = self.written.line_start(key.start)
        yield Splice(start, end, self._break.join(lines))

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
        comments = self.written.comments(key.end, inner.start)
        comments += self.written.comments(inner.end, value.end)
        first, column = inner.keys[0].start, self.written.column(key.start)
        less = self.written.column(first) - column
        if less > 0 and self.written.opens_line(first) and self.written.opens_line(key.start):
            content = re.sub(rf"(?<=\n) {{1,{less}}}", "", content)
        if not self.written.comments(inner.start, inner.end):
            content = content.strip().removesuffix(",").rstrip()
        kept = "".join(f"{comment}{self._break}{' ' * column}" for comment in comments)
        return Splice(
            key.start, max(value.end, inner.end), f" {kept}{content}" if kept else content
        )


def _instead(node: SyntaxNode, text: str) -> Splice:
    return Splice(node.start, node.end, text)


def _quoted_as(key: SyntaxNode, name: str) -> str:
    """Return a name with the quotes of another key."""
    return f"{key.style}{name}{key.style}" if key.style in ("'", '"') else name


_BLOCKS = ("|", ">")


@dataclass(slots=True)
class Splicing:
    """One document of a text, and its splices; `value` is the parsed document.

    `parents` has the parent of each node, and the index in it. Text in `chunks` moves elsewhere
    with its comments.
    """

    where: WrittenText
    layout: FileLayout
    root: SyntaxNode
    value: Json
    splices: list[Splice] = field(default_factory=list)
    parents: dict[int, tuple[SyntaxNode, int]] = field(default_factory=dict)
    chunks: list[tuple[int, int]] = field(default_factory=list)

    def _at(self, path: Path) -> SyntaxNode:
        """Return the node at a path; an alias at its end is not followed."""
        holder = self.root.at(path[:-1])
        last = path[-1]
        return holder.values[last if isinstance(last, int) else holder.place_of(last)]

    def _margin(self, node: SyntaxNode) -> str | None:
        """Return the indentation of the members of a flow node, or None if they share a line."""
        first = (node.keys or node.values)[0].opening
        before = self.where.text[self.where.line_start(first) : first]
        return before if not before.strip() else None

    def _member_end(self, node: SyntaxNode, nth: int) -> int:
        return max(node.values[nth].end, node.keys[nth].end if node.keys else 0)

    def _extent(self, child: SyntaxNode) -> tuple[int, int]:
        """Return the start and end of an item with its comments, as it moves elsewhere."""
        holder, nth = self.parents[id(child)]
        if holder.is_flow or holder.keys:
            return child.opening, child.end
        dash = dash_of(self.where, holder, nth)
        start = self._chunk_start(holder, nth) if self.where.opens_line(dash) else dash
        return start, self.where.line_end(child.end)

    def _left_comments(
        self, start: int, end: int, moved: Sequence[tuple[int, int]] = ()
    ) -> list[str]:
        """Return the comments between two places, without those that move with an item."""
        away = [*self.chunks, *moved]
        return [
            self.where.text[begin:after]
            for begin, after in self.where.comment_spans(start, end)
            if not any(pair[0] <= begin and after <= pair[1] for pair in away)
        ]

    def _chunk_start(self, node: SyntaxNode, nth: int) -> int:
        """Return the start of the lines of an item, including the comments right above it."""
        start = self.where.line_start(dash_of(self.where, node, nth))
        before = node.values[nth - 1].end if nth > 0 else self._list_head(node)
        while (above := self.where.line_start(start - 1)) > before:
            if not self.where.text[above:start].lstrip().startswith("#"):
                break
            start = above
        return start

    def _list_head(self, node: SyntaxNode) -> int:
        """Return the end of the key or dash above a list."""
        if id(node) not in self.parents:
            return node.start
        return self._head(*self.parents[id(node)])

    def _gap(self, node: SyntaxNode) -> int:
        """Return the number of blanks between the dash of a list and its first item."""
        dash = node.start
        first = node.values[0].opening if node.values else dash
        is_there = self.where.line_start(first) == self.where.line_start(dash)
        return max(1, first - dash - 1) if is_there else 1

    def _insert_lines(self, place: int, lines: Sequence[str]) -> None:
        newline = self.layout.newline
        self.splices.append(Splice(place, place, "".join(newline + line for line in lines)))

    @staticmethod
    def _anchor_end(node: SyntaxNode) -> int:
        return node.opening + len(node.anchor) + 1

    def _replace(
        self, node: SyntaxNode, value: Json, like: SyntaxNode | None, anchor: str = ""
    ) -> None:
        """Replace a node by another value."""
        if id(node) not in self.parents:
            raise KeyError("the whole document")
        holder, nth = self.parents[id(node)]
        if holder.is_flow or self.layout.is_json:
            margin = self._flow_margin(node, like)
            text = self._with_comments(node, self.layout.flow(value, like, margin))
            self.splices.append(Splice(node.start, node.end, anchor + text))
            return
        head = self._head(holder, nth)
        first, rest = self._laid(node, holder, nth, value, like)
        self._lay(node, head, (anchor + first).strip(" "), rest)

    def _with_comments(self, node: SyntaxNode, text: str) -> str:
        """Return the text that replaces a flow node, with the comments of that node."""
        comments = self._left_comments(node.start, node.end) if node.means is None else []
        margin = self._margin(node) if node.is_flow and node.values else None
        if not comments or margin is None or text[0] not in "[{":
            return text
        lead = f"{self.layout.newline}{margin}"
        kept = "".join(lead + comment for comment in comments)
        rest = text[1:] if text[1:].startswith(self.layout.newline) else lead + text[1:]
        return f"{text[0]}{kept}{rest}"

    def _flow_margin(self, node: SyntaxNode, like: SyntaxNode | None) -> str | None:
        for candidate in (like, node):
            is_open = candidate is not None and candidate.is_flow and candidate.values
            if candidate is not None and is_open and self._margin(candidate) is not None:
                return self._line_margin(candidate.start)
        holder, _ = self.parents[id(node)]
        if like is not None and like.is_flow and like.values:
            return None
        return self._margin(holder) if holder.is_flow else None

    def _line_margin(self, place: int) -> str:
        line = self.where.text[self.where.line_start(place) : place]
        return line[: len(line) - len(line.lstrip())]

    def _head(self, holder: SyntaxNode, nth: int) -> int:
        """Return the end of the colon or dash before a value."""
        if holder.keys:
            return self.where.text.index(":", holder.keys[nth].end) + 1
        return dash_of(self.where, holder, nth) + 1

    def _laid(
        self, node: SyntaxNode, holder: SyntaxNode, nth: int, value: Json, like: SyntaxNode | None
    ) -> tuple[str, list[str]]:
        """Return the text of a value on the line of its key or dash, and the lines below."""
        layout, where = self.layout, self.where
        column = where.column(holder.keys[nth].start if holder.keys else holder.start)
        if is_block(value, like):
            lines = layout.block(value, like)
            if holder.keys:
                by = layout.offset if isinstance(value, list) else len(layout.step)
                return "", [" " * (column + by) + line if line else line for line in lines]
            by = self._gap(holder) + 1
            return lines[0], [" " * (column + by) + line if line else line for line in lines[1:]]
        kept = self._in_its_lines(node, value) if isinstance(value, str) else None
        if kept is not None:
            return kept
        lines = layout.scalar(value, like)
        by = len(layout.step) if holder.keys else self._gap(holder) + 1
        return lines[0], [" " * (column + by) + line if line else line for line in lines[1:]]

    def _in_its_lines(self, node: SyntaxNode, value: str) -> tuple[str, list[str]] | None:
        """Return a text in the layout of the lines that it replaces, or None if impossible."""
        source = self.where.text[node.start : node.end].replace("\r\n", "\n").split("\n")
        if len(source) < 2:  # noqa: PLR2004 - of one line
            return None
        below = next((line for line in source[1:] if line.strip()), source[-1])
        margin = below[: len(below) - len(below.lstrip(" "))]
        if node.style == "|":
            lines = block_text(value) or _one_line_block(value)
        elif node.style == ">":
            lines = _folded(source[1:], node.text, value)
        else:
            return _wrapped(node, source, value, margin)
        if not lines:
            return None
        return lines[0], [margin + line if line else line for line in lines[1:]]

    def _lay(self, node: SyntaxNode, head: int, first: str, rest: Sequence[str]) -> None:
        """Write a first line after a key or dash, and the rest below, in place of a node."""
        where, newline = self.where, self.layout.newline
        head_end = where.line_end(head)
        is_below = node.start > head_end
        end_of_head = self._anchor_end(node) if node.anchor else head
        on_head = is_below or node.start == node.end or not first
        start = end_of_head if on_head else node.start
        opening = f" {first}" if first and on_head else first
        if node.style in _BLOCKS and node.means is None:
            header_end = start + len(where.text[start:head_end].split("#")[0].rstrip())
            below, stop = head_end, max(node.end, head_end)
            comments: list[str] = []
        elif is_below:
            header_end, below, stop = start, head_end, where.line_end(node.end)
            comments = self._left_comments(below, stop)
        else:
            header_end = max(node.end, start)
            below = stop = where.line_end(header_end)
            comments = self._left_comments(start, header_end)
        margin = self._line_margin(head - 1)
        lines = [*rest, *(margin + comment for comment in comments)]
        self.splices.append(Splice(start, header_end, opening))
        self.splices.append(Splice(below, stop, "".join(newline + line for line in lines)))


def _one_line_block(value: str) -> list[str] | None:
    """Return a text of one line as a block scalar, like the text before it, or None."""
    if not value.strip() or value[:1] in (" ", "\t") or "\n" in value.rstrip("\n"):
        return None
    lines = block_text(value if value.endswith("\n") else value + "\n")
    if lines is None or value.endswith("\n\n"):
        return None
    return ["|" if value.endswith("\n") else "|-", *lines[1:]]


def _folded(source: Sequence[str], before: str, value: str) -> list[str] | None:
    """Return the lines of a folded text, or None if it has more than one paragraph."""
    body = value.rstrip("\n")
    ended = len(value) - len(body)
    if "\n" in before.rstrip("\n") or ended > 1:
        return None
    lines = rewrapped([text for text in source if text.strip()], body)
    return lines and [">" if ended else ">-", *lines]


def _wrapped(
    node: SyntaxNode, source: Sequence[str], value: str, margin: str
) -> tuple[str, list[str]] | None:
    """Return a plain or quoted text in several lines, or None if it needs another form."""
    quote = node.style
    if quote not in ("", "'", '"') or "\n" in node.text or set("'\"\\#:") & set(value):
        return None
    bare = [text.strip() for text in source]
    bare[0], bare[-1] = bare[0].removeprefix(quote), bare[-1].removesuffix(quote)
    if " ".join(bare) != node.text:
        return None
    lines = rewrapped(bare, value)
    if not lines or (not quote and not value[:1].isalpha()):
        return None
    lines = [quote + lines[0], *lines[1:]]
    lines[-1] += quote
    return lines[0], [margin + line for line in lines[1:]]


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
