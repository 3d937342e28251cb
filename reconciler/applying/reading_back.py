"""Which fields the service stored otherwise than they were sent (R15). Pure.

They are found in the direction of a plan, from live to declared, so that the
next plan meets the very same paths and can leave them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reconciler.concealing import conceal
from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Path,
    differences,
    members_missing,
    merge,
    turned,
)
from reconciler.journal.entries import Rewritten, Stored
from reconciler.journal.history import Memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.resource import Change, Ref, Seen
from reconciler.template import HIDDEN, fingerprint, holds_seal


def stored_otherwise(
    kind: Kind, declared: dict[str, Json], stored: dict[str, Json] | None
) -> tuple[Difference, ...]:
    """Give the declared fields that came back otherwise: `before` is stored, `after` sent."""
    if stored is None:
        return ()
    shown = conceal(stored, declared, kind.shape)
    wanted = merge(ABSENT, declared, shown, kind.shape)
    return tuple(differences(shown, wanted, kind.shape))


def members_not_stored(kind: Kind, change: Change, now: Seen, memory: Memory) -> tuple[Path, ...]:
    """Name the declared members of lists that a read after the write does not show.

    One that nobody gave an id is there, whatever id the service gave it; `memory` is
    what the journal will know of the write.
    """
    declared = kind.complete(change.manifest, now, memory)
    found = stored_otherwise(kind, declared, now.document)
    return tuple(path for one in found for path in members_missing(one, kind.shape))


def not_removed(
    change: Change, body: dict[str, Json], stored: dict[str, Json] | None
) -> tuple[Difference, ...]:
    """Give the fields that the plan removes and the service keeps; nobody would ever see them."""
    removed = {one.path for one in change.differences if one.operation == "remove"}
    if stored is None or not removed:
        return ()
    shape = BY_NAME[change.ref.kind].shape
    found = differences(conceal(stored, body, shape), body, shape)
    return tuple(one for one in found if one.operation == "remove" and one.path in removed)


def as_told(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Give them for a person: `before` is sent, `after` stored, secrets in neither."""
    return tuple(turned(map(_without_secret, found)))


def _without_secret(one: Difference) -> Difference:
    secret = holds_seal(one.after) and one.before is not ABSENT
    return replace(one, before=HIDDEN) if secret else one


def rewritten_entry(run: str, at: str, ref: Ref, found: Sequence[Difference]) -> Stored:
    """Give what the journal keeps of them; a stored secret by its fingerprint only."""
    return Stored(run, at, ref, tuple(map(_rewritten, found)))


def _rewritten(difference: Difference) -> Rewritten:
    sent, got = difference.after, difference.before
    if holds_seal(sent):
        got = fingerprint(got, sent)
    return Rewritten(difference.path, sent, got)
