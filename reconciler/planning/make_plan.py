"""Observe, find which object each manifest is about, decide, and check writes with the service.

Memory follows the object, not the name. A manifest with another name for the same id, slug or list
is the same resource: the journal's memory and protection go with it. Two manifests that are about
one object would overwrite each other again and again. `plan_and_drift.plan_now` then adds sections
and guards.
"""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from reconciler.api.client import Api
from reconciler.document import Json, canonical_text, digest, value_at
from reconciler.journal.history import History, Memory, renamed_memory
from reconciler.kinds import BY_NAME, is_unfindable_create
from reconciler.kinds.kind import Sending
from reconciler.model import (
    Absent,
    Action,
    AnotherObject,
    Change,
    Evidence,
    LooksLike,
    Manifest,
    NoJournal,
    NotPermitted,
    Objected,
    Observation,
    OldJournal,
    Plan,
    Reason,
    Ref,
    Remark,
    RemoteId,
    RenamedFrom,
    SameObject,
    Seen,
    Selected,
    UnconfirmedJournal,
    UnsettledCreate,
)
from reconciler.planning.consequences import (
    blocked,
    blocked_change,
    orphan,
    with_blocked_dependants,
    with_missing,
)
from reconciler.planning.decide import Knowledge, PlanTarget
from reconciler.planning.decision_cache import NOTHING_KEPT, DecisionCache, Decisions, change_digest
from reconciler.planning.observe import observe_all, proof
from reconciler.redaction.templates import reveal
from reconciler.runtime.progress import Deed, Progress

DIGEST_VERSION = 2
"""The version of the digest; a new version makes every reviewed plan stale."""


async def make_plan(  # noqa: PLR0913 - each is an input of a plan
    api: Api,
    manifests: Sequence[Manifest],
    history: History,
    place: PlanTarget,
    *,
    whole: bool,
    others: Sequence[Manifest] = (),
    selected: Selected | None = None,
    cache: DecisionCache = NOTHING_KEPT,
) -> Plan:
    """Read the live side of every manifest and decide what would be done.

    `whole` means that `manifests` are all manifests of the workspace, so that any other resource in
    the journal is no longer declared. Otherwise `others` are the manifests that are not examined;
    they are observed only where a manifest refers to them and its id is needed. `selected` is how
    the manifests were chosen. Decisions in `cache` about what did not change are not made again.
    Raises what `Api.read` raises.
    """
    order = {name: index for index, name in enumerate(BY_NAME)}
    manifests = sorted(
        manifests, key=lambda manifest: (order[manifest.ref.kind], manifest.ref.name)
    )
    # The ids of what the manifests refer to are needed.
    wanted = {ref for manifest in manifests for ref in manifest.references}
    targets = tuple(other for other in others if other.ref in wanted)
    declared = (*manifests, *others)
    before = identify(declared, history).history
    decisions = Decisions(partial(_knowledge, before, place, {}), cache)
    scope = (*manifests, *targets)
    observed = await observe_all(api, scope, before, decisions.observe)
    proven = None if place.embedded else await proof(api, manifests, observed.values())
    known = identify(declared, history, observed)
    history = known.history
    moved = decisions.forget(_known_ids(observed), known.reasons)
    again = [manifest for manifest in scope if manifest.ref in moved]
    observed |= await observe_all(api, again, history)
    ids = _known_ids(observed)
    undeclared = orphans_in(history, declared)
    left = functools.cache(lambda: [*undeclared, *displaced_in(history, declared)])
    missing = {target.ref for target in targets} - ids.keys()
    changes = []
    for manifest in api.waits.each(Deed.COMPARING, manifests):
        knowledge = _knowledge(history, place, ids, manifest.ref, observed[manifest.ref])
        change = _identified(manifest, knowledge, known, left, decisions)
        changes.append(with_missing(change, missing))
    # A look-up has settled some creates; what blocks a change from here on is something else.
    unsettled = _unsettled(history, changes, others if selected is not None else ())
    changes = with_blocked_dependants(await _with_objections(api, changes))
    covered = [*decisions.digests(manifests, changes, ids)]
    orphans = (orphan(ref, memory) for ref, memory in undeclared) if whole else ()
    return Plan(
        environment=place.environment,
        target=place.target,
        digest=_digest_of(place, covered, selected),
        changes=(*changes, *orphans),
        unsettled=tuple(unsettled),
        remarks=tuple(_remarks(history, place, proven, changes)),
        beside=tuple(other.ref for other in others if history.of(other.ref).exists),
        perhaps_beside=tuple(
            other.ref
            for other in others
            if other.remote_id is not None and not history.of(other.ref).exists
        ),
        selected=selected,
    )


