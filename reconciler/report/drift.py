"""What drifted: for a terminal, as JSON, and as a comment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.report.changes.document import (
    FieldDocument,
    SourceDocument,
    difference_document,
    source_document,
)
from reconciler.report.changes.fields import drift_changes
from reconciler.report.changes.markdown import diff_lines
from reconciler.report.changes.text import subject_lines
from reconciler.report.markdown import COMMENT_BYTES, WHOLE, Fold, code, folds_markdown
from reconciler.report.reasons import drift_note
from reconciler.report.safe import json_text, safe
from reconciler.report.table import INDENT, Colour, Style, fitted, wrapped
from reconciler.report.words import drift_summary, plural
from reconciler.resource import Drift
from reconciler.resource.plan import State


@with_config(ConfigDict(extra="forbid"))
class DriftCounts(TypedDict):
    """How many resources are in which state."""

    same: int
    drifted: int
    gone: int
    unread: Annotated[int, Field(description="They could not be read.")]
    unseen: Annotated[int, Field(description="The API cannot show them.")]
    unapplied: NotRequired[
        Annotated[int, Field(default=0, description="The journal has no write of them.")]
    ]


@with_config(ConfigDict(extra="forbid"))
class DriftedDocument(TypedDict):
    """One resource; in `fields`, `before` is what was applied and `after` is live."""

    ref: str
    state: State
    source: SourceDocument
    fields: list[FieldDocument]
    note: str
    unseen: Annotated[
        list[list[str | int]],
        Field(
            default=[],
            description="Fields that the answer leaves out, so that nobody knows what they are.",
        ),
    ]


@with_config(ConfigDict(extra="forbid"))
class DriftDocument(TypedDict):
    """What `drift --format json` prints."""

    formatVersion: Literal[1]
    environment: str
    target: str
    drifted: bool
    summary: DriftCounts
    resources: list[DriftedDocument]


def drift_json(drifts: Sequence[Drift], environment: str, target: str) -> str:
    """Give the JSON of schemas/drift.schema.json, ending in a line break."""
    document: DriftDocument = {
        "formatVersion": 1,
        "environment": environment,
        "target": target,
        "drifted": any(drift.drifted for drift in drifts),
        "summary": _counts(drifts),
        "resources": [_resource(drift) for drift in drifts],
    }
    return json_text(document)


def _counts(drifts: Sequence[Drift]) -> DriftCounts:
    found = Counter(drift.state for drift in drifts)
    counts: DriftCounts = {
        "same": found["same"],
        "drifted": found["drifted"],
        "gone": found["gone"],
        "unread": found["unread"],
        "unseen": found["unseen"],
    }
    if found["unapplied"]:
        counts["unapplied"] = found["unapplied"]
    return counts


def _resource(drift: Drift) -> DriftedDocument:
    return {
        "ref": str(drift.ref),
        "state": drift.state,
        "source": source_document(drift.source),
        "fields": [difference_document(one) for one in drift.differences],
        "note": drift_note(drift),
        "unseen": [list(path) for path in drift.unseen],
    }


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
            words = ": ".join(filter(None, (drift.state, safe(drift_note(drift)))))
            lines.append(style.paint(f"  = {safe(str(drift.ref))}  {words}", Colour.DIM))
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
    if note := drift_note(drift):
        yield from wrapped(f"{'gone: ' if gone else ''}{note}", style, Colour.CYAN)
    found = drift_changes(drift)
    shown = found if style.verbose else found[:MOST_FIELDS]
    if shown:
        yield INDENT + style.paint("applied (-) → live (+)", Colour.DIM)
    yield from subject_lines(shown, style)
    if rest := len(found) - len(shown):
        yield f"{INDENT}and {plural(rest, 'field')} more (-v shows them)"


MOST_ROWS = 50
LONGEST_CELL = 80
OPEN_BELOW_LINES = 10
SIDES = "applied", "live"


def drift_markdown(drifts: Sequence[Drift], environment: str) -> str:
    """Give counts, a table of at most 50 and folded diffs, within what a comment may hold.

    What does not fit is left out whole.
    """
    found = [drift for drift in drifts if drift.drifted or drift.state == "unread"]
    head = "\n".join((*_head(drifts, environment), *_table(found)))
    room = COMMENT_BYTES - len(head.encode()) - 1
    folds = [_fold(drift) for drift in found if drift.differences]
    return head + "\n" + folds_markdown(folds, room, WHOLE)


def _head(drifts: Sequence[Drift], environment: str) -> Iterator[str]:
    yield f"### Drift of {code(environment, LONGEST_CELL)}: {drift_summary(drifts)}"
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
