"""What the service itself made of the last write is no difference (R15). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconciler.document import Difference, Shape, members_missing, same
from reconciler.journal.entries import Rewritten
from reconciler.journal.history import Memory
from reconciler.template import fingerprint, holds_seal


def unexpected(found: Iterable[Difference], memory: Memory, shape: Shape) -> Iterator[Difference]:
    """Leave out what the service itself made of the last write (R15).

    A member that it never stored is none of that, whatever an older journal says.
    """
    rewritten = {}
    if memory.acknowledged is not None:
        rewritten = {one.path: one for one in memory.acknowledged.rewritten}
    for difference in found:
        known = rewritten.get(difference.path)
        lacks = any(members_missing(difference, shape))
        if known is None or lacks or not _is_rewritten(difference, known):
            yield difference


def _is_rewritten(difference: Difference, known: Rewritten) -> bool:
    if not same(difference.after, known.sent):
        return False
    if holds_seal(known.sent):
        return fingerprint(difference.before, known.sent) == known.got
    return same(difference.before, known.got)
