"""Fields of a write, part by part: lines for a terminal, and a diff for a comment. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from reconciler.model import Change
from reconciler.model.quoting import SHOWN_BY_VERBOSE, and_more
from reconciler.report.changes.field_changes import (
    GOES_ON,
    DiffLine,
    FieldChange,
    LeafValue,
    by_subject,
    essentials_of,
    field_changes,
    packed,
)
from reconciler.report.pictures import drawing_of, picture_lines
from reconciler.report.safe import columns, safe
from reconciler.report.table import INDENT, Colour, Style, fitted, wrapped
from reconciler.report.words import around_difference

DEEPER = INDENT + "    "
TEXT_MOST_LEAVES = 8
MOST_LINES = 16
NARROWEST_VALUE = 20
LONGEST_PAIR = 90
WIDEST_PICTURE = 120
_SIGNS = {
    "add": ("+", Colour.GREEN),
    "remove": ("-", Colour.RED),
    "change": ("~", Colour.YELLOW),
    "move": ("↕", Colour.CYAN),
}


def change_lines(change: Change, most: int, style: Style) -> Iterator[str]:
    """Yield the picture of a planned write, and at most `most` of its fields, part by part."""
    room = min(style.width, WIDEST_PICTURE) - len(INDENT)
    for line in picture_lines(drawing_of(change), room):
        yield INDENT + style.paint(line, Colour.DIM)
    found = field_changes(change)
    shown = found if style.verbose else found[:most]
    yield from subject_lines(shown, style)
    if more := and_more(len(found) - len(shown), "field", SHOWN_BY_VERBOSE):
        yield INDENT + style.paint(more, Colour.DIM)


def essential_lines(change: Change, most: int, style: Style) -> Iterator[str]:
    """Yield a new resource in at most `most` lines, with its picture where that is one line."""
    room = style.width - len(INDENT)
    picture = picture_lines(drawing_of(change), room)
    texts = (*essentials_of(change), *(picture if len(picture) == 1 else ()))
    for line in packed(texts, room)[:most]:
        yield INDENT + line


def subject_lines(found: Sequence[FieldChange], style: Style) -> Iterator[str]:
    """Yield differences below the part of the resource that they are about."""
    for subject, changes in by_subject(found):
        margin = INDENT
        for change in changes:
            if subject and not change.field:
                yield from _lines(change, subject, INDENT, style)
                margin = INDENT + "  "
                continue
            if subject and margin == INDENT:
                yield from wrapped(subject, style, Colour.BOLD, hang="  ")
                margin = INDENT + "  "
            yield from _lines(change, change.field, margin, style)


@dataclass(frozen=True, slots=True)
class _Head:
    """The painted label before a value, and its width in columns."""

    text: str
    width: int


def _lines(change: FieldChange, words: str, margin: str, style: Style) -> Iterator[str]:
    sign, colour = _SIGNS[change.operation]
    if change.operation == "add" and change.stands:
        words += f" {change.stands}"
    head = _Head(f"{margin}{style.paint(sign, colour)} {words}", columns(f"{margin}  {words}"))
    match change.operation:
        case "move":
            yield from fitted(f"{head.text}: moves {change.stands}", style).split("\n")
        case "add":
            yield from _text_whole_lines(head, change.after, change.leaves, colour, style)
        case "remove":
            yield from _text_whole_lines(head, change.before, change.leaves, colour, style)
        case "change":
            yield from _text_changed_lines(change, head, style)


def _text_whole_lines(
    head: _Head, text: str, leaves: Sequence[LeafValue], colour: Colour, style: Style
) -> Iterator[str]:
    """Yield a value that comes or goes: on one line where it fits, else one line for each leaf."""
    if not leaves and not text:
        yield from fitted(head.text, style).split("\n")
        return
    if text and head.width + 2 + columns(text) <= style.width:
        yield f"{head.text}: {text}"
        return
    yield from fitted(f"{head.text}:", style).split("\n")
    ends = leaves or (LeafValue("", "", text),)
    most = len(ends) if style.verbose else TEXT_MOST_LEAVES
    for subject, group in by_subject(ends[:most]):
        if subject:
            yield DEEPER + style.paint(subject, colour)
        for end in group:
            label = ("  " if subject else "") + (f"{end.field}: " if end.field else "")
            room = max(NARROWEST_VALUE, style.width - len(DEEPER) - columns(label))
            yield DEEPER + style.paint(label + safe(end.text, room), colour)
    if more := and_more(len(ends) - most, hint=SHOWN_BY_VERBOSE):
        yield DEEPER + style.paint(more, Colour.DIM)


def _text_changed_lines(change: FieldChange, head: _Head, style: Style) -> Iterator[str]:
    before, after = change.before, change.after
    # Two long values are compared one below the other, however wide the terminal is.
    short = columns(before) + columns(after) <= LONGEST_PAIR
    if short and head.width + columns(before) + columns(after) + 5 <= style.width:
        yield f"{head.text}: {before} → {after}"
        return
    yield from fitted(f"{head.text}:", style).split("\n")
    if change.lines:
        yield from _line_diff(change.lines, style)
        return
    if short and columns(before) + columns(after) + len(DEEPER) + 3 <= style.width:
        yield f"{DEEPER}{before} → {after}"
        return
    room = max(NARROWEST_VALUE, style.width - len(DEEPER) - 2)
    before, after = around_difference(before, after, room)
    yield f"{DEEPER}{style.paint('- ' + before, Colour.RED)}"
    yield f"{DEEPER}{style.paint('+ ' + after, Colour.GREEN)}"


def _line_diff(lines: Sequence[DiffLine], style: Style) -> Iterator[str]:
    most = len(lines) if style.verbose else MOST_LINES
    colours = {"-": Colour.RED, "+": Colour.GREEN, " ": Colour.DIM, "…": Colour.DIM}
    widest = max(NARROWEST_VALUE, style.width - len(DEEPER) - 2)
    for sign, text in lines[:most]:
        for part in broken_to(text, widest) if style.terminal else (text,):
            yield DEEPER + style.paint(f"{sign} {part}".rstrip(), colours[sign])
    if more := and_more(len(lines) - most, "line", SHOWN_BY_VERBOSE):
        yield DEEPER + style.paint(more, Colour.DIM)


def broken_to(text: str, room: int) -> Iterator[str]:
    """Yield pieces of a diff line, at most `room` columns each, broken between words."""
    end = GOES_ON if text.endswith(GOES_ON) else ""
    rest = text.removesuffix(GOES_ON)
    while columns(rest) + len(end) > room:
        ends = accumulate(map(columns, rest))
        fits = max(1, sum(end <= room - len(GOES_ON) for end in ends))
        blank = rest.rfind(" ", fits // 2, fits)
        at = fits if blank < 0 else blank + 1
        yield rest[:at].rstrip(" ") + GOES_ON
        rest = rest[at:]
    yield rest + end


MARKDOWN_MOST_LEAVES = 40
LONGEST_VALUE = 300
LONGEST_INLINE = 100


def diff_lines(found: Sequence[FieldChange], sides: tuple[str, str] | None = None) -> Iterator[str]:
    """Yield differences part by part; every line except context begins with its sign.

    `sides` names the documents before and after, where that is not obvious.
    """
    if sides and found:
        yield f"# - {sides[0]}"
        yield f"# + {sides[1]}"
    for subject, changes in by_subject(found):
        named = False
        for change in changes:
            if subject and not change.field:
                yield from _part_lines(change, subject)
                continue
            if subject and not named:
                yield f"@@ {subject} @@"
                named = True
            yield from _part_lines(change, change.field)


def _part_lines(change: FieldChange, words: str) -> Iterator[str]:
    match change.operation:
        case "move":
            yield f"! {words} moves {change.stands}"
        case "add":
            stands = f" {change.stands}" if change.stands else ""
            yield from _markdown_whole_lines("+", words + stands, change.after, change.leaves)
        case "remove":
            yield from _markdown_whole_lines("-", words, change.before, change.leaves)
        case "change":
            yield from _markdown_changed_lines(change, words)


def _markdown_whole_lines(
    sign: Literal["+", "-"], words: str, text: str, leaves: Sequence[LeafValue]
) -> Iterator[str]:
    if not leaves:
        yield f"{sign} {words}: {safe(text, LONGEST_VALUE)}" if text else f"{sign} {words}"
        return
    yield f"{sign} {words}:"
    for subject, group in by_subject(leaves[:MARKDOWN_MOST_LEAVES]):
        if subject:
            yield f"{sign}   {subject}:"
        margin = "    " if subject else "  "
        for leaf in group:
            label = f"{leaf.field}: " if leaf.field else ""
            yield f"{sign} {margin}{label}{safe(leaf.text, LONGEST_VALUE)}"
    if more := and_more(len(leaves) - MARKDOWN_MOST_LEAVES):
        yield f"{sign}   {more}"


def _markdown_changed_lines(change: FieldChange, words: str) -> Iterator[str]:
    longest = max(len(change.before), len(change.after))
    if len(words) + longest <= LONGEST_INLINE:
        yield f"- {words}: {change.before}"
        yield f"+ {words}: {change.after}"
        return
    yield f"  {words}:"
    if change.lines:
        for sign, text in change.lines:
            yield f"{sign}   {text}".rstrip()
        return
    before, after = around_difference(change.before, change.after, LONGEST_VALUE)
    yield f"-   {before}"
    yield f"+   {after}"
