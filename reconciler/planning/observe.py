"""Reading the live side of many manifests at once.

An error that concerns the whole service ends the run; one unusable answer does not.

Decisions of an earlier plan about unchanged pairs of manifest and answer are kept: only those
without a write and without any reason, as for all others the reader needs the documents. Where the
manifest, the journal, the ids that it refers to and the bytes of each answer are the same, the
decision is the same. Source: docs/performance.md.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields
from operator import attrgetter
from typing import Any, Final, TypeAlias

from reconciler.api.client import Api
from reconciler.api.replies import READS, ReadLog
from reconciler.document import Json
from reconciler.errors import ReconcilerError, ServiceRefused, UnreadableReply
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import observe
from reconciler.model import (
    Absent,
    Action,
    Change,
    Evidence,
    LastEdit,
    Manifest,
    NotPermitted,
    Observation,
    Ref,
    Remembered,
    RemoteId,
    Seen,
    Unread,
)
from reconciler.planning.decide import Knowledge, decide
from reconciler.redaction.templates import is_plain, secret_values, sum_of
from reconciler.runtime.progress import Deed, Progress

DecisionRow: TypeAlias = dict[str, Any]
"""One decision as JSON."""

DECISIONS_FORMAT: Final = 2
_NO_DOCUMENT: Final[dict[str, Json]] = {}


@dataclass(slots=True)
class Decided:
    """Decisions of an earlier plan, and those of this plan.

    `known` are the rows of the earlier plan by the text of the reference. `reads` are the answers
    behind the observations of this plan. `same` are the resources without a changed answer.
    `made` are the rows for the next plan.
    """

    known: Mapping[str, DecisionRow] = field(default_factory=dict)
    reads: dict[Ref, ReadLog] = field(default_factory=dict)
    same: dict[Ref, DecisionRow] = field(default_factory=dict)
    made: dict[str, DecisionRow] = field(default_factory=dict)

    def row(self, manifest: Manifest) -> DecisionRow | None:
        """Return the earlier decision about an unchanged manifest, None where it changed."""
        row = self.known.get(str(manifest.ref))
        return row if row is not None and row["manifest"] == sum_of(manifest) else None

    def forget(self, ids: Mapping[Ref, RemoteId], told: Container[Ref]) -> list[Ref]:
        """Remove from `same` the resources that must be decided again, and return them.

        These are resources in `told`, which have reasons, and resources that refer to an id that
        changed.
        """
        gone = [
            ref
            for ref, row in self.same.items()
            if ref in told or row["ids"] != _ids_of(map(Ref.parse, row["ids"]), ids)
        ]
        for ref in gone:
            del self.same[ref]
        return gone

    def covered(
        self,
        manifests: Sequence[Manifest],
        changes: Sequence[Change],
        ids: Mapping[Ref, RemoteId],
        cover: Callable[[Change], str],
    ) -> list[str]:
        """Return the digest of each change, and remember the decisions for the next plan."""
        digests = []
        # References are filled in in the manifests of the changes.
        for manifest, change in zip(manifests, changes, strict=True):
            row = self.same.get(change.ref) or self._row(manifest, change, ids, cover)
            digests.append(cover(change) if row is None else row["digest"])
            if row is not None:
                self.made[str(change.ref)] = row
        return digests

    def let_go(
        self, manifest: Manifest, change: Change, cover: Callable[[Change], str]
    ) -> Seen | Remembered | None:
        """Return the observation without its document, where the document is no longer needed.

        None where the decision is not cached, or the change has something to report.
        """
        row = self._row(manifest, change, {}, cover)
        if row is None:
            return None
        self.same[change.ref] = row
        return observed_before(row)

    def _row(
        self,
        manifest: Manifest,
        change: Change,
        ids: Mapping[Ref, RemoteId],
        cover: Callable[[Change], str],
    ) -> DecisionRow | None:
        """Return a row for the cache, None where the change has something to report."""
        reads = self.reads.get(change.ref)
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
            "digest": cover(change),
        }

    def text(self, *, whole: bool) -> bytes | None:
        """Return the decisions for the next plan, None where nothing changed.

        After a plan of a part, the other decisions stay.
        """
        kept = self.made if whole else {**self.known, **self.made}
        return None if kept == self.known else json.dumps(kept, separators=(",", ":")).encode()


def decided_before(text: bytes | None) -> Decided:
    """Read the decisions of an earlier plan; none where the text is no JSON."""
    try:
        known = json.loads(text) if text else {}
    except ValueError:
        known = {}
    return Decided(known if isinstance(known, dict) else {})


def observed_before(row: DecisionRow) -> Seen | Remembered:
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


def kept_before(manifest: Manifest, observed: Seen | Remembered) -> Change:
    """Return the change of a resource that is kept again; its documents are empty."""
    live = isinstance(observed, Seen)
    return Change(
        ref=manifest.ref,
        manifest=manifest,
        action=Action.KEEP,
        evidence=Evidence.LIVE if live else Evidence.JOURNAL,
        observation=observed,
        declared=_NO_DOCUMENT,
        body=_NO_DOCUMENT,
        protected=manifest.protect,
    )


def _is_quiet(change: Change) -> bool:
    """Return whether a change has nothing to report, and its documents are not needed.

    Secrets are searched for again each time, and a singleton list is reported whole.
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


