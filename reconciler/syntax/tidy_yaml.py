"""YAML in the standard layout, written in one pass over the parser's events.

Values, comments, anchors and quotes stay as they are written: only blanks, line breaks and the
order of the fields of a manifest change. docs/fmt.md describes the layout.
"""

from __future__ import annotations

from dataclasses import dataclass
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

from reconciler.syntax.characters import joined_surrogates
from reconciler.syntax.diagnostic import Lines
from reconciler.syntax.tidy_fields import Order, order_fields
from reconciler.syntax.tidy_flow import (
    FlowPart,
    FlowWriter,
    after_comments,
    is_long_key,
    split_anchor,
)
from reconciler.syntax.tidy_scalars import folded_lines, laid_block
from reconciler.syntax.tidy_sheet import BLANKS, MARKER, STEP, Sheet


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
    newline = "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"
    writer = _Writer(text.replace("\r\n", "\n") if "\r" in text else text, order)
    writer.write()
    lines = writer.sheet.out
    made = "\n".join(lines) + "\n" if lines else ""
    return made.replace("\n", newline) if newline != "\n" else made


class _Writer:
    """The state of one pass: the text before `place` is written.

    `fields` are the top-level fields of this document, with the lines where they begin.
    """

    def __init__(self, text: str, order: Order) -> None:
        parsed, squeezed = joined_surrogates(text)
        self.text = text
        self.order = order
        self.sheet = Sheet()
        self.flow = FlowWriter(text, self.sheet)
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
        block = laid_block(self.text[start:end], source, column + STEP)
        self.sheet.put(block.header, column + STEP if layer is not None else 0)
        self.sheet.end_line()
        self.sheet.out.extend(block.lines)
        if block.keeps:
            self.sheet.kept = len(self.sheet.out)
        self.place = start + block.length

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
        is_open = "\n" in self.text[part.start : part.end]
        column = self._approach(part.start, joins=is_open)
        self.flow.put(part, column if self.layers else 0)
        self.place = part.end
        self._filled()

    def _part(self, event: Any) -> FlowPart:
        """Read a complete part in flow from its first event."""
        start, end = self._span(event)
        kind = event.__class__
        if kind is AliasEvent:
            return FlowPart(start, end, start)
        if kind is ScalarEvent:
            own = split_anchor(self.text, start, end)[1] if event.anchor else start
            return FlowPart(start, end, own, event.anchor or "", style=event.style or "")
        own = split_anchor(self.text, start, end)[1] if event.anchor else start
        members: list[FlowPart] = []
        while True:
            inner: Any = self.get_event()
            if inner.__class__ is MappingEndEvent or inner.__class__ is SequenceEndEvent:
                break
            members.append(self._part(inner))
        is_map = kind is MappingStartEvent
        if is_map and self.text[own : own + 1] != "{":
            end = max(member.end for member in members)
        else:
            end = self._span(inner)[1]
        return FlowPart(start, end, own, event.anchor or "", "{" if is_map else "[", members)

    def _approach(self, start: int, *, joins: bool) -> int:
        """Write the text before a node; return the node's column for the case of a new line.

        A node that does not join stays below its key if it is there in the source.
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
