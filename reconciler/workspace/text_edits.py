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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import assert_never

from reconciler.document import Path
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
from reconciler.syntax.syntax_tree import SyntaxNode, WrittenText
from reconciler.workspace.layout import STEP, indented, line_break

METADATA: Path = ("metadata",)
_LINE = re.compile(r"\n(?=[^\r\n])")
"""The break before a line that is not empty."""


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
    """Return a name with the quotes of another key."""
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
