"""What drifted: for a terminal, as JSON, and as a comment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from reconciler.document import Json
from reconciler.report.changes.fields import drift_changes
from reconciler.report.changes.markdown import diff_lines
from reconciler.report.changes.text import INDENT, subject_lines, wrapped
from reconciler.report.markdown import COMMENT_BYTES, WHOLE, Fold, code, folds_markdown
from reconciler.report.plan.document import difference_document
from reconciler.report.reasons import drift_note, look_notes, way_out_words
from reconciler.report.safe import safe, safe_json
from reconciler.report.spoken import spoken_place
from reconciler.report.table import Colour, Style, fitted
from reconciler.report.words import drift_summary, plural
from reconciler.resource import Drift, Edit, Look


def drift_json(look: Look, environment: str, target: str) -> str:
    """Give `{"drifted", "summary", "resources": [...]}`, ending in a line break."""
    drifts = look.found
    summary: dict[str, Json] = dict.fromkeys(("same", "drifted", "gone", "unread", "unseen"), 0)
    document: dict[str, Json] = {
        "formatVersion": 1,
        "environment": environment,
        "target": target,
        "drifted": any(drift.drifted for drift in drifts),
        "summary": summary | Counter(drift.state for drift in drifts),
        "ignored": look.ignored,
        "since": look.since or None,
        "new": look.new,
        "notes": [*look_notes(look)],
        "resources": [_resource(drift) for drift in drifts],
    }
    return safe_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _resource(drift: Drift) -> dict[str, Json]:
    return {
        "ref": str(drift.ref),
        "state": drift.state,
        "source": {"file": drift.source.file, "line": drift.source.line},
        "fields": [difference_document(one) for one in drift.differences],
        "note": drift_note(drift),
        "unseen": [list(path) for path in drift.unseen],
        "cause": drift.cause,
        "edit": _edit(drift.edit),
        "ignored": [
            {**difference_document(one.difference), "rule": one.rule, "reason": one.reason}
            for one in drift.ignored
        ],
        "waysOut": [
            {"way": one.way, "command": one.command, "said": way_out_words(one)}
            for one in drift.ways_out
        ],
        "isNew": drift.is_new,
        "since": drift.since or None,
    }


def _edit(edit: Edit) -> Json:
    told = {"who": edit.who, "at": edit.at, "how": edit.how, "revision": edit.revision}
    return {name: value for name, value in told.items() if value} or None


MOST_FIELDS = 12


def drift_text(look: Look, style: Style) -> str:
    """Give what drifted, field by field, and how many could not be asked for."""
    lines: list[str] = []
    drifts = look.found
    for drift in drifts:
        if drift.drifted:
            lines.extend((*_lines(drift, style), ""))
        elif drift.state == "unread":
            sign = style.paint(f"x {safe(str(drift.ref))}", Colour.RED)
            note = safe(drift_note(drift))
            lines.extend((fitted(f"  {sign}  {note}", style), ""))
        elif style.verbose:
            words = ": ".join(filter(None, (drift.state, safe(drift_note(drift)))))
            lines.append(style.paint(f"  = {safe(str(drift.ref))}  {words}", Colour.DIM))
            lines.extend(_ignored_lines(drift, style))
    counts = Counter(drift.state for drift in drifts)
    drifted = counts["drifted"] + counts["gone"]
    head = f"{plural(drifted, 'resource')} drifted" if drifted else "No drift"
    same = f"{counts['same']} as applied"
    hidden = f"{counts['unseen']} that the API cannot show"
    unread = f", {counts['unread']} that could not be read" if counts["unread"] else ""
    rest = f", {counts['unapplied']} never applied" if counts["unapplied"] else ""
    ignored = f", {plural(look.ignored, 'difference')} ignored" if look.ignored else ""
    new = f", {look.new} new since {look.since}" if look.new else ""
    closing = f"{head}{new}; {same}, {hidden}{unread}{rest}{ignored}."
    lines.extend(fitted(f"note: {safe(note)}", style) for note in look_notes(look))
    lines.append(fitted(style.paint(closing, Colour.BOLD), style))
    return "\n".join(lines) + "\n"


def _lines(drift: Drift, style: Style) -> Iterator[str]:
    gone = drift.state == "gone"
    sign, colour = ("-", Colour.RED) if gone else ("~", Colour.YELLOW)
    name = style.paint(f"{sign} {safe(str(drift.ref))}", colour)
    yield f"  {name}  {style.paint(safe(str(drift.source)), Colour.DIM)}"
    if note := drift_note(drift):
        yield from wrapped(f"{'gone: ' if gone else ''}{note}", style, Colour.CYAN)
    found = drift_changes(drift)
    shown = found if style.verbose else found[:MOST_FIELDS]
    if shown:
        yield INDENT + style.paint("applied (-) → live (+)", Colour.DIM)
    yield from subject_lines(shown, style)
    if rest := len(found) - len(shown):
        yield f"{INDENT}and {plural(rest, 'field')} more (-v shows them)"
    if style.verbose:
        yield from _ignored_lines(drift, style)
    for way in drift.ways_out:
        yield from wrapped(way_out_words(way), style)


def _ignored_lines(drift: Drift, style: Style) -> Iterator[str]:
    for one in drift.ignored:
        place = spoken_place(one.difference.path, drift.live).words
        yield from wrapped(f"ignored: {place} ({safe(one.reason)})", style, Colour.DIM)


MOST_ROWS = 50
LONGEST_CELL = 80
LONGEST_NOTE = 240
MOST_NOTES = 10
MOST_WAYS = 10
OPEN_BELOW_LINES = 10
SIDES = "applied", "live"


def drift_markdown(
    look: Look, environment: str, budget: int = COMMENT_BYTES, whole: str = WHOLE
) -> str:
    """Give counts, a table of at most 50 and folded diffs, within `budget` bytes of UTF-8.

    What does not fit is left out whole; 40,000 bytes are enough for the rest.
    """
    found = [drift for drift in look.found if drift.is_told]
    head = "\n".join((*_head(look, environment), *_table(found), *_ways_out(found)))
    room = budget - len(head.encode()) - 1
    folds = [_fold(drift) for drift in found if drift.differences]
    return head + "\n" + folds_markdown(folds, room, whole)


def _head(look: Look, environment: str) -> Iterator[str]:
    yield f"### Drift of {code(environment, LONGEST_CELL)}: {drift_summary(look)}"
    yield ""
    notes = [*look_notes(look)]
    yield from (f"- {code(note, LONGEST_NOTE)}" for note in notes[:MOST_NOTES])
    if len(notes) > MOST_NOTES:
        yield f"- and {len(notes) - MOST_NOTES:,} more"
    if notes:
        yield ""


def _ways_out(found: Sequence[Drift]) -> Iterator[str]:
    """Yield for the first few how each is put back or taken over."""
    told = [drift for drift in found if drift.ways_out]
    for drift in told[:MOST_WAYS]:
        yield f"- {code(str(drift.ref), LONGEST_CELL)}"
        for way in drift.ways_out:
            yield f"  - {code(way_out_words(way).replace('`', ''), LONGEST_NOTE)}"
    if len(told) > MOST_WAYS:
        yield f"- and {len(told) - MOST_WAYS:,} more: `drift` tells the commands of each"
    if told:
        yield ""


def _table(found: Sequence[Drift]) -> Iterator[str]:
    if not found:
        return
    yield "| state | resource | fields | note |"
    yield "|---|---|--:|---|"
    for drift in found[:MOST_ROWS]:
        fields = f"{len(drift.differences):,}" if drift.differences else ""
        note = code(drift_note(drift), LONGEST_CELL) if drift_note(drift) else ""
        yield f"| {drift.state} | {code(str(drift.ref), LONGEST_CELL)} | {fields} | {note} |"
    if len(found) > MOST_ROWS:
        yield f"| | and {len(found) - MOST_ROWS:,} more | | |"
    yield ""


def _fold(drift: Drift) -> Fold:
    lines = list(diff_lines(drift_changes(drift), SIDES))
    return Fold(str(drift.ref), drift.state, lines, is_open=len(lines) < OPEN_BELOW_LINES)
