"""The parts of a YAML or JSON text with their places, comments included."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import Any

from yaml import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    YAMLError,
)
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.document import Path
from reconciler.syntax.characters import joined_surrogates
from reconciler.syntax.diagnostic import Lines


@dataclass(slots=True)
class SyntaxNode:
    """One node from `start` to `end`, without the white space and comments after it.

    `start` is after an anchor, which begins at `opening`. An alias has its own place, and `means`
    is the node that it repeats. A mapping has as many `keys` as `values`. `until` is the end of a
    block text, including the empty lines after it.
    """

    opening: int
    start: int
    end: int
    text: str = ""
    style: str = ""
    is_flow: bool = False
    keys: Sequence[SyntaxNode] = ()
    values: Sequence[SyntaxNode] = ()
    means: SyntaxNode | None = None
    anchor: str = ""
    until: int = -1
    _places: dict[str | int, int] | None = None

    @property
    def itself(self) -> SyntaxNode:
        """Return the node, or the repeated node if it is an alias."""
        return self if self.means is None else self.means

    def pairs(self) -> list[tuple[SyntaxNode | None, SyntaxNode]]:
        """Return each value with its key, which is None in a list."""
        return list(zip(self.keys or repeat(None), self.values, strict=False))

    def place_of(self, name: str) -> int:
        """Return the index of a key among the keys. Raises StopIteration if it is missing."""
        return next(nth for nth, key in enumerate(self.keys) if key.text == name)

    def place_at(self, step: str | int) -> int | None:
        """Return the index of a key or an item, the first of equal keys; None if it is missing."""
        if self._places is None:
            names: Sequence[str | int] = [key.text for key in self.keys]
            steps = names or range(len(self.values))
            # One mapping may have many complaints.
            self._places = {step: nth for nth, step in reversed([*enumerate(steps)])}
        return self._places.get(step)

    def at(self, path: Path) -> SyntaxNode:
        """Return the node at a path. Raises StopIteration or IndexError if there is none."""
        node = self.itself
        for step in path:
            place = step if isinstance(step, int) else node.place_of(step)
            node = node.values[place].itself
        return node


@dataclass(slots=True)
class WrittenText:
    """A text with the places of its parts, up to `readable`, where the first error is."""

    text: str
    readable: int = 0
    documents: list[SyntaxNode] = field(default_factory=list)
    scalars: list[tuple[int, int]] = field(default_factory=list)
    """Spans of scalars, inside which no comment begins."""
    markers: list[tuple[int, int]] = field(default_factory=list)
    """Spans of the markers before and after each document; an empty span where none is written."""

    def comments(self, start: int = 0, end: int | None = None) -> list[str]:
        """Return the comments between two places, in their order."""
        return [self.text[begin:after] for begin, after in self.comment_spans(start, end)]

    def comment_spans(self, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each comment between two places."""
        place, stop = start, len(self.text) if end is None else end
        while (found := _COMMENT.search(self.text, place, stop)) is not None:
            nth = bisect_right(self.scalars, (found.start(), len(self.text))) - 1
            place = found.start() + 1
            if nth < 0 or self.scalars[nth][1] <= found.start():
                place = found.end()
                yield found.span()

    def line_start(self, place: int) -> int:
        """Return where the line of a place begins."""
        return self.text.rfind("\n", 0, place) + 1

    def line_end(self, place: int) -> int:
        """Return where the line of a place ends, without its break."""
        end = self.text.find("\n", place)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[place:end].endswith("\r") else end

    def column(self, place: int) -> int:
        """Return how many characters are before a place in its line."""
        return place - self.line_start(place)

    def opens_line(self, place: int) -> bool:
        """Return whether only spaces are before a place in its line."""
        return self.text[self.line_start(place) : place].strip(" ") == ""


_COMMENT = re.compile(r"(?:(?<=[ \t\r\n])|(?<=\A))#[^\r\n]*")
_PROPERTY = re.compile(r"&[^ \t\r\n]*[ \t\r\n]+(?:#[^\r\n]*[ \t\r\n]+)*")
"""An anchor, and the comments after it."""
_MARK = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_HEADER = re.compile(r"[|>][-+0-9]*")


def written(text: str) -> WrittenText:
    """Return the places of the parts of a text, up to the first error."""
    parsed, squeezed = joined_surrogates(text)
    # Few texts have pairs of surrogates; a call for each place would cost a tenth of the time.
    reader = _Reader(WrittenText(text), Lines(text, squeezed).in_text if squeezed else int)
    with suppress(YAMLError):
        for event in iter(CParser(parsed).get_event, None):
            reader.take(event)
    return reader.written


