"""Places of the parts of a text, and replacement of a part by another value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reconciler.document import (
    Json,
    Path,
)
from reconciler.syntax.syntax_tree import SyntaxNode, WrittenText
from reconciler.workspace.layout import (
    FileLayout,
    block_text,
    dash_of,
    is_block,
    rewrapped,
)
from reconciler.workspace.text_edits import Splice

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
