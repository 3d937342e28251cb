"""Fields of a write in words, and their lines for a terminal and as a diff for a comment. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from reconciler.document import ABSENT, Difference, Json, Missing, Operation, Path
from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import Part
from reconciler.kinds.kind import ANY_STEP, Essential, Kind
from reconciler.kinds.shape import NOTHING, Facts, facts_at
from reconciler.model import Action, Change, Drift
from reconciler.model.quoting import SHOWN_BY_VERBOSE, and_more
from reconciler.redaction.templates import references_in
from reconciler.report.counts import live_document
from reconciler.report.drawings import drawing_of, picture_lines
from reconciler.report.labels import (
    BETWEEN,
    FieldLabel,
    Lists,
    facts_of_kind,
    name_of,
    place_in,
    spoken_place,
    spoken_value,
    standing,
)
from reconciler.report.safe import ELLIPSIS, columns, cut, hidden, safe
from reconciler.report.table import INDENT, Colour, Style, fitted, wrapped
from reconciler.report.words import alike, around_difference, as_json, leaves, plural

CONTEXT = 2
LONGEST_PIECE = 88
MOST_COMPARED = 1_500

GOES_ON = " ↩"
"""The end of a piece if its line continues below."""

# A query or a sentence may be broken before an operator or a clause, and after a comma.
_BREAKS = re.compile(
    r"(?= (?:[-+*/|]|and|or|unless|by|on|AND|OR|NOT|WHERE|FROM|GROUP BY|filter) )|(?<=, )|(?<=\. )"
)


class DiffLine(NamedTuple):
    """A safe line of a diff. `…` means lines that are the same, with their number.

    A text that ends in `GOES_ON` continues in the next piece, on the line below.
    """

    sign: Literal["-", "+", " ", "…"]
    text: str


def line_diff(before: str, after: str, context: int = CONTEXT) -> tuple[DiffLine, ...]:
    """Return the removed and added lines with `context` lines around them.

    A line that is too long to read is broken where its language allows it. Nothing is lost: the
    pieces of a side are its whole text.
    """
    old, new = pieces(before), pieces(after)
    return tuple(_lines_of(old, new, context))


def pieces(text: str) -> list[str]:
    """Return the pieces of a text: its lines, the long lines broken. Joined, they are the text."""
    return [piece for line in text.splitlines(keepends=True) for piece in _broken(line)]


def _broken(line: str) -> Iterator[str]:
    if len(line) <= LONGEST_PIECE:
        yield line
        return
    piece = ""
    for part in _BREAKS.split(line):
        if piece and len(piece) + len(part) > LONGEST_PIECE:
            yield piece
            piece = ""
        piece += part
    if piece:
        yield piece


def _lines_of(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[DiffLine]:
    was, now = _shown(old), _shown(new)
    for tag, first, last, new_first, new_last in _opcodes(old, new):
        if tag == "equal":
            starts, ends = first == new_first == 0, (last, new_last) == (len(old), len(new))
            around = (0 if starts else context, 0 if ends else context)
            yield from _same(now[new_first:new_last], *around)
            continue
        yield from (DiffLine("-", piece) for piece in was[first:last])
        yield from (DiffLine("+", piece) for piece in now[new_first:new_last])


def _same(lines: Sequence[str], head: int, tail: int) -> Iterator[DiffLine]:
    hidden = len(lines) - head - tail
    if hidden <= 1:
        yield from (DiffLine(" ", line) for line in lines)
        return
    yield from (DiffLine(" ", line) for line in lines[:head])
    yield DiffLine("…", f"{plural(hidden, 'line')} the same")
    yield from (DiffLine(" ", line) for line in lines[len(lines) - tail :])


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Return how to turn old into new; of very long texts only the common beginning is matched."""
    if max(len(old), len(new)) <= MOST_COMPARED:
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    head = alike(old, new)
    return [("equal", 0, head, 0, head), ("replace", head, len(old), head, len(new))]


def _shown(broken: Sequence[str]) -> list[str]:
    """Return pieces without line breaks; a mark shows that the line continues."""
    last = len(broken) - 1
    # `splitlines` returns a piece unchanged only if the piece has no line break.
    return [
        safe(piece.removesuffix("\n"))
        + (GOES_ON if at < last and piece.splitlines() == [piece] else "")
        for at, piece in enumerate(broken)
    ]


