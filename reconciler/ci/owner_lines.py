"""The owners of a plan's changes: code owners, and the authors of the last live edits."""

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


def owners_markdown(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a line for each owner of a change, and a line for each known last edit.

    A name is in a code span, so that no person is notified, unless mentions were requested.
    """
    lines = [*_owners(plan, changes), *_edits(plan, changes)]
    if lines:
        yield "Owners and last edits:"
        yield from lines
        yield ""


def _owners(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    owned: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        owners = plan.signals.owners.get(change.ref)
        if owners is not None:
            for owner in owners or (NOBODY,):
                owned[owner].append(str(change.ref))
    ordered = sorted(owned.items(), key=lambda owner_refs: (owner_refs[0] == NOBODY, owner_refs[0]))
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
    """Yield who last edited a resource live: edits by hand, and with code owners any edit."""
    edits = [
        (change.ref, seen.edit)
        for change in changes
        if isinstance(seen := change.observation, Seen)
        and seen.edit.who
        and (seen.by_hand or plan.signals.owners)
    ]
    for ref, edit in edits[:MOST_EDITS]:
        named = code(str(ref), LONGEST_NAME)
        yield f"- {named} was changed live last {code(str(edit), LONGEST_EDIT)}"
    if len(edits) > MOST_EDITS:
        yield f"- and {len(edits) - MOST_EDITS:,} more that were changed live"
