"""One apply: batch by batch, each journaled before and after it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from reconciler.api.door import Api
from reconciler.applying.answering import closing_entry, operation_of, outcome_of
from reconciler.applying.applied import Applied
from reconciler.applying.order import batches, goes_alone
from reconciler.applying.reading_back import (
    as_told,
    not_removed,
    rewritten_entry,
    stored_otherwise,
)
from reconciler.applying.staleness import is_stale_read, was_overtaken, what_moved
from reconciler.document import Json, digest
from reconciler.errors import JournalError, Locked, ReconcilerError
from reconciler.journal.entries import (
    ADOPTED,
    Entry,
    Identified,
    RefusedEntry,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.journal.journal import Journal
from reconciler.kinds.kind import Answer, Kind, Sending
from reconciler.kinds.observing import observe
from reconciler.points import Point, reached
from reconciler.resource import (
    Action,
    Change,
    InDoubt,
    Observation,
    Outcome,
    Overtaken,
    Plan,
    Ref,
    Refused,
    Remembered,
    RemoteId,
    Seen,
    Skipped,
    Unchanged,
    Unknown,
    Written,
)
from reconciler.template import resolve, reveal

__all__ = ["Applied", "Run"]

Told: TypeAlias = Callable[[Outcome], None]

INTERRUPTED = "the run was interrupted"


@dataclass(slots=True)
class Run:
    """The state of one apply. `stopping` is set by the first signal."""

    api: Api
    journal: Journal
    name: str
    tell: Told
    stopping: asyncio.Event
    ids: dict[Ref, RemoteId] = field(default_factory=dict)
    failed: set[Ref] = field(default_factory=set)
    applied: Applied = field(default_factory=Applied)

    async def apply(self, plan: Plan) -> Applied:
        """Write every change of a plan that writes.

        What the service refuses, and what depends on it, does not stop the
        rest. A lost service, a refused key, a broken journal or a lost lock
        does: nothing is sent after it, and `Applied.stopped_by` says what it was.
        """
        for change in plan.changes:
            if change.remote_id is not None:
                self.ids[change.ref] = change.remote_id
        self._adopt(plan)
        for change in plan.changes:
            if change.action is Action.BLOCKED:
                self._note(_blocked(change))
        for kind, batch in batches(plan.changes):
            await self._write_batch(kind, batch)
        return self.applied

    def leave(self, plan: Plan) -> None:
        """Give what has no outcome yet the one that the journal knows, after a run was left.

        What was in flight stays open there.
        """
        known = {outcome.ref for outcome in self.applied.outcomes}
        for _, batch in batches(plan.changes):
            for change in batch:
                if change.ref not in known:
                    self._note(self._left(change))

    def _left(self, change: Change) -> Outcome:
        pending = self.journal.history.of(change.ref).pending
        if pending is None or pending.run != self.name:
            return Skipped(change.ref, INTERRUPTED)
        if goes_alone(change) and pending.operation == "create":
            return InDoubt(change.ref, "the run was left while its create was in flight")
        said = "the run was left while it was in flight: the next plan tells what became of it"
        return Refused(change.ref, said, sure=False)

    def _adopt(self, plan: Plan) -> None:
        """Remember what live already holds, and whether it is protected.

        So drift from it will show, and protection begins and ends by an apply alone.
        """
        entries: list[Entry] = []
        for change in plan.changes:
            if change.action is not Action.KEEP or not self._is_news(change):
                continue
            last = self.journal.history.of(change.ref).acknowledged
            at, ref = self.journal.now(), change.ref
            entries.append(self._started(change))
            entries.append(WrittenEntry(self.name, at, ref, change.remote_id, ADOPTED))
            if last is not None and last.rewritten:
                # Live is still what the service made of the last write.
                entries.append(Stored(self.name, at, ref, last.rewritten))
        if entries:
            self._journaled(entries)

    def _is_news(self, change: Change) -> bool:
        """Tell whether the journal does not know yet what a kept resource is."""
        if isinstance(change.observation, Seen):
            last = self.journal.history.of(change.ref).acknowledged
            if last is None or last.declared != self._resolved(change):
                return True
        return change.turns_protection and isinstance(change.observation, Seen | Remembered)

    async def _write_batch(self, kind: Kind, batch: Sequence[Change]) -> None:
        sendings = [self._sending(change) for change in batch if not self._skipped(change)]
        sendings = await self._still_as_planned(kind, sendings)
        # A signal may have come while the service was asked.
        sendings = [one for one in sendings if not self._skipped(one.change)]
        if not sendings:
            return
        reached(Point.BEFORE_STARTED)
        if not self._journaled([self._started(one.change) for one in sendings]):
            for sending in sendings:
                self._skipped(sending.change)
            return
        reached(Point.AFTER_STARTED)
        answers: Sequence[Answer]
        try:
            answers = await kind.write(self.api, sendings, self._identified)
        except (JournalError, Locked) as error:
            self.applied.unjournaled = True
            answers = [error] * len(sendings)
        except ReconcilerError as error:
            answers = [error] * len(sendings)
        self._close(sendings, answers)
        if not self.applied.unjournaled:
            await self._read_back(kind, sendings, answers)

    def _skipped(self, change: Change) -> bool:
        """Note a change that must not be sent any more."""
        why = self._why_skipped(change)
        if why:
            self._note(Skipped(change.ref, why))
        return bool(why)

    def _why_skipped(self, change: Change) -> str:
        if self.applied.stopped_by is not None:
            return "the run had stopped"
        if self.stopping.is_set():
            return INTERRUPTED
        if goes_alone(change) and any(isinstance(one, InDoubt) for one in self.applied.outcomes):
            return "another create is in doubt, and one is enough to look for"
        bad = sorted(change.manifest.references & self.failed)
        return f"depends on {bad[0]}, which was not written" if bad else ""

    def _sending(self, change: Change) -> Sending:
        """Fill in references and secrets, as late as possible."""
        document = reveal(self._filled(change.body))
        assert isinstance(document, dict)  # noqa: S101 - filling keeps the form
        return Sending(change, document)

    def _resolved(self, change: Change) -> dict[str, Json]:
        """Give what is declared with the ids that are known by now; secrets stay sealed."""
        return self._filled(change.declared)

    def _filled(self, document: dict[str, Json]) -> dict[str, Json]:
        filled = resolve(document, self.ids)
        assert isinstance(filled, dict)  # noqa: S101 - filling keeps the form
        return filled

    async def _still_as_planned(self, kind: Kind, sendings: list[Sending]) -> list[Sending]:
        """Leave out what the service objects to, and what changed since the plan (R16).

        Live is read last, right before the write.
        """
        try:
            sendings = await self._without_objections(kind, sendings)
            return await self._unmoved(kind, sendings)
        except ReconcilerError as error:
            self.applied.stop(error)
            for sending in sendings:
                self._note(Refused(sending.ref, str(error), error.exit_code))
            return []

    async def _without_objections(self, kind: Kind, sendings: list[Sending]) -> list[Sending]:
        asked = await asyncio.gather(*(kind.preflight(self.api, one) for one in sendings))
        for sending, objections in zip(sendings, asked, strict=True):
            if objections:
                self._note(Refused(sending.ref, "; ".join(objections)))
        return [one for one, objections in zip(sendings, asked, strict=True) if not objections]

    async def _unmoved(self, kind: Kind, sendings: list[Sending]) -> list[Sending]:
        if not kind.readable:
            return sendings
        observed = await asyncio.gather(*(self._observe(kind, one) for one in sendings))
        unmoved = []
        for sending, now in zip(sendings, observed, strict=True):
            if isinstance(now, ReconcilerError):
                said = f"it could not be read again before the write: {now}"
                self._note(Refused(sending.ref, said, now.exit_code))
            elif said := what_moved(kind, sending.change, now):
                self._note(Refused(sending.ref, said, exit_code=6))
            else:
                unmoved.append(sending)
        return unmoved

    async def _observe(self, kind: Kind, sending: Sending) -> Observation | ReconcilerError:
        memory = self.journal.history.of(sending.ref)
        return await observe(kind, self.api, sending.change.manifest, memory)

    def _started(self, change: Change) -> Started:
        seen = change.observation
        return Started(
            self.name,
            self.journal.now(),
            change.ref,
            operation_of(change),
            self._resolved(change),
            change.request_id,
            change.remote_id,
            digest(seen.document) if isinstance(seen, Seen) else "",
            change.manifest.protect,
        )

    def _identified(self, ref: Ref, remote_id: RemoteId) -> None:
        self._append([Identified(self.name, self.journal.now(), ref, remote_id)])

    def _journaled(self, entries: Sequence[Entry]) -> bool:
        """Journal entries; where that fails, end the run."""
        try:
            self._append(entries)
        except (JournalError, Locked) as error:
            self.applied.stop(error)
            return False
        return True

    def _append(self, entries: Sequence[Entry]) -> None:
        """Journal entries; a service that repeats a secret in its words gets no copy there."""
        hide = self.api.redaction
        self.journal.append(
            [
                replace(entry, message=hide(entry.message))
                if isinstance(entry, WrittenEntry | RefusedEntry)
                else entry
                for entry in entries
            ]
        )

    def _close(self, sendings: Sequence[Sending], answers: Sequence[Answer]) -> None:
        """Journal the answers of a batch in one append, then tell them."""
        outcomes = [outcome_of(one, answer) for one, answer in zip(sendings, answers, strict=True)]
        at = self.journal.now()
        entries = [
            entry
            for outcome in outcomes
            if (entry := closing_entry(outcome, self.name, at)) is not None
        ]
        if entries:
            reached(Point.BEFORE_WRITTEN)
            self.applied.unjournaled |= not self._journaled(entries)
            reached(Point.AFTER_WRITTEN)
        for answer in answers:
            if isinstance(answer, ReconcilerError):
                self.applied.stop(answer)
        for outcome in outcomes:
            if isinstance(outcome, Written | Unchanged) and outcome.remote_id is not None:
                self.ids[outcome.ref] = outcome.remote_id
            self._note(outcome)

    def _note(self, outcome: Outcome) -> None:
        if not isinstance(outcome, Written | Unchanged):
            self.failed.add(outcome.ref)
        self.applied.outcomes.append(outcome)
        self.tell(outcome)

    async def _look_again(self, kind: Kind, sending: Sending) -> Seen | None:
        try:
            found = await self._observe(kind, sending) if kind.readable else None
        except ReconcilerError:
            return None
        return found if isinstance(found, Seen) else None

    async def _read_back(
        self, kind: Kind, sendings: Sequence[Sending], answers: Sequence[Answer]
    ) -> None:
        """Compare what the service stored with what it was sent (R15, R16).

        The write is journaled already, so a failed read only costs the comparison.
        """
        written = [
            (sending, answer)
            for sending, answer in zip(sendings, answers, strict=True)
            if isinstance(answer, Written)
        ]
        reads = (self._look_again(kind, sending) for sending, _ in written)
        observed = await asyncio.gather(*reads)
        entries: list[Entry] = []
        for (sending, answer), now in zip(written, observed, strict=True):
            entries.extend(self._compared(kind, sending, answer, now))
        if entries:
            self._journaled(entries)

    def _compared(
        self, kind: Kind, sending: Sending, answer: Written, now: Seen | None
    ) -> list[Entry]:
        """Note what is not as it was sent: the work of another writer, else of the service."""
        change = sending.change
        if now is not None and is_stale_read(change.observation, now):
            return []
        stored = answer.stored if now is None else now.document
        found = stored_otherwise(kind, self._resolved(change), stored)
        told = as_told((*found, *not_removed(change, self._filled(change.body), stored)))
        if told and now is not None and was_overtaken(change.observation, now, answer):
            self.applied.overtake(change.ref, Overtaken(now.attribution, told))
            return []
        if told:
            self.applied.rewritten[change.ref] = told
        return [rewritten_entry(self.name, self.journal.now(), change.ref, found)] if found else []


def _blocked(change: Change) -> Refused:
    """Give what the plan could not do as its outcome."""
    said = change.notes[0] if change.notes else "blocked"
    known = change.observation
    if isinstance(known, Unknown) and known.exit_code:
        return Refused(change.ref, said, known.exit_code)
    return Refused(change.ref, said)
