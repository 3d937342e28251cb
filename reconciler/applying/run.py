"""One apply: batch by batch, each journaled before and after it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from reconciler.api.door import Api
from reconciler.applying.order import batches, goes_alone
from reconciler.applying.reading_back import (
    as_told,
    not_removed,
    rewritten_entry,
    stored_otherwise,
)
from reconciler.document import Difference, Json, digest
from reconciler.errors import JournalError, OutcomeUnknown, ReconcilerError, worst
from reconciler.journal.entries import (
    Entry,
    Identified,
    RefusedEntry,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.journal.file_store import FileJournal
from reconciler.kinds.kind import Answer, Kind, Sending
from reconciler.points import Point, reached
from reconciler.resource import (
    Action,
    Change,
    InDoubt,
    Observation,
    Outcome,
    Plan,
    Ref,
    Refused,
    RemoteId,
    Seen,
    Skipped,
    Unchanged,
    Written,
)
from reconciler.template import Template, conceal, resolve, reveal, secrets_of

ADOPTED = "live was already as declared"

Told: TypeAlias = Callable[[Outcome], None]


@dataclass(slots=True)
class Applied:
    """What an apply did: one outcome for each change that would write, and what stopped it."""

    outcomes: list[Outcome] = field(default_factory=list)
    rewritten: dict[Ref, tuple[Difference, ...]] = field(default_factory=dict)
    stopped_by: ReconcilerError | None = None
    signal_code: int | None = None

    @property
    def exit_codes(self) -> set[int]:
        """The codes that apply to the run; `errors.worst` chooses."""
        codes = {one.exit_code for one in self.outcomes if isinstance(one, Refused)}
        if any(isinstance(one, InDoubt) for one in self.outcomes):
            codes.add(7)
        if any(isinstance(one, Skipped) for one in self.outcomes):
            codes.add(3)
        if self.stopped_by is not None:
            codes.add(self.stopped_by.exit_code)
        if self.signal_code is not None:
            codes.add(self.signal_code)
        return codes


@dataclass(slots=True)
class Run:
    """The state of one apply. `stopping` is set by the first signal."""

    api: Api
    journal: FileJournal
    name: str
    tell: Told
    stopping: asyncio.Event
    ids: dict[Ref, RemoteId] = field(default_factory=dict)
    failed: set[Ref] = field(default_factory=set)
    applied: Applied = field(default_factory=Applied)

    async def apply(self, plan: Plan) -> Applied:
        """Write every change of a plan that writes.

        What the service refuses, and what depends on it, does not stop the
        rest. A lost service, a refused key or a broken journal does.
        Raises JournalError only.
        """
        for change in plan.changes:
            if change.remote_id is not None:
                self.ids[change.ref] = change.remote_id
        self._adopt(plan)
        for change in plan.changes:
            if change.action is Action.BLOCKED:
                self.failed.add(change.ref)
                self._note(Refused(change.ref, change.notes[0] if change.notes else "blocked"))
        for kind, batch in batches(plan.changes):
            await self._write_batch(kind, batch)
        return self.applied

    def _adopt(self, plan: Plan) -> None:
        """Remember what live already holds, so that drift from it will show."""
        entries: list[Entry] = []
        for change in plan.changes:
            if change.action is not Action.KEEP or not isinstance(change.observation, Seen):
                continue
            memory = self.journal.history.of(change.ref)
            last = memory.acknowledged
            if last is None or last.declared != self._resolved(change):
                at, ref = self.journal.now(), change.ref
                entries.append(self._started(change, "replace"))
                entries.append(WrittenEntry(self.name, at, ref, change.remote_id, ADOPTED))
                if last is not None and last.rewritten:
                    # Live is still what the service made of the last write.
                    entries.append(Stored(self.name, at, ref, last.rewritten))
        if entries:
            self._append(entries)

    async def _write_batch(self, kind: Kind, batch: Sequence[Change]) -> None:
        sendings = [self._sending(change) for change in batch if not self._skipped(change)]
        sendings = await self._still_as_planned(kind, sendings)
        # A signal may have come while the service was asked.
        sendings = [one for one in sendings if not self._skipped(one.change)]
        if not sendings:
            return
        reached(Point.BEFORE_STARTED)
        self._append([self._started(one.change, _operation(one.change)) for one in sendings])
        reached(Point.AFTER_STARTED)
        answers: Sequence[Answer]
        try:
            answers = await kind.write(self.api, sendings, self._identified)
        except JournalError:
            raise
        except ReconcilerError as error:
            answers = [error] * len(sendings)
        self._close(sendings, answers)
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
            return "the run was interrupted"
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
            self._stop(error)
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
            if _moved(sending.change.observation, now, secrets_of(sending.change.declared)):
                said = "live changed since the plan: plan again"
                self._note(Refused(sending.ref, said, exit_code=6))
            else:
                unmoved.append(sending)
        return unmoved

    async def _observe(self, kind: Kind, sending: Sending) -> Observation:
        memory = self.journal.history.of(sending.ref)
        return await kind.observe(self.api, sending.change.manifest, memory)

    def _started(self, change: Change, operation: str) -> Started:
        seen = change.observation
        return Started(
            self.name,
            self.journal.now(),
            change.ref,
            "create" if operation == "create" else "replace",
            self._resolved(change),
            change.request_id,
            change.remote_id,
            digest(seen.document) if isinstance(seen, Seen) else "",
        )

    def _identified(self, ref: Ref, remote_id: RemoteId) -> None:
        self._append([Identified(self.name, self.journal.now(), ref, remote_id)])

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
        outcomes = [_outcome(one, answer) for one, answer in zip(sendings, answers, strict=True)]
        entries = [
            entry for outcome in outcomes if (entry := self._closing_entry(outcome)) is not None
        ]
        if entries:
            reached(Point.BEFORE_WRITTEN)
            self._append(entries)
            reached(Point.AFTER_WRITTEN)
        for answer in answers:
            if isinstance(answer, ReconcilerError):
                self._stop(answer)
        for outcome in outcomes:
            self._note(outcome)

    def _closing_entry(self, outcome: Outcome) -> Entry | None:
        """Give what the journal says of an outcome; nothing where nobody knows it.

        Then its `started` stays open.
        """
        at = self.journal.now()
        match outcome:
            case (
                Written(ref=ref, remote_id=remote_id, message=message)
                | Unchanged(ref=ref, remote_id=remote_id, message=message)
            ):
                if remote_id is not None:
                    self.ids[ref] = remote_id
                return WrittenEntry(self.name, at, ref, remote_id, message)
            case Refused(ref=ref, message=message, sure=True) | Skipped(ref=ref, message=message):
                return RefusedEntry(self.name, at, ref, message)
            case Refused() | InDoubt():
                return None

    def _stop(self, error: ReconcilerError) -> None:
        """End the run; of several reasons the one with the first exit code counts."""
        codes = {error.exit_code}
        if self.applied.stopped_by is not None:
            codes.add(self.applied.stopped_by.exit_code)
        if self.applied.stopped_by is None or worst(codes) != self.applied.stopped_by.exit_code:
            self.applied.stopped_by = error

    def _note(self, outcome: Outcome) -> None:
        if not isinstance(outcome, Written | Unchanged):
            self.failed.add(outcome.ref)
        self.applied.outcomes.append(outcome)
        self.tell(outcome)

    async def _look_again(self, kind: Kind, sending: Sending) -> Observation | None:
        try:
            return await self._observe(kind, sending) if kind.readable else None
        except ReconcilerError:
            return None

    async def _read_back(
        self, kind: Kind, sendings: Sequence[Sending], answers: Sequence[Answer]
    ) -> None:
        """Compare what the service stored with what it was sent (R15).

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
            stored = _stored(sending.change.observation, now, answer)
            found = stored_otherwise(kind, self._resolved(sending.change), stored)
            kept = not_removed(sending.change, self._filled(sending.change.body), stored)
            if found or kept:
                self.applied.rewritten[sending.ref] = as_told((*found, *kept))
            if found:
                entries.append(rewritten_entry(self.name, self.journal.now(), sending.ref, found))
        if entries:
            self._append(entries)