LONGEST_ON_ONE_LINE = 100
EMPTY = "(empty)"
LONGEST_COMPARED = 200_000


@dataclass(frozen=True, slots=True)
class LeafValue:
    """A leaf of an added or removed part: its place inside the part, and its value."""

    subject: str
    field: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A difference. Its texts are safe, on one line each.

    `subject` is the part of the resource (empty for the resource itself). `field` is the field that
    changes (empty where the part itself comes, goes or moves). `position` is where an item is;
    after a move it has both places. Long values have `lines`, and parts that come or go have
    `leaves`. All other values are whole in `before` and `after`; so is a part that fits on one
    line.
    """

    path: Path
    subject: str
    field: str
    operation: Operation
    before: str = ""
    after: str = ""
    position: str = ""
    lines: tuple[DiffLine, ...] = ()
    leaves: tuple[LeafValue, ...] = ()

    @property
    def turn(self) -> str:
        """Return both values of a changed field, else the one value, on one line."""
        is_changed = self.operation == "change"
        return f"{self.before} → {self.after}" if is_changed else self.before or self.after

    @property
    def ends(self) -> Sequence[LeafValue]:
        """Return the leaves of a part that comes or goes; a plain value is its own leaf."""
        return self.leaves or ((LeafValue("", "", self.turn),) if self.turn else ())

    def labelled(self, words: str) -> str:
        """Return the words of a label, with the place of an item that is added."""
        return f"{words} {self.position}" if self.operation == "add" and self.position else words

    def sides(self, room: int) -> tuple[DiffLine, DiffLine]:
        """Return both values, cut so that their first difference is visible."""
        before, after = around_difference(self.before, self.after, room)
        return DiffLine("-", before), DiffLine("+", after)


def field_changes(change: Change) -> tuple[FieldChange, ...]:
    """Return the effects of a planned write: the resource's own fields first, then each part.

    Every field of a new resource is listed, also where it equals absence: `enabled: false`.
    """
    found = change.differences if change.action.writes else ()
    if change.action in (Action.CREATE, Action.ASSERT):
        found = tuple(
            Difference((key,), ABSENT, value, "add") for key, value in change.body.items()
        )
    kind = BY_NAME.get(change.ref.kind)
    before, lists = live_document(change), Lists()
    return _together(_said(difference, (change.body, before), kind, lists) for difference in found)


def drift_changes(drift: Drift) -> tuple[FieldChange, ...]:
    """Return how fields differ from what was applied; `after` is the live value."""
    kind = BY_NAME.get(drift.ref.kind)
    sides, lists = (drift.live, drift.applied), Lists()
    return _together(_said(difference, sides, kind, lists) for difference in drift.differences)


Sides: TypeAlias = "tuple[Json, Json | Missing]"
"""The documents after and before."""

Subjected = TypeVar("Subjected", FieldChange, LeafValue)


def by_subject(found: Sequence[Subjected]) -> Iterator[tuple[str, list[Subjected]]]:
    """Yield the parts of a resource with the changes, or the leaves, of each."""
    for subject, group in groupby(found, key=lambda about: about.subject):
        yield subject, list(group)


def leaf_rows(leaves: Sequence[LeafValue]) -> Iterator[tuple[str, str]]:
    """Yield the label and the value of each leaf, below a row without value for its part."""
    for subject, group in by_subject(leaves):
        if subject:
            yield subject, ""
        margin = "  " if subject else ""
        yield from (
            (f"{margin}{leaf.field}: " if leaf.field else margin, leaf.text) for leaf in group
        )


def _together(found: Iterator[FieldChange]) -> tuple[FieldChange, ...]:
    order: dict[str, list[FieldChange]] = {"": []}
    for field_change in found:
        order.setdefault(field_change.subject, []).append(field_change)
    return tuple(field_change for group in order.values() for field_change in group)


def _said(difference: Difference, sides: Sides, kind: Kind | None, lists: Lists) -> FieldChange:
    """Return a difference in words; `sides` are the documents after and before."""
    return in_words(difference, kind, *_placed(difference, sides, kind, lists))


def labels_of(change: Change) -> Iterator[tuple[Difference, FieldLabel, str]]:
    """Yield each difference of a change with its label, and the place of an item in words."""
    kind, lists = BY_NAME.get(change.ref.kind), Lists()
    sides = change.body, live_document(change)
    for difference in change.differences:
        yield difference, *_placed(difference, sides, kind, lists)


def _placed(
    difference: Difference, sides: Sides, kind: Kind | None, lists: Lists
) -> tuple[FieldLabel, str]:
    documents = sides[::-1] if difference.operation == "remove" else sides
    label = place_in(kind, difference.path, *documents, lists=lists)
    if difference.operation == "move":
        return label, _moves(difference, documents, kind, lists)
    place = None
    if difference.operation == "add":
        place = standing(difference.path, sides[0], facts_of_kind(kind), lists)
    return label, f"at place {place[0]} of {place[1]}" if place else ""


def in_words(
    difference: Difference,
    kind: Kind | None,
    label: FieldLabel,
    position: str = "",
    *,
    whole: bool = False,
) -> FieldChange:
    """Return a difference in words, by its label and the place of an item.

    `whole` leaves out nothing: no empty value, no id, no equal line, no text around a reference.
    """
    path, operation = difference.path, difference.operation
    facts = facts_at(kind.spec, path) if kind else NOTHING
    known = FieldChange(path=path, subject=label.subject, field=label.field, operation=operation)
    match operation:
        case "move":
            return replace(known, position=position)
        case "add":
            text, rest = _whole(difference, difference.after, label.subject, kind, whole=whole)
            return replace(known, after=text, position=position, leaves=rest)
        case "remove":
            text, rest = _whole(difference, difference.before, label.subject, kind, whole=whole)
            return replace(known, before=text, leaves=rest)
        case "change":
            old, new = _sides(difference, facts, whole=whole)
            lines = _field_changes_lines(difference, facts, whole=whole)
            return replace(known, before=old, after=new, lines=lines)


def _moves(
    difference: Difference, documents: Sequence[Json | Missing], kind: Kind | None, lists: Lists
) -> str:
    """Return from where to where an item moves, also out of another list."""
    now = _position(difference.after)
    if difference.list_before is not None and isinstance(difference.before, list):
        was = _position(difference.before[-1])
        old = place_in(kind, difference.list_before, *reversed(documents), lists=lists).subject
        new = place_in(kind, difference.path[:-1], *documents, lists=lists).subject
        return f"from place {was} of {old} to place {now} of {new}"
    was = _position(difference.before)
    if was == now:
        # For example the middle item of a list that is reversed.
        return f"past its neighbours, still at place {now}"
    return f"from place {was} to place {now}"


def _position(place: Json | Missing) -> str:
    return str(place + 1) if isinstance(place, int) else safe(str(place))


def _whole(
    difference: Difference,
    document: Json | Missing,
    subject: str,
    kind: Kind | None,
    *,
    whole: bool,
) -> tuple[str, tuple[LeafValue, ...]]:
    """Return an added or removed part, on one line where possible, and its leaves.

    Without `whole`, nested ids, empty values and the name that labels the part are left out. Its
    title and all queries come first.
    """
    if document is ABSENT:
        return spoken_value(document), ()
    path, ends = difference.path, list(leaves(document))
    facts = facts_at(kind.spec, path) if kind else NOTHING
    if len(ends) == 1 and ends[0][0] == ():
        return _value(document, facts, whole=whole), ()
    unsaid = kind.unsaid if kind else frozenset[str]()
    # Fields of the part itself come first, so that none follows under the label of another part.
    found: dict[str, list[LeafValue]] = {"": []}
    lists = Lists()
    for inner, end in ends:
        if not whole and (inner[-2:] == ("id", "value") or end in ("", None, [])):
            continue
        place = spoken_place(inner, document, facts=facts, unsaid=unsaid, lists=lists)
        known = facts_at(kind.spec, (*path, *inner)) if kind else NOTHING
        leaf = LeafValue(place.subject, place.field, _value(end, known, whole=whole))
        if leaf.field == QUERY and leaf.subject:
            leaf = LeafValue("", f"{leaf.subject}, {QUERY}", leaf.text)
        found.setdefault(leaf.subject, []).append(leaf)
    shown = tuple(leaf for group in found.values() for leaf in sorted(group, key=_rank))
    rest = shown if whole else _without_name(shown, subject, name_of(document, facts))
    return _short(rest) if shown else EMPTY, rest


QUERY = "query"


def _rank(leaf: LeafValue) -> int:
    """Return the place of a leaf: title, queries, own fields, options of a query, other options."""
    field = leaf.field
    if field in ("title", "name"):
        return 0
    if field == QUERY or field.endswith(f", {QUERY}"):
        return 1
    if "." not in field:
        return 2
    return 3 if field.startswith(f"{QUERY}.") else 4


def _short(ends: Sequence[LeafValue]) -> str:
    """Return the leaves on one line; "" where a leaf of a nested part needs its own line."""
    if any(end.subject for end in ends):
        return ""
    return BETWEEN.join(f"{end.field}: {end.text}" if end.field else end.text for end in ends)


def _without_name(ends: Sequence[LeafValue], subject: str, name: str) -> tuple[LeafValue, ...]:
    called = spoken_value(name)
    known = bool(name) and called in subject
    return tuple(end for end in ends if end.subject or not known or end.text != called)


def _value(document: Json | Missing, facts: Facts, *, whole: bool) -> str:
    """Return a value in words; with `whole`, also the text around a reference."""
    if whole and document is not ABSENT and references_in(document):
        return safe(as_json(document))
    return spoken_value(document, facts)


def _sides(difference: Difference, facts: Facts, *, whole: bool) -> tuple[str, str]:
    """Return both values in words; as JSON where their words would be the same."""
    before, after = (
        _value(value, facts, whole=whole) for value in (difference.before, difference.after)
    )
    if before != after:
        return before, after
    return spoken_value(difference.before), spoken_value(difference.after)


def _field_changes_lines(
    difference: Difference, facts: Facts, *, whole: bool
) -> tuple[DiffLine, ...]:
    """Return the line diff of long values; empty where a line for each is clearer."""
    before, after = difference.before, difference.after
    if before is ABSENT or after is ABSENT or references_in([before, after]):
        return ()
    if facts.unordered and isinstance(before, list) and isinstance(after, list):
        return _members(before, after, facts, whole=whole)
    old, new = _text(before), _text(after)
    longest = max(len(old), len(new))
    if (longest <= LONGEST_ON_ONE_LINE and "\n" not in old + new) or longest > LONGEST_COMPARED:
        return ()
    lines = line_diff(old, new, longest if whole else CONTEXT)
    gone = {line.text for line in lines if line.sign == "-"}
    if any(line.sign == "+" and line.text in gone for line in lines):
        # They differ in what a line cannot show, such as a final line break. JSON shows it.
        return ()
    return lines


def _text(document: Json) -> str:
    if isinstance(document, str):
        return hidden(document)
    short = hidden(as_json(document))
    if len(short) <= LONGEST_ON_ONE_LINE:
        return short
    return hidden(json.dumps(document, ensure_ascii=False, indent=2))


def _members(
    before: Sequence[Json], after: Sequence[Json], facts: Facts, *, whole: bool
) -> tuple[DiffLine, ...]:
    """Return the members that a set loses and gains; its order means nothing."""
    member_facts = facts.items or NOTHING
    old, new = ([spoken_value(value, member_facts) for value in side] for side in (before, after))
    gone = [DiffLine("-", text) for text in old if text not in new]
    come = [DiffLine("+", text) for text in new if text not in old]
    kept = len(new) - len(come)
    rest = [DiffLine("…", f"{kept:,} the same")] if kept else []
    if whole:
        rest = [DiffLine(" ", text) for text in new if text in old]
    return (*gone, *come, *rest) if gone or come else ()


MOST_NAMED = 3
LONGEST_BESIDE = 50


def essentials_of(change: Change) -> tuple[str, ...]:
    """Return `field: value` for each essential field, safe and on one line; none for an update.

    An update shows its differences instead.
    """
    kind = BY_NAME.get(change.ref.kind)
    if kind is None or change.action not in (Action.CREATE, Action.ASSERT):
        return ()
    called: dict[str, list[Essential]] = {}
    for essential in kind.essentials:
        called.setdefault(essential.called, []).append(essential)
    described = (
        (name, _describe_essential(alike, change.body, kind.spec)) for name, alike in called.items()
    )
    return tuple(f"{name}: {text}" for name, text in described if text)


def packed(texts: Sequence[str], room: int) -> list[str]:
    """Return texts joined into lines of `room` columns; a text that is longer is cut.

    A long text, such as a query, is on a line of its own.
    """
    lines: list[str] = []
    full = True
    for text in texts:
        shown = cut(text, room)
        is_long = columns(text) > LONGEST_BESIDE
        joined = shown if full or is_long else f"{lines[-1]}{BETWEEN}{shown}"
        if full or is_long or columns(joined) > room:
            lines.append(shown)
        else:
            lines[-1] = joined
        full = is_long
    return lines


def _describe_essential(alike: Sequence[Essential], document: Json, model: type[Part]) -> str:
    """Return the values of one name; of many only the first few."""
    found = [
        (path, value)
        for essential in alike
        for path, value in _places(document, essential.path)
        if value not in ("", []) and value is not essential.usual and value is not None
    ]
    lists = [value for _, value in found if isinstance(value, list)]
    items = [item for value in lists for item in value]
    if len(lists) == len(found) and any(isinstance(item, dict) for item in items):
        return _counted(items, facts_at(model, (*found[0][0], 0)))
    words = [*dict.fromkeys(spoken_value(value, facts_at(model, path)) for path, value in found)]
    more = [ELLIPSIS] if len(words) > MOST_NAMED else []
    return ", ".join([*words[:MOST_NAMED], *more])


def _places(document: Json, path: Sequence[str], walked: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield each path that matches the pattern, with its value."""
    if not path:
        yield walked, document
        return
    items: Iterable[tuple[str | int, Json]] = ()
    if isinstance(document, dict):
        items = document.items()
    elif isinstance(document, list):
        items = enumerate(document)
    for key, value in items:
        if path[0] in (ANY_STEP, key):
            yield from _places(value, path[1:], (*walked, key))


