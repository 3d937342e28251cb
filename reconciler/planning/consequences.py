"""Consequences of a change besides its fields: blocked, protected, destroyed, rewritten, unseen.

Also the alerts that watch what changes, by declarations and by the service's answers. Pure.
Source: docs/track-record.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Path,
    Shape,
    by_identity,
    members_missing,
    same,
    stored_name,
    value_at,
)
from reconciler.journal.history import History, Memory
from reconciler.journal.line_fields import Rewritten, brought_back
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.model import (
    Action,
    Change,
    DependsOn,
    Evidence,
    LostUnseen,
    Manifest,
    NotInAnswer,
    NotSelected,
    Observation,
    OverwrittenSince,
    ProtectionTurns,
    Reason,
    Ref,
    Remembered,
    Seen,
    UndoesRollback,
    Watchers,
    watchers_named,
)
from reconciler.redaction.templates import fingerprint, holds_seal
from reconciler.runtime.advice import on_journal


def watchers_of(
    changes: Sequence[Change],
    manifests: Sequence[Manifest],
    history: History,
    alerts: Mapping[str, Ref],
) -> dict[Ref, Watchers]:
    """Return the watchers of each resource that changes, without resources that have none.

    `manifests` are all declared resources, `alerts` the result of `known_alerts`. Watchers that the
    service named, when asked about the write and at the last write, are included.
    """
    declared = _declared(manifests)
    found: dict[Ref, Watchers] = {}
    for change in changes:
        if not change.action.is_to_do:
            continue
        kind, last = BY_NAME[change.ref.kind], history.of(change.ref).last
        known = "" if change.remote_id is None else str(kind.id_form.normal(change.remote_id))
        refs = {*declared.get(change.ref, ()), *declared.get((kind.name, known.lower()), ())}
        reported = (last.told.alerts or ()) if last is not None else ()
        named = watchers_named((*change.alerts, *reported), alerts)
        watchers = replace(named, refs=tuple(sorted({*refs, *named.refs})))
        if watchers.refs or watchers.others:
            found[change.ref] = watchers
    return found


def known_alerts(manifests: Iterable[Manifest], history: History) -> dict[str, Ref]:
    """Map the ids of all declared or remembered alerts to their names.

    A declared name is used rather than an older name in the journal.
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


def blocked_change(
    manifest: Manifest,
    declared: dict[str, Json],
    observation: Observation,
    evidence: Evidence,
    reason: Reason,
) -> Change:
    """Return a change that is blocked from the beginning, with the reason."""
    return Change(
        ref=manifest.ref,
        manifest=manifest,
        action=Action.BLOCKED,
        evidence=evidence,
        observation=observation,
        declared=declared,
        body=declared,
        reasons=(reason,),
    )


def orphan(ref: Ref, memory: Memory) -> Change:
    """Return the change of a resource that was written once and is no longer declared."""
    written = memory.last.declared if memory.last is not None else {}
    return Change(
        ref=ref,
        manifest=None,
        action=Action.ORPHAN,
        evidence=Evidence.JOURNAL,
        observation=Remembered(memory.remote_id, written),
        declared={},
        body={},
        protected=memory.protected,
    )


def blocked(change: Change, reasons: Iterable[Reason]) -> Change:
    """Return the change as blocked, with the reasons before its own."""
    return replace(
        change,
        action=Action.BLOCKED,
        differences=(),
        destroys=(),
        lost=(),
        foreign=(),
        reasons=(*reasons, *change.reasons),
    )


def with_missing(change: Change, missing: Container[Ref]) -> Change:
    """Block a change that waits for the id of a resource that the selection would not create."""
    waits_for = tuple(sorted(ref for ref in change.awaits if ref in missing))
    if not waits_for or not change.action.writes:
        return change
    return blocked(change, [NotSelected(waits_for)])


def with_blocked_dependants(changes: Sequence[Change]) -> list[Change]:
    """Block every change that depends on a blocked change, as it would be skipped."""
    by_ref = {change.ref: change for change in changes}
    dependants: dict[Ref, list[Ref]] = {}
    for change in changes:
        for ref in change.references:
            dependants.setdefault(ref, []).append(change.ref)
    waiting = [change.ref for change in changes if change.action is Action.BLOCKED]
    while waiting:
        ref = waiting.pop()
        for dependant in dependants.get(ref, ()):
            change = by_ref[dependant]
            if change.action.writes:
                by_ref[dependant] = blocked(change, [DependsOn((ref,))])
                waiting.append(dependant)
    return list(by_ref.values())


def members_by_name(kind: Kind, document: Json) -> Mapping[str, Json]:
    """Return the members of a kind's list that can be destroyed; none where names repeat.

    A member is also found by its stored name, if the service stores another form of the name.
    """
    found = by_identity(_list_at(document, kind), kind.shape.at(_destroyable(kind))) or {}
    return {**found, **{_name_in(kind)(value): value for value in found.values()}}


def _destroyable(kind: Kind) -> str:
    return kind.destroyable[0] if kind.destroyable else ""


def _list_at(document: Json, kind: Kind) -> list[Json]:
    value = value_at(document, kind.destroyable)
    return value if isinstance(value, list) else []


