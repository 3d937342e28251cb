"""One apply: batch by batch, each journaled before and after it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from reconciler.api.door import Api
from reconciler.applying.answering import closing_entry, outcome_of
from reconciler.applying.applied import Applied
from reconciler.applying.filling import filled, sending_of
from reconciler.applying.looking_again import moved, objected, seen_after
from reconciler.applying.order import batches
from reconciler.applying.reading_back import (
    as_told,
    not_removed,
    rewritten_entry,
    stored_otherwise,
)
from reconciler.applying.remembering import adopting_entries, started_entry
from reconciler.applying.staleness import is_stale_read, was_overtaken
from reconciler.applying.unsent import blocked, left, why_skipped
from reconciler.errors import JournalError, Locked, ReconcilerError
from reconciler.journal.entries import Entry, Identified, RefusedEntry, Started, WrittenEntry
from reconciler.journal.journal import Journal
from reconciler.kinds.kind import Answer, Kind, Sending
from reconciler.points import Point, reached
from reconciler.resource import (
    Action,
    Change,
    Outcome,
    Overtaken,
    Plan,
    Ref,
    Refused,
    RemoteId,
    Seen,
    Skipped,
    Unchanged,
    Written,
)

__all__ = ["Applied", "Run"]

Told: TypeAlias = Callable[[Outcome], None]


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
        history, at = self.journal.history, self.journal.now()
        adopted = adopting_entries(plan.changes, history, self.ids, self.name, at)
        if adopted:
            self._journaled(adopted)
        for change in plan.changes:
            if change.action is Action.BLOCKED:
                self._note(blocked(change))
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
                    pending = self.journal.history.of(change.ref).pending
                    self._note(left(change, pending, self.name))

    async def _write_batch(self, kind: Kind, batch: Sequence[Change]) -> None:
        sendings = [sending_of(change, self.ids) for change in batch if not self._skipped(change)]
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
        interrupted = self.stopping.is_set()
        why = why_skipped(change, self.applied, self.failed, interrupted=interrupted)
        if why:
            self._note(Skipped(change.ref, why))
        return bool(why)

    async def _still_as_planned(self, kind: Kind, sendings: list[Sending]) -> list[Sending]:
        """Leave out what the service objects to, and what changed since the plan (R16).

        Live is read last, right before the write.
        """
        try:
            sendings = self._without(await objected(kind, self.api, sendings), sendings)
            refused = await moved(kind, self.api, self.journal.history, sendings)
            return self._without(refused, sendings)
        except ReconcilerError as error:
            self.applied.stop(error)
            for sending in sendings:
                self._note(Refused(sending.ref, str(error), error.exit_code))
            return []

    def _without(self, refused: Sequence[Refused], sendings: list[Sending]) -> list[Sending]:
        """Note what is refused before it is sent, and give the rest."""
        for one in refused:
            self._note(one)
        refs = {one.ref for one in refused}
        return [sending for sending in sendings if sending.ref not in refs]

    def _started(self, change: Change) -> Started:
        declared = filled(change.declared, self.ids)
        return started_entry(change, declared, self.name, self.journal.now())

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
        history, sent = self.journal.history, [sending for sending, _ in written]
        observed = await seen_after(kind, self.api, history, sent)
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
        found = stored_otherwise(kind, filled(change.declared, self.ids), stored)
        kept = not_removed(change, filled(change.body, self.ids), stored)
        told = as_told((*found, *kept))
        if told and now is not None and was_overtaken(change.observation, now, answer):
            self.applied.overtake(change.ref, Overtaken(now.attribution, told))
            return []
        if told:
            self.applied.rewritten[change.ref] = told
        return [rewritten_entry(self.name, self.journal.now(), change.ref, found)] if found else []
