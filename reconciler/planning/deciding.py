"""One manifest and what is known of its live side to one change. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never
from uuid import UUID, uuid5

from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    covers,
    differences,
    digest,
    merge,
)
from reconciler.journal.history import Memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
from reconciler.planning.blocking import blocked_change
from reconciler.planning.destroying import members_by_name, members_destroyed
from reconciler.planning.protection import with_protection
from reconciler.planning.rewritten import unexpected
from reconciler.planning.veiling import veiled
from reconciler.resource import (
    Absent,
    Action,
    Change,
    Evidence,
    Manifest,
    Observation,
    Ref,
    Remembered,
    RemoteId,
    Seen,
    Unknown,
)
from reconciler.template import (
    HIDDEN,
    conceal,
    holds_seal,
    references_in,
    resolve,
    secrets_of,
)

NAMESPACE = UUID("b1a0c3de-51f4-5d27-9a3e-7c1d2f60a4b8")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that a decision rests on. `ids` holds the remote ids known before any write."""

    observation: Observation
    memory: Memory
    ids: Mapping[Ref, RemoteId]
    place: str
    protected: bool = False


def decide(manifest: Manifest, knowledge: Knowledge) -> Change:
    """Give the change that makes live what is declared, or say why none can."""
    kind = BY_NAME[manifest.ref.kind]
    spec = resolve(manifest.spec, knowledge.ids)
    assert isinstance(spec, dict)  # noqa: S101 - filling references keeps the form
    manifest = replace(manifest, spec=spec)
    declared = kind.complete(manifest, knowledge.observation)
    change = with_protection(_change(kind, manifest, declared, knowledge), knowledge.protected)
    if not change.action.writes:
        return change
    return replace(
        change,
        awaits=references_in(change.body),
        request_id=_request_id(change, knowledge),
    )


def _request_id(change: Change, knowledge: Knowledge) -> str:
    """Give the id of this attempt; a retry after a crash repeats it (failure-cases.md, part 2).

    What is declared otherwise by then is another attempt: a service that knows
    the id would drop it.
    """
    pending = knowledge.memory.unsettled_create
    if pending is not None and pending.declared == change.declared:
        return pending.request_id
    attempt = knowledge.memory.attempts
    name = f"{knowledge.place}\n{change.ref}\n{digest(change.body)}\n{attempt}"
    return str(uuid5(NAMESPACE, name))


def _change(
    kind: Kind, manifest: Manifest, declared: dict[str, Json], knowledge: Knowledge
) -> Change:
    observation, memory = knowledge.observation, knowledge.memory
    match observation:
        case Seen():
            return _against_live(kind, manifest, declared, observation, memory)
        case Absent():
            return _create(kind, manifest, declared, observation, memory)
        case Remembered():
            return _against_memory(kind, manifest, declared, observation)
        case Unknown():
            return _unseen(kind, manifest, declared, observation, memory)
        case _:
            assert_never(observation)


def _against_live(
    kind: Kind, manifest: Manifest, declared: dict[str, Json], seen: Seen, memory: Memory
) -> Change:
    live = conceal(seen.document, secrets_of(declared))
    assert isinstance(live, dict)  # noqa: S101 - concealing keeps the form
    seen = replace(seen, document=live)
    body: Json = live
    # One after the other: joined, they would lose the items of lists that only one of them has.
    for base in memory.candidates or (ABSENT,):
        body = merge(base, declared, body, kind.shape)
    assert isinstance(body, dict)  # noqa: S101 - a merge of objects is one
    expected = unexpected(differences(live, body, kind.shape), memory)
    found = tuple(shown(expected, memory.candidates, kind.shape))
    notes = [*_pending_notes(memory), *_recalled_notes(seen)]
    created = memory.unsettled_create
    if created is not None and not covers(live, created.declared, kind.shape):
        notes.insert(0, _conflict(manifest, created.at))
        return Change(
            manifest,
            Action.BLOCKED,
            Evidence.LIVE,
            seen,
            declared,
            body,
            notes=tuple(notes),
            before=veiled(live, (*memory.candidates, declared), kind.shape),
        )
    if found and seen.attribution and _changed_by_others(kind, live, memory):
        notes.append(f"live was last changed {seen.attribution}")
    written = (*memory.candidates, declared)
    destroyed = members_destroyed(kind, live, body)
    ours = members_by_name(kind, memory.base)
    return Change(
        manifest,
        Action.UPDATE if found else Action.KEEP,
        Evidence.LIVE,
        seen,
        declared,
        body,
        found,
        tuple(destroyed),
        tuple(_lost(kind, destroyed, written)),
        tuple(name for name in destroyed if name not in ours),
        tuple(notes),
        before=veiled(live, written, kind.shape) if found else live,
    )


