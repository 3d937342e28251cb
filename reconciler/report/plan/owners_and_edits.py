"""The owners of a plan's changes, and the authors of the last live edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.model import Change, Plan, Seen
from reconciler.report.markdown import code
from reconciler.report.sections import shown_sections

MOST_EDITS = 10
LONGEST_REF = 60
LONGEST_EDIT = 120


def owners_markdown(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a line for each owner of a change, and a line for each known last edit."""
    owners = [
        line
        for section, formats in shown_sections(plan)
        for line in formats.owners_markdown(section, changes)
    ]
    lines = [*owners, *_edits(changes, every=bool(owners))]
    if lines:
        yield "Whose it is:"
        yield from lines
        yield ""


def _edits(changes: Sequence[Change], *, every: bool) -> Iterator[str]:
    """Yield who last edited a resource live: edits by hand, or every edit."""
    edits = [
        (change.ref, seen.edit)
        for change in changes
        if isinstance(seen := change.observation, Seen)
        and seen.edit.who
        and (seen.by_hand or every)
    ]
    for ref, edit in edits[:MOST_EDITS]:
        named = code(str(ref), LONGEST_REF)
        yield f"- {named} was changed live last {code(str(edit), LONGEST_EDIT)}"
    if len(edits) > MOST_EDITS:
        yield f"- and {len(edits) - MOST_EDITS:,} more that were changed live"