@dataclass(frozen=True, slots=True)
class EarlyDecisions:
    """Decisions made while reads are in flight; used only if their inputs did not change.

    `known` returns the knowledge about a resource with this observation, without the ids of its
    references. A decision without any reason or write is stored in `decided`, with the digest that
    `cover` returns.
    """

    known: Callable[[Ref, Observation], Knowledge]
    cover: Callable[[Change], str]
    decided: Decided | None = None
    made: dict[Ref, tuple[Knowledge, Change]] = field(default_factory=dict)

    def observed(self, manifest: Manifest, observation: Observation) -> Observation:
        """Decide a resource without references: no other answer can change the decision.

        Returns the observation as far as it is still needed: mostly without its document.
        """
        if not isinstance(observation, Seen) or manifest.references:
            return observation
        knowledge = self.known(manifest.ref, observation)
        change = decide(manifest, knowledge)
        if self.decided is not None:
            left = self.decided.let_go(manifest, change, self.cover)
            if left is not None:
                manifest.fold()
                return left
        self.made[manifest.ref] = knowledge, change
        return observation

    def decide(self, manifest: Manifest, knowledge: Knowledge) -> Change:
        """Return the early decision, or decide now if there is none or its inputs changed."""
        before, change = self.made.pop(manifest.ref, (None, None))
        if before is None or change is None or not _is_same(before, knowledge):
            return decide(manifest, knowledge)
        return change


_RESTS_ON = attrgetter(
    *(
        knowledge_field.name
        for knowledge_field in fields(Knowledge)
        if knowledge_field.name != "ids"
    )
)


def _is_same(before: Knowledge, now: Knowledge) -> bool:
    """Return whether two have equal answers and memories; ids of references do not count."""
    return all(
        earlier is later or (isinstance(earlier, str) and earlier == later)
        for earlier, later in zip(_RESTS_ON(before), _RESTS_ON(now), strict=True)
    )


SIDE_BY_SIDE = 4
"""How many resources are observed at once for each request that may be open."""


async def observe_all(
    api: Api,
    manifests: Sequence[Manifest],
    history: History,
    decided: Decided | None = None,
    ahead: EarlyDecisions | None = None,
) -> list[Observation]:
    """Observe every manifest.

    An error that concerns the whole service cancels the other reads and is raised. With `decided`,
    a resource is only checked for change since the earlier plan. `ahead` decides resources while
    other reads are in flight. One unusable answer becomes `Unread`, and the other manifests are
    observed. Where no answer is usable, the service is at fault, and that is raised.
    """
    with ExitStack() as noted:
        counts = Counter(manifest.ref.kind for manifest in manifests)
        steps = {
            kind: noted.enter_context(api.waits.step(Deed.READING, kind, count))
            for kind, count in counts.items()
        }
        found: list[Observation | ReconcilerError] = [Absent()] * len(manifests)
        left = iter(enumerate(manifests))

        async def observe_some() -> None:
            for at, manifest in left:
                step = steps[manifest.ref.kind]
                found[at] = await _observe(api, manifest, history, step, decided, ahead)

        # More tasks than there can be open requests, so that no slot is idle, but not one for each
        # manifest.
        async with asyncio.TaskGroup() as group:
            for _ in range(min(len(manifests), SIDE_BY_SIDE * api.assumptions.requests_at_once)):
                group.create_task(observe_some())
    errors = [error for error in found if isinstance(error, ReconcilerError)]
    if errors and not any(isinstance(observation, Seen | Absent) for observation in found):
        raise ExceptionGroup("no answer about a resource is of use", errors)
    return [
        Unread(
            manifest.remote_id or history.of(manifest.ref).remote_id,
            str(observation),
            observation.exit_code,
        )
        if isinstance(observation, ReconcilerError)
        else observation
        for manifest, observation in zip(manifests, found, strict=True)
    ]


async def proof(
    api: Api, manifests: Sequence[Manifest], observations: Iterable[Observation]
) -> NotPermitted | None:
    """Check that target and key are right, where no observation has proved it yet.

    Without manifests nothing is requested. Returns what is not permitted, or None. Raises what
    `Api.prove` raises.
    """
    if not manifests or any(
        isinstance(observation, Seen | Absent | Unread) for observation in observations
    ):
        return None
    missing = await api.prove()
    return NotPermitted(missing) if missing else None


async def _observe(  # noqa: PLR0917 - what one task of `observe_all` is given
    api: Api,
    manifest: Manifest,
    history: History,
    step: Progress,
    decided: Decided | None,
    ahead: EarlyDecisions | None,
) -> Observation | ReconcilerError:
    reads = ReadLog()
    if decided is not None:
        # Each resource runs in a task, and the other tasks do not see this value.
        READS.set(reads)
    found: Observation | ReconcilerError
    row = decided.row(manifest) if decided is not None else None
    if decided is not None and row is not None and await _is_unchanged(api, row):
        decided.same[manifest.ref] = row
        found = observed_before(row)
    else:
        found = await observe(BY_NAME[manifest.ref.kind], api, manifest, history.of(manifest.ref))
        if decided is not None:
            decided.reads[manifest.ref] = reads
        if ahead is not None and not isinstance(found, ReconcilerError):
            found = ahead.observed(manifest, found)
    step.done += 1
    return found


async def _is_unchanged(api: Api, row: DecisionRow) -> bool:
    """Return whether the reads of an earlier plan still have the same answers.

    An unusable answer counts as a change: `observe` reports it.
    """
    try:
        return await api.is_unchanged(row["reads"])
    except (UnreadableReply, ServiceRefused):
        return False
