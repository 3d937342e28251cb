"""What the journal is told of a change before it is sent, or instead of that. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from reconciler.applying.filling import filled
from reconciler.document import Json, digest
from reconciler.journal.entries import ADOPTED, Entry, Started, Stored, WrittenEntry
from reconciler.journal.history import History, LastWrite
from reconciler.resource import Action, Change, Ref, Remembered, RemoteId, Seen


def started_entry(change: Change, declared: dict[str, Json], run: str, at: str) -> Started:
    """Give the entry that stands in the journal before a change is sent."""
    seen = change.observation
    return Started(
        run,
        at,
        change.ref,
        _operation(change),
        declared,
        change.request_id,
        change.remote_id,
        digest(seen.document) if isinstance(seen, Seen) else "",
        change.manifest.protect,
    )


def _operation(change: Change) -> Literal["create", "replace"]:
    return "create" if change.action is Action.CREATE else "replace"


def adopting_entries(
    changes: Iterable[Change],
    history: History,
    ids: Mapping[Ref, RemoteId],
    run: str,
    at: str,
) -> list[Entry]:
    """Remember what live already holds, and whether it is protected.

    So drift from it will show, and protection begins and ends by an apply alone.
    """
    entries: list[Entry] = []
    for change in changes:
        if change.action is not Action.KEEP:
            continue
        last = history.of(change.ref).acknowledged
        declared = filled(change.declared, ids)
        if not _is_news(change, last, declared):
            continue
        entries.append(started_entry(change, declared, run, at))
        entries.append(WrittenEntry(run, at, change.ref, change.remote_id, ADOPTED))
        if last is not None and last.rewritten:
            # Live is still what the service made of the last write.
            entries.append(Stored(run, at, change.ref, last.rewritten))
    return entries


def _is_news(change: Change, last: LastWrite | None, declared: dict[str, Json]) -> bool:
    """Tell whether the journal does not know yet what a kept resource is."""
    if isinstance(change.observation, Seen) and (last is None or last.declared != declared):
        return True
    return change.turns_protection and isinstance(change.observation, Seen | Remembered)
