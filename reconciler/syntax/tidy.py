"""YAML and JSON in the standard layout, and examples as YAML.

YAML is written in one pass over the tree of its parts. Values, comments, anchors and quotes stay as
they are written: only blanks, line breaks and the order of the fields of a manifest change.
docs/fmt.md describes the layout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from reconciler.document import Json
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
        """Write the comments after an anchor, a dash or a key, if there are any."""
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
        first, *rest = lines
        self.put(first, column)
        for line in rest:
            self.out.append(self.line or "")
            self.line = " " * column + line if line else ""

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
    it keeps the empty lines after it. Those empty lines are part of the length only if the block
    keeps them.
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
    return [*(_trimmed_line(line, style) for line in lines), last]


def _trimmed_line(line: str, style: str) -> str:
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
    start, lead = part.start, ""
    if part.anchor:
        _, start = split_anchor(text, part.opening, part.end)
        lead = f"&{part.anchor} "
    if part.style not in CLOSINGS:
        return (lead + text[start : part.end]).rstrip(BLANKS)
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


def tidy_yaml(text: str, order: Order) -> str:
    """Return an error-free text in the standard layout, with fields of manifests in order."""
    writer = _Writer(text.replace("\r\n", "\n") if "\r" in text else text, order)
    writer.write()
    made = "".join(f"{line}\n" for line in writer.sheet.out)
    return made.replace("\n", line_break(text))


def line_break(text: str) -> str:
    """Return the line break of the first line of a text."""
    return "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"


@dataclass(slots=True)
class _Writer:
    """The state of one pass: the text before `place` is written.

    `fields` are the top-level fields of this document, with the lines where they begin.
    """

    text: str
    order: Order
    sheet: Sheet = field(default_factory=Sheet)
    place: int = 0
    fields: list[tuple[str, int]] = field(default_factory=list)

    def write(self) -> None:
        found = written(self.text)
        for nth, document in enumerate(found.documents):
            (start, end), (stop, after) = found.markers[2 * nth : 2 * nth + 2]
            if nth or start < end:
                self._start_document(start, end, is_first=not nth)
            self._value(document, None)
            if stop < after:
                self.sheet.between(self.text[self.place : stop], 0, 0)
                self.sheet.end_line()
                self.place = after
        self._end_document(len(self.text))

    def _start_document(self, start: int, end: int, *, is_first: bool) -> None:
        self._end_document(start)
        # Only a document after directives needs the previous end marker.
        *head, _ = (part.strip() for part in self.text[start:end].split("\n"))
        if head:
            self.sheet.out.extend([] if is_first else ["..."])
            self.sheet.out.extend(filter(None, head))
        self.sheet.line = MARKER
        self.place = end

    def _end_document(self, end: int) -> None:
        self.sheet.between(self.text[self.place : end], 0, 0)
        self.sheet.end()
        self.place = end
        if len(self.fields) > 1:
            order_fields(self.sheet.out, self.fields, self.sheet.kept, self.order)
        self.fields = []
        self.sheet.closed = []

    def _value(self, node: SyntaxNode, layer: _Layer | None) -> None:
        """Write a document, an item of a block, or the value of its key."""
        is_block = node.style in CLOSINGS and not node.is_flow
        is_open = node.is_flow and "\n" in self.text[node.opening : node.end]
        joins = is_block or is_open or node.means is not None or node.opening == node.end
        column = self._approach(self.text[self.place : node.opening], layer, joins=joins)
        if is_block:
            self._block(node, layer, column)
        elif node.is_flow:
            self._put_part(node, column)
            self.place = node.end
        else:
            self._scalar(node, layer, column)

    def _approach(self, gap: str, layer: _Layer | None, *, joins: bool) -> int:
        """Write the text before a node; return the column that the node gets if it begins a line.

        Without `joins`, a node on a line below its key stays on a line of its own.
        """
        if layer is None:
            self.sheet.between(gap, 0, 0)
            self.sheet.end_line()
            return 0
        if "#" in gap:
            self.sheet.between(gap, 0, layer.column + STEP)
        elif not joins and "\n" in gap:
            self.sheet.end_line()
        return layer.column + STEP

    def _block(self, node: SyntaxNode, layer: _Layer | None, column: int) -> None:
        self.place = node.opening
        if node.anchor:
            self.place += 1 + len(node.anchor)
            self.sheet.put(f"&{node.anchor}", column)
            rest = self.text[self.place : self.text.find("\n", self.place)]
            if rest.lstrip(BLANKS).startswith("#"):
                # A comment on the line of the anchor stays there; the others move with the first
                # member.
                self.sheet.between(rest, 0, column)
                self.place += len(rest)
        if node.anchor or layer is None or layer.is_map:
            self.sheet.end_line()
        first = node.keys[0].opening if node.keys else node.start
        inner = _Layer(bool(node.keys), first - self.text.rfind("\n", 0, first) - 1, column)
        for nth, (key, value) in enumerate(node.pairs()):
            gap = self.text[self.place : (key or value).opening]
            if key is None:
                self._dash(gap, inner, is_first=not nth)
                self.place = value.opening
            else:
                self.sheet.between(gap, inner.source, column)
                if nth:
                    self.sheet.end_line()
                if layer is None:
                    self.fields.append((key.text, len(self.sheet.out)))
                self._key(key, inner)
            self._value(value, inner)
        self.sheet.closed.append((inner.source, column))

    def _dash(self, gap: str, layer: _Layer, *, is_first: bool) -> None:
        after = ""
        if "#" in gap or gap.count("\n") > 1:
            place = after_comments(gap, 0)
            gap, after = gap[:place], gap[place + 1 :]
        self.sheet.between(gap, layer.source, layer.column)
        if not is_first:
            self.sheet.end_line()
        self.sheet.put("-", layer.column)
        self.sheet.beside(after, layer.column + STEP)

    def _key(self, key: SyntaxNode, layer: _Layer) -> None:
        shown = on_one_line(self.text, key)
        if is_long_key(shown, key.style):
            self._long_key(key, layer)
        else:
            self.sheet.put(f"{shown}:", layer.column)
            self.place = key.end

    def _long_key(self, key: SyntaxNode, layer: _Layer) -> None:
        """Write a key that fits on no line, with the mark of such a key."""
        self.sheet.put("?", layer.column)
        self._write_text(key, key.opening, layer, layer.column + STEP)
        colon = after_comments(self.text, self.place)
        if self.text[colon : colon + 1] == ":":
            self.sheet.between(self.text[self.place : colon], layer.source, layer.column)
            self.place = colon
            self.sheet.end_line()
            self.sheet.put(":", layer.column)

    def _scalar(self, node: SyntaxNode, layer: _Layer | None, column: int) -> None:
        start = self._anchor(node, column) if node.anchor else node.start
        if start < node.end:
            self._write_text(node, start, layer, column)
            return
        self.place = max(self.place, node.end)
        if layer is not None:
            # A comment further right was written in the place of the value.
            self.sheet.closed = [(layer.source + 1, layer.column + STEP)]

    def _anchor(self, node: SyntaxNode, column: int) -> int:
        """Write an anchor and the comments after it; return where the node itself begins."""
        anchor, own = split_anchor(self.text, node.opening, node.end)
        self.sheet.put(anchor, column)
        self.sheet.beside(self.text[node.opening + len(anchor) : own], column)
        return own

    def _write_text(self, node: SyntaxNode, start: int, layer: _Layer | None, column: int) -> None:
        if node.style not in ("|", ">"):
            shown = self.text[start : node.end]
            lines = folded_lines(shown, node.style) if "\n" in shown else [shown]
            self.sheet.put_lines(lines, column)
            self.place = node.end
            return
        source, around = (layer.source, layer.column) if layer is not None else (-1, 0)
        laid = laid_block(self.text[start : node.until], source, around + STEP)
        header, lines, length, keeps = laid
        self.sheet.put(header, around + STEP if layer is not None else 0)
        self.sheet.end_line()
        self.sheet.out.extend(lines)
        if keeps:
            self.sheet.kept = len(self.sheet.out)
        self.place = start + length

    def _put_part(self, part: SyntaxNode, column: int) -> None:
        """Write a part in flow; if it has several lines, each member gets a line."""
        text = self.text
        if "\n" not in text[part.opening : part.end]:
            self.sheet.put(on_one_line(text, part), column)
            return
        start = self._anchor(part, column) if part.anchor else part.start
        if part.style not in CLOSINGS:
            if start < part.end:
                self.sheet.put_lines(folded_lines(text[start : part.end], part.style), column)
            return
        self.sheet.put(part.style, column)
        is_bare = text[start] not in CLOSINGS
        place = start if is_bare else start + 1
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
        shown = on_one_line(self.text, key)
        is_long = is_long_key(shown, key.style)
        if is_long:
            self.sheet.put("?", column)
            self._put_part(key, column + STEP)
        else:
            self.sheet.put(shown, column)
        if value.opening == value.end:
            return
        if not is_long:
            self.sheet.line = f"{self.sheet.line}:"
        self.sheet.beside(self.text[key.end : value.opening], column + STEP)
        if is_long:
            self.sheet.put(":", column)
        is_joined = value.style in CLOSINGS and self.sheet.line is not None
        self._put_part(value, column if is_joined else column + STEP)


WIDEST = 100
"""Longest line on which a list or an object may stay in one piece."""


def tidy_json(text: str, order: Order) -> str:
    """Return JSON in the standard layout, with the fields of a manifest in order."""
    made = "".join(_json(text, document, "", WIDEST, order) for document in written(text).documents)
    return f"{made}\n".replace("\n", line_break(text))


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
