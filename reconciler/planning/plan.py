"""From a workspace to a plan: observe all, decide each, ask the service about writes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reconciler.api.door import Api
from reconciler.document import Json, digest
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME, KINDS
from reconciler.kinds.kind import Sending
from reconciler.planning.blocking import blocked, with_blocked_dependants
from reconciler.planning.deciding import Knowledge, decide
from reconciler.planning.observing import observe_all
from reconciler.planning.protection import Protections
from reconciler.resource import (
    Absent,
    Action,
    Change,
    Manifest,
    Observation,
    Orphan,
    Plan,
    Ref,
    Remembered,
    RemoteId,
    Seen,
    Unknown,
    UnsettledCreate,
)
from reconciler.template import reveal

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a plan leads: the environment's name and the target's."""

    environment: str
    target: str

    def __str__(self) -> str:
        return f"{self.environment} at {self.target}"


async def make_plan(
    api: Api, manifests: Sequence[Manifest], history: History, place: Place, *, whole: bool
) -> Plan:
    """Read the live side of every manifest and decide what would be done.

    `whole` says that the manifests are all there are, so that what the journal
    knows beside them is no longer declared. Raises what `Api.read` raises.
    """
    order = {kind.name: index for index, kind in enumerate(KINDS)}
    manifests = sorted(manifests, key=lambda one: (order[one.ref.kind], one.ref.name))
    observations = await observe_all(api, manifests, history)
    ids, protections = _known_ids(manifests, observations), Protections.of(history)
    changes = []
    for manifest, observation in zip(manifests, observations, strict=True):
        ref = manifest.ref
        protected = protections.cover(ref, ids.get(ref))
        known = Knowledge(observation, history.of(ref), ids, str(place), protected)
        changes.append(decide(manifest, known))
    # A look-up has settled some; what blocks a change from here on is something else.
    unsettled = _unsettled(history, changes)
    asked = [change for change in changes if change.action.writes]
    answered = await asyncio.gather(*(_with_objections(api, change) for change in asked))
    objected = {change.ref: change for change in answered}
    changes = [objected.get(change.ref, change) for change in changes]
    changes = with_blocked_dependants(changes)
    declared = {manifest.ref for manifest in manifests}
    return Plan(
        place.environment,
        place.target,
        plan_digest(place, changes),
        tuple(changes),
        tuple(_orphans(history, declared)) if whole else (),
        tuple(unsettled),
    )


def _known_ids(
    manifests: Sequence[Manifest], observations: Sequence[Observation]
) -> dict[Ref, RemoteId]:
    ids: dict[Ref, RemoteId] = {}
    for manifest, observation in zip(manifests, observations, strict=True):
        match observation:
            case Seen(remote_id=known) | Remembered(remote_id=known) | Unknown(remote_id=known):
                if known is not None:
                    ids[manifest.ref] = known
            case Absent():
                pass
    return ids


async def _with_objections(api: Api, change: Change) -> Change:
    """Ask the service about a write that is complete already (endpoint 14 for SLOs)."""
    if change.awaits:
        return change
    body = reveal(change.body)
    assert isinstance(body, dict)  # noqa: S101 - filling keeps the form
    objections = await BY_NAME[change.ref.kind].preflight(api, Sending(change, body))
    return blocked(change, objections) if objections else change


def _orphans(history: History, declared: set[Ref]) -> list[Orphan]:
    return [
        Orphan(ref, memory.remote_id)
        for ref, memory in sorted(history.memories.items())
        if ref not in declared and memory.exists
    ]


def _unsettled(history: History, changes: Sequence[Change]) -> list[UnsettledCreate]:
    """Give the creates that only a person can settle; a look-up has settled the others."""
    looked_up = {
        change.ref
        for change in changes
        if isinstance(change.observation, Seen | Absent) and change.action is not Action.BLOCKED
    }
    return [
        UnsettledCreate(ref, started.at, started.request_id)
        for ref, started in sorted(history.unsettled().items())
        if ref not in looked_up
    ]


def plan_digest(place: Place, changes: Sequence[Change]) -> str:
    """Cover what is declared, what was observed and so what would be sent.

    Nothing that moves by itself is in it: no times, no ids of this run.
    """
    entries: list[Json] = [
        {
            "ref": str(change.ref),
            "action": change.action.word,
            "identities": _identities(change.manifest),
            "declared": change.declared,
            "sends": change.body if change.action.writes else None,
            "observed": _observed(change.observation),
            **_protection(change),
        }
        for change in changes
    ]
    whole: Mapping[str, Json] = {
        "formatVersion": FORMAT_VERSION,
        "environment": place.environment,
        "target": place.target,
        "changes": entries,
    }
    return digest(dict(whole))


def _protection(change: Change) -> dict[str, Json]:
    """Give what is declared and known of protection; nothing where neither is any."""
    known, declared = change.protected, change.manifest.protect
    return {"protected": known, "protect": declared} if known or declared else {}


def _identities(manifest: Manifest) -> Json:
    identities = BY_NAME[manifest.ref.kind].identities(manifest)
    return {"metadata": manifest.remote_id, **identities}


def _observed(observation: Observation) -> Json:
    match observation:
        case Seen(remote_id=remote_id, document=document):
            return {"seen": remote_id, "document": document}
        case Absent():
            return "absent"
        case Remembered(remote_id=remote_id, document=document):
            return {"remembered": remote_id, "document": document}
        case Unknown(remote_id=remote_id):
            return {"unknown": remote_id}
