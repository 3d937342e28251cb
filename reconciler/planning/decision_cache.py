"""Decisions that are made before the end of a plan, or were made by an earlier plan.

A resource without references is decided while other reads are in flight; the decision is used only
if its inputs did not change. A decision of an earlier plan is used again where the manifest, the
journal, the ids that it refers to and the bytes of each answer are the same. Only decisions without
a write and without any reason are kept: for all others a report needs the documents. Source:
docs/performance.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, TypeAlias

from reconciler.api.client import Api
from reconciler.api.replies import READS, ReadLog
from reconciler.document import Json, digest
from reconciler.errors import ReconcilerError, ServiceRefused, UnreadableReply
from reconciler.journal.history import Memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import observe
from reconciler.model import (
    Absent,
    Action,
    Change,
    Evidence,
    LastEdit,
    Manifest,
    NeverWritten,
    Observation,
    OverwritesEdit,
    OverwrittenSince,
    Ref,
    Remembered,
    RemoteId,
    RenamedFrom,
    Seen,
    TakesOver,
    UndoesRollback,
    Unknown,
    Unread,
)
from reconciler.planning.decide import Knowledge, decide
from reconciler.redaction.templates import is_plain, secret_values, sum_of

DecisionRow: TypeAlias = dict[str, Any]
"""One decision as JSON."""

DECISIONS_FORMAT: Final = 2
_NO_DOCUMENT: Final[dict[str, Json]] = {}


@dataclass(slots=True)
class DecisionCache:
    """Rows of an earlier plan, and those for the next plan, by the text of the reference."""

    known: Mapping[str, DecisionRow] = field(default_factory=dict)
    made: dict[str, DecisionRow] = field(default_factory=dict)
    is_on: bool = True

    def text(self, *, whole: bool) -> bytes | None:
        """Return the decisions for the next plan, None where nothing changed.

        After a plan of a part, the other decisions stay.
        """
        kept = self.made if whole else {**self.known, **self.made}
        return None if kept == self.known else json.dumps(kept, separators=(",", ":")).encode()


NOTHING_KEPT: Final = DecisionCache(is_on=False)


def read_decisions(text: bytes | None) -> DecisionCache:
    """Read the decisions of an earlier plan; none where the text is no JSON."""
    try:
        known = json.loads(text) if text else {}
    except ValueError:
        known = {}
    return DecisionCache(known if isinstance(known, dict) else {})


@dataclass(frozen=True, slots=True)
class Decisions:
    """Observes and decides each resource of one plan, without work that was done already.

    `known` returns the knowledge about a resource with this observation, without the ids of its
    references. `_same` are the resources without a changed answer, `_reads` the answers behind the
    observations, and `_made` the decisions made while reads are in flight.
    """

    known: Callable[[Ref, Observation], Knowledge]
    cache: DecisionCache
    _same: dict[Ref, DecisionRow] = field(default_factory=dict)
    _reads: dict[Ref, ReadLog] = field(default_factory=dict)
    _made: dict[Ref, tuple[Knowledge, Change]] = field(default_factory=dict)

    async def observe(
        self, api: Api, manifest: Manifest, memory: Memory
    ) -> Observation | ReconcilerError:
        """Observe one resource, and decide it where no other answer can change the decision.

        A resource that an earlier plan decided is only checked for change. Raises as `kind.observe`
        does.
        """
        ref, reads = manifest.ref, ReadLog()
        if self.cache.is_on:
            # Each resource runs in a task, and the other tasks do not see this value.
            READS.set(reads)
            row = self.cache.known.get(str(ref))
            is_known = row is not None and row["manifest"] == sum_of(manifest)
            if row is not None and is_known and await _is_unchanged(api, row):
                self._same[ref] = row
                return _observed_before(row)
        found = await observe(BY_NAME[ref.kind], api, manifest, memory)
        if self.cache.is_on:
            self._reads[ref] = reads
        return found if isinstance(found, ReconcilerError) else self.observed(manifest, found)

    def observed(self, manifest: Manifest, observation: Observation) -> Observation:
        """Decide a resource without references: no other answer can change the decision.

        Returns the observation, without its document if that is no longer needed.
        """
        if not isinstance(observation, Seen) or manifest.references:
            return observation
        knowledge = self.known(manifest.ref, observation)
        change = decide(manifest, knowledge)
        row = self._row(manifest, change, {})
        if row is None:
            self._made[manifest.ref] = knowledge, change
            return observation
        self._same[manifest.ref] = row
        manifest.fold()
        return _observed_before(row)

    def forget(self, ids: Mapping[Ref, RemoteId], reported: Container[Ref]) -> set[Ref]:
        """Return the resources without a changed answer that must be read and decided again.

        These are resources in `reported`, which have reasons, and resources that refer to an id
        that changed.
        """
        gone = {
            ref
            for ref, row in self._same.items()
            if ref in reported or row["ids"] != _ids_of(map(Ref.parse, row["ids"]), ids)
        }
        for ref in gone:
            del self._same[ref]
        return gone

    def decide(self, manifest: Manifest, knowledge: Knowledge) -> Change:
        """Return the earlier decision, or decide now if there is none or its inputs changed."""
        if manifest.ref in self._same:
            return _kept_before(manifest, knowledge.observation)
        before, change = self._made.pop(manifest.ref, (None, None))
        if before is None or change is None or not _is_same(before, knowledge):
            return decide(manifest, knowledge)
        return change

    def digests(
        self, manifests: Sequence[Manifest], changes: Sequence[Change], ids: Mapping[Ref, RemoteId]
    ) -> Iterator[str]:
        """Yield the digest of each change, and remember the decisions for the next plan."""
        # References are filled in in the manifests of the changes.
        for manifest, change in zip(manifests, changes, strict=True):
            row = self._same.get(change.ref) or self._row(manifest, change, ids)
            if row is None:
                yield change_digest(change)
            else:
                self.cache.made[str(change.ref)] = row
                yield row["digest"]

    def _row(
        self, manifest: Manifest, change: Change, ids: Mapping[Ref, RemoteId]
    ) -> DecisionRow | None:
        """Return a row for the cache, None where the change has something to report."""
        reads = self._reads.get(change.ref)
        if reads is None or not reads.whole or not _is_quiet(change):
            return None
        seen = change.observation
        if isinstance(seen, Seen) is not bool(reads.made):
            # A resource from the list that another resource requested has no answer of its own.
            return None
        return {
            "manifest": sum_of(manifest),
            "ids": _ids_of(manifest.references, ids),
            "reads": reads.made,
            "seen": _seen_row(seen),
            "remembered": seen.remote_id if isinstance(seen, Remembered) else None,
            "digest": change_digest(change),
        }


def _observed_before(row: DecisionRow) -> Seen | Remembered:
    """Return the earlier observation, without its document."""
    seen = row["seen"]
    if seen is None:
        return Remembered(row["remembered"], _NO_DOCUMENT)
    return Seen(
        seen["id"],
        _NO_DOCUMENT,
        seen["version"],
        edit=LastEdit(**seen["edit"]),
        by_hand=seen["byHand"],
        revision=seen["revision"],
    )


def _kept_before(manifest: Manifest, observed: Observation) -> Change:
    """Return the change of a resource that is kept again; its documents are empty."""
    return Change(
        ref=manifest.ref,
        manifest=manifest,
        action=Action.KEEP,
        evidence=Evidence.LIVE if isinstance(observed, Seen) else Evidence.JOURNAL,
        observation=observed,
        declared=_NO_DOCUMENT,
        body=_NO_DOCUMENT,
        protected=manifest.protect,
    )


def _is_quiet(change: Change) -> bool:
    """Return whether a change has nothing to report, and its documents are not needed.

    A resource with secrets always needs its documents, as they are searched for each time. So does
    a singleton list, as it is reported whole.
    """
    observed, kind = change.observation, BY_NAME[change.ref.kind]
    whole = isinstance(observed, Remembered) or (
        isinstance(observed, Seen) and not (observed.unseen or observed.overwritten)
    )
    manifest = change.manifest
    plain = manifest is not None and (is_plain(manifest) or not secret_values(manifest.spec))
    quiet = change.action is Action.KEEP and not change.reasons and not change.is_noted
    return quiet and whole and plain and not kind.singleton


def _seen_row(seen: object) -> Json:
    if not isinstance(seen, Seen):
        return None
    return {
        "id": seen.remote_id,
        "version": seen.version,
        "edit": asdict(seen.edit),
        "byHand": seen.by_hand,
        "revision": seen.revision,
    }


def _ids_of(references: Any, ids: Mapping[Ref, RemoteId]) -> dict[str, RemoteId | None]:
    return {str(ref): ids.get(ref) for ref in sorted(references)}


async def _is_unchanged(api: Api, row: DecisionRow) -> bool:
    """Return whether the reads of an earlier plan still have the same answers.

    An unusable answer counts as a change: `observe` reports it.
    """
    try:
        return await api.is_unchanged(row["reads"])
    except (UnreadableReply, ServiceRefused):
        return False


def _is_same(before: Knowledge, now: Knowledge) -> bool:
    """Return whether the inputs of two decisions are the same, except the ids of references."""
    return (
        before.observation is now.observation
        and before.memory is now.memory
        and before.target is now.target
        and before.seed == now.seed
    )


def change_digest(change: Change) -> str:
    """Return the digest of everything that a plan says about one declared resource.

    A protection, an earlier name of the same object, and reasons by which a write undoes or takes
    over the work of others, are in it where they exist: a reviewer agrees to them too.
    """
    manifest, is_protected = change.manifest, change.protected or change.protect
    assert manifest is not None  # noqa: S101 - of orphans a digest covers nothing
    agreed = OverwritesEdit | OverwrittenSince | TakesOver | NeverWritten | UndoesRollback
    codes = {reason.code for reason in change.reasons if isinstance(reason, agreed)}
    before = [str(reason.ref) for reason in change.reasons if isinstance(reason, RenamedFrom)]
    protection: dict[str, Json] = {"protected": change.protected, "protect": change.protect}
    identities = BY_NAME[manifest.ref.kind].identities(manifest)
    entry: dict[str, Json] = {
        "ref": str(change.ref),
        "action": change.action.word,
        "identities": {"metadata": manifest.remote_id, **identities},
        "declared": change.declared,
        "sends": change.body if change.action.writes else None,
        "observed": _observation(change.observation),
        **(protection if is_protected else {}),
        **({"renamedFrom": before[0]} if before else {}),
        **({"agrees": [*sorted(codes)]} if codes else {}),
    }
    return digest(entry)


def _observation(observation: Observation) -> Json:
    match observation:
        case Seen(remote_id=remote_id, document=document):
            return {"seen": remote_id, "document": document}
        case Absent():
            return "absent"
        case Remembered(remote_id=remote_id, document=document):
            return {"remembered": remote_id, "document": document}
        case Unknown(remote_id=remote_id) | Unread(remote_id=remote_id):
            return {"unknown": remote_id}