def _outcome(sending: Sending, answer: Answer) -> Outcome:
    """Give what became of one write, also where its answer stops the run."""
    if not isinstance(answer, ReconcilerError):
        return answer
    if isinstance(answer, OutcomeUnknown) and _operation(sending.change) == "create":
        return InDoubt(sending.ref, str(answer))
    return Refused(sending.ref, str(answer), answer.exit_code, sure=not answer.doubtful)


def _operation(change: Change) -> str:
    return "create" if change.action is Action.CREATE else "replace"


def _moved(planned: Observation, now: Observation, secrets: Mapping[str, Template]) -> bool:
    """Tell whether live is not what the plan rests on; ids of this run's own writes aside."""
    if isinstance(planned, Seen) and isinstance(now, Seen):
        live = conceal(now.document, secrets)
        unequal = digest(live) != digest(planned.document)
        return unequal or now.version != planned.version or now.remote_id != planned.remote_id
    return type(planned) is not type(now)


def _stored(
    before: Observation, now: Observation | None, answer: Written
) -> dict[str, Json] | None:
    """Give what the service has now; None where the read shows what was there before the write."""
    if not isinstance(now, Seen):
        return answer.stored
    stale = isinstance(before, Seen) and now.version and now.version == before.version
    return None if stale else now.document
