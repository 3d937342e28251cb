"""YAML and JSON in the standard layout, and examples as YAML.

YAML is written in one pass over the parser's events. Values, comments, anchors and quotes stay as
they are written: only blanks, line breaks and the order of the fields of a manifest change.
docs/fmt.md describes the layout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
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
    StreamEndEvent,
)
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.document import Json
from reconciler.syntax.characters import joined_surrogates
from reconciler.syntax.diagnostic import Lines
from reconciler.syntax.syntax_tree import SyntaxNode, written

STEP = 2
CLOSINGS = {"{": "}", "[": "]"}
BLANKS = " \t\r\n"
"""The blanks of YAML: Python strips many more characters, which are part of texts."""

MARKER = "---"
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(slots=True)
class Sheet:
    """The written text: `out` are complete lines, `line` is the unfinished line, if any.

    Lines before `kept` belong to the text of a value, so their empty lines stay. `closed` are the
    blocks that ended since the last node, innermost first, each with its column in the source and
    in the result.
    """

    out: list[str] = field(default_factory=list)
    line: str | None = None
    kept: int = 0
    closed: list[tuple[int, int]] = field(default_factory=list)

    def between(self, gap: str, source: int, column: int) -> None:
        """Write the comments and the empty line between two nodes.

        The next node belongs to a block at column `source` of the source, which is now at `column`.
        """
        if "#" in gap:
            self._comments(gap, source, column)
        elif gap.count("\n") > 1 and _EMPTY_LINE.search(gap) is not None:
            self._blank()
        self.closed = []

    def beside(self, gap: str, column: int) -> None:
        """Write the comments between an anchor and its node, which continues below them."""
        if "#" in gap:
            self.between(gap, 0, column)

    def _comments(self, gap: str, source: int, column: int) -> None:
        pieces = gap.split("\n")
        has_gap = False
        for nth, piece in enumerate(pieces):
            place = piece.find("#")
            if place < 0:
                has_gap |= 0 < nth < len(pieces) - 1 and not piece.strip(BLANKS)
                continue
            comment, before = piece[place:].rstrip(BLANKS), piece[:place]
            if not nth and self.line is not None and "?" not in before:
                blanks = before[len(before.rstrip(BLANKS)) :]
                self.line += ("  " if "\t" in blanks else blanks or " ") + comment
                self.end_line()
                continue
            self.end_line()
            if has_gap:
                self._blank()
            self.out.append(" " * self._column_of(place, source, column) + comment)
            has_gap = False
        if has_gap:
            self._blank()

    def _column_of(self, place: int, source: int, column: int) -> int:
        """Return the new column of a comment: the column of the block that contained it."""
        if place > source:
            for theirs, ours in self.closed:
                if theirs <= place:
                    return ours
        return column

    def _blank(self) -> None:
        self.end_line()
        if self.out and (len(self.out) == self.kept or self.out[-1] not in ("", MARKER)):
            self.out.append("")

    def end_line(self) -> None:
        """End the unfinished line."""
        if self.line is not None:
            self.out.append(self.line)
            self.line = None

    def put(self, token: str, column: int) -> None:
        """Write a token after the others of its line, or at a column of a new line."""
        self.line = " " * column + token if self.line is None else f"{self.line} {token}"

    def put_lines(self, lines: Sequence[str], column: int) -> None:
        """Write a token of several lines; all lines but the first begin at a column."""
        for nth, line in enumerate(lines):
            if nth:
                self.out.append(self.line or "")
                self.line = " " * column + line if line else ""
            else:
                self.put(line, column)

    def end(self) -> None:
        """End the last line of a document, and remove the empty lines after it."""
        self.end_line()
        while len(self.out) > self.kept and self.out[-1] == "":
            self.out.pop()


@dataclass(frozen=True, slots=True)
class Order:
    """The fields that come `first`, in this order, where all that are `needed` are there."""

    first: Sequence[str] = ()
    needed: Sequence[str] = ()

    def of(self, names: Sequence[str]) -> list[str] | None:
        """Return fields in this order, or None if they already have it or are not complete."""
        leading = [name for name in self.first if name in names]
        if list(names[: len(leading)]) == leading or not set(self.needed).issubset(names):
            return None
        return [*leading, *(name for name in names if name not in leading)]


def order_fields(
    lines: list[str], fields: Sequence[tuple[str, int]], kept: int, order: Order
) -> None:
    """Sort the fields of the last document of these lines.

    `fields` are names and the lines at which they begin. Lines before `kept` are no comments.
    """
    ordered = order.of([name for name, _ in fields])
    if ordered is None:
        return
    places = [place for _, place in fields]
    starts = [places[0]]
    starts += [
        _above(lines, place, max(before + 1, min(kept, place)))
        for before, place in pairwise(places)
    ]
    end = _above(lines, len(lines), max(places[-1] + 1, kept))
    chunks = {
        name: lines[start:stop]
        for (name, _), start, stop in zip(fields, starts, [*starts[1:], end], strict=True)
    }
    made = [line for name in ordered for line in chunks[name]]
    blanks = next(nth for nth, line in enumerate(made) if line)
    lines[starts[0] : end] = made[blanks:]


def _above(lines: Sequence[str], place: int, stop: int) -> int:
    """Return the start of the comments and empty lines directly above a line."""
    while place > stop and lines[place - 1][:1] in ("", "#"):
        place -= 1
    return place


_HEADER = re.compile(r"([|>])([-+0-9]*)([ \t]*)(#[^\n]*)?[^\n]*")


def laid_block(source: str, column: int, indent: int) -> tuple[str, list[str], int, bool]:
    """Return a block scalar of a block at a column, with another indentation.

    These are its header with a comment, its indented lines, its length in the source, and whether
    it keeps the empty lines after it. Only if it keeps them are they part of the length.
    """
    found = _HEADER.match(source)
    assert found is not None  # noqa: S101 - the parser found one
    mark, signs, blanks, comment = found.groups()
    body = source[found.end() + 1 :]
    lines = body.split("\n")
    ends = body.endswith("\n") or not body
    if ends:
        lines.pop()
    digit = next((sign for sign in signs if sign.isdigit()), "")
    keeps = "+" in signs
    margin = max(column, 0) + int(digit) if digit else _margin(lines)
    content = [line[margin:] for line in lines]
    written = len(content)
    while written and not content[written - 1]:
        written -= 1
    length = found.end() + sum(len(line) + 1 for line in lines[:written])
    if keeps and ends:
        length = len(source) - 1 if body else found.end()
    else:
        content = content[:written]
    if not ends and content:
        # The text ends without a line break, which the file adds.
        signs, keeps = f"{digit}-", False
    sign = ("2" if digit else "") + signs.replace(digit, "")
    tail = ("  " if "\t" in blanks else blanks) + comment.rstrip(BLANKS) if comment else ""
    pad = " " * indent
    laid = [pad + line if line else "" for line in content]
    return f"{mark}{sign}{tail}", laid, length, keeps and written < len(content)


def _margin(lines: Sequence[str]) -> int:
    margins = (len(line) - len(bare) for line in lines if (bare := line.lstrip(" ")))
    return next(margins, max(map(len, lines), default=0))


def folded_lines(written: str, style: str) -> list[str]:
    """Return the lines of a plain or quoted text without the blanks around them."""
    first, *rest = written.split("\n")
    *lines, last = first, *(line.lstrip(" \t") for line in rest)
    return [*(_ended(line, style) for line in lines), last]


def _ended(line: str, style: str) -> str:
    """Return a line without the blanks at its end."""
    ended = line.rstrip(" \t")
    slashes = len(ended) - len(ended.rstrip("\\"))
    # The character after a backslash is part of the text.
    return line[: len(ended) + 1] if style == '"' and slashes % 2 else ended


LONGEST_KEY = 1000
"""Longest key that is written with a colon after it; the parser looks at most 1,024 ahead."""

_ANCHOR = re.compile(r"&[\w-]+")
_COMMENTS = re.compile(r"(?:[ \t\r\n]+|(?<![^ \t\r\n])#[^\n]*)*")


def split_anchor(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the anchor at the start of a node, and the place where the node itself begins."""
    found = _ANCHOR.match(text, start)
    place = found.end() if found is not None else start
    return text[start:place], after_comments(text, place, end)


