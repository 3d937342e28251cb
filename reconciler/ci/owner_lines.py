"""The code owners of a plan's changes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from reconciler.model import Change, Ref
from reconciler.report.markdown import code
from reconciler.report.sections import SectionFormats

MOST_OWNERS = 10
MOST_NAMED = 3
LONGEST_NAME = 60
NOBODY = "nobody"
_MENTIONED = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ChangeOwners:
    """The owners of each manifest by the CODEOWNERS file of the base branch.

    A manifest with unknown owners is not in `by_ref`. Owners are notified if `mentioned`.
    """

    formats: ClassVar[str] = "reconciler.ci.owner_lines:FORMATS"
    by_ref: Mapping[Ref, tuple[str, ...]]
    mentioned: bool = False


def _members(owned: ChangeOwners, change: Change) -> Mapping[str, object]:
    owners = owned.by_ref.get(change.ref)
    return {} if owners is None else {"owners": [*owners]}


def _owners(section: ChangeOwners, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a line for each owner of a change.

    A name is in a code span, so that no person is notified, unless mentions were requested.
    """
    owned: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        owners = section.by_ref.get(change.ref)
        if owners is not None:
            for owner in owners or (NOBODY,):
                owned[owner].append(str(change.ref))
    ordered = sorted(owned.items(), key=lambda owner_refs: (owner_refs[0] == NOBODY, owner_refs[0]))
    for owner, refs in ordered[:MOST_OWNERS]:
        named = NOBODY if owner == NOBODY else _shown(owner, mentioned=section.mentioned)
        yield f"- {named}: {_listed(refs)}"
    if len(ordered) > MOST_OWNERS:
        yield f"- and {len(ordered) - MOST_OWNERS:,} more owners"


def _shown(owner: str, *, mentioned: bool) -> str:
    return owner if mentioned and _MENTIONED.fullmatch(owner) else code(owner, LONGEST_NAME)


def _listed(refs: Sequence[str]) -> str:
    shown = ", ".join(code(ref, LONGEST_NAME) for ref in refs[:MOST_NAMED])
    return shown + (f" and {len(refs) - MOST_NAMED:,} more" if len(refs) > MOST_NAMED else "")


FORMATS: Final[SectionFormats[ChangeOwners]] = SectionFormats(
    change_members=_members, owners_markdown=_owners
)
