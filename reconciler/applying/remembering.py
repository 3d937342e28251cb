"""What the journal is told of a change before it is sent, or instead of that. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from reconciler.applying.answering import not_given
from reconciler.applying.filling import filled
from reconciler.document import Json, digest
from reconciler.journal.entries import Entry, Renamed, Started, Stored, WrittenEntry
from reconciler.journal.history import History, LastWrite
from reconciler.resource import (
    Action,
    AnotherObject,
    Change,
    Observation,
    Ref,
    Remembered,
    RemoteId,
    RenamedFrom,
    Seen,
)


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


def renaming_entries(changes: Iterable[Change], run: str, at: str) -> list[Entry]:
    """Let the memory of each renamed resource follow it, in an order in which none is lost.

    What a name was about until now steps aside, where nothing else takes it along.
    """
    done = [change for change in changes if change.action is not Action.BLOCKED]
    was = {
        change.ref: reason.ref
        for change in done
        for reason in change.reasons
        if isinstance(reason, RenamedFrom)
    }
    entries: list[Entry] = [
        Renamed(at, Ref(change.ref.kind, f"{change.ref.name}~{reason.remote_id}"), change.ref, run)
        for change in done
        for reason in change.reasons
        if isinstance(reason, AnotherObject) and change.ref not in was.values()
    ]
    while was:
        free = next((ref for ref in was if ref not in was.values()), None)
        if free is None:
            # Names went round in a circle; one steps aside, under a name that no manifest has.
            ref, old = next(iter(was.items()))
            aside = Ref(old.kind, f"{old.name}~")
            entries.append(Renamed(at, aside, old, run))
            was[ref] = aside
        else:
            entries.append(Renamed(at, free, was.pop(free), run))
    return entries


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
        remote_id = change.remote_id
        entries.append(
            WrittenEntry(
                run,
                at,
                change.ref,
                remote_id,
                adopted=True,
                revision=_revision(change.observation),
                instead_of=not_given(change, remote_id),
            )
        )
        if last is not None and last.rewritten:
            # Live is still what the service made of the last write.
            entries.append(Stored(run, at, change.ref, last.rewritten))
    return entries


def _is_news(change: Change, last: LastWrite | None, declared: dict[str, Json]) -> bool:
    """Tell whether the journal does not know yet what a kept resource is."""
    if isinstance(change.observation, Seen) and (last is None or last.declared != declared):
        return True
    if last is not None and not last.revision and _revision(change.observation):
        # Written before journals kept it: from here on it tells whether somebody else wrote.
        return True
    return change.turns_protection and isinstance(change.observation, Seen | Remembered)


def _revision(observation: Observation) -> str:
    return observation.revision if isinstance(observation, Seen) else ""