def texts_of_documents(text: str) -> list[str]:
    """Return a text in parts; each part except the first begins with a document marker."""
    cuts = [0, *(found.start() for found in _MARK.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]


@dataclass(slots=True)
class _Reader:
    """Builder of the tree; `stack` has the open nodes from the document on, and their members."""

    written: WrittenText
    in_text: Callable[[int], int]
    stack: list[tuple[SyntaxNode, list[SyntaxNode]]] = field(default_factory=list)
    anchors: dict[str, SyntaxNode] = field(default_factory=dict)

    def take(self, event: Any) -> None:
        start, end = self.in_text(event.start_mark.index), self.in_text(event.end_mark.index)
        self.written.readable = end
        kind, members = event.__class__, self.stack[-1][1] if self.stack else []
        if kind is ScalarEvent:
            members.append(self._scalar(self._node(event, start, end), event))
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            node = self._node(event, start, end)
            node.is_flow = bool(event.flow_style)
            node.style = "{" if kind is MappingStartEvent else "["
            self.stack.append((node, []))
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            self._finish(*self.stack.pop(), end)
        elif kind is AliasEvent:
            means = self.anchors.get(str(event.anchor))
            members.append(SyntaxNode(start, start, end, means=means))
        elif kind is DocumentStartEvent:
            self.anchors, self.stack = {}, [(SyntaxNode(start, start, end), [])]
            self.written.markers.append((start, end))
        elif kind is DocumentEndEvent:
            self.written.documents.extend(members)
            self.written.markers.append((start, end))

    def _node(self, event: Any, start: int, end: int) -> SyntaxNode:
        node = SyntaxNode(start, start, end)
        if event.anchor:
            found = _PROPERTY.match(self.written.text, start, end)
            node.start = found.end() if found is not None else start
            node.anchor = str(event.anchor)
            self.anchors[node.anchor] = node
        return node

    def _scalar(self, node: SyntaxNode, event: Any) -> SyntaxNode:
        node.text, node.style, start, end = event.value, event.style or "", node.start, node.end
        shown = self.written.text[start:end]
        if self.in_text is not int and node.style in ("", "'") and "\n" not in shown:
            # A backslash is no escape here, so that a surrogate pair stays as it is written.
            node.text = shown[1:-1].replace("''", "'") if node.style else shown
        if node.style in ("|", ">"):
            # Empty lines may follow the text, and a comment may follow the header.
            node.end = start + len(self.written.text[start:end].rstrip(" \t\r\n"))
            node.until = end
            header = _HEADER.match(self.written.text, start)
            first = self.written.line_end(start)
            header_end = header.end() if header is not None else first
            self.written.scalars.extend(((start, header_end), (first, end)))
        elif end > start:
            self.written.scalars.append((start, end))
        return node

    def _finish(self, node: SyntaxNode, members: list[SyntaxNode], end: int) -> None:
        is_map = node.style == "{"
        node.keys, node.values = (members[::2], members[1::2]) if is_map else ((), members)
        if node.is_flow and self.written.text[node.start] in "{[":
            node.end = end
        else:
            # In flow a pair without braces is a mapping too.
            node.end = max(last.end for last in members[-2:])
            node.start = members[0].opening if is_map else node.start
        self.stack[-1][1].append(node)


MARK = "reconciler: ignore"
_IGNORING = re.compile(r"(?:(?<=[ \t])|^)#[ \t]*reconciler: ignore([^\r\n]*)", re.MULTILINE)
_FORM = re.compile(r"[ \t]*\[([^\]]*)\](.*)")
_EMPTY = re.compile(r"[ \t\r]*(#.*)?")
_CODE = re.compile(r"[^,\s]+")


@dataclass(frozen=True, slots=True)
class Ignoring:
    """An ignoring comment: its line and column, and the line that it is about; all from 1.

    `codes` is None if the comment has another form.
    """

    line: int
    column: int
    about: int
    codes: tuple[str, ...] | None
    reason: str


def comments_lost(before: str, after: str) -> list[str]:
    """Return the comments of a YAML text that are missing from another text.

    Both are read by another scanner than the one that edits use, so that one mistake does not hide
    the other. A text that this scanner cannot read is read as edits read it.
    """
    if "#" not in before:
        return []
    from ruamel.yaml.error import YAMLError as CannotScan  # noqa: PLC0415 - only for edits

    try:
        lost = _scanned(before) - _scanned(after)
    except (CannotScan, ValueError):
        lost = Counter(written(before).comments()) - Counter(written(after).comments())
    return sorted(lost.elements())


def _scanned(text: str) -> Counter[str]:
    """Return how often each comment is in a text, without blanks around it."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - only for edits

    found: Counter[str] = Counter()
    # Some comments are in lists, each with the empty lines and comments below it.
    left = [token.comment for token in YAML().scan(text)]
    while left:
        match left.pop():
            case None:
                pass
            case list() | tuple() as several:
                left.extend(several)
            case comment:
                # The comment behind the mark of a block text is a text of its own.
                text_of = comment if isinstance(comment, str) else comment.value
                lines = (line.strip() for line in text_of.split("\n"))
                found.update(line for line in lines if line.startswith("#"))
    return found


def ignoring_comments(text: str) -> list[Ignoring]:
    """Return the comments that ignore complaints. A comment mark inside a value is not counted.

    Nothing after a syntax error is returned, as comments there cannot be recognised.
    """
    if MARK not in text:
        return []
    whole, lines = written(text), Lines(text)
    found: list[Ignoring] = []
    about: dict[int, int] = {}
    # From the last to the first: many comments one below the other are about one line.
    for start, end in reversed([*whole.comment_spans()]):
        match = _IGNORING.search(text, start, end)
        if match is not None and start < whole.readable:
            found.append(_read(match, lines, about))
    return found[::-1]


def _read(match: re.Match[str], lines: Lines, about: dict[int, int]) -> Ignoring:
    """Return a comment, and add its line to `about`: comment lines by the line they apply to."""
    line, column = lines.place(match.start())
    form = _FORM.match(match[1])
    codes = tuple(_CODE.findall(form[1])) if form is not None else None
    reason = form[2].strip() if form is not None else ""
    if lines.line(line)[: column - 1].strip():
        return Ignoring(line, column, line, codes, reason)
    about[line] = _next(lines, line, about)
    return Ignoring(line, column, about[line], codes, reason)


def _next(lines: Lines, line: int, about: Mapping[int, int]) -> int:
    """Return the line that a comment on its own line is about: the next line with content."""
    after = line + 1
    while after not in about and after < lines.count and _EMPTY.fullmatch(lines.line(after)):
        after += 1
    return about.get(after, after)
