"""What drifted, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from reconciler.report.changes.field_change import drift_changes
from reconciler.report.changes.field_lines import INDENT, subject_lines, wrapped
from reconciler.report.fitting import fitted
from reconciler.report.safe import safe
from reconciler.report.style import Colour, Style
from reconciler.report.words import plural
from reconciler.resource import Drift

MOST_FIELDS = 12


def drift_text(drifts: Sequence[Drift], style: Style) -> str:
    """Give what drifted, field by field, and how many could not be asked for."""
    lines: list[str] = []
    for drift in drifts:
        if drift.drifted:
            lines.extend((*_lines(drift, style), ""))
        elif drift.state == "unread":
            sign = style.paint(f"x {safe(str(drift.ref))}", Colour.RED)
            lines.extend((fitted(f"  {sign}  {safe(drift.note)}", style), ""))
        elif style.verbose:
            lines.append(style.paint(f"  = {safe(str(drift.ref))}  {drift.state}", Colour.DIM))
    counts = Counter(drift.state for drift in drifts)
    drifted = counts["drifted"] + counts["gone"]
    head = f"{plural(drifted, 'resource')} drifted" if drifted else "No drift"
    same = f"{counts['same']} as applied"
    hidden = f"{counts['unseen']} that the API cannot show"
    unread = f", {counts['unread']} that could not be read" if counts["unread"] else ""
    rest = f", {counts['unapplied']} never applied" if counts["unapplied"] else ""
    closing = f"{head}; {same}, {hidden}{unread}{rest}."
    lines.append(fitted(style.paint(closing, Colour.BOLD), style))
    return "\n".join(lines) + "\n"


def _lines(drift: Drift, style: Style) -> Iterator[str]:
    gone = drift.state == "gone"
    sign, colour = ("-", Colour.RED) if gone else ("~", Colour.YELLOW)
    name = style.paint(f"{sign} {safe(str(drift.ref))}", colour)
    yield f"  {name}  {style.paint(safe(str(drift.source)), Colour.DIM)}"
    if drift.note:
        yield from wrapped(f"{'gone: ' if gone else ''}{drift.note}", style, Colour.CYAN)
    found = drift_changes(drift)
    shown = found if style.verbose else found[:MOST_FIELDS]
    if shown:
        yield INDENT + style.paint("applied (-) → live (+)", Colour.DIM)
    yield from subject_lines(shown, style)
    if rest := len(found) - len(shown):
        yield f"{INDENT}and {plural(rest, 'field')} more (-v shows them)"
