"""Whose the changes of a plan are: code owners, and who changed last what is live."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from reconciler.model import Change, Plan, Seen
from reconciler.report.markdown import code

MOST_OWNERS = 10
MOST_NAMED = 3
MOST_EDITS = 10
LONGEST_NAME = 60
LONGEST_EDIT = 120
NOBODY = "nobody"
_MENTIONED = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?", re.ASCII)


def whose_markdown(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a line for each owner of what changes, and one for each last edit that is told.

    A name stands in a code span, so that nobody is notified, unless that was asked for.
    """
    lines = [*_owners(plan, changes), *_edits(plan, changes)]
    if lines:
        yield "Whose it is:"
        yield from lines
        yield ""


def _owners(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    owned: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        owners = plan.signals.owners.get(change.ref)
        if owners is not None:
            for owner in owners or (NOBODY,):
                owned[owner].append(str(change.ref))
    ordered = sorted(owned.items(), key=lambda item: (item[0] == NOBODY, item[0]))
    for owner, refs in ordered[:MOST_OWNERS]:
        named = NOBODY if owner == NOBODY else _shown(owner, mentioned=plan.signals.mentions_owners)
        yield f"- {named}: {_listed(refs)}"
    if len(ordered) > MOST_OWNERS:
        yield f"- and {len(ordered) - MOST_OWNERS:,} more owners"


def _shown(owner: str, *, mentioned: bool) -> str:
    return owner if mentioned and _MENTIONED.fullmatch(owner) else code(owner, LONGEST_NAME)


def _listed(refs: Sequence[str]) -> str:
    shown = ", ".join(code(ref, LONGEST_NAME) for ref in refs[:MOST_NAMED])
    return shown + (f" and {len(refs) - MOST_NAMED:,} more" if len(refs) > MOST_NAMED else "")


def _edits(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    """Yield who changed last what is live: people, and where owners are told anyone."""
    told = [
        (change.ref, seen.edit)
        for change in changes
        if isinstance(seen := change.observation, Seen)
        and seen.edit.who
        and (seen.by_hand or plan.signals.owners)
    ]
    for ref, edit in told[:MOST_EDITS]:
        named = code(str(ref), LONGEST_NAME)
        yield f"- {named} was changed live last {code(str(edit), LONGEST_EDIT)}"
    if len(told) > MOST_EDITS:
        yield f"- and {len(told) - MOST_EDITS:,} more that were changed live"
