"""What drifted, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from reconciler.document import Difference
from reconciler.report.safe import safe
from reconciler.report.style import Colour, Style
from reconciler.report.words import around_difference, place, plural, value
from reconciler.resource import Drift

INDENT = "      "
MOST_FIELDS = 12


def drift_text(drifts: Sequence[Drift], style: Style) -> str:
    """Give what drifted, field by field, and how many could not be asked for."""
    lines: list[str] = []
    for drift in drifts:
        if drift.drifted:
            lines.extend((*_lines(drift, style), ""))
        elif style.verbose:
            lines.append(style.paint(f"  = {safe(str(drift.ref))}  {drift.state}", Colour.DIM))
    counts = Counter(drift.state for drift in drifts)
    drifted = counts["drifted"] + counts["gone"]
    head = f"{plural(drifted, 'resource')} drifted" if drifted else "No drift"
    same = f"{counts['same']} as applied"
    hidden = f"{counts['unseen']} that the API cannot show"
    rest = f", {counts['unapplied']} never applied" if counts["unapplied"] else ""
    lines.append(style.paint(f"{head}; {same}, {hidden}{rest}.", Colour.BOLD))
    return "\n".join(lines) + "\n"


def _lines(drift: Drift, style: Style) -> Iterator[str]:
    gone = drift.state == "gone"
    sign, colour = ("-", Colour.RED) if gone else ("~", Colour.YELLOW)
    name = style.paint(f"{sign} {safe(str(drift.ref))}", colour)
    yield f"  {name}  {style.paint(safe(str(drift.source)), Colour.DIM)}"
    if drift.note:
        yield INDENT + style.paint(f"{'gone: ' if gone else ''}{safe(drift.note)}", Colour.CYAN)
    shown = drift.differences if style.verbose else drift.differences[:MOST_FIELDS]
    for difference in shown:
        yield from _difference_lines(difference, drift, style)
    rest = len(drift.differences) - len(shown)
    if rest:
        yield f"{INDENT}and {plural(rest, 'field')} more (-v shows them)"


def _difference_lines(difference: Difference, drift: Drift, style: Style) -> Iterator[str]:
    where = place(difference.path, drift.live)
    if difference.operation == "move":
        yield f"{INDENT}{where}: moved"
        return
    room = max(20, style.width - len(INDENT) - 12)
    yield f"{INDENT}{where}"
    whole = value(difference.before, 10**6), value(difference.after, 10**6)
    applied, live = around_difference(*whole, room)
    yield f"{INDENT}  applied  {style.paint(applied, Colour.GREEN)}"
    yield f"{INDENT}  live     {style.paint(live, Colour.RED)}"
