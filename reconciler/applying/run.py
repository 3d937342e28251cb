"""One apply: it sends batch after batch, with journal entries before and after each.

Its result has the outcomes, the exit code, and the changes that were not sent.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter

from reconciler import errors, model
from reconciler.api.client import Api
from reconciler.applying import one_write
from reconciler.document import Difference
from reconciler.journal.entries import Entry, IdentifiedEntry, Started, WrittenEntry
from reconciler.journal.history import once_written
from reconciler.journal.journal import Journal
from reconciler.kinds import KINDS, is_unfindable_create
from reconciler.kinds.kind import Kind, Sending, WriteResult
from reconciler.redaction.templates import resolve, reveal
from reconciler.runtime.failpoints import Point, reached
from reconciler.runtime.progress import Deed, Progress


def batches(changes: Sequence[model.Change]) -> Iterator[tuple[Kind, tuple[model.Change, ...]]]:
    """Yield the changes that are sent together, in order.

    A create that cannot be looked up goes alone and late, so that a crash leaves at most one of
    them unsettled (docs/journal.md).
    """
    waves: dict[int, list[model.Change]] = {}
    levels = _levels({change.ref: change for change in changes})
    for change in changes:
        if change.action.writes:
            waves.setdefault(levels[change.ref], []).append(change)
    for _, wave in sorted(waves.items()):
        alone: list[tuple[Kind, tuple[model.Change, ...]]] = []
        for kind in KINDS:
            mine = [change for change in wave if change.ref.kind == kind.name]
            alone.extend((kind, (change,)) for change in mine if is_unfindable_create(change))
            together = [change for change in mine if not is_unfindable_create(change)]
            for start in range(0, len(together), kind.batch_size):
                yield kind, tuple(together[start : start + kind.batch_size])
        yield from alone


def _levels(changes: Mapping[model.Ref, model.Change]) -> dict[model.Ref, int]:
    """Map each resource to its level: 0, or one more than the highest level it refers to.

    There are no cycles.
    """
    inner = {
        ref: [reference for reference in change.references if reference in changes]
        for ref, change in changes.items()
    }
    levels: dict[model.Ref, int] = {}
    for ref in TopologicalSorter(inner).static_order():
        levels[ref] = 1 + max((levels[reference] for reference in inner[ref]), default=-1)
    return levels


@dataclass(slots=True)
class Applied:
    """The result of an apply: one outcome for each change that would write, and what stopped it.

    `unjournaled` means that an outcome is known, and the journal could not take it. `unproved` has
    the result of the log samples of an overwrite, where it was not as planned. `renamed` has the
    former names of resources that the journal now knows by another name.
    """

    outcomes: list[model.Outcome] = field(default_factory=list)
    rewritten: dict[model.Ref, tuple[Difference, ...]] = field(default_factory=dict)
    overtaken: dict[model.Ref, model.Overtaken] = field(default_factory=dict)
    unproved: dict[model.Ref, str] = field(default_factory=dict)
    renamed: dict[model.Ref, model.Ref] = field(default_factory=dict)
    stopped_by: errors.ReconcilerError | None = None
    signal_code: int | None = None
    unjournaled: bool = False

    @property
    def exit_codes(self) -> set[int]:
        """The exit codes that apply to the run; `errors.worst` chooses."""
        codes = {
            outcome.exit_code
            for outcome in self.outcomes
            if isinstance(outcome, model.Refused | model.Unconfirmed)
        }
        kinds = {type(outcome) for outcome in self.outcomes}
        found = {
            errors.Unsettled.exit_code: model.InDoubt in kinds,
            errors.ExitCode.PARTIAL: model.Skipped in kinds or bool(self.unproved),
            errors.Stale.exit_code: bool(self.overtaken),
            errors.JournalError.exit_code: self.unjournaled,
        }
        stops = self.stopped_by.exit_code if self.stopped_by is not None else None, self.signal_code
        codes.update(code for code in stops if code is not None)
        return codes | {code for code, applies in found.items() if applies}

    def stop(self, error: errors.ReconcilerError) -> None:
        """End the run; of several errors the one with the first-ranked exit code is kept."""
        earlier = self.stopped_by
        if (
            earlier is None
            or errors.worst({error.exit_code, earlier.exit_code}) != earlier.exit_code
        ):
            self.stopped_by = error


INTERRUPTED = "the run was interrupted"


def blocked(change: model.Change) -> model.Refused:
    """Return the outcome of a change that was blocked in the plan."""
    known = change.observation
    code = known.exit_code if isinstance(known, model.Unread) else errors.ExitCode.PARTIAL
    return model.Refused(change.ref, "", code, change.reasons)


def why_skipped(
    change: model.Change, applied: Applied, failed: AbstractSet[model.Ref], *, interrupted: bool
) -> str:
    """Return why a change must not be sent any more; "" where nothing prevents it."""
    if applied.stopped_by is not None:
        return "the run had stopped"
    if interrupted:
        return INTERRUPTED
    if is_unfindable_create(change) and any(
        isinstance(outcome, model.InDoubt) for outcome in applied.outcomes
    ):
        return "another create is in doubt, and one is enough to look for"
    bad = sorted(change.references & failed)
    return f"depends on {bad[0]}, which was not written" if bad else ""


def left(change: model.Change, pending: Started | None, run: str) -> model.Outcome:
    """Return what the journal knows of a change after its run was left.

    `pending` is the write without an answer. What was in flight stays open in the journal.
    """
    if pending is None or pending.run != run:
        return model.Skipped(change.ref, INTERRUPTED)
    if is_unfindable_create(change) and pending.operation == "create":
        return model.InDoubt(change.ref, "the run was left while its create was in flight")
    message = "the run was left while it was in flight: the next plan shows what became of it"
    return model.Unconfirmed(change.ref, message)


@dataclass(slots=True)
class Run:
    """The state of one apply. `stopping` is set by the first signal."""

    api: Api
    journal: Journal
    name: str
    tell: Callable[[model.Outcome], None]
    stopping: asyncio.Event
    ids: dict[model.Ref, model.RemoteId] = field(default_factory=dict)
    failed: set[model.Ref] = field(default_factory=set)
    applied: Applied = field(default_factory=Applied)
    _step: Progress | None = None
    _proofs: list[one_write.WriteProof] = field(default_factory=list)
    _before: dict[model.Ref, model.Seen] = field(default_factory=dict)
    _unproved: dict[model.Ref, tuple[model.Written, str]] = field(default_factory=dict)
    _owners: dict[tuple[str, model.RemoteId], model.Ref] = field(default_factory=dict)

    @property
    def _scribe(self) -> one_write.Scribe:
        return one_write.Scribe(self.journal, self.name, self.api.redaction)

    async def apply(self, plan: model.Plan) -> Applied:
        """Write every change of a plan that writes.

        A refused change, and what depends on it, does not stop the rest. A lost service, a refused
        key, a broken journal or a lost lock does: nothing is sent after it, and
        `Applied.stopped_by` is the error.
        """
        for section in plan.sections:
            if (name := type(section).__name__) in one_write.AFTER_WRITE:
                self._proofs.append(
                    one_write.AFTER_WRITE.load(name)(self.api, self._scribe, section)
                )
        total = sum(change.action.is_to_do for change in plan.changes)
        with self.api.waits.step(Deed.WRITING, total=total) as self._step:
            return await self._apply(plan)

    async def _apply(self, plan: model.Plan) -> Applied:
        for change in plan.declared:
            if change.remote_id is not None:
                self._know(change.ref, change.remote_id)
        # Everything from here on uses the memories under their new names.
        renamed = one_write.renaming_entries(plan.changes, self.name, self.journal.now())
        if renamed and self._journaled(renamed):
            self.applied.renamed.update(one_write.new_names(plan.changes))
        adopted = [*self._scribe.adopting(plan.changes, self.ids)]
        if adopted and self.applied.stopped_by is None:
            self._journaled(adopted)
        for change in plan.changes:
            if change.action is model.Action.BLOCKED:
                self._note(blocked(change))
        for kind, batch in batches(plan.changes):
            await self._write_batch(kind, batch)
        return self.applied

    def leave(self, plan: model.Plan) -> None:
        """Add the outcome that the journal knows to each change without one, after a run was left.

        What was in flight stays open in the journal.
        """
        known = {outcome.ref for outcome in self.applied.outcomes}
        for _, batch in batches(plan.changes):
            for change in batch:
                if change.ref not in known:
                    self._note(self._left(change))

    def _left(self, change: model.Change) -> model.Outcome:
        pending = self.journal.history.of(change.ref).pending
        if pending is None and change.ref in self._unproved:
            written, message = self._unproved[change.ref]
            self.applied.unproved[change.ref] = message
            return replace(written, message=message)
        return left(change, pending, self.name)

    async def _write_batch(self, kind: Kind, batch: Sequence[model.Change]) -> None:
        # References and secrets are filled in just before sending.
        sendings = [
            Sending(change, reveal(resolve(change.body, self.ids)))
            for change in batch
            if not self._skipped(change)
        ]
        sendings = await self._still_as_planned(kind, sendings)
        # A signal may have come during the requests.
        sendings = [sending for sending in sendings if not self._skipped(sending.change)]
        if not sendings:
            return
        reached(Point.BEFORE_STARTED)
        changes = [sending.change for sending in sendings]
        # Live was read right before.
        backups = filter(None, map(self._scribe.backup, changes))
        started = (
            self._scribe.started(change, resolve(change.declared, self.ids)) for change in changes
        )
        if not self._journaled([*backups, *started]):
            for change in changes:
                self._skipped(change)
            return
        reached(Point.AFTER_STARTED)
        answers = await kind.remote.write(self.api, sendings, self._identified)
        for answer in answers:
            self.applied.unjournaled |= isinstance(answer, errors.JournalError | errors.Locked)
        await self._conclude(kind, sendings, answers)

    def _skipped(self, change: model.Change) -> bool:
        """Record a skipped outcome for a change that must not be sent; return whether it was."""
        interrupted = self.stopping.is_set()
        why = why_skipped(change, self.applied, self.failed, interrupted=interrupted)
        if why:
            self._note(model.Skipped(change.ref, why))
        return bool(why)

    async def _still_as_planned(self, kind: Kind, sendings: list[Sending]) -> list[Sending]:
        """Return the sendings that the service accepts and that did not change since the plan.

        Live is read last, right before the write.
        """
        try:
            sendings = self._without(await one_write.objected(kind, self.api, sendings), sendings)
            history = self.journal.history
            refused = await one_write.moved(kind, self.api, history, sendings, self._before)
            return self._without(refused, sendings)
        except errors.ReconcilerError as error:
            self.applied.stop(error)
            for sending in sendings:
                self._note(model.Refused(sending.ref, str(error), error.exit_code))
            return []

    def _without(self, refused: Sequence[model.Refused], sendings: list[Sending]) -> list[Sending]:
        """Record what is refused before it is sent, and return the rest."""
        for refusal in refused:
            self._note(refusal)
        refs = {refusal.ref for refusal in refused}
        return [sending for sending in sendings if sending.ref not in refs]

    def _identified(self, ref: model.Ref, remote_id: model.RemoteId) -> None:
        at = self.journal.now()
        entry = IdentifiedEntry(run=self.name, at=at, ref=ref, remote_id=remote_id)
        self._scribe.append([entry])

    def _journaled(self, entries: Sequence[Entry], unproved: Sequence[Entry] = ()) -> bool:
        """Write entries to the journal; return whether that succeeded.

        A failure ends the run. The `unproved` entries are then saved in a file with the others.
        """
        try:
            self._scribe.append(entries, unproved)
        except (errors.JournalError, errors.Locked) as error:
            self.applied.stop(error)
            return False
        return True

    async def _conclude(
        self, kind: Kind, sendings: Sequence[Sending], answers: Sequence[WriteResult]
    ) -> None:
        """Write the outcomes of a batch to the journal, and report them.

        A write that can be read is journaled as written once a read has shown it. Until then the
        journal has its id, and that it may have happened.
        """
        entries: list[Entry] = []
        outcomes: list[model.Outcome] = []
        later: list[one_write.Acknowledged] = []
        unproved: list[Entry] = []
        for sending, answer in zip(sendings, answers, strict=True):
            outcome = self._doubted(sending, one_write.outcome_of(sending, answer))
            entry = self._scribe.closing(sending.change, outcome)
            if isinstance(outcome, model.Written) and isinstance(entry, WrittenEntry):
                if kind.readable_by(self.api.assumptions):
                    memory = once_written(self.journal.history.of(outcome.ref), entry)
                    later.append(one_write.Acknowledged(sending, outcome, memory))
                    unproved.append(entry)
                    entries.extend(self._new_id(sending.change, outcome))
                    continue
                entries.extend(self._compared(kind, sending, outcome, None)[0])
            elif entry is not None:
                entries.append(entry)
                entries.extend(self._same_to_the_service(kind, sending, outcome))
            outcomes.append(outcome)
        self._closed(entries, unproved)
        for answer in answers:
            if isinstance(answer, errors.ReconcilerError):
                self.applied.stop(answer)
        for outcome in outcomes:
            self._note(outcome)
        await self._read_back(kind, later)

    def _same_to_the_service(
        self, kind: Kind, sending: Sending, outcome: model.Outcome
    ) -> Iterator[Entry]:
        """Yield an entry of the empty fields that are declared and not live: no write adds them."""
        before = sending.change.observation
        if isinstance(outcome, model.Unchanged) and isinstance(before, model.Seen):
            found = one_write.stored_otherwise(
                kind, resolve(sending.change.declared, self.ids), before.document
            )
            empty = [field for field in found if one_write.is_empty(field)]
            if empty:
                yield one_write.rewritten_entry(self.name, self.journal.now(), outcome.ref, empty)

    def _new_id(self, change: model.Change, written: model.Written) -> Iterator[IdentifiedEntry]:
        """Yield the id of a created resource, before any read looks for it."""
        if change.action is model.Action.CREATE and written.remote_id is not None:
            remote_id, at = written.remote_id, self.journal.now()
            instead_of = one_write.not_given(change, remote_id)
            yield IdentifiedEntry(
                run=self.name, at=at, ref=written.ref, remote_id=remote_id, instead_of=instead_of
            )

    def _closed(self, entries: Sequence[Entry], unproved: Sequence[Entry] = ()) -> None:
        """Write outcomes to the journal; `unproved` follow once a read has shown them."""
        if entries:
            reached(Point.BEFORE_WRITTEN)
            self.applied.unjournaled |= not self._journaled(entries, unproved)
            reached(Point.AFTER_WRITTEN)

    def _doubted(self, sending: Sending, outcome: model.Outcome) -> model.Outcome:
        """Return a create as in doubt if its id is already that of another resource."""
        if (
            not isinstance(outcome, model.Written)
            or sending.change.action is not model.Action.CREATE
        ):
            return outcome
        known = outcome.remote_id
        owner = None if known is None else self._owners.get((outcome.ref.kind, known))
        if owner is None or owner == outcome.ref or self.ids[owner] != known:
            return outcome
        return model.InDoubt(outcome.ref, f"the service answered with {known}, which is {owner}")

    def _know(self, ref: model.Ref, remote_id: model.RemoteId) -> None:
        self.ids[ref] = remote_id
        self._owners.setdefault((ref.kind, remote_id), ref)

    def _note(self, outcome: model.Outcome) -> None:
        if not isinstance(outcome, model.Written | model.Unchanged):
            self.failed.add(outcome.ref)
        elif outcome.remote_id is not None:
            self._know(outcome.ref, outcome.remote_id)
        self.applied.outcomes.append(outcome)
        if self._step is not None:
            self._step.done += 1
        self.tell(outcome)

    async def _read_back(self, kind: Kind, written: Sequence[one_write.Acknowledged]) -> None:
        """Read what the service acknowledged, and compare it with what was sent.

        Where the journal can no longer be written, the answers have to be enough.
        """
        if self.applied.unjournaled:
            for acknowledged in written:
                self._note(acknowledged.answer)
            return
        entries: list[Entry] = []
        outcomes: list[model.Outcome] = []
        for acknowledged, now in zip(
            written, await one_write.seen_after(kind, self.api, written), strict=True
        ):
            if isinstance(now, model.Absent):
                outcomes.append(one_write.not_to_be_seen(acknowledged.answer, now))
                continue
            kept, compared = self._compared(kind, acknowledged.sending, acknowledged.answer, now)
            entries.extend(kept)
            outcomes.append(compared)
        self._closed(entries)
        sent = {acknowledged.sending.ref: acknowledged.sending for acknowledged in written}
        for outcome in outcomes:
            self._note(await self._proved(kind, sent[outcome.ref], outcome))

    async def _proved(self, kind: Kind, sending: Sending, outcome: model.Outcome) -> model.Outcome:
        """Return the outcome of a write; features check it first if the kind decides about logs."""
        ref = outcome.ref
        if not kind.sampled or ref in self.applied.overtaken:
            return outcome
        for proof in self._proofs:
            if not isinstance(outcome, model.Written) or self.applied.unjournaled:
                break
            self._unproved[ref] = outcome, proof.left
            found = await proof.proved(kind, sending, outcome, self._before.get(ref))
            del self._unproved[ref]
            if found.said:
                self.applied.unproved[ref] = found.said
            if found.stopped_by is not None:
                self.applied.unjournaled |= isinstance(
                    found.stopped_by, errors.JournalError | errors.Locked
                )
                self.applied.stop(found.stopped_by)
            outcome = found.outcome
        return outcome

    def _compared(
        self, kind: Kind, sending: Sending, answer: model.Written, now: model.Seen | None
    ) -> tuple[list[Entry], model.Written]:
        """Record the fields that are not as sent; return journal entries and the outcome.

        Such fields are the work of another writer, or of the service.
        """
        change = sending.change
        stale = now is not None and one_write.is_stale_read(change.observation, now)
        told_later = now.revision if now is not None and not stale else ""
        seen = now.told if now is not None and not stale else model.NO_SERVER_INFO
        acknowledged = replace(
            answer, revision=answer.revision or told_later, told=answer.told.or_else(seen)
        )
        entry = self._scribe.closing(change, acknowledged)
        entries = [entry] if entry is not None else []
        if stale:
            return entries, answer
        stored = answer.stored if now is None else now.document
        found = one_write.stored_otherwise(kind, resolve(change.declared, self.ids), stored)
        kept = one_write.not_removed(change, resolve(change.body, self.ids), stored)
        shown = one_write.as_reported((*found, *kept))
        if shown and now is not None and one_write.was_overtaken(change.observation, now, answer):
            overtaken = model.Overtaken(now.edit, shown)
            self.applied.overtaken[change.ref] = overtaken
            return entries, one_write.with_overtaken(answer, overtaken)
        if shown:
            self.applied.rewritten[change.ref] = shown
        if found:
            entries.append(
                one_write.rewritten_entry(self.name, self.journal.now(), change.ref, found)
            )
        return entries, answer