def _counted(items: Sequence[Json], facts: Facts) -> str:
    names = [spoken_value(name) for item in items if (name := name_of(item, facts))]
    more = [ELLIPSIS] if len(names) > MOST_NAMED else []
    shown = ", ".join([*names[:MOST_NAMED], *more])
    return safe(f"{len(items):,} ({shown})" if shown else f"{len(items):,}")


DEEPER = INDENT + "    "
TEXT_MOST_LEAVES = 8
MOST_LINES = 16
NARROWEST_VALUE = 20
LONGEST_TURN = 93
"""Both values of a field, and the arrow between them."""

WIDEST_PICTURE = 120
OPERATION_SIGNS: Mapping[Operation, tuple[str, Colour]] = {
    "add": ("+", Colour.GREEN),
    "remove": ("-", Colour.RED),
    "change": ("~", Colour.YELLOW),
    "move": ("↕", Colour.CYAN),
}
LINE_COLOURS = {"-": Colour.RED, "+": Colour.GREEN, " ": Colour.DIM, "…": Colour.DIM}


def change_lines(change: Change, most: int, style: Style) -> Iterator[str]:
    """Yield the picture of a planned write, and at most `most` of its fields, part by part."""
    room = min(style.width, WIDEST_PICTURE) - len(INDENT)
    for line in picture_lines(drawing_of(change), room):
        yield INDENT + style.paint(line, Colour.DIM)
    yield from subject_lines(field_changes(change), style, most)