def members_destroyed(
    kind: Kind, live: dict[str, Json], body: dict[str, Json], remade: Container[Path] = ()
) -> dict[str, Json]:
    """Map the name of each member that a write permanently removes to the member.

    Members are matched by name, even where the live list has a name twice or an item without a
    name: the write keeps at most one of those. A name that the service stores in another form is
    the same name, unless another member has exactly that form. `remade` are the paths of members
    that are there again after every write.
    """
    kept = Counter(filter(None, map(_name_in(kind), _list_at(body, kind))))
    named = [*enumerate(map(_name_in(kind), _list_at(live, kind)), 1)]
    left = [(number, name) for number, name in named if not _taken(kept, name)]
    kept = Counter(map(stored_name, kept.elements()))
    gone: dict[str, Json] = {}
    for number, name in left:
        again = (*kind.destroyable, stored_name(name)) in remade
        if not again and not _taken(kept, stored_name(name)):
            shown_name = name if name and name not in gone else f"number {number} of the list"
            gone[shown_name] = _list_at(live, kind)[number - 1]
    return gone


def _taken(kept: Counter[str], name: str) -> bool:
    """Return whether a name is still in the count of kept names, and use up one of them."""
    found = kept[name] > 0
    kept[name] -= found
    return found


def _name_in(kind: Kind) -> Callable[[Json], str]:
    """Return a function that returns the name of a member, "" where it has none."""
    identity = kind.shape.at(_destroyable(kind)).identity

    def name(member: Json) -> str:
        found = value_at(member, identity)
        return found if isinstance(found, str) else ""

    return name


def with_protection(change: Change) -> Change:
    """Add the reason to a change that begins or ends a protection."""
    if not change.turns_protection:
        return change
    return replace(change, reasons=(*change.reasons, ProtectionTurns(begins=change.protect)))


def unexpected(found: Iterable[Difference], memory: Memory, shape: Shape) -> Iterator[Difference]:
    """Yield the differences, except those that the service made when it stored the last write.

    A member that was never stored is always a difference, whatever an older journal says. Source:
    docs/plan.md.
    """
    rewritten = {}
    if memory.acknowledged is not None:
        rewritten = {field.path: field for field in memory.acknowledged.rewritten}
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


def unseen_fields(seen: Seen, found: Sequence[Difference]) -> Iterator[NotInAnswer]:
    """Yield the fields that would be written over a value that was never read."""
    never = [place for place in unseen_in(seen, found) if place not in seen.overwritten]
    if never:
        yield NotInAnswer(tuple(never))


def unseen_in(seen: Seen, found: Sequence[Difference]) -> tuple[Path, ...]:
    """Return the unreadable fields that the differences are about."""
    unreadable = [difference.path for difference in found if seen.cannot_tell(difference.path)]
    return tuple(
        place
        for place in seen.unseen
        if any(place[: len(unread)] == unread[: len(place)] for unread in unreadable)
    )


def unseen_left_out(kind: Kind, seen: Seen, body: Json) -> tuple[Path, ...]:
    """Return the unreadable fields of members that a write keeps, but sends without those fields.

    Only a write that replaces a whole list has to send them; destroyed members are not sent.
    """
    kept, inside = members_by_name(kind, body), len(kind.destroyable) + 1
    return tuple(
        path
        for path in seen.unseen
        if (member := kept.get(str(path[inside - 1]))) is not None
        and value_at(member, path[inside:]) in (ABSENT, None)
    )


def needed_left_out(kind: Kind, seen: Seen, body: Json) -> Iterator[Path]:
    """Yield the paths of needed fields that a live member has and that a write leaves out."""
    if not kind.needed:
        return
    kept, name_of = members_by_name(kind, body), _name_in(kind)
    for member in _list_at(seen.document, kind):
        name = stored_name(name_of(member))
        for field in kind.needed:
            has_it = value_at(member, field) not in (ABSENT, None)
            if has_it and name in kept and value_at(kept[name], field) in (ABSENT, None):
                yield (*kind.destroyable, name, *field)


def sent_again_in(seen: Seen, left_out: Sequence[Path]) -> Iterator[OverwrittenSince]:
    """Yield the unreadable fields that another writer wrote, and that a write would send again."""
    sent_again = tuple(place for place in seen.overwritten if place not in left_out)
    if sent_again:
        yield OverwrittenSince(sent_again, seen.edit)


def settled_wrongly(kind: Kind, manifest: Manifest, memory: Memory) -> str:
    """Return the message that a create was settled with an unknown id; "" where it was not."""
    if kind.findable or not memory.exists or memory.last is not None or memory.pending is not None:
        return ""
    forget = on_journal("forget", str(manifest.ref))
    return (
        f"its create was settled as {memory.remote_id}, which the service does not have: "
        f"run `{forget}` and look for it again, then declare its id"
    )


def lost_unseen(kind: Kind, seen: Seen, destroyed: Mapping[str, Json]) -> Iterator[LostUnseen]:
    """Yield the destroyed members with fields that were never read."""
    inside = len(kind.destroyable) + 1
    fields = sorted({place[inside:] for place in seen.unseen})
    lacking = {
        name: [field for field in fields if value_at(member, field) is ABSENT]
        for name, member in destroyed.items()
    }
    lost = tuple(name for name, missing in lacking.items() if missing)
    if lost:
        named = {str(field[-1]) for name in lost for field in lacking[name]}
        yield LostUnseen(lost, tuple(sorted(named)))


def rollbacks_undone(kind: Kind, change: Change, memory: Memory) -> Iterator[UndoesRollback]:
    """Yield the fields that a rollback removed, that live lacks and a write would bring back."""
    seen = change.observation
    for taken in memory.rolled_back:
        found = brought_back(taken.fields, change.declared, kind.shape)
        there = brought_back(found, seen.document, kind.shape) if isinstance(seen, Seen) else ()
        paths = tuple(field.path for field in found if field not in there)
        if paths:
            yield UndoesRollback(paths, taken.actor, taken.at)
