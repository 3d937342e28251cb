"""Applying a part of a reviewed plan: all is planned again, only the selected part is applied.

Source: docs/plan.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reconciler.errors import Stale, UsageError
from reconciler.model import Change, Plan, Ref
from reconciler.planning.guards.part_guards import guards_of_part
from reconciler.project import Guards
from reconciler.report.plan.document import PlanDocument
from reconciler.report.plan.done import with_done
from reconciler.report.plan.stale import changes_since, elsewhere
from reconciler.report.words import plural
from reconciler.workspace.selection import Selection


def part_of_reviewed(
    made: Plan, reviewed: PlanDocument, selection: Selection, guards: Guards
) -> tuple[Plan, int]:
    """Return the selected part of a plan, and how many other changes are not as reviewed.

    Raises Stale where a selected change, or what it refers to, is not as reviewed. Raises
    UsageError where a selected change waits for a change that is not selected.
    """
    selection.check_named(change.ref for change in made.declared)
    chosen = [change for change in made.declared if _takes(selection, change)]
    if not chosen:
        raise UsageError("nothing of the reviewed plan is selected")
    refs = {change.ref for change in chosen}
    if waiting := [*_waiting(chosen, refs)]:
        raise UsageError("\n".join((*waiting, "select what they wait for too")))
    other = changes_since(with_done(reviewed, made), made)
    needed = {*map(str, _with_targets(made, refs))}
    stale = [
        *elsewhere(reviewed, made),
        *(difference for ref, difference in other.items() if ref in needed),
    ]
    if stale:
        raise Stale("\n  ".join(("what is selected is not as it was reviewed", *stale)))
    rest = tuple(change.ref for change in made.declared if change.ref not in refs)
    part = replace(
        made,
        changes=tuple(chosen),
        beside=(*made.beside, *rest),
        selected=selection.leaving_out(len(rest)),
    )
    return replace(part, guarded=guards_of_part(made, part, guards)), len(other)


def not_as_reviewed(count: int) -> str:
    """Return the line that counts unselected changes that are not as reviewed."""
    verb = "is" if count == 1 else "are"
    return f"{plural(count, 'other change')} {verb} not as reviewed, and not applied here"


def _takes(selection: Selection, change: Change) -> bool:
    source = change.source
    return source is not None and selection.takes(change.ref, source.file, change.labels)


def _waiting(chosen: Sequence[Change], refs: set[Ref]) -> Iterator[str]:
    for change in chosen:
        missing = sorted(change.awaits - refs) if change.action.writes else []
        if missing:
            named = ", ".join(map(str, missing))
            yield f"{change.ref} waits for {named}, which is to be created and not selected"


def _with_targets(made: Plan, refs: set[Ref]) -> Iterator[Ref]:
    """Yield the selected resources, and all that they refer to."""
    by_ref = {change.ref: change for change in made.declared}
    waiting, seen = sorted(refs), set(refs)
    while waiting:
        ref = waiting.pop()
        yield ref
        new = by_ref[ref].references & by_ref.keys() - seen
        seen |= new
        waiting.extend(sorted(new))
