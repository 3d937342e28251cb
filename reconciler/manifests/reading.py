"""YAML and JSON text to documents with positions, in one pass over the C parser's events.

The C loader dies on deep nesting, takes duplicate keys and turns `NO` into a
boolean; its events do none of that (failure-cases.md, part 5), and walking them
gives positions, limits and YAML 1.2 scalars at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
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

from reconciler.document import Json, Path
from reconciler.finding import Severity
from reconciler.manifests.positions import Positions
from reconciler.manifests.scalars import (
    CONSTANTS,
    NUMBER_STARTS,
    BadScalar,
    has_leading_zero,
    number,
)

# failure-cases.md, S1-S3.
DEEPEST = 64
MOST_NODES = 1_000_000
MOST_ALIASES = 100
LONGEST_SCALAR = 1 << 20

LONGEST_CONSTANT = 5
MOST_CHARACTERS = 20

_SURROGATE_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_BIDIRECTIONAL = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with the text itself; line and column from 1."""

    code: str
    line: int
    column: int
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR


@dataclass(slots=True)
class Document:
    """One document of a file."""

    text: str
    value: Json = None
    positions: Positions = field(default_factory=Positions)

    def locate(self, path: Path = (), *, at_key: bool = False) -> tuple[int, int]:
        """Give line and column, from 1, of the nearest place on `path` that was written."""
        offset = self.positions.offset(self.value, path, at_key=at_key)
        line_start = self.text.rfind("\n", 0, offset) + 1
        return self.text.count("\n", 0, offset) + 1, offset - line_start + 1


@dataclass(slots=True)
class Reading:
    """Everything one file gave. What was read before a syntax error is kept."""

    documents: list[Document] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)


class _Stop(Exception):
    """The rest of the file cannot be read; the flaw is noted."""


@dataclass(slots=True)
class _Anchor:
    """An anchored node and the range of its marks; `end` is -1 until the node ends."""

    value: Json
    start: int
    end: int


def read_text(text: str, *, is_json: bool = False) -> Reading:
    """Read every document of a text; never raises on any input."""
    reader = _Reader()
    if is_json:
        text = _SURROGATE_PAIR.sub(_join_surrogates, text)
    unsafe = [(match.start(), match.group()) for match in _UNSAFE.finditer(text)]
    raw = [place for place in unsafe if place[1] not in _BIDIRECTIONAL]
    if raw:
        reader.complain_of_character(text, *raw[0])
        return reader.reading
    reader.raw = frozenset(character for _, character in unsafe)
    try:
        reader.walk(CParser(text), text)
    except _Stop:
        pass
    except MarkedYAMLError as error:
        reader.complain_of_syntax(error, text)
    except YAMLError as error:
        reader.complain("M101", 0, 0, str(error).splitlines()[0])
    for offset, character in unsafe[:MOST_CHARACTERS]:
        if not reader.in_block_text(text.count("\n", 0, offset)):
            reader.complain_of_character(text, offset, character)
    reader.reading.flaws.sort(key=lambda flaw: (flaw.line, flaw.column))
    return reader.reading


def _join_surrogates(match: re.Match[str]) -> str:
    high, low = (int(half, 16) for half in match.groups())
    return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08X}"


