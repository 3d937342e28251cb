"""Alerts that watch what a plan changes: by declarations, and by the service's answers. Pure.

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
    """Return the watchers of each resource that changes, without resources that have none.

    `manifests` are all declared resources, `alerts` those of `known_alerts`. Watchers that the
    service named, when asked about the write and at the last write, are included.
    """
    declared = _declared(manifests)
    found: dict[Ref, Watchers] = {}
    for change in changes:
        if not change.action.is_to_do:
            continue
        by_id = (change.ref.kind, _normal(change.ref, change.remote_id))
        refs = {*declared.get(change.ref, ()), *declared.get(by_id, ())}
        named = watchers_named(_reported(change, history), alerts)
        watchers = replace(named, refs=tuple(sorted({*refs, *named.refs})))
        if watchers.refs or watchers.others:
            found[change.ref] = watchers
    return found


def known_alerts(manifests: Iterable[Manifest], history: History) -> dict[str, Ref]:
    """Map the ids of all declared or remembered alerts to their names.

    A declared name goes before an older name in the journal.
    """
    ids = [(ref, memory.remote_id) for ref, memory in history.memories.items()]
    ids += [(manifest.ref, manifest.remote_id) for manifest in manifests]
    return {
        str(remote_id).lower(): ref
        for ref, remote_id in ids
        if remote_id is not None and ref.kind in BY_NAME and BY_NAME[ref.kind].fires
    }


def _declared(manifests: Iterable[Manifest]) -> dict[Ref | tuple[str, str], set[Ref]]:
    """Map what is watched, by its name or by its kind and id, to the watchers."""
    found: dict[Ref | tuple[str, str], set[Ref]] = {}
    for manifest in manifests:
        for watched in BY_NAME[manifest.ref.kind].watches(manifest):
            key = watched.ref or (watched.kind, watched.remote_id.lower())
            if watched.ref is not None or watched.remote_id:
                found.setdefault(key, set()).add(manifest.ref)
    return found


def _normal(ref: Ref, remote_id: RemoteId | None) -> str:
    return "" if remote_id is None else str(BY_NAME[ref.kind].normal_id(remote_id)).lower()


def _reported(change: Change, history: History) -> tuple[str, ...]:
    last = history.of(change.ref).last
    return (*change.alerts, *((last.told.alerts or ()) if last is not None else ()))
