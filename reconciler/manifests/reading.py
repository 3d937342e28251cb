"""YAML and JSON text to documents with positions, in one pass over the C parser's events.

The C loader dies on deep nesting, takes duplicate keys and turns `NO` into a
boolean; its events do none of that (failure-cases.md, part 5), and walking them
gives positions, limits and YAML 1.2 scalars at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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

from reconciler.complaint import Lines
from reconciler.document import Json
from reconciler.finding import Severity
from reconciler.manifests.characters import (
    described,
    escaped_in,
    first_forbidden,
    joined_surrogates,
    reordering,
)
from reconciler.manifests.parsed import Document, Flaw, Reading
from reconciler.manifests.positions import Positions
from reconciler.manifests.scalars import (
    CONSTANTS,
    NUMBER_STARTS,
    BadScalar,
    has_leading_zero,
    number,
)
from reconciler.manifests.syntax import (
    departure_from_json,
    spoken_collection_key,
    spoken_problem,
)

# failure-cases.md, S1-S3.
DEEPEST = 64
MOST_NODES = 1_000_000
MOST_ALIASES = 100
LONGEST_SCALAR = 1 << 20

LONGEST_CONSTANT = 5
MOST_CHARACTERS = 20
MOST_FLAWS = 1_000


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
    parsed, squeezed = joined_surrogates(text) if is_json else (text, ())
    reader = _Reader(parsed, Lines(text, squeezed))
    try:
        reader.read(is_json=is_json)
    except _Stop:
        pass
    except MarkedYAMLError as error:
        reader.complain_of_syntax(error)
    except YAMLError as error:
        reader.complain("M101", 0, str(error).splitlines()[0])
    reader.reading.flaws.sort(key=lambda flaw: (flaw.line, flaw.column))
    return reader.reading


class _Reader:
    """The state of one pass over a text; offsets are in what the parser reads."""

    def __init__(self, text: str, lines: Lines) -> None:
        self.text = text
        self.reading = Reading(lines)
        self.aliases = 0
        self.blocks: list[tuple[int, int]] = []

    def read(self, *, is_json: bool) -> None:
        """Read it all; raises what the parser raises, or _Stop once the flaw is noted."""
        forbidden = first_forbidden(self.text)
        if forbidden is not None:
            self.complain_of_character(*forbidden)
            return
        try:
            self.walk(CParser(self.text), self.text)
        finally:
            for offset, character in self.first_reordering():
                self.complain_of_character(offset, character)
        if is_json and not self.reading.has_errors:
            self.check_json(self.reading.lines)

    def check_json(self, lines: Lines) -> None:
        """Note where a file departs from JSON, of which YAML takes more."""
        departure = departure_from_json(lines.text)
        if departure is not None:
            place = lines.place_in_text(departure.offset)
            self.reading.flaws.append(Flaw(departure.code, *place, departure.message))

    def first_reordering(self) -> Iterator[tuple[int, str]]:
        """Yield the first bidirectional characters that reorder what a reviewer sees."""
        found = reordering(self.text, self.blocks)
        yield from (place for place, _ in zip(found, range(MOST_CHARACTERS), strict=False))

    def complain(self, code: str, offset: int, message: str, suggestion: str = "") -> None:
        """Note an error at an offset. Raises _Stop where there are too many."""
        place = self.reading.lines.place(offset)
        self.reading.flaws.append(Flaw(code, *place, message, suggestion))
        if len(self.reading.flaws) >= MOST_FLAWS:
            said = f"more than {MOST_FLAWS:,} mistakes: the rest of the file is not read"
            self.reading.flaws.append(Flaw("M115", *place, said))
            raise _Stop

    def stop(self, code: str, event: Any, message: str) -> _Stop:
        """Note an error after which nothing more of the file can be read."""
        self.complain(code, event.start_mark.index, message)
        return _Stop()

    def complain_of_character(self, offset: int, character: str) -> None:
        """Note a character that may not stand here by its number, never as itself."""
        self.complain("M111", offset, f"{described(character)} is not allowed here")

    def complain_of_syntax(self, error: MarkedYAMLError) -> None:
        """Say what the parser found."""
        mark = error.problem_mark or error.context_mark
        offset = mark.index if mark else 0
        here = self.text[offset : offset + 2]
        said = spoken_problem(error.problem or "", error.context or "", here)
        self.complain("M101", offset, said)

    def walk(self, parser: CParser, text: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one hot loop
        """Build the documents. A call for each node would cost a third of the speed."""
        get_event = parser.get_event
        # Most texts hold none of these, and an attribute read a node is not free.
        may_tag, may_anchor, may_be_long = "!" in text, "&" in text, len(text) > LONGEST_SCALAR
        document = Document(self.reading.lines)
        marks = document.positions.marks
        mark_node = marks.append
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
                    end = len(marks)
                    anchors[event.anchor] = _Anchor(value, end - 1, end)
                if wants_key:
                    key = value if value.__class__ is str and value != "<<" else ""
                    key = key or self.unusual_key(value, event)
                    wants_key = False
                    if key in container:
                        said = f"`{key}` stands twice in this mapping"
                        self.complain("M102", mark.index, said)
                        duplicate = len(marks) - 1
                    continue
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if wants_key:
                    start = event.start_mark.index
                    said = spoken_collection_key(text[max(0, start - 3) : start])
                    raise self.stop("M107", event, said)
                if len(stack) >= DEEPEST:
                    raise self.stop("M109", event, f"nested deeper than {DEEPEST} levels")
                if may_tag and event.tag is not None:
                    self.complain_of_tag(event)
                stack.append((container, key, duplicate))
                duplicate = -1
                wants_key = kind is MappingStartEvent
                container = {} if wants_key else []
                if may_anchor and event.anchor is not None:
                    anchor = _Anchor(container, len(marks), -1)
                    anchors[event.anchor] = anchor
                    opened.setdefault(len(stack), []).append(anchor)
                mark_node(event.start_mark.index)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = container
                if len(marks) > MOST_NODES:
                    raise self.stop(
                        "M110", event, f"more than {MOST_NODES:,} values in one document"
                    )
                if opened:
                    for anchor in opened.pop(len(stack), ()):
                        anchor.end = len(marks)
                container, key, duplicate = stack.pop()
                wants_key = False
            elif kind is AliasEvent:
                if wants_key:
                    raise self.stop("M107", event, "an alias cannot be a key: write the key out")
                value = self.expand(event, anchors, document.positions, len(stack))
            elif kind is DocumentStartEvent:
                document = Document(self.reading.lines)
                marks = document.positions.marks
                mark_node = marks.append
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
                    del marks[duplicate:]
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
            self.complain(bad.code, mark.index, bad.message, bad.suggestion)
            return text
        if isinstance(value, int) and has_leading_zero(text) and not self.is_full:
            said = f"`{text}` is the number {value} in YAML 1.2: drop the zero, or quote it"
            place = self.reading.lines.place(mark.index)
            self.reading.flaws.append(Flaw("M114", *place, said, "", Severity.WARNING))
        return value

    @property
    def is_full(self) -> bool:
        """Whether a warning more would hide an error."""
        return len(self.reading.flaws) >= MOST_FLAWS // 2

    def complain_of_tag(self, event: Any) -> None:
        """Note a tag; types come from the field, never from the file."""
        said = f"the tag `{event.tag}` is not supported: remove it, fields have types of their own"
        self.complain("M104", event.start_mark.index, said)

    def check_quoted(self, value: str, event: Any) -> None:
        """Note unsafe characters that came in by an escape, and where block texts stand."""
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in "|>":
            # A comment may follow the indicator.
            self.blocks.append((self.text.find("\n", start), end))
            return
        found = escaped_in(value, self.text[start:end])
        if found:
            self.complain_of_character(start, found)

    def unusual_key(self, value: Json, event: Any) -> str:
        """Give a key that is empty, not text or a merge key as text, and note what is wrong."""
        text: str = event.value
        offset = event.start_mark.index
        if value == "<<" and event.style == "":
            self.complain("M103", offset, "merge keys (<<) are not supported: write the fields out")
        elif not isinstance(value, str):
            said = f"the key `{text or 'null'}` is not text: quote it"
            self.complain("M107", offset, said, f'"{text}"' if text else "")
        return text

    def expand(
        self, event: Any, anchors: dict[str, _Anchor], positions: Positions, depth: int
    ) -> Json:
        """Give what an alias stands for, counted and as deep as what it expands to."""
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            raise self.stop("M108", event, f"more than {MOST_ALIASES} aliases")
        anchor = anchors.get(event.anchor)
        if anchor is None:
            raise self.stop("M101", event, f"the alias `*{event.anchor}` has no anchor before it")
        if anchor.end < 0:
            raise self.stop("M108", event, f"the alias `*{event.anchor}` contains itself")
        marks = positions.marks
        if len(marks) + anchor.end - anchor.start > MOST_NODES:
            raise self.stop("M108", event, f"aliases expand to more than {MOST_NODES:,} values")
        if depth + _height(anchor.value, {}) > DEEPEST:
            raise self.stop("M109", event, f"the alias nests deeper than {DEEPEST} levels")
        marks.append(event.start_mark.index)
        marks.extend(marks[anchor.start + 1 : anchor.end])
        return anchor.value


def _height(value: Json, known: dict[int, int]) -> int:
    """Count the levels of a value, which is never deeper than what is read.

    What aliases repeat is counted once: an alias bomb is small until it is walked.
    """
    if isinstance(value, dict):
        inner: Iterable[Json] = value.values()
    elif isinstance(value, list):
        inner = value
    else:
        return 0
    if id(value) not in known:
        known[id(value)] = 1 + max((_height(one, known) for one in inner), default=0)
    return known[id(value)]