def essential_lines(change: Change, most: int, style: Style) -> Iterator[str]:
    """Yield a new resource in at most `most` lines, with its picture where that is one line."""
    room = style.width - len(INDENT)
    picture = picture_lines(drawing_of(change), room)
    texts = (*essentials_of(change), *(picture if len(picture) == 1 else ()))
    for line in packed(texts, room)[:most]:
        yield INDENT + line


def subject_lines(
    found: Sequence[FieldChange],
    style: Style,
    most: int | None = None,
    sides: tuple[str, str] | None = None,
    *,
    whole: bool = False,
) -> Iterator[str]:
    """Yield differences below the part of the resource that they are about.

    At most `most` are shown, all with `verbose`. `sides` names the documents before and after,
    where that is not obvious. `whole` breaks values into lines that would be cut.
    """
    shown = found if style.verbose else found[:most]
    if sides and found:
        yield INDENT + style.paint(f"{sides[0]} (-) → {sides[1]} (+)", Colour.DIM)
    for subject, changes in by_subject(shown):
        margin = INDENT
        for change in changes:
            if subject and not change.field:
                yield from _field_lines(change, subject, INDENT, style, whole=whole)
                margin = INDENT + "  "
                continue
            if subject and margin == INDENT:
                yield from wrapped(subject, style, Colour.BOLD, hang="  ")
                margin = INDENT + "  "
            yield from _field_lines(change, change.field, margin, style, whole=whole)
    if more := and_more(len(found) - len(shown), "field", SHOWN_BY_VERBOSE):
        yield INDENT + style.paint(more, Colour.DIM)


