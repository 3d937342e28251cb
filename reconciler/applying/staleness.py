"""Whether live is still what the plan rests on, or what was written (R16). Pure.

The service has no conditional write, so between the last read and the write, and
between the write and the read after it, another writer can come.
"""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.concealing import conceal
from reconciler.document import Path, covers, differences, digest
from reconciler.kinds.kind import Kind, Sending
from reconciler.resource import Absent, Change, Observation, Seen, Written

MOST_NAMED = 4
_AGAIN = "plan again"


def what_moved(kind: Kind, change: Change, now: Observation) -> str:
    """Say who changed what since the plan; "" where live is as the plan saw it.

    Fields are named, and their values are not: a secret may stand live.
    """
    planned = change.observation
    if isinstance(planned, Seen) and isinstance(now, Seen):
        return _moved(kind, change, planned, now)
    if type(planned) is type(now):
        return ""
    if isinstance(now, Absent):
        return f"it is gone since the plan: {_AGAIN}"
    if isinstance(now, Seen):
        return f"someone created it since the plan{_who(now)}: {_AGAIN}"
    return f"live changed since the plan: {_AGAIN}"


def _moved(kind: Kind, change: Change, planned: Seen, now: Seen) -> str:
    live = conceal(now.document, change.declared, kind.shape)
    if digest(live) != digest(planned.document):
        found = [*differences(planned.document, live, kind.shape)]
        # Zero values that appear or vanish are no difference, and yet somebody wrote.
        where = f" ({named([one.path for one in found])})" if found else ""
        return f"live changed since the plan{_who(now)}{where}: {_AGAIN}"
    if now.version != planned.version or now.remote_id != planned.remote_id:
        return f"it was saved again since the plan, with the same content{_who(now)}: {_AGAIN}"
    return ""


def _who(now: Seen) -> str:
    return f", last {now.edit}" if now.edit.told else ""


def named(paths: Sequence[Path]) -> str:
    """Name the first few places, and say how many more there are."""
    shown = ", ".join(".".join(map(str, path)) for path in paths[:MOST_NAMED])
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return f"{shown}{more}"


def was_overtaken(before: Observation, now: Seen, answer: Written) -> bool:
    """Tell whether what a read shows after our write is the work of another writer.

    Sure signs only: another revision than our write was told, or a person's edit
    in the web interface where there was none before. Without a sign, what differs
    counts as rewritten by the service.
    """
    if answer.revision and now.revision and now.revision != answer.revision:
        return True
    return now.by_hand and isinstance(before, Seen) and not before.by_hand


def is_stale_read(before: Observation, now: Seen) -> bool:
    """Tell whether a read after our write still shows what was there before it."""
    return isinstance(before, Seen) and now.version != "" and now.version == before.version


def not_ours(kind: Kind, sending: Sending, answer: Written, now: Seen) -> Absent | None:
    """Say why what a read shows after our write cannot be that; None where it may be.

    Live that is as it was, and not as it was sent, was not written, whatever the answer
    said. What moves with every write tells that alone where a kind has such a thing.
    """
    ids = [kind.normal_id(one) for one in (answer.remote_id, now.remote_id) if one is not None]
    if len(set(ids)) > 1:
        return Absent(f"a look-up finds {now.remote_id} in its place")
    before = sending.change.observation
    if not isinstance(before, Seen) or not is_stale_read(before, now):
        return None
    unmoved = bool(now.revision) or not what_moved(kind, sending.change, now)
    # What is recalled from the journal is as it was sent whether it was written or not.
    if unmoved and (now.recalled or not covers(now.document, sending.document, kind.shape)):
        return Absent("a read still shows what was there before")
    return None