def after_comments(text: str, place: int, end: int | None = None) -> int:
    """Return the first place that is neither blank nor comment, from a place on."""
    stop = len(text) if end is None else end
    found = _COMMENTS.match(text, place, stop)
    return found.end() if found is not None else place


def is_long_key(written: str, style: str) -> bool:
    """Return whether a key does not fit on a line with its colon."""
    return style in ("|", ">") or "\n" in written or len(written) > LONGEST_KEY


def on_one_line(text: str, part: SyntaxNode) -> str:
    """Return a part that is on one line, with one blank after each comma and colon."""
    lead = f"&{part.anchor} " if part.anchor else ""
    if part.style not in CLOSINGS:
        return (lead + text[part.start : part.end]).rstrip(BLANKS)
    joined = ", ".join(_member(text, key, value) for key, value in part.pairs())
    return f"{lead}{part.style}{joined}{CLOSINGS[part.style]}"


def _member(text: str, key: SyntaxNode | None, value: SyntaxNode) -> str:
    if key is None:
        return on_one_line(text, value)
    name = on_one_line(text, key)
    if value.opening == value.end:
        return name
    if is_long_key(name, key.style):
        name = f"? {name} "
    return f"{name}: {on_one_line(text, value)}"


@dataclass(slots=True)
class _Layer:
    """An open block, with its column in the source and its column in the result."""

    is_map: bool
    source: int
    column: int
    is_new: bool = True
    wants_value: bool = False