def _field_lines(
    change: FieldChange, words: str, margin: str, style: Style, *, whole: bool
) -> Iterator[str]:
    """Yield a field and its values on one line where they fit, else the values below it."""
    sign, colour = OPERATION_SIGNS[change.operation]
    words = change.labelled(words)
    head = f"{margin}{style.paint(sign, colour)} {words}"
    text = change.turn
    # Two long values are compared one below the other, however wide the terminal is.
    is_short = text and (change.operation != "change" or columns(text) <= LONGEST_TURN)
    if is_short and columns(f"{margin}  {words}: {text}") <= style.width:
        yield f"{head}: {text}"
        return
    if change.operation == "move":
        head += f": moves {change.position}"
    elif text or change.leaves:
        head += ":"
    yield from fitted(head, style).split("\n")
    if change.operation in ("add", "remove"):
        yield from _leaf_lines(change, colour, style, whole=whole)
    elif change.lines:
        yield from _line_diff(change.lines, style)
    elif is_short and columns(DEEPER + text) <= style.width:
        yield DEEPER + text
    elif text:
        yield from _line_diff(change.sides(len(text) if whole else _room(style)), style)


def _room(style: Style, beside: str = "- ") -> int:
    return max(NARROWEST_VALUE, style.width - len(DEEPER) - columns(beside))


