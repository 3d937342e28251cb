"""The place in the file of each character of a scalar, in every way of writing it.

The rules of folding, escapes and indentation are those of YAML 1.1 as the parser applies them. The
result is compared with the parser's value, so a place is exact or not returned.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from yaml import AliasEvent, DocumentStartEvent, ScalarEvent, YAMLError
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs hide it

from reconciler.syntax.characters import joined_surrogates
from reconciler.syntax.diagnostic import Complaint, Finding, Lines, complaint_at

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+(?:#[^\n]*\s+)*)*")
_HEADER = re.compile(r"[|>]([-+0-9]*)[^\n]*\n?")
_BREAK = re.compile(r"\r?\n")
_FOLD = re.compile(r"[ \t]*\r?\n(?:[ \t]*\r?\n)*[ \t]*")
_PLAIN_FOLD = re.compile(rf"(?<![ \t]){_FOLD.pattern}")
"""Like `_FOLD`, but a run of blanks is tried once and not from each blank."""

_BLANKS = re.compile(r"[ \t]+")
_BREAKS = ("\r", "\n")
_ESCAPED_BREAK = re.compile(r"\\\r?\n[ \t\r\n]*")
_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_NUMBERED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_ESCAPES = dict(
    zip(
        "'0abt\tnvfre \"/\\N_LP",
        "'\0\a\b\t\t\n\v\f\r\x1b \"/\\\x85\xa0\u2028\u2029",
        strict=True,
    )
)
DEEPEST_INDENT = 1_000


@dataclass(slots=True)
class Spelled:
    """The value of a written scalar: its characters, and the place where each is written.

    `places` has one more entry, for the end of the last character.
    """

    characters: list[str] = field(default_factory=list)
    places: array[int] = field(default_factory=lambda: array("L"))

    def add(self, character: str, place: int) -> None:
        """Add a character that is written at a place."""
        self.characters.append(character)
        self.places.append(place)

    def copy(self, text: str, start: int, end: int) -> None:
        """Add characters that are written as themselves."""
        self.characters.extend(text[start:end])
        self.places.extend(range(start, end))

    def fold(self, text: str, start: int, end: int, *, escaped: bool = False) -> None:
        """Add the value of line breaks: one break is a blank, of several the first is dropped."""
        breaks = [match.start() for match in _BREAK.finditer(text, start, end)]
        if len(breaks) == 1 and not escaped:
            self.add(" ", breaks[0])
        self.add_breaks(breaks[1:])

    def add_breaks(self, places: Sequence[int]) -> None:
        """Add breaks that are written at these places."""
        self.characters.extend("\n" * len(places))
        self.places.extend(places)

    @property
    def value(self) -> str:
        """Return the text of the value."""
        return "".join(self.characters)


def spell(text: str, start: int, end: int, value: str) -> array[int] | None:
    """Return the places of a scalar that is written between two places and has this value.

    There is one more place than characters. None if the places cannot be determined.
    """
    properties = _PROPERTIES.match(text, start, end)
    start = properties.end() if properties is not None else start
    match text[start : start + 1]:
        case '"':
            spelled = _double(text, start + 1, end - 1)
        case "'":
            spelled = _single(text, start + 1, end - 1)
        case "|" | ">":
            return _block(text, start, end, value)
        case _:
            spelled = _plain(text, start, end)
    spelled.places.append(end if text[start : start + 1] not in ("'", '"') else end - 1)
    return spelled.places if spelled.value == value else None


def _plain(text: str, start: int, end: int) -> Spelled:
    spelled = Spelled()
    for fold in _PLAIN_FOLD.finditer(text, start, end):
        spelled.copy(text, start, fold.start())
        spelled.fold(text, *fold.span())
        start = fold.end()
    spelled.copy(text, start, end)
    return spelled


def _kept_blanks(text: str, start: int, end: int) -> int:
    """Return the end of blanks that are part of the text; `start` if a break follows them."""
    blanks = _BLANKS.match(text, start, end)
    if blanks is None or text[blanks.end() : blanks.end() + 1] in _BREAKS:
        return start
    return blanks.end()


def _single(text: str, start: int, end: int) -> Spelled:
    spelled = Spelled()
    while start < end:
        if (after := _kept_blanks(text, start, end)) > start:
            spelled.copy(text, start, after)
            start = after
            continue
        fold = _FOLD.match(text, start, end)
        if fold is not None:
            spelled.fold(text, *fold.span())
            start = fold.end()
            continue
        spelled.add(text[start], start)
        start += 2 if text.startswith("''", start) else 1
    return spelled


def _double(text: str, start: int, end: int) -> Spelled:
    spelled = Spelled()
    while start < end:
        if (after := _kept_blanks(text, start, end)) > start:
            spelled.copy(text, start, after)
            start = after
        elif (fold := _FOLD.match(text, start, end)) is not None:
            spelled.fold(text, *fold.span())
            start = fold.end()
        elif (escaped := _ESCAPED_BREAK.match(text, start, end)) is not None:
            spelled.fold(text, *escaped.span(), escaped=True)
            start = escaped.end()
        elif text[start] == "\\":
            character, width = _escape(text, start, end)
            spelled.add(character, start)
            start += width
        else:
            spelled.add(text[start], start)
            start += 1
    return spelled


def _escape(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the character of an escape, and the length of the escape."""
    if (pair := _PAIR.match(text, start, end)) is not None:
        high, low = (int(half, 16) for half in pair.groups())
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), len(pair.group())
    if (numbered := _NUMBERED.match(text, start, end)) is not None:
        return chr(int(numbered[1] or numbered[2] or numbered[3], 16)), len(numbered.group())
    return _ESCAPES.get(text[start + 1], ""), 2


