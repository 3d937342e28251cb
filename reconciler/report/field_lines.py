"""What a write does to one field, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.document import ABSENT, Difference, Json, Missing
from reconciler.report.safe import columns, safe
from reconciler.report.style import Colour, Style
from reconciler.report.words import around_difference, leaves, place, standing, value

INDENT = "      "
DEEPER = INDENT + "    "
MOST_LEAVES = 8
NARROWEST_VALUE = 20


def difference_lines(
    difference: Difference, after: Json, before: Json | Missing, style: Style
) -> Iterator[str]:
    """Yield the lines for one difference between two whole documents."""
    where = place(difference.path, after, before)
    match difference.operation:
        case "move":
            was, now = (
                int(position) + 1 if isinstance(position, int) else 0
                for position in (difference.before, difference.after)
            )
            moved = f"moves from place {was} to place {now}"
            yield f"{INDENT}{style.paint('↕', Colour.CYAN)} {where}: {moved}"
        case "add":
            stands = standing(difference.path, after)
            where += f" at place {stands[0]} of {stands[1]}" if stands else ""
            yield from _whole_lines("+", where, difference.after, Colour.GREEN, style)
        case "remove":
            yield from _whole_lines("-", where, difference.before, Colour.RED, style)
        case "change":
            yield from _changed_lines(difference, where, style)


def _whole_lines(
    sign: str, where: str, document: Json | Missing, colour: Colour, style: Style
) -> Iterator[str]:
    """Yield a value that comes or goes: on one line where it fits, else one line an end."""
    head = f"{INDENT}{style.paint(sign, colour)} {where}"
    shown = value(document, 10**6)
    if columns(where) + columns(shown) + len(INDENT) + 4 <= style.width:
        yield f"{head}: {shown}"
        return
    yield f"{head}:"
    ends = [] if document is ABSENT else list(leaves(document))
    most = len(ends) if style.verbose else MOST_LEAVES
    for path, end in ends[:most]:
        label = f"{place(path, document)}: " if path else ""
        room = max(NARROWEST_VALUE, style.width - len(DEEPER) - columns(label))
        yield DEEPER + style.paint(label + value(end, room), colour)
    if len(ends) > most:
        yield DEEPER + style.paint(f"and {len(ends) - most:,} more (-v shows them)", Colour.DIM)


def _changed_lines(difference: Difference, where: str, style: Style) -> Iterator[str]:
    before, after = value(difference.before, 10**6), value(difference.after, 10**6)
    sign = style.paint("~", Colour.YELLOW)
    if columns(where) + columns(before) + columns(after) + len(INDENT) + 7 <= style.width:
        yield f"{INDENT}{sign} {where}: {before} → {after}"
        return
    yield f"{INDENT}{sign} {where}:"
    if columns(before) + columns(after) + len(DEEPER) + 3 <= style.width:
        yield f"{DEEPER}{before} → {after}"
        return
    room = max(NARROWEST_VALUE, style.width - len(DEEPER) - 2)
    before, after = around_difference(before, after, room)
    yield f"{DEEPER}{style.paint('- ' + before, Colour.RED)}"
    yield f"{DEEPER}{style.paint('+ ' + after, Colour.GREEN)}"


def wrapped(text: str, style: Style, colour: Colour) -> Iterator[str]:
    """Yield foreign words below a resource, broken between words where they are too long."""
    line = ""
    for word in safe(text).split(" "):
        if line and len(INDENT) + columns(line) + 1 + columns(word) > style.width:
            yield INDENT + style.paint(line, colour)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield INDENT + style.paint(line, colour)