def tidy_yaml(text: str, order: Order) -> str:
    """Return an error-free text in the standard layout, with fields of manifests in order."""
    writer = _Writer(text.replace("\r\n", "\n") if "\r" in text else text, order)
    writer.write()
    return with_breaks_of(text, "".join(f"{line}\n" for line in writer.sheet.out))


def with_breaks_of(text: str, made: str) -> str:
    """Return a made text with the line breaks of the first line of another text."""
    ends_so = text[: text.find("\n") + 1].endswith("\r\n")
    return made.replace("\n", "\r\n") if ends_so else made


class _Writer:
    """The state of one pass: the text before `place` is written.

    `fields` are the top-level fields of this document, with the lines where they begin.
    """

    def __init__(self, text: str, order: Order) -> None:
        parsed, squeezed = joined_surrogates(text)
        self.text = text
        self.order = order
        self.sheet = Sheet()
        self.place = 0
        self.layers: list[_Layer] = []
        self.fields: list[tuple[str, int]] = []
        self.has_document = False
        self.in_text = Lines(text, squeezed).in_text if squeezed else None
        self.get_event = CParser(parsed).get_event

    def write(self) -> None:  # noqa: C901 - the table of all events
        """Write the whole text."""
        while True:
            event: Any = self.get_event()
            kind = event.__class__
            if kind is ScalarEvent:
                self._scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if event.flow_style:
                    self._flow(event)
                else:
                    self._begin(event)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                layer = self.layers.pop()
                self.sheet.closed.append((layer.source, layer.column))
                self._filled()
            elif kind is AliasEvent:
                start, end = self._span(event)
                column = self._approach(start, joins=True)
                self.sheet.put(self.text[start:end], column)
                self.place = end
                self._filled()
            elif kind is DocumentStartEvent:
                self._start_document(event)
            elif kind is DocumentEndEvent:
                if event.explicit:
                    start, end = self._span(event)
                    self.sheet.between(self.text[self.place : start], 0, 0)
                    self.sheet.end_line()
                    self.place = end
            elif kind is StreamEndEvent:
                self._end_document(len(self.text))
                return

    def _span(self, event: Any) -> tuple[int, int]:
        start, end = event.start_mark.index, event.end_mark.index
        return (start, end) if self.in_text is None else (self.in_text(start), self.in_text(end))

    def _start_document(self, event: Any) -> None:
        if not event.explicit and not self.has_document:
            self.has_document = True
            return
        start, end = self._span(event)
        self._end_document(start)
        # Only a document after directives needs the previous end marker.
        head = [part.strip() for part in self.text[start:end].split("\n")] if event.explicit else []
        if len(head) > 1:
            self.sheet.out.extend(["..."] if self.has_document else [])
            self.sheet.out.extend(filter(None, head[:-1]))
        self.sheet.line = MARKER
        self.has_document = True
        self.place = max(self.place, end) if event.explicit else self.place

    def _end_document(self, end: int) -> None:
        self.sheet.between(self.text[self.place : end], 0, 0)
        self.sheet.end()
        self.place = end
        if len(self.fields) > 1:
            order_fields(self.sheet.out, self.fields, self.sheet.kept, self.order)
        self.fields = []
        self.sheet.closed = []

    def _scalar(self, event: Any) -> None:
        start, end = self._span(event)
        layer = self.layers[-1] if self.layers else None
        if layer is not None and layer.is_map and not layer.wants_value:
            self._key(event, layer, start, end)
            return
        style = event.style
        text = self.text
        if layer is not None and layer.is_map and text[self.place : start] == ": ":
            # Nearly all values are like this.
            column = layer.column + STEP
        else:
            column = self._approach(start, joins=start == end)
        if event.anchor:
            anchor, own = split_anchor(text, start, end)
            self.sheet.put(anchor, column)
            self.sheet.beside(text[start + len(anchor) : own], column)
            start = own
        if start == end:
            self._empty(layer, end)
        elif style in ("|", ">"):
            self._block_text(layer, start, end)
        elif "\n" in text[start:end]:
            self.sheet.put_lines(folded_lines(text[start:end], style or ""), column)
            self.place = end
        else:
            self.sheet.put(text[start:end], column)
            self.place = end
        self._filled()

    def _empty(self, layer: _Layer | None, end: int) -> None:
        self.place = max(self.place, end)
        if layer is not None:
            # A comment further right was written in the place of the value.
            self.sheet.closed = [(layer.source + 1, layer.column + STEP)]

    def _block_text(self, layer: _Layer | None, start: int, end: int) -> None:
        source, column = (layer.source, layer.column) if layer is not None else (-1, 0)
        header, lines, length, keeps = laid_block(self.text[start:end], source, column + STEP)
        self.sheet.put(header, column + STEP if layer is not None else 0)
        self.sheet.end_line()
        self.sheet.out.extend(lines)
        if keeps:
            self.sheet.kept = len(self.sheet.out)
        self.place = start + length

    def _key(self, event: Any, layer: _Layer, start: int, end: int) -> None:
        gap = self.text[self.place : start]
        if layer.is_new:
            layer.is_new = False
            layer.source = event.start_mark.column
            self.sheet.between(gap, layer.source, layer.column)
        else:
            self.sheet.between(gap, layer.source, layer.column)
            self.sheet.end_line()
        if not layer.column and len(self.layers) == 1:
            self.fields.append((event.value, len(self.sheet.out)))
        written = self.text[start:end]
        if event.anchor:
            anchor, own = split_anchor(self.text, start, end)
            written = f"{anchor} {self.text[own:end]}"
        if is_long_key(written, event.style):
            self._long_key(layer, event.style, start, end)
        else:
            self.sheet.put(written + ":", layer.column)
            self.place = end
        layer.wants_value = True

    def _long_key(self, layer: _Layer, style: str, start: int, end: int) -> None:
        """Write a key that fits on no line, with the mark of such a key."""
        self.sheet.put("?", layer.column)
        if style in ("|", ">"):
            self._block_text(layer, start, end)
        else:
            self.sheet.put_lines(folded_lines(self.text[start:end], style), layer.column + STEP)
            self.place = end
        colon = after_comments(self.text, self.place)
        if self.text[colon : colon + 1] == ":":
            self.sheet.between(self.text[self.place : colon], layer.source, layer.column)
            self.place = colon
            self.sheet.end_line()
            self.sheet.put(":", layer.column)

    def _begin(self, event: Any) -> None:
        start, _ = self._span(event)
        is_map = event.__class__ is MappingStartEvent
        column = self._approach(start, joins=True)
        parent = self.layers[-1] if self.layers else None
        self.place = start
        if event.anchor:
            self.place = start + 1 + len(event.anchor)
            self.sheet.put(self.text[start : self.place], column)
        if event.anchor or parent is None or parent.is_map:
            rest = self.text[self.place : self.text.find("\n", self.place)]
            if event.anchor and rest.lstrip(BLANKS).startswith("#"):
                # A comment on the line of the anchor stays there; the others move with the first
                # member.
                self.sheet.between(rest, 0, column)
                self.place += len(rest)
            self.sheet.end_line()
        source = -1 if event.anchor else event.start_mark.column
        self.layers.append(_Layer(is_map, source, column))

    def _filled(self) -> None:
        if self.layers:
            self.layers[-1].wants_value = False

    def _flow(self, event: Any) -> None:
        part = self._part(event)
        is_open = "\n" in self.text[part.opening : part.end]
        column = self._approach(part.opening, joins=is_open)
        self._put_part(part, column if self.layers else 0)
        self.place = part.end
        self._filled()

    def _put_part(self, part: SyntaxNode, column: int) -> None:
        """Write a part in flow; if it has several lines, each member gets a line."""
        text = self.text
        if "\n" not in text[part.opening : part.end]:
            self.sheet.put(on_one_line(text, part), column)
            return
        if part.anchor:
            self.sheet.put(f"&{part.anchor}", column)
            self.sheet.beside(text[part.opening + 1 + len(part.anchor) : part.start], column)
        if part.style not in CLOSINGS:
            if part.start < part.end:
                self.sheet.put_lines(folded_lines(text[part.start : part.end], part.style), column)
            return
        self.sheet.put(part.style, column)
        is_bare = text[part.start] not in CLOSINGS
        place = part.start if is_bare else part.start + 1
        pairs = part.pairs()
        for nth, (key, value) in enumerate(pairs):
            self.sheet.between(text[place : (key or value).opening], 0, column + STEP)
            self.sheet.end_line()
            if key is not None:
                self._part_key(key, value, column + STEP)
            else:
                self._put_part(value, column + STEP)
            # The parser places a missing value after the comments that follow its key.
            is_left_out = key is not None and value.opening == value.end
            place = key.end if key is not None and is_left_out else value.end
            if nth + 1 < len(pairs):
                self.sheet.line = (self.sheet.line or "") + ","
        closing = part.end if is_bare else part.end - 1
        self.sheet.between(text[place:closing], 0, column + STEP)
        self.sheet.end_line()
        self.sheet.line = " " * column + CLOSINGS[part.style]

    def _part_key(self, key: SyntaxNode, value: SyntaxNode, column: int) -> None:
        written = on_one_line(self.text, key)
        is_long = is_long_key(written, key.style)
        if is_long:
            self.sheet.put("?", column)
            self._put_part(key, column + STEP)
        else:
            self.sheet.put(written, column)
        if value.opening == value.end:
            return
        if not is_long:
            self.sheet.line = f"{self.sheet.line}:"
        gap = self.text[key.end : value.opening]
        if "#" in gap:
            self.sheet.between(gap, 0, column + STEP)
        if is_long:
            self.sheet.put(":", column)
        is_joined = value.style in CLOSINGS and self.sheet.line is not None
        self._put_part(value, column if is_joined else column + STEP)

    def _part(self, event: Any) -> SyntaxNode:
        """Read a complete part in flow from its first event."""
        start, end = self._span(event)
        kind = event.__class__
        if kind is AliasEvent:
            return SyntaxNode(start, end)
        own = split_anchor(self.text, start, end)[1] if event.anchor else start
        part = SyntaxNode(own, end, begin=start, anchor=event.anchor or "", is_flow=True)
        if kind is ScalarEvent:
            part.style = event.style or ""
            return part
        members: list[SyntaxNode] = []
        while True:
            inner: Any = self.get_event()
            if inner.__class__ is MappingEndEvent or inner.__class__ is SequenceEndEvent:
                break
            members.append(self._part(inner))
        is_map = kind is MappingStartEvent
        is_bare = is_map and self.text[own : own + 1] != "{"
        part.end = max(member.end for member in members) if is_bare else self._span(inner)[1]
        part.style = "{" if is_map else "["
        part.keys, part.values = (members[::2], members[1::2]) if is_map else ([], members)
        return part

    def _approach(self, start: int, *, joins: bool) -> int:
        """Write the text before a node; return the node's column, in case it begins a line.

        Without `joins`, a node on a line below its key stays on a line of its own.
        """
        gap = self.text[self.place : start]
        if not self.layers:
            self.sheet.between(gap, 0, 0)
            self.sheet.end_line()
            return 0
        layer = self.layers[-1]
        if layer.is_map:
            if "#" in gap:
                self.sheet.between(gap, 0, layer.column + STEP)
            elif not joins and "\n" in gap:
                self.sheet.end_line()
            return layer.column + STEP
        self._dash(gap, layer)
        return layer.column + STEP

    def _dash(self, gap: str, layer: _Layer) -> None:
        after = ""
        if layer.source < 0 or "#" in gap or gap.count("\n") > 1:
            place = after_comments(gap, 0)
            if layer.source < 0:
                layer.source = place - gap.rfind("\n", 0, place) - 1
            gap, after = gap[:place], gap[place + 1 :]
        self.sheet.between(gap, layer.source, layer.column)
        if layer.is_new:
            layer.is_new = False
        else:
            self.sheet.end_line()
        self.sheet.put("-", layer.column)
        if "#" in after:
            self.sheet.between(after, 0, layer.column + STEP)