class _Reader:
    """The state of one pass."""

    def __init__(self) -> None:
        self.reading = Reading()
        self.raw: frozenset[str] = frozenset()
        self.aliases = 0
        self.blocks: list[tuple[int, int]] = []

    def complain(
        self, code: str, line: int, column: int, message: str, suggestion: str = ""
    ) -> None:
        """Note an error; line and column from 0, as the parser counts."""
        flaw = Flaw(code, line + 1, column + 1, message, suggestion)
        self.reading.flaws.append(flaw)

    def stop(self, code: str, event: Any, message: str) -> _Stop:
        """Note an error after which nothing more of the file can be read."""
        mark = event.start_mark
        self.complain(code, mark.line, mark.column, message)
        return _Stop()

    def complain_of_character(self, text: str, offset: int, character: str) -> None:
        """Note a control or bidirectional character by its number, never as itself."""
        line = text.count("\n", 0, offset)
        column = offset - (text.rfind("\n", 0, offset) + 1)
        what = "bidirectional" if character in _BIDIRECTIONAL else "control"
        said = f"the {what} character \\u{ord(character):04x} is not allowed here"
        self.complain("M111", line, column, said)

    def complain_of_syntax(self, error: MarkedYAMLError, text: str) -> None:
        """Say what the parser found, in words for whoever wrote the file."""
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        lines = text.split("\n", line + 1)
        here = lines[line][column : column + 1] if line < len(lines) else ""
        if here == "\t":
            self.complain("M101", line, column, "a tab cannot indent YAML: use spaces")
            return
        words = [part for part in (error.context, error.problem) if part]
        self.complain("M101", line, column, ", ".join(words) or "not well-formed")

    def in_block_text(self, line: int) -> bool:
        """Tell whether a line, from 0, lies in the text of a block scalar."""
        return any(first < line <= last for first, last in self.blocks)

    def walk(self, parser: CParser, text: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one hot loop
        """Build the documents. A call for each node would cost a third of the speed."""
        get_event = parser.get_event
        # Most texts hold none of these, and an attribute read a node is not free.
        may_tag, may_anchor, may_be_long = "!" in text, "&" in text, len(text) > LONGEST_SCALAR
        document = Document(text)
        mark_node = document.positions.marks.append
        stack: list[tuple[Any, Any, int]] = []
        anchors: dict[str, _Anchor] = {}
        opened: dict[int, list[_Anchor]] = {}
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
                if style == "":
                    if len(value) <= LONGEST_CONSTANT and value in CONSTANTS:
                        value = CONSTANTS[value]
                    elif value[0] in NUMBER_STARTS:
                        value = self.plain_number(value, mark)
                elif not value.isprintable():
                    self.check_quoted(value, event)
                if may_tag and event.tag is not None:
                    self.complain_of_tag(event)
                if may_be_long and len(event.value) > LONGEST_SCALAR:
                    raise self.stop("M110", event, "a scalar is longer than 1 MB")
                if may_anchor and event.anchor is not None:
                    here = len(document.positions.marks)
                    anchors[event.anchor] = _Anchor(value, here - 1, here)
                if wants_key:
                    key = value if value.__class__ is str and value != "<<" else ""
                    key = key or self.unusual_key(value, event)
                    wants_key = False
                    if key in container:
                        said = f"`{key}` stands twice in this mapping"
                        self.complain("M102", mark.line, mark.column, said)
                        duplicate = len(document.positions.marks) - 1
                    continue
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if wants_key:
                    raise self.stop("M107", event, "a key must be text, not a list or a mapping")
                if len(stack) >= DEEPEST:
                    raise self.stop("M109", event, f"nested deeper than {DEEPEST} levels")
                if may_tag and event.tag is not None:
                    self.complain_of_tag(event)
                stack.append((container, key, duplicate))
                duplicate = -1
                wants_key = kind is MappingStartEvent
                container = {} if wants_key else []
                if may_anchor and event.anchor is not None:
                    anchor = _Anchor(container, len(document.positions.marks), -1)
                    anchors[event.anchor] = anchor
                    opened.setdefault(len(stack), []).append(anchor)
                mark_node(event.start_mark.index)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = container
                here = len(document.positions.marks)
                if here > MOST_NODES:
                    raise self.stop("M108", event, f"more than {MOST_NODES:,} nodes")
                for anchor in opened.pop(len(stack), ()):
                    anchor.end = here
                container, key, duplicate = stack.pop()
                wants_key = False
            elif kind is AliasEvent:
                value = self.expand(event, anchors, document.positions)
                if wants_key:
                    key = value if isinstance(value, str) else self.unusual_key(value, event)
                    wants_key = False
                    continue
            elif kind is DocumentStartEvent:
                document = Document(text)
                mark_node = document.positions.marks.append
                anchors = {}
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
                    # Positions follow the document, which keeps the first of the two.
                    del document.positions.marks[duplicate:]
                    duplicate = -1
                wants_key = True
            elif container is None:
                document.value = value
            else:
                container.append(value)

    def plain_number(self, text: str, mark: Any) -> Json:
        """Give what a plain scalar spells; note a number that JSON cannot carry."""
        try:
            value = number(text)
        except BadScalar as bad:
            self.complain(bad.code, mark.line, mark.column, bad.message, bad.suggestion)
            return text
        if isinstance(value, int) and has_leading_zero(text):
            said = f"`{text}` is the number {value} in YAML 1.2: drop the zero, or quote it"
            self.reading.flaws.append(
                Flaw("M114", mark.line + 1, mark.column + 1, said, "", Severity.WARNING)
            )
        return value

    def complain_of_tag(self, event: Any) -> None:
        """Note a tag; types come from the field, never from the file."""
        mark = event.start_mark
        self.complain("M104", mark.line, mark.column, f"the tag `{event.tag}` is not supported")

    def check_quoted(self, value: str, event: Any) -> None:
        """Note control and bidirectional characters that came in by an escape."""
        mark = event.start_mark
        if event.style in "|>":
            self.blocks.append((mark.line, event.end_mark.line))
            return
        found = next((match.group() for match in _UNSAFE.finditer(value)), None)
        if found is not None and found not in _BIDIRECTIONAL:
            said = f"the control character \\u{ord(found):04x} is not allowed here"
            self.complain("M111", mark.line, mark.column, said)
        elif found is not None and found not in self.raw:
            said = f"the bidirectional character \\u{ord(found):04x} is not allowed here"
            self.complain("M111", mark.line, mark.column, said)

    def unusual_key(self, value: Json, event: Any) -> str:
        """Give a key that is empty, not text or a merge key as text, and note what is wrong."""
        mark = event.start_mark
        text = str(getattr(event, "value", value))
        if value == "<<" and getattr(event, "style", None) == "":
            said = "merge keys (<<) are not supported: write the fields out"
            self.complain("M103", mark.line, mark.column, said)
        elif not isinstance(value, str):
            said = f"the key `{text or 'null'}` is not text: quote it"
            self.complain("M107", mark.line, mark.column, said, f'"{text}"')
        return text

    def expand(self, event: Any, anchors: dict[str, _Anchor], positions: Positions) -> Json:
        """Give what an alias stands for, counted as what it expands to."""
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            raise self.stop("M108", event, f"more than {MOST_ALIASES} aliases")
        anchor = anchors.get(event.anchor)
        if anchor is None:
            raise self.stop("M101", event, f"the alias `*{event.anchor}` has no anchor")
        if anchor.end < 0:
            raise self.stop("M108", event, f"the alias `*{event.anchor}` contains itself")
        marks = positions.marks
        if len(marks) + anchor.end - anchor.start > MOST_NODES:
            raise self.stop("M108", event, f"aliases expand to more than {MOST_NODES:,} nodes")
        marks.append(event.start_mark.index)
        marks.extend(marks[anchor.start + 1 : anchor.end])
        return anchor.value