def _remarks(
    history: History,
    place: PlanTarget,
    proven: NotPermitted | None,
    changes: Iterable[Change],
) -> Iterator[Remark]:
    if not (history.begun or place.embedded):
        yield NoJournal(was_there=history.old)
    elif history.old and not place.embedded:
        yield OldJournal()
    elif history.begun_unasked and any(map(is_unfindable_create, changes)) and not place.embedded:
        yield UnconfirmedJournal(history.begun_unasked)
    if proven is not None:
        yield proven


def _knowledge(
    history: History, place: PlanTarget, ids: Mapping[Ref, RemoteId], ref: Ref, seen: Observation
) -> Knowledge:
    return Knowledge(seen, history.of(ref), ids, place, history.seed)


def _identified(
    manifest: Manifest,
    knowledge: Knowledge,
    known: Identities,
    left: Callable[[], Sequence[tuple[Ref, Memory]]],
    decisions: Decisions,
) -> Change:
    """Decide one change, and add the reasons that follow from its identity."""
    ref = manifest.ref
    shared = known.shared(ref)
    if shared is not None:
        spec = manifest.spec
        return blocked_change(manifest, spec, knowledge.observation, Evidence.NONE, shared)
    change = decisions.decide(manifest, knowledge)
    reasons = known.reasons.get(ref, ())
    if change.action is Action.CREATE:
        alike = much_like(ref.kind, change.declared, left())
        reasons = (*reasons, *([LooksLike(alike)] if alike else []))
    return replace(change, reasons=(*reasons, *change.reasons)) if reasons else change


def _known_ids(observed: Mapping[Ref, Observation]) -> dict[Ref, RemoteId]:
    return {
        ref: observation.remote_id
        for ref, observation in observed.items()
        if not isinstance(observation, Absent) and observation.remote_id is not None
    }


async def _with_objections(api: Api, changes: Sequence[Change]) -> list[Change]:
    """Ask the service about each write with a body that is already complete (endpoint 14)."""
    writes = [change for change in changes if change.action.writes]
    with api.waits.step(Deed.ASKING, total=len(writes)) as step:
        answered = await asyncio.gather(*(_asked(api, change, step) for change in writes))
    by_ref = {change.ref: change for change in answered}
    return [by_ref.get(change.ref, change) for change in changes]


async def _asked(api: Api, change: Change, step: Progress) -> Change:
    if not change.awaits:
        sending = Sending(change, reveal(change.body))
        foreseen = await BY_NAME[change.ref.kind].remote.preflight(api, sending)
        change = replace(change, alerts=foreseen.alerts)
        if foreseen.objections:
            change = blocked(change, map(Objected, foreseen.objections))
    step.done += 1
    return change


def _unsettled(
    history: History, changes: Sequence[Change], others: Sequence[Manifest]
) -> list[UnsettledCreate]:
    """Return the creates that only a person can settle.

    A look-up settles the rest. Creates of resources that are not examined now are looked up once
    they are examined.
    """
    looked_up = {
        change.ref
        for change in changes
        if isinstance(change.observation, Seen | Absent) and change.action is not Action.BLOCKED
    }
    looked_up |= {other.ref for other in others if BY_NAME[other.ref.kind].findable}
    return [
        UnsettledCreate(ref, started.at, started.request_id)
        for ref, started in sorted(history.unsettled().items())
        if ref not in looked_up
    ]