def _lost(kind: Kind, destroyed: Mapping[str, Json], written: Sequence[Json]) -> Iterator[Json]:
    """Yield what is destroyed as it may be printed."""
    members = [members_by_name(kind, one) for one in written]
    for name, member in destroyed.items():
        ours = [one.get(name) for one in members]
        yield veiled(member, ours, kind.shape.at(kind.destroyable[0]).item)


def _changed_by_others(kind: Kind, live: dict[str, Json], memory: Memory) -> bool:
    """Tell whether live is not what was last applied, so that who changed it matters."""
    return memory.last is None or not covers(live, memory.last.declared, kind.shape)


def shown(
    found: Iterable[Difference], written: Sequence[Json], shape: Shape
) -> Iterator[Difference]:
    """Hide what stands live where a secret belongs, or did: it may be an older secret.

    `written` is all that live may hold of what was declared: with a write in doubt, several.
    """
    for difference in found:
        places = [_place(one, difference.path, shape) for one in written]
        secret = any(map(holds_seal, (difference.after, *places)))
        if secret and difference.before is not ABSENT:
            yield replace(difference, before=HIDDEN)
        else:
            yield difference


def _place(document: Json, path: Path, shape: Shape) -> Json | Missing:
    """Give what a document holds at the path of a difference; the whole of an unkeyed list."""
    for step in path:
        if isinstance(document, dict) and isinstance(step, str):
            document, shape = document.get(step), shape.at(step)
        elif isinstance(document, list):
            keyed = by_identity(document, shape)
            if keyed is None:
                return document
            document, shape = keyed.get(str(step)), shape.item
        else:
            return document
    return document


def _pending_notes(memory: Memory) -> list[str]:
    pending = memory.pending
    if pending is None:
        return []
    if pending.operation == "create":
        return [f"the answer to its create ({pending.at}) was lost; it did happen"]
    return [f"the answer to an earlier write ({pending.at}) was lost"]


def _recalled_notes(seen: Seen) -> list[str]:
    if not seen.recalled:
        return []
    fields = sorted({str(path[-1]) for path in seen.recalled})
    return [f"{', '.join(fields)}: not returned by the API, compared with the journal"]


def _conflict(manifest: Manifest, at: str) -> str:
    return (
        f"the answer to its create ({at}) was lost, and what is live now is not what was sent: "
        f"look at it, then run `reconciler journal settle {manifest.ref} --id ID`"
    )


def _create(
    kind: Kind, manifest: Manifest, declared: dict[str, Json], absent: Absent, memory: Memory
) -> Change:
    reason = kind.cannot_create(manifest)
    if reason:
        return blocked_change(manifest, declared, absent, Evidence.LIVE, reason)
    notes = []
    if memory.last is not None:
        notes.append(f"written {memory.last.at} and gone since: it will be created again")
    elif memory.unsettled_create is not None:
        at = memory.unsettled_create.at
        notes.append(f"the answer to its create ({at}) was lost; it did not happen")
    return Change(
        manifest,
        Action.CREATE,
        Evidence.LIVE,
        absent,
        declared,
        declared,
        tuple(differences({}, declared, kind.shape)),
        notes=tuple(notes),
    )


def _against_memory(
    kind: Kind, manifest: Manifest, declared: dict[str, Json], remembered: Remembered
) -> Change:
    before = remembered.document
    found = tuple(shown(differences(before, declared, kind.shape), [before], kind.shape))
    return Change(
        manifest,
        Action.UPDATE if found else Action.KEEP,
        Evidence.JOURNAL,
        remembered,
        declared,
        declared,
        found,
    )


def _unseen(
    kind: Kind, manifest: Manifest, declared: dict[str, Json], unknown: Unknown, memory: Memory
) -> Change:
    if unknown.exit_code:
        reason = f"it could not be read: {unknown.why}"
        return blocked_change(manifest, declared, unknown, Evidence.NONE, reason)
    created = memory.unsettled_create
    if created is not None:
        reason = (
            f"the answer to its create ({created.at}) was lost, and the API cannot be asked: look "
            f"for it, then run `reconciler journal settle {manifest.ref} --id ID` "
            "or `--never-happened`"
        )
        return blocked_change(manifest, declared, unknown, Evidence.NONE, reason)
    action = Action.CREATE if unknown.remote_id is None else Action.ASSERT
    notes = [unknown.why, *_pending_notes(memory)]
    return Change(
        manifest,
        action,
        Evidence.NONE,
        unknown,
        declared,
        declared,
        tuple(differences({}, declared, kind.shape)),
        notes=tuple(notes),
    )
