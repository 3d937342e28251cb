"""One manifest and what is known of its live side to one change. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never
from uuid import UUID, uuid5

from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    by_identity,
    covers,
    differences,
    digest,
    merge,
    same,
    value_at,
)
from reconciler.journal.history import Memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind
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
from reconciler.template import Template, conceal, references_in, resolve, secrets_of

NAMESPACE = UUID("b1a0c3de-51f4-5d27-9a3e-7c1d2f60a4b8")
HIDDEN = "(not shown: the field holds a secret)"


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that a decision rests on. `ids` holds the remote ids known before any write."""

    observation: Observation
    memory: Memory
    ids: Mapping[Ref, RemoteId]
    place: str


def decide(manifest: Manifest, knowledge: Knowledge) -> Change:
    """Give the change that makes live what is declared, or say why none can."""
    kind = BY_NAME[manifest.ref.kind]
    spec = resolve(manifest.spec, knowledge.ids)
    assert isinstance(spec, dict)  # noqa: S101 - filling references keeps the form
    manifest = replace(manifest, spec=spec)
    declared = kind.complete(manifest, knowledge.observation)
    change = _change(kind, manifest, declared, knowledge)
    if not change.action.writes:
        return change
    return replace(
        change,
        awaits=references_in(change.body),
        request_id=_request_id(change, knowledge),
    )


def _request_id(change: Change, knowledge: Knowledge) -> str:
    """Give the id of this attempt; a retry after a crash repeats it (failure-cases.md, part 2)."""
    pending = knowledge.memory.unsettled_create
    if pending is not None:
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
    body = merge(memory.base if memory.base is not None else ABSENT, declared, live, kind.shape)
    assert isinstance(body, dict)  # noqa: S101 - a merge of objects is one
    found = tuple(_shown(unexpected(differences(live, body, kind.shape), memory)))
    notes = [*_pending_notes(memory), *_recalled_notes(seen)]
    created = memory.unsettled_create
    if created is not None and not covers(live, created.declared, kind.shape):
        notes.insert(0, _conflict(manifest, created.at))
        return Change(
            manifest, Action.BLOCKED, Evidence.LIVE, seen, declared, body, notes=tuple(notes)
        )
    if found and seen.attribution:
        notes.append(f"live was last changed {seen.attribution}")
    destroyed = _destroyed(kind, live, found)
    ours = by_identity(_list_at(memory.base, kind), kind.shape.at(_destroyable(kind))) or {}
    return Change(
        manifest,
        Action.UPDATE if found else Action.KEEP,
        Evidence.LIVE,
        seen,
        declared,
        body,
        found,
        tuple(destroyed),
        tuple(destroyed.values()),
        tuple(name for name in destroyed if name not in ours),
        tuple(notes),
    )


def _destroyable(kind: Kind) -> str:
    return kind.destroyable[0] if kind.destroyable else ""


def _list_at(document: Json, kind: Kind) -> list[Json]:
    value = value_at(document, kind.destroyable) if kind.destroyable else None
    return value if isinstance(value, list) else []


def _destroyed(kind: Kind, live: dict[str, Json], found: tuple[Difference, ...]) -> dict[str, Json]:
    """Map the name of each member that the write removes for good to what is lost with it."""
    if not kind.destroyable:
        return {}
    gone: dict[str, Json] = {}
    whole = _list_at(live, kind)
    for difference in found:
        if difference.operation == "remove" and difference.path[:-1] == kind.destroyable:
            name = difference.path[-1]
            gone[str(name)] = None if difference.before is ABSENT else difference.before
        elif difference.path == kind.destroyable:
            gone |= {f"policy {index + 1}": item for index, item in enumerate(whole)}
    return gone


def unexpected(found: Iterable[Difference], memory: Memory) -> Iterator[Difference]:
    """Leave out what the service itself made of the last write (R15)."""
    rewritten = {}
    if memory.acknowledged is not None:
        rewritten = {one.path: one for one in memory.acknowledged.rewritten}
    for difference in found:
        known = rewritten.get(difference.path)
        if known is None or not (
            same(difference.before, known.got) and same(difference.after, known.sent)
        ):
            yield difference


def _shown(found: Iterable[Difference]) -> Iterator[Difference]:
    """Hide what stands live where a secret belongs: it may be an older secret."""
    for difference in found:
        secret = isinstance(difference.after, Template) and difference.after.has_secret
        if secret and difference.before is not ABSENT:
            yield replace(difference, before=HIDDEN)
        else:
            yield difference


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
        return _blocked(manifest, declared, absent, Evidence.LIVE, reason)
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
    found = tuple(_shown(differences(remembered.document, declared, kind.shape)))
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
    created = memory.unsettled_create
    if created is not None:
        reason = (
            f"the answer to its create ({created.at}) was lost, and the API cannot be asked: look "
            f"for it, then run `reconciler journal settle {manifest.ref} --id ID` "
            "or `--never-happened`"
        )
        return _blocked(manifest, declared, unknown, Evidence.NONE, reason)
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


def _blocked(
    manifest: Manifest,
    declared: dict[str, Json],
    observation: Observation,
    evidence: Evidence,
    reason: str,
) -> Change:
    return Change(
        manifest, Action.BLOCKED, evidence, observation, declared, declared, notes=(reason,)
    )


def blocked(change: Change, reasons: Iterable[str]) -> Change:
    """Give the change as one that cannot be done, and why."""
    return replace(
        change,
        action=Action.BLOCKED,
        differences=(),
        destroys=(),
        lost=(),
        foreign=(),
        notes=(*reasons, *change.notes),
    )