def plan_digest(
    place: PlanTarget, changes: Sequence[Change], selected: Selected | None = None
) -> str:
    """Return the digest of what is declared, observed, would be sent, and was selected.

    Orphans are not covered, as an apply leaves them as they are. Nothing that changes by itself is
    in it: no times, no ids of this run.
    """
    declared = (change for change in changes if change.manifest is not None)
    return _digest_of(place, [*map(change_digest, declared)], selected)


def _digest_of(place: PlanTarget, covered: Sequence[str], selected: Selected | None) -> str:
    whole: dict[str, Json] = {
        "formatVersion": DIGEST_VERSION,
        "environment": place.environment,
        "target": place.target,
        "changes": [*covered],
    }
    if selected is None:
        return digest(whole)
    # The number of other resources is not part of the digest.
    selection: Json = {"select": [*selected.select], "exclude": [*selected.exclude]}
    return digest({**whole, "selection": selection})


LiveObject: TypeAlias = tuple[str, RemoteId | None]
"""An object of the service: its kind and its id; the id of a singleton list is None."""

ALIKE = 0.5
"""From this share of equal fields on, two documents may be one resource under two names."""


@dataclass(frozen=True, slots=True)
class Identities:
    """The object of each manifest.

    `history` holds the memories under the names that are declared now. `reasons` say that a
    manifest was renamed, is about another object now, or shares its object.
    """

    history: History
    reasons: Mapping[Ref, tuple[Reason, ...]] = field(default_factory=dict)

    def shared(self, ref: Ref) -> SameObject | None:
        """Return the manifests that share an object with this one; None where there is none."""
        found = (reason for reason in self.reasons.get(ref, ()) if isinstance(reason, SameObject))
        return next(found, None)


def identify(
    manifests: Sequence[Manifest],
    history: History,
    observed: Mapping[Ref, Observation] | None = None,
) -> Identities:
    """Return which object each manifest is about: by its own id, by look-up, or by the journal.

    `observed` is what look-ups found, where they were made already.
    """
    objects = {
        manifest.ref: _object_of_manifest(manifest, history, (observed or {}).get(manifest.ref))
        for manifest in manifests
    }
    claims: dict[LiveObject, list[Ref]] = {}
    for ref, pair in objects.items():
        if pair is not None:
            claims.setdefault(pair, []).append(ref)
    memories: dict[Ref, Memory] = {}
    reasons: dict[Ref, tuple[Reason, ...]] = {}
    owners = _owners(history)
    taken: set[Ref] = set()
    for ref, pair in objects.items():
        own = history.of(ref)
        mine = _object_of_memory(ref.kind, own)
        rivals = (
            tuple(sorted(rival for rival in claims.get(pair, ()) if rival != ref)) if pair else ()
        )
        if rivals and pair is not None:
            reasons[ref] = (SameObject(rivals, pair[1]),)
            memories[ref] = own
        elif pair is None or mine == pair:
            memories[ref] = own
        else:
            was = next((ref for ref in owners.get(pair, ()) if objects.get(ref) != pair), None)
            memories[ref], reasons[ref] = _followed(ref, own, mine, was, history)
            taken.update(() if was is None else (was,))
    left = {
        ref: memory
        for ref, memory in history.memories.items()
        if ref not in objects and ref not in taken
    }
    for ref, found in reasons.items():
        if ref not in taken and any(isinstance(reason, AnotherObject) for reason in found):
            # The object that the name was about until now still exists, and may be protected.
            former = history.of(ref)
            # No manifest can have this name.
            left[Ref(ref.kind, f"{ref.name}~{former.remote_id}")] = former
    known = replace(history, memories={**left, **memories})
    return Identities(known, reasons)


