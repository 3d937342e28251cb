"""One apply: batch by batch, each journaled before and after it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from reconciler.api.door import Api
from reconciler.applying.order import batches
from reconciler.document import ABSENT, Difference, Json, differences, digest, merge
from reconciler.errors import NotAuthorised, OutcomeUnknown, ReconcilerError, Redirected, WrongRoute
from reconciler.journal.entries import (
    Entry,
    Identified,
    RefusedEntry,
    Started,
    Stored,
    WrittenEntry,
    rewritten_from,
)
from reconciler.journal.file_store import FileJournal
from reconciler.kinds.kind import Kind, Sending
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
                entries.append(self._started(change, "replace"))
                written = WrittenEntry(
                    self.name, self.journal.now(), change.ref, change.remote_id, ADOPTED
                )
                entries.append(written)
        if entries:
            self.journal.append(entries)

    async def _write_batch(self, kind: Kind, batch: Sequence[Change]) -> None:
        sendings = []
        for change in batch:
            why = self._why_skipped(change)
            if why:
                self._note(Skipped(change.ref, why))
            else:
                sendings.append(self._sending(change))
        sendings = await self._still_as_planned(kind, sendings)
        if not sendings:
            return
        self.journal.append([self._started(one.change, _operation(one.change)) for one in sendings])
        try:
            outcomes = await kind.write(self.api, sendings, self._identified)
        except ReconcilerError as error:
            self._stop(error, sendings)
            return
        self._close(outcomes)
        await self._read_back(kind, sendings, outcomes)

    def _why_skipped(self, change: Change) -> str:
        if self.applied.stopped_by is not None:
            return "the run had stopped"
        if self.stopping.is_set():
            return "the run was interrupted"
        bad = sorted(change.manifest.references & self.failed)
        return f"depends on {bad[0]}, which was not written" if bad else ""

    def _sending(self, change: Change) -> Sending:
        """Fill in references and secrets, as late as possible."""
        document = reveal(resolve(change.body, self.ids))
        assert isinstance(document, dict)  # noqa: S101 - filling keeps the form
        return Sending(change, document)

    def _resolved(self, change: Change) -> dict[str, Json]:
        """Give what is declared with the ids that are known by now; secrets stay sealed."""
        declared = resolve(change.declared, self.ids)
        assert isinstance(declared, dict)  # noqa: S101 - filling keeps the form
        return declared

    async def _still_as_planned(self, kind: Kind, sendings: list[Sending]) -> list[Sending]:
        """Read again just before the write, and leave out what changed meanwhile (R16)."""
        if not kind.readable or not sendings:
            return sendings
        try:
            observed = await asyncio.gather(*(self._observe(kind, one) for one in sendings))
        except ReconcilerError as error:
            self._stop(error, sendings, sent=False)
            return []
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
        self.journal.append([Identified(self.name, self.journal.now(), ref, remote_id)])

    def _stop(
        self, error: ReconcilerError, sendings: Sequence[Sending], *, sent: bool = True
    ) -> None:
        """End the run; journal as refused what surely did not happen."""
        self.applied.stopped_by = error
        entries: list[Entry] = []
        for sending in sendings:
            unsure = isinstance(error, OutcomeUnknown) or (
                _operation(sending.change) == "replace"
                and not isinstance(error, NotAuthorised | Redirected | WrongRoute)
            )
            if isinstance(error, OutcomeUnknown) and _operation(sending.change) == "create":
                self._note(InDoubt(sending.ref, str(error)))
            else:
                self._note(Refused(sending.ref, str(error), error.exit_code))
            if sent and not unsure:
                at = self.journal.now()
                entries.append(RefusedEntry(self.name, at, sending.ref, str(error)))
        if entries:
            self.journal.append(entries)

    def _close(self, outcomes: Sequence[Outcome]) -> None:
        """Journal the answers of a batch in one append, then tell them."""
        entries: list[Entry] = []
        for outcome in outcomes:
            at = self.journal.now()
            match outcome:
                case (
                    Written(ref=ref, remote_id=remote_id, message=message)
                    | Unchanged(ref=ref, remote_id=remote_id, message=message)
                ):
                    entries.append(WrittenEntry(self.name, at, ref, remote_id, message))
                    if remote_id is not None:
                        self.ids[ref] = remote_id
                case Refused(ref=ref, message=message, exit_code=3):
                    entries.append(RefusedEntry(self.name, at, ref, message))
                case Refused() | InDoubt() | Skipped():
                    # Nobody knows what became of it, so its `started` stays open.
                    pass
        if entries:
            self.journal.append(entries)
        for outcome in outcomes:
            self._note(outcome)

    def _note(self, outcome: Outcome) -> None:
        if not isinstance(outcome, Written | Unchanged):
            self.failed.add(outcome.ref)
        self.applied.outcomes.append(outcome)
        self.tell(outcome)

    async def _read_back(
        self, kind: Kind, sendings: Sequence[Sending], outcomes: Sequence[Outcome]
    ) -> None:
        """Compare what the service stored with what it was sent (R15).

        The write is journaled already, so a failed read only costs the comparison.
        """
        written = {one.ref: one for one in outcomes if isinstance(one, Written)}
        mine = [one for one in sendings if one.ref in written]
        stored: list[Observation | BaseException | None] = [None] * len(mine)
        if kind.readable:
            reads = (self._observe(kind, one) for one in mine)
            stored = list(await asyncio.gather(*reads, return_exceptions=True))
        entries: list[Entry] = []
        for sending, observed in zip(mine, stored, strict=True):
            answer = written[sending.ref].stored
            document = observed.document if isinstance(observed, Seen) else answer
            if document is None:
                continue
            found = _rewritten(kind, self._resolved(sending.change), document)
            if found:
                self.applied.rewritten[sending.ref] = found
                pairs = tuple(map(rewritten_from, found))
                entries.append(Stored(self.name, self.journal.now(), sending.ref, pairs))
        if entries:
            self.journal.append(entries)


def _operation(change: Change) -> str:
    return "create" if change.action is Action.CREATE else "replace"


def _moved(planned: Observation, now: Observation, secrets: Mapping[str, Template]) -> bool:
    """Tell whether live is not what the plan rests on; ids of this run's own writes aside."""
    if isinstance(planned, Seen) and isinstance(now, Seen):
        live = conceal(now.document, secrets)
        unequal = digest(live) != digest(planned.document)
        return unequal or now.version != planned.version
    return type(planned) is not type(now)


def _rewritten(
    kind: Kind, declared: dict[str, Json], stored: dict[str, Json]
) -> tuple[Difference, ...]:
    """Give the declared fields that came back otherwise: `before` is sent, `after` stored."""
    shown = conceal(stored, secrets_of(declared))
    wanted = merge(ABSENT, declared, shown, kind.shape)
    return tuple(differences(wanted, shown, kind.shape))
