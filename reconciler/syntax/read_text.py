"""Reading of YAML and JSON texts as documents with positions, in one pass over parser events."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from sys import intern
from typing import Any

from yaml import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    MarkedYAMLError,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
)
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.document import Json
from reconciler.syntax.characters import (
    CONSTANTS,
    NUMBER_STARTS,
    BadScalar,
    escaped_in,
    first_forbidden,
    has_leading_zero,
    joined_surrogates,
    number,
    parted_surrogates,
    reordering,
)
from reconciler.syntax.diagnostic import Lines
from reconciler.syntax.parsed_text import Document, Flaws, Reading, Stop


@dataclass(slots=True)
class Anchor:
    """An anchored node and the range of its marks; `end` is -1 until the node ends."""

    value: Json
    marks: array[int]
    start: int
    end: int

    @property
    def nodes(self) -> int:
        """Return the number of values that an alias of the anchor adds."""
        return self.end - self.start

    def expand(self, marks: array[int], offset: int) -> Json:
        """Add the marks of an alias and of all nodes that it repeats; return its value."""
        inner = self.marks[self.start + 1 : self.end]
        marks.append(offset)
        marks.extend(inner)
        return self.value


class Anchors:
    """The anchors of one document; each is a range of the marks of the document."""

    def __init__(self, marks: array[int]) -> None:
        self.marks = marks
        self.named: dict[str, Anchor] = {}
        self.dropped = 0
        self._standing: list[Anchor] = []

    def note(self, name: str, value: Json, start: int, end: int = -1) -> Anchor:
        """Record an anchor with a node that is marked at an index."""
        anchor = self.named[name] = Anchor(value, self.marks, start, end)
        self._standing.append(anchor)
        return anchor

    def drop(self, start: int) -> None:
        """Remove the marks from an index on from the document.

        An alias may still use anchors among them, so they keep their marks. Dropped marks still
        count, as otherwise repeated keys would avoid the limit.
        """
        dropped = self.marks[start:]
        del self.marks[start:]
        self.dropped += len(dropped)
        while self._standing and self._standing[-1].start >= start:
            anchor = self._standing.pop()
            anchor.marks = dropped
            anchor.start -= start
            anchor.end -= start

    def count(self, more: int = 0) -> int:
        """Return the number of values of the document, including dropped ones, plus `more`."""
        return len(self.marks) + self.dropped + more


def height(value: Json, known: dict[int, int]) -> int:
    """Return the number of levels of a value, which is never deeper than the limit.

    Values repeated by aliases are counted once: an alias bomb is small until it is walked.
    """
    if isinstance(value, dict):
        inner: Iterable[Json] = value.values()
    elif isinstance(value, list):
        inner = value
    else:
        return 0
    if id(value) not in known:
        known[id(value)] = 1 + max((height(value, known) for value in inner), default=0)
    return known[id(value)]


# The limits of docs/manifests.md.
DEEPEST = 64
MOST_NODES = 1_000_000
MOST_ALIASES = 100
LONGEST_SCALAR = 1 << 20

TOO_MANY_NODES = f"more than {MOST_NODES:,} values in one document"

LONGEST_CONSTANT = 5
MOST_CHARACTERS = 20


def read_text(text: str, *, is_json: bool = False) -> Reading:
    """Read every document of a text; never raises on any input."""
    parsed, squeezed = joined_surrogates(text)
    reader = _Reader(parsed, Lines(text, squeezed))
    with suppress(Stop):
        reader.read(is_json=is_json)
    reader.reading.flaws.sort(key=lambda flaw: (flaw.line, flaw.column))
    return reader.reading


class _Reader:
    """The state of one pass over a text; offsets are in what the parser reads."""

    def __init__(self, text: str, lines: Lines) -> None:
        self.text = text
        self.reading = Reading(lines)
        self.flaws = Flaws(text, self.reading)
        self.aliases = 0
        self.blocks: list[tuple[int, int]] = []

    def read(self, *, is_json: bool) -> None:
        """Read the whole text. Raises Stop after a flaw that ends it."""
        forbidden = first_forbidden(self.text)
        if forbidden is not None:
            self.flaws.note_character(*forbidden)
            return
        try:
            self.walk(CParser(self.text), self.text)
        except MarkedYAMLError as error:
            self.flaws.note_syntax(error, is_json=is_json)
        except YAMLError as error:
            self.flaws.note("M101", 0, str(error).splitlines()[0])
        finally:
            for offset, character in islice(reordering(self.text, self.blocks), MOST_CHARACTERS):
                self.flaws.note_character(offset, character)
        if is_json and not self.reading.has_errors:
            self.flaws.note_departure_from_json()

    def walk(self, parser: CParser, text: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one hot loop
        """Build the documents in one loop: a call for each node would cost a third of the speed."""
        get_event = parser.get_event
        # Thousands of documents share the same few hundred keys.
        share = intern
        # Most texts contain none of these, and reading an attribute for each node takes time.
        may_pair = bool(self.reading.lines.squeezed)
        may_tag, may_anchor, may_be_long = "!" in text, "&" in text, len(text) > LONGEST_SCALAR
        document = Document(self.reading.lines)
        marks = document.positions.marks
        mark_node = marks.append
        stack: list[tuple[Any, Any, int]] = []
        anchors = Anchors(marks)
        opened: dict[int, list[Anchor]] = {}
        container: Any = None
        wants_key = False
        key = ""
        duplicate = -1
        while True:
            event: Any = get_event()
            kind = event.__class__
            if kind is ScalarEvent:
                value: Any = event.value
                mark = event.start_mark
                style = event.style
                mark_node(mark.index)
                if may_pair and style != '"':
                    value = self.as_written(value, event)
                if style == "":
                    if len(value) <= LONGEST_CONSTANT and value in CONSTANTS:
                        value = CONSTANTS[value]
                    elif value[0] in NUMBER_STARTS:
                        value = self.plain_number(value, mark)
                elif not value.isprintable():
                    self.check_quoted(value, event)
                if may_tag and event.tag is not None:
                    self.flaws.note_tag(event)
                if may_be_long and len(event.value) > LONGEST_SCALAR:
                    raise self.flaws.stop("M110", event, "a scalar is longer than 1 MB")
                if may_anchor and event.anchor is not None:
                    anchors.note(event.anchor, value, len(marks) - 1, len(marks))
                if wants_key:
                    key = share(value) if value.__class__ is str and value != "<<" else ""
                    key = key or self.unusual_key(value, event)
                    wants_key = False
                    if key in container:
                        if len(stack) == 1:
                            self.flaws.stop_at_next(key, container, mark.index)
                        message = f"`{key}` appears twice in this mapping: remove one"
                        self.flaws.note("M102", mark.index, message)
                        duplicate = len(marks) - 1
                    continue
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if wants_key:
                    raise self.flaws.stop_at_key(event)
                if len(stack) >= DEEPEST:
                    raise self.flaws.stop("M109", event, f"nested deeper than {DEEPEST} levels")
                if may_tag and event.tag is not None:
                    self.flaws.note_tag(event)
                stack.append((container, key, duplicate))
                duplicate = -1
                wants_key = kind is MappingStartEvent
                container = {} if wants_key else []
                if may_anchor and event.anchor is not None:
                    anchor = anchors.note(event.anchor, container, len(marks))
                    opened.setdefault(len(stack), []).append(anchor)
                mark_node(event.start_mark.index)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = container
                if len(marks) > MOST_NODES:
                    raise self.flaws.stop("M110", event, TOO_MANY_NODES)
                if opened:
                    for anchor in opened.pop(len(stack), ()):
                        anchor.end = len(marks)
                container, key, duplicate = stack.pop()
                wants_key = False
            elif kind is AliasEvent:
                if wants_key:
                    raise self.flaws.stop(
                        "M107", event, "an alias cannot be a key: write the key out"
                    )
                value = self.expand(event, anchors, len(stack))
            elif kind is DocumentStartEvent:
                document = Document(self.reading.lines)
                marks = document.positions.marks
                mark_node = marks.append
                anchors = Anchors(marks)
                continue
            elif kind is DocumentEndEvent:
                self.reading.documents.append(document)
                continue
            elif kind is StreamEndEvent:
                return
            else:
                continue
            if container.__class__ is dict:
                if duplicate < 0:
                    container[key] = value
                else:
                    # Positions follow the document, which keeps the first of the two keys.
                    anchors.drop(duplicate)
                    duplicate = -1
                    if anchors.count() > MOST_NODES:
                        raise self.flaws.stop("M110", event, TOO_MANY_NODES)
                wants_key = True
            elif container is None:
                document.value = value
            else:
                container.append(value)

    def plain_number(self, text: str, mark: Any) -> Json:
        """Return the value of a plain scalar; record a number that JSON cannot carry."""
        try:
            value = number(text)
        except BadScalar as bad:
            self.flaws.note(bad.code, mark.index, bad.message, bad.suggestion)
            return text
        if isinstance(value, int) and has_leading_zero(text):
            self.flaws.note_leading_zero(text, value, mark.index)
        return value

    def as_written(self, value: str, event: Any) -> str:
        """Return a text in which a backslash is no escape, so surrogate pairs stay separate."""
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in ("|", ">"):
            # A comment may follow the indicator.
            start = max(start, self.text.find("\n", start, end))
        return parted_surrogates(value, self.text[start:end], start, self.reading.lines)

    def check_quoted(self, value: str, event: Any) -> None:
        """Record unsafe characters that come from an escape, and the places of block scalars."""
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in "|>":
            # A comment may follow the indicator.
            self.blocks.append((self.text.find("\n", start), end))
            return
        found = escaped_in(value, self.text[start:end])
        if found:
            self.flaws.note_character(start, found)

    def unusual_key(self, value: Json, event: Any) -> str:
        """Return an empty, non-text or merge key as text, and record errors."""
        text: str = event.value
        offset = event.start_mark.index
        if value == "<<" and event.style == "":
            self.flaws.note(
                "M103", offset, "merge keys (<<) are not supported: write the fields out"
            )
        elif not isinstance(value, str):
            message = f"the key `{text or 'null'}` is not text: quote it"
            self.flaws.note("M107", offset, message, f'"{text}"' if text else "")
        return text

    def expand(self, event: Any, anchors: Anchors, depth: int) -> Json:
        """Return the value of an alias. Raises Stop if it repeats too much or nests too deeply."""
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            raise self.flaws.stop("M108", event, f"more than {MOST_ALIASES} aliases")
        anchor = anchors.named.get(event.anchor)
        if anchor is None:
            raise self.flaws.stop_at_alias(event)
        if anchor.end < 0:
            raise self.flaws.stop(
                "M108",
                event,
                f"the alias `*{event.anchor}` contains itself: write out what is meant",
            )
        if anchors.count(anchor.nodes) > MOST_NODES:
            message = f"aliases expand to more than {MOST_NODES:,} values"
            raise self.flaws.stop("M108", event, message)
        if depth + height(anchor.value, {}) > DEEPEST:
            raise self.flaws.stop("M109", event, f"the alias nests deeper than {DEEPEST} levels")
        return anchor.expand(anchors.marks, event.start_mark.index)