def _leaf_lines(change: FieldChange, colour: Colour, style: Style, *, whole: bool) -> Iterator[str]:
    ends = change.ends
    most = len(ends) if style.verbose else TEXT_MOST_LEAVES
    for label, text in leaf_rows(ends[:most]):
        shown = [label + safe(text, _room(style, label))]
        for part in broken_to(label + text, _room(style)) if whole else shown:
            yield DEEPER + style.paint(part, colour)
    if more := and_more(len(ends) - most, hint=SHOWN_BY_VERBOSE):
        yield DEEPER + style.paint(more, Colour.DIM)


def _line_diff(lines: Sequence[DiffLine], style: Style) -> Iterator[str]:
    most = len(lines) if style.verbose else MOST_LINES
    for sign, text in lines[:most]:
        for part in broken_to(text, _room(style)) if style.terminal else (text,):
            yield DEEPER + style.paint(f"{sign} {part}".rstrip(), LINE_COLOURS[sign])
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
    words = change.labelled(words)
    match change.operation:
        case "move":
            yield f"! {words} moves {change.position}"
        case "change":
            yield from _turn_lines(change, words)
        case operation:
            sign, _ = OPERATION_SIGNS[operation]
            if change.leaves:
                words += ":"
            elif change.turn:
                words += f": {safe(change.turn, LONGEST_VALUE)}"
            yield f"{sign} {words}"
            for label, text in leaf_rows(change.leaves[:MARKDOWN_MOST_LEAVES]):
                shown = safe(text, LONGEST_VALUE) if text else ":"
                yield f"{sign}   {label}{shown}"
            if more := and_more(len(change.leaves) - MARKDOWN_MOST_LEAVES):
                yield f"{sign}   {more}"


def _turn_lines(change: FieldChange, words: str) -> Iterator[str]:
    longest = max(len(change.before), len(change.after))
    if len(words) + longest <= LONGEST_INLINE:
        yield f"- {words}: {change.before}"
        yield f"+ {words}: {change.after}"
        return
    yield f"  {words}:"
    for sign, text in change.lines or change.sides(LONGEST_VALUE):
        yield f"{sign}   {text}".rstrip()
