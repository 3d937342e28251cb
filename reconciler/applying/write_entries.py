"""The document to send, and the journal entries before the write and from its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from reconciler import model
from reconciler.document import Json, canonical_text, digest
from reconciler.errors import JournalError, Locked, OutcomeUnknown, ReconcilerError
from reconciler.journal.entries import (
    Backup,
    Entry,
    LastWrite,
    RefusedEntry,
    Renamed,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.journal.history import Memory
from reconciler.journal.journal import Journal
from reconciler.journal.line_fields import TakenBack, brought_back, fields_taken_back
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Sending, WriteResult
from reconciler.redaction.redact import resealed
from reconciler.redaction.templates import HIDDEN, resolve, reveal


def filled(document: dict[str, Json], ids: Mapping[model.Ref, model.RemoteId]) -> dict[str, Json]:
    """Return a document with the ids that are known now; secrets stay sealed."""
    result = resolve(document, ids)
    assert isinstance(result, dict)  # noqa: S101 - filling keeps the form
    return result


def sending_of(change: model.Change, ids: Mapping[model.Ref, model.RemoteId]) -> Sending:
    """Return a change with references and secrets filled in, just before sending.

    Raises ValueError where a reference is still unknown.
    """
    document = reveal(filled(change.body, ids))
    assert isinstance(document, dict)  # noqa: S101 - filling keeps the form
    return Sending(change, document)


def outcome_of(sending: Sending, answer: WriteResult) -> model.Outcome:
    """Return the outcome of one write, also where its answer stops the run."""
    if not isinstance(answer, ReconcilerError):
        return answer
    # If the journal fails between the requests of one write, some of them were sent.
    unknown = isinstance(answer, OutcomeUnknown | JournalError | Locked)
    if unknown and sending.change.action is model.Action.CREATE:
        return model.InDoubt(sending.ref, str(answer))
    if unknown or answer.doubtful:
        return model.Unconfirmed(sending.ref, str(answer), answer.exit_code)
    return model.Refused(sending.ref, str(answer), answer.exit_code)


def not_given(change: model.Change, remote_id: model.RemoteId | None) -> model.RemoteId | None:
    """Return the declared id where the service gave another id; otherwise None."""
    kind = BY_NAME[change.ref.kind]
    declared = None if change.manifest is None else kind.declared_id(change.manifest)
    if declared is None or remote_id is None:
        return None
    return None if kind.normal_id(declared) == kind.normal_id(remote_id) else declared


def with_overtaken(written: model.Written, overtaken: model.Overtaken) -> model.Written:
    """Return a write with the remark that another writer changed it right after."""
    who = f", {overtaken.edit}" if overtaken.edit.told else ""
    remark = f"another writer changed it right after{who}: plan again"
    return replace(written, message=f"{written.message}; {remark}" if written.message else remark)


MOST_KEPT = 1 << 20
"""Characters of the JSON text of a backup; a longer text is not kept."""


@dataclass(frozen=True, slots=True)
class Scribe:
    """The entries of one run in its journal. `hide` hides secrets in texts of the service."""

    journal: Journal
    run: str
    hide: Callable[[str], str]

    def append(self, entries: Sequence[Entry], unproved: Sequence[Entry] = ()) -> None:
        """Write entries to the journal. Raises JournalError and Locked, as the journal does."""
        hidden = [*map(self._hidden, entries)]
        self.journal.append(hidden, unproved=[*map(self._hidden, unproved)])

    def _hidden(self, entry: Entry) -> Entry:
        """Return an entry without secrets in the messages of the service."""
        match entry:
            case WrittenEntry(message=message, told=told):
                return replace(entry, message=self.hide(message), told=told.hiding(self.hide))
            case RefusedEntry(message=message):
                return replace(entry, message=self.hide(message))
            case _:
                return entry

    def started(self, change: model.Change, declared: dict[str, Json]) -> Started:
        """Return the entry that is in the journal before a change is sent."""
        seen, memory = change.observation, self.journal.history.of(change.ref)
        shape = BY_NAME[change.ref.kind].shape
        known = [field for taken in memory.rolled_back for field in taken.fields]
        at = self.journal.now()
        return Started(
            run=self.run,
            at=at,
            ref=change.ref,
            operation="create" if change.action is model.Action.CREATE else "replace",
            declared=declared,
            request_id=change.request_id,
            remote_id=change.remote_id,
            seen=digest(seen.document) if isinstance(seen, model.Seen) else "",
            protect=change.protect,
            takes_back=self._taken_back(change, declared, memory, at),
            brings_back=tuple(field.path for field in brought_back(known, declared, shape)),
        )

    def _taken_back(
        self, change: model.Change, declared: dict[str, Json], memory: Memory, at: str
    ) -> tuple[TakenBack, ...]:
        """Return the fields that a rollback undoes of the last declaration; none in other runs."""
        is_rollback = any(isinstance(reason, model.PutBack) for reason in change.reasons)
        if not is_rollback or not memory.candidates:
            return ()
        shape = BY_NAME[change.ref.kind].shape
        fields = fields_taken_back(memory.candidates[-1], declared, shape)
        return (TakenBack(at=at, actor=self.journal.actor, fields=fields),) if fields else ()

    def backup(self, change: model.Change) -> Backup | None:
        """Return what is live before a change replaces it; None where the plan did not see it.

        It is what the plan saw: it was read again right before the write and was the same.
        """
        seen = change.observation
        if change.action is not model.Action.UPDATE or not isinstance(seen, model.Seen):
            return None
        written = (*self.journal.history.of(change.ref).candidates, change.declared)
        shape = BY_NAME[change.ref.kind].shape
        live = resealed(seen.document, written, shape, self.journal.salt)
        text = canonical_text(live)
        if self.hide(text) != text:
            live = self._without_secrets(live)
            text = canonical_text(live)
        size = len(text)
        return Backup(
            run=self.run,
            at=self.journal.now(),
            ref=change.ref,
            remote_id=change.remote_id,
            size=size,
            live=live if size <= MOST_KEPT and isinstance(live, dict) else None,
            unseen=seen.unseen,
        )

    def _without_secrets(self, document: Json) -> Json:
        """Hide each text that holds a secret by chance, where no manifest declares one."""
        match document:
            case dict():
                return {
                    self.hide(key): self._without_secrets(value) for key, value in document.items()
                }
            case list():
                return [self._without_secrets(item) for item in document]
            case str():
                return document if self.hide(document) == document else HIDDEN
            case _:
                return document

    def closing(self, change: model.Change, outcome: model.Outcome) -> Entry | None:
        """Return the entry of an outcome; None where the outcome is unknown.

        Then the `started` entry stays open.
        """
        run, at, ref = self.run, self.journal.now(), outcome.ref
        match outcome:
            case model.Written(remote_id=remote_id):
                return WrittenEntry(
                    run=run,
                    at=at,
                    ref=ref,
                    remote_id=remote_id,
                    message=outcome.message,
                    revision=outcome.revision,
                    instead_of=not_given(change, remote_id),
                    told=outcome.told,
                )
            case model.Unchanged(remote_id=remote_id, message=message):
                return WrittenEntry(
                    run=run, at=at, ref=ref, remote_id=remote_id, message=message, unchanged=True
                )
            case model.Refused(message=message) | model.Skipped(message=message):
                return RefusedEntry(run=run, at=at, ref=ref, message=message)
            case model.Unconfirmed() | model.InDoubt():
                return None

    def adopting(
        self, changes: Iterable[model.Change], ids: Mapping[model.Ref, model.RemoteId]
    ) -> Iterator[Entry]:
        """Yield entries for what live already has, and for its protection.

        Thus drift from it will show, and protection begins and ends only by an apply.
        """
        for change in changes:
            if change.action is not model.Action.KEEP:
                continue
            last = self.journal.history.of(change.ref).acknowledged
            declared = filled(change.declared, ids)
            if not _is_news(change, last, declared):
                continue
            yield self.started(change, declared)
            seen = change.observation if isinstance(change.observation, model.Seen) else None
            yield WrittenEntry(
                run=self.run,
                at=self.journal.now(),
                ref=change.ref,
                remote_id=change.remote_id,
                adopted=True,
                revision=seen.revision if seen is not None else "",
                instead_of=not_given(change, change.remote_id),
                told=seen.told if seen is not None else model.NO_SERVER_INFO,
            )
            if last is not None and last.rewritten:
                # Live is still what the service made of the last write.
                at = self.journal.now()
                yield Stored(run=self.run, at=at, ref=change.ref, rewritten=last.rewritten)


def _is_news(change: model.Change, last: LastWrite | None, declared: dict[str, Json]) -> bool:
    """Return whether the journal does not yet have the state of a kept resource."""
    seen = change.observation
    if isinstance(seen, model.Seen) and (last is None or last.declared != declared):
        return True
    if last is not None and not last.revision and isinstance(seen, model.Seen) and seen.revision:
        # Written before journals kept revisions: from here on the revision shows the writes of
        # others.
        return True
    return change.turns_protection and isinstance(seen, model.Seen | model.Remembered)


def new_names(changes: Iterable[model.Change]) -> dict[model.Ref, model.Ref]:
    """Map resources to the names that they had until this apply."""
    return {
        change.ref: reason.ref
        for change in changes
        if change.action is not model.Action.BLOCKED
        for reason in change.reasons
        if isinstance(reason, model.RenamedFrom)
    }


def renaming_entries(changes: Iterable[model.Change], run: str, at: str) -> list[Entry]:
    """Return entries that move memories to the new names, in an order in which none is lost.

    The memory of the object that a name was about until now moves aside, unless another resource
    takes it.
    """
    done = [change for change in changes if change.action is not model.Action.BLOCKED]
    was = new_names(done)
    claims = Counter(was.values())
    entries: list[Entry] = [
        Renamed(
            at=at,
            ref=model.Ref(change.ref.kind, f"{change.ref.name}~{reason.remote_id}"),
            was=change.ref,
            run=run,
        )
        for change in done
        for reason in change.reasons
        if isinstance(reason, model.AnotherObject) and change.ref not in claims
    ]
    place = {ref: nth for nth, ref in enumerate(was)}
    free = [nth for ref, nth in place.items() if ref not in claims]
    names = list(was)
    while was:
        if free:
            ref = names[heappop(free)]
            old = was.pop(ref)
            entries.append(Renamed(at=at, ref=ref, was=old, run=run))
        else:
            # The names form a circle: one memory moves aside, to a name that no manifest can have.
            ref, old = next(iter(was.items()))
            was[ref] = model.Ref(old.kind, f"{old.name}~")
            entries.append(Renamed(at=at, ref=was[ref], was=old, run=run))
        claims[old] -= 1
        if old in was and not claims[old]:
            heappush(free, place[old])
    return entries