def _block(text: str, start: int, end: int, value: str) -> array[int] | None:
    header = _HEADER.match(text, start, end)
    if header is None:
        return None
    lines = _lines_of(text, header.end(), end)
    widths = (_width(text, *line) for line in lines if text[slice(*line)].strip(" "))
    likely = next(widths, 1)
    # A number in the header may set the indentation, relative to the parent.
    for indent in (likely, *range(1, min(likely, DEEPEST_INDENT))):
        spelled = _block_at(text, lines, indent, header.group()[0])
        places = _chomped(spelled, header[1], text, end)
        if spelled.value == value:
            return places
    return None


def _lines_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return where the lines begin and end, without their breaks."""
    lines = []
    while start < end:
        found = _BREAK.search(text, start, end)
        lines.append((start, found.start() if found is not None else end))
        start = found.end() if found is not None else end
    return lines


def _width(text: str, start: int, end: int) -> int:
    """Return the number of blanks at the start of a line."""
    line = text[start:end]
    return len(line) - len(line.lstrip(" "))


def _block_at(text: str, lines: list[tuple[int, int]], indent: int, style: str) -> Spelled:
    """Return a block text with this indentation of its lines, including its last breaks."""
    spelled = Spelled()
    waiting: list[int] = []
    was_text = False
    for start, end in lines:
        inner = min(start + indent, end)
        if text[start:inner].strip(" "):
            break
        if inner == end:
            waiting.append(end)
            continue
        is_text = text[inner] not in " \t"
        if style == ">" and was_text and is_text:
            if len(waiting) == 1:
                spelled.add(" ", waiting[0])
            waiting = waiting[1:]
        spelled.add_breaks(waiting)
        spelled.copy(text, inner, end)
        was_text, waiting = is_text, [end]
    spelled.add_breaks(waiting)
    return spelled


def _chomped(spelled: Spelled, header: str, text: str, end: int) -> array[int]:
    """Remove the last breaks as the header says, and add the end of the text."""
    content = len("".join(spelled.characters).rstrip("\n"))
    breaks = len(spelled.characters) - content
    # A last line without a break has none to keep.
    if breaks and spelled.places[-1] >= end and text[end - 1 : end] != "\n":
        spelled.places.pop()
        spelled.characters.pop()
        breaks -= 1
    kept = 0 if "-" in header else breaks if "+" in header else min(breaks, 1 if content else 0)
    after = spelled.places[content + kept] if kept < breaks else end
    del spelled.places[content + kept :]
    del spelled.characters[content + kept :]
    spelled.places.append(after)
    return spelled.places


@dataclass(slots=True)
class Scalars:
    """The places where the scalars of a file are written, by their marks."""

    lines: Lines
    _found: dict[int, tuple[int, int]] | None = None

    def places(self, mark: int, value: str) -> array[int] | None:
        """Return the places of the scalar at a mark of the document, which has this value.

        An alias has the places of its anchor. None if they cannot be determined.
        """
        if self._found is None:
            self._found = self._find()
        found = self._found.get(mark)
        if found is None:
            return None
        start, end = map(self.lines.in_text, found)
        return spell(self.lines.text, start, end, value)

    def _find(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        anchors: dict[str, tuple[int, int]] = {}
        parser = CParser(joined_surrogates(self.lines.text)[0])
        try:
            while parser.check_event():
                self._take(parser.get_event(), found, anchors)
        except YAMLError:
            # The text before the error was read, and is validated.
            return found
        return found

    def _take(
        self,
        event: Any,
        found: dict[int, tuple[int, int]],
        anchors: dict[str, tuple[int, int]],
    ) -> None:
        match event:
            case ScalarEvent():
                span = _span(event)
                found[span[0]] = span
                if event.anchor:
                    anchors[event.anchor] = span
            case AliasEvent() if event.anchor in anchors:
                found[_span(event)[0]] = anchors[event.anchor]
            case DocumentStartEvent():
                anchors.clear()
            case _:
                return


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index


def complaint_inside(file: str, lines: Lines, finding: Finding, start: int, end: int) -> Complaint:
    """Return the complaint for a finding about the text between two places of a file."""
    line, column = lines.place_in_text(start)
    last, after = lines.place_in_text(max(start, end - 1))
    complaint = complaint_at(file, lines, line, column, finding)
    excerpt = complaint.excerpt
    if excerpt is None or last != line:
        return complaint
    room = len(excerpt.lines[-1][1]) - excerpt.start
    width = max(1, min(after - column + 1, room))
    return replace(complaint, excerpt=replace(excerpt, width=width))
