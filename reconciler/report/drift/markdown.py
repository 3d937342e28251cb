"""What drifted, as a comment or the summary of a nightly job. Pure.

Foreign text stands only in code spans and fences, as in a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.report.changes.change_markdown import diff_lines
from reconciler.report.changes.field_change import drift_changes
from reconciler.report.changes.folding import WHOLE, Fold, folds_markdown
from reconciler.report.limits import COMMENT_BYTES
from reconciler.report.markup import code
from reconciler.report.words import drift_summary
from reconciler.resource import Drift

MOST_ROWS = 50
LONGEST_CELL = 80
OPEN_BELOW_LINES = 10
SIDES = "applied", "live"


def drift_markdown(
    drifts: Sequence[Drift], environment: str, budget: int = COMMENT_BYTES, whole: str = WHOLE
) -> str:
    """Give counts, a table of at most 50 and folded diffs, within `budget` bytes of UTF-8.

    What does not fit is left out whole; 40,000 bytes are enough for the rest.
    """
    found = [drift for drift in drifts if drift.drifted or drift.state == "unread"]
    head = "\n".join((*_head(drifts, environment), *_table(found)))
    room = budget - len(head.encode()) - 1
    folds = [_fold(drift) for drift in found if drift.differences]
    return head + "\n" + folds_markdown(folds, room, whole)


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
        note = code(drift.note, LONGEST_CELL) if drift.note else ""
        yield f"| {drift.state} | {code(str(drift.ref), LONGEST_CELL)} | {fields} | {note} |"
    if len(found) > MOST_ROWS:
        yield f"| | and {len(found) - MOST_ROWS:,} more | | |"
    yield ""


def _fold(drift: Drift) -> Fold:
    lines = list(diff_lines(drift_changes(drift), SIDES))
    return Fold(str(drift.ref), drift.state, lines, is_open=len(lines) < OPEN_BELOW_LINES)