WIDEST = 100
"""Longest line on which a list or an object may stay in one piece."""


def tidy_json(text: str, order: Order) -> str:
    """Return JSON in the standard layout, with the fields of a manifest in order."""
    made = "".join(_json(text, document, "", WIDEST, order) for document in written(text).documents)
    return with_breaks_of(text, made + "\n")


def _json(text: str, node: SyntaxNode, indent: str, room: int, order: Order) -> str:
    """Return a value; a container that does not fit on its line gets a line for each member."""
    source = text[node.start : node.end]
    if not node.is_flow:
        return source
    pairs = [(text[key.start : key.end] if key else "", value) for key, value in node.pairs()]
    names = order.of([name[1:-1] for name, _ in pairs])
    if names is not None:
        pairs.sort(key=lambda pair: names.index(pair[0][1:-1]))
    heads = [(f"{name}: " if name else "", value) for name, value in pairs]
    closing = CLOSINGS[node.style]
    if not pairs or ("\n" not in source and len(source.replace(" ", "")) <= room):
        members = (head + _json(text, value, "", room, Order()) for head, value in heads)
        flat = f"{node.style}{', '.join(members)}{closing}"
        if not pairs or len(flat) <= room:
            return flat
    inner = indent + " " * STEP
    lines = []
    for nth, (head, value) in enumerate(heads, 1):
        rest = WIDEST - len(inner + head) - (nth < len(heads))
        lines.append(inner + head + _json(text, value, inner, rest, Order()))
    return "\n".join((node.style, ",\n".join(lines), indent + closing))


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*(?: [A-Za-z0-9._/-]+)*")
_TAKEN = re.compile(r"(?i:y|n|yes|no|on|off|true|false|null)")


def yaml_text(document: dict[str, Json]) -> str:
    """Return a document as YAML, ending in a line break."""
    return "".join(f"{line}\n" for line in _lines(document))


def _lines(value: dict[str, Json]) -> Iterator[str]:
    for key, inner in value.items():
        if isinstance(inner, dict) and inner:
            yield f"{_scalar(key)}:"
            yield from (f"  {line}" for line in _lines(inner))
        elif isinstance(inner, list) and any(isinstance(item, dict) and item for item in inner):
            yield f"{_scalar(key)}:"
            for item in inner:
                first, *rest = _lines(item) if isinstance(item, dict) and item else [_flow(item)]
                yield f"  - {first}"
                yield from (f"    {line}" for line in rest)
        else:
            yield f"{_scalar(key)}: {_flow(inner)}"


def _flow(value: Json) -> str:
    if isinstance(value, dict):
        members = ", ".join(f"{_scalar(key)}: {_flow(member)}" for key, member in value.items())
        return f"{{{members}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _scalar(value: Json) -> str:
    if isinstance(value, str) and (not _PLAIN.fullmatch(value) or _TAKEN.fullmatch(value)):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value)