def _followed(
    ref: Ref, own: Memory, mine: LiveObject | None, was: Ref | None, history: History
) -> tuple[Memory, tuple[Reason, ...]]:
    """Return the memory of the object that a manifest is about now, and the reasons."""
    other = AnotherObject(own.remote_id) if mine and own.remote_id is not None else None
    before: tuple[Reason, ...] = (other,) if other is not None else ()
    if was is not None:
        return renamed_memory(history.of(was), ref, own.attempts), (RenamedFrom(was), *before)
    if mine is not None:
        return Memory(attempts=own.attempts, formerly=own.remote_id), before
    # A write in doubt under this name may be about this very object.
    return own, before


def _object_of_manifest(
    manifest: Manifest, history: History, seen: Observation | None
) -> LiveObject | None:
    kind = BY_NAME[manifest.ref.kind]
    if kind.singleton:
        return kind.name, None
    found = None if seen is None or isinstance(seen, Absent) else seen.remote_id
    own = history.of(manifest.ref)
    unopened = manifest.unopened
    declared = kind.declared_id(manifest) if unopened is None else unopened.declared_id
    known = declared if found is None else found
    if known is None or known == own.instead_of:
        known = own.remote_id
    return None if known is None else (kind.name, kind.id_form.normal(known))


def _object_of_memory(kind: str, memory: Memory) -> LiveObject | None:
    if BY_NAME[kind].singleton:
        return None if memory.is_blank else (kind, None)
    known = memory.remote_id
    return None if known is None else (kind, BY_NAME[kind].id_form.normal(known))


def _owners(history: History) -> dict[LiveObject, list[Ref]]:
    """Map each object to the names under which the journal remembers it, the newest first."""
    owners: dict[LiveObject, list[Ref]] = {}
    for ref, memory in history.memories.items():
        live_object = _object_of_memory(ref.kind, memory) if ref.kind in BY_NAME else None
        if live_object is not None:
            owners.setdefault(live_object, []).insert(0, ref)
    return owners


def orphans_in(history: History, manifests: Sequence[Manifest]) -> list[tuple[Ref, Memory]]:
    """Return the resources that were written once and are no longer declared under any name."""
    declared = {manifest.ref for manifest in manifests}
    about = {_object_of_memory(ref.kind, history.of(ref)) for ref in declared} - {None}
    return [
        (ref, memory)
        for ref, memory in sorted(history.memories.items())
        if memory.exists
        and ref not in declared
        and (ref.kind not in BY_NAME or _object_of_memory(ref.kind, memory) not in about)
    ]


def displaced_in(history: History, manifests: Sequence[Manifest]) -> list[tuple[Ref, Memory]]:
    """Return the resources written under names that declare something quite different now.

    If names were exchanged in a circle, each exchange alone looks like an edit.
    """
    found = []
    for manifest in manifests:
        memory = history.of(manifest.ref)
        kind = BY_NAME[manifest.ref.kind]
        if memory.last is None or kind.singleton or kind.declared_id(manifest) is not None:
            continue
        if not much_like(manifest.ref.kind, manifest.spec, [(manifest.ref, memory)]):
            found.append((manifest.ref, memory))
    return found


def much_like(
    kind: str, declared: dict[str, Json], orphans: Sequence[tuple[Ref, Memory]]
) -> tuple[Ref, ...]:
    """Return the orphans that may be the declared resource: same title, or similar content."""
    title = value_at(declared, BY_NAME[kind].title)
    leaves = Counter(_leaves(declared))

    def is_alike(before: dict[str, Json]) -> bool:
        other = Counter(_leaves(before))
        entitled = isinstance(title, str) and value_at(before, BY_NAME[kind].title) == title
        return entitled or (leaves & other).total() >= ALIKE * max(leaves.total(), other.total())

    return tuple(
        ref
        for ref, memory in orphans
        if ref.kind == kind and memory.last is not None and is_alike(memory.last.declared)
    )


def _leaves(document: Json, place: str = "") -> Iterator[str]:
    """Yield each leaf of a document with its path; list items have no index in it."""
    if isinstance(document, dict) and document:
        for key, value in document.items():
            yield from _leaves(value, f"{place}.{key}")
    elif isinstance(document, list) and document:
        for item in document:
            yield from _leaves(item, f"{place}[]")
    else:
        yield f"{place}={canonical_text(document)}"
