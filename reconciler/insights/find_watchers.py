"""Which alerts watch what a plan changes: by what is declared, and by what the service told. Pure.

Source: docs/evidence.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.model import Change, Manifest, Ref, RemoteId, Watchers, watchers_named


def watchers_of(
    changes: Sequence[Change],
    manifests: Sequence[Manifest],
    history: History,
    alerts: Mapping[str, Ref],
) -> dict[Ref, Watchers]:
    """Give what watches each resource that changes, those alone that something watches.

    `manifests` are all that is declared, `alerts` those of `known_alerts`. What the service
    named when it was asked about the write, and at the last one, is among it.
    """
    declared = _declared(manifests)
    found: dict[Ref, Watchers] = {}
    for change in changes:
        if not change.action.is_to_do:
            continue
        by_id = (change.ref.kind, _normal(change.ref, change.remote_id))
        refs = {*declared.get(change.ref, ()), *declared.get(by_id, ())}
        told = watchers_named(_told(change, history), alerts)
        watchers = replace(told, refs=tuple(sorted({*refs, *told.refs})))
        if watchers.refs or watchers.others:
            found[change.ref] = watchers
    return found


def known_alerts(manifests: Iterable[Manifest], history: History) -> dict[str, Ref]:
    """Map the ids of all that is declared or remembered and fires to what it is called.

    What is declared comes before what a journal knows by an older name.
    """
    ids = [(ref, memory.remote_id) for ref, memory in history.memories.items()]
    ids += [(manifest.ref, manifest.remote_id) for manifest in manifests]
    return {
        str(remote_id).lower(): ref
        for ref, remote_id in ids
        if remote_id is not None and ref.kind in BY_NAME and BY_NAME[ref.kind].fires
    }


def _declared(manifests: Iterable[Manifest]) -> dict[Ref | tuple[str, str], set[Ref]]:
    """Map what is watched, by its name or by its kind and id, to what watches it."""
    found: dict[Ref | tuple[str, str], set[Ref]] = {}
    for manifest in manifests:
        for watched in BY_NAME[manifest.ref.kind].watches(manifest):
            key = watched.ref or (watched.kind, watched.remote_id.lower())
            if watched.ref is not None or watched.remote_id:
                found.setdefault(key, set()).add(manifest.ref)
    return found


def _normal(ref: Ref, remote_id: RemoteId | None) -> str:
    return "" if remote_id is None else str(BY_NAME[ref.kind].normal_id(remote_id)).lower()


def _told(change: Change, history: History) -> tuple[str, ...]:
    last = history.of(change.ref).last
    return (*change.alerts, *((last.told.alerts or ()) if last is not None else ()))
