"""One write: what is sent, its journal entries, and the reads right before and after it.

After a write that was acknowledged and seen, features may check it too.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from reconciler import document, errors, model
from reconciler.api.client import Api
from reconciler.document import Json, canonical_text, digest
from reconciler.journal import entries as journaled
from reconciler.journal.history import History, Memory
from reconciler.journal.journal import Journal
from reconciler.journal.line_fields import Rewritten, TakenBack, brought_back, fields_taken_back
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind, Sending, WriteResult, observe
from reconciler.model.quoting import listed
from reconciler.redaction.redact import conceal, resealed
from reconciler.redaction.templates import HIDDEN, fingerprint, holds_seal, resolve
from reconciler.runtime.rows import Rows


def outcome_of(sending: Sending, answer: WriteResult) -> model.Outcome:
    """Return the outcome of one write, also where its answer stops the run."""
    if not isinstance(answer, errors.ReconcilerError):
        return answer
    # If the journal fails between the requests of one write, some of them were sent.
    unknown = isinstance(answer, errors.OutcomeUnknown | errors.JournalError | errors.Locked)
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
    return None if kind.id_form.normal(declared) == kind.id_form.normal(remote_id) else declared


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

    def append(
        self, entries: Sequence[journaled.Entry], unproved: Sequence[journaled.Entry] = ()
    ) -> None:
        """Write entries to the journal. Raises JournalError and Locked, as the journal does."""
        hidden = [*map(self._hidden, entries)]
        self.journal.append(hidden, unproved=[*map(self._hidden, unproved)])

    def _hidden(self, entry: journaled.Entry) -> journaled.Entry:
        """Return an entry without secrets in the messages of the service."""
        match entry:
            case journaled.WrittenEntry(message=message, told=told):
                return replace(entry, message=self.hide(message), told=told.hiding(self.hide))
            case journaled.RefusedEntry(message=message):
                return replace(entry, message=self.hide(message))
            case _:
                return entry

    def started(self, change: model.Change, declared: dict[str, Json]) -> journaled.Started:
        """Return the entry that is in the journal before a change is sent."""
        seen, memory = change.observation, self.journal.history.of(change.ref)
        shape = BY_NAME[change.ref.kind].shape
        known = [field for taken in memory.rolled_back for field in taken.fields]
        at = self.journal.now()
        return journaled.Started(
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
        """Return the fields of the last declaration that a rollback undoes; none in other runs."""
        is_rollback = any(isinstance(reason, model.PutBack) for reason in change.reasons)
        if not is_rollback or not memory.candidates:
            return ()
        shape = BY_NAME[change.ref.kind].shape
        fields = fields_taken_back(memory.candidates[-1], declared, shape)
        return (TakenBack(at=at, actor=self.journal.actor, fields=fields),) if fields else ()

    def backup(self, change: model.Change) -> journaled.Backup | None:
        """Return what is live before a change replaces it; None where the plan did not see it.

        The backup is what the plan saw: live was read again right before the write and was the
        same.
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
        return journaled.Backup(
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

    def closing(self, change: model.Change, outcome: model.Outcome) -> journaled.Entry | None:
        """Return the entry of an outcome; None where the outcome is unknown.

        Then the `started` entry stays open.
        """
        run, at, ref = self.run, self.journal.now(), outcome.ref
        match outcome:
            case model.Written(remote_id=remote_id):
                return journaled.WrittenEntry(
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
                return journaled.WrittenEntry(
                    run=run, at=at, ref=ref, remote_id=remote_id, message=message, unchanged=True
                )
            case model.Refused(message=message) | model.Skipped(message=message):
                return journaled.RefusedEntry(run=run, at=at, ref=ref, message=message)
            case model.Unconfirmed() | model.InDoubt():
                return None

    def adopting(
        self, changes: Iterable[model.Change], ids: Mapping[model.Ref, model.RemoteId]
    ) -> Iterator[journaled.Entry]:
        """Yield entries for kept resources with a state that the journal does not have yet.

        With these entries later drift shows, and a protection begins and ends only with an apply.
        """
        for change in changes:
            if change.action is not model.Action.KEEP:
                continue
            last = self.journal.history.of(change.ref).acknowledged
            declared = resolve(change.declared, ids)
            if not _is_news(change, last, declared):
                continue
            yield self.started(change, declared)
            seen = change.observation if isinstance(change.observation, model.Seen) else None
            yield journaled.WrittenEntry(
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
                yield journaled.Stored(
                    run=self.run, at=at, ref=change.ref, rewritten=last.rewritten
                )


def _is_news(
    change: model.Change, last: journaled.LastWrite | None, declared: dict[str, Json]
) -> bool:
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


def renaming_entries(changes: Iterable[model.Change], run: str, at: str) -> list[journaled.Entry]:
    """Return entries that move memories to the new names, in an order in which none is lost.

    If a name is about another object now, the memory of its former object gets another name, unless
    a resource takes that memory.
    """
    done = [change for change in changes if change.action is not model.Action.BLOCKED]
    was = new_names(done)
    claims = Counter(was.values())
    entries: list[journaled.Entry] = [
        journaled.Renamed(
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
            entries.append(journaled.Renamed(at=at, ref=ref, was=old, run=run))
        else:
            # The names form a circle: one memory moves aside, to a name that no manifest can have.
            ref, old = next(iter(was.items()))
            was[ref] = model.Ref(old.kind, f"{old.name}~")
            entries.append(journaled.Renamed(at=at, ref=was[ref], was=old, run=run))
        claims[old] -= 1
        if old in was and not claims[old]:
            heappush(free, place[old])
    return entries


MOST_NAMED = 4
_AGAIN = "plan again"


def what_moved(kind: Kind, change: model.Change, now: model.Observation) -> str:
    """Return who changed what since the plan; "" where live is as the plan saw it.

    Fields are named without their values, as live may hold a secret.
    """
    planned = change.observation
    if isinstance(planned, model.Seen) and isinstance(now, model.Seen):
        return _moved(kind, change, planned, now)
    if type(planned) is type(now):
        return ""
    if isinstance(now, model.Absent):
        return f"it is gone since the plan: {_AGAIN}"
    if isinstance(now, model.Seen):
        return f"someone created it since the plan{_who(now)}: {_AGAIN}"
    return f"live changed since the plan: {_AGAIN}"


def _moved(kind: Kind, change: model.Change, planned: model.Seen, now: model.Seen) -> str:
    live = conceal(now.document, change.declared, kind.shape)
    if document.digest(live) != document.digest(planned.document):
        found = [*document.differences(planned.document, live, kind.shape)]
        # Zero values that appear or vanish are no difference, but show that another writer wrote.
        where = f" ({named([difference.path for difference in found])})" if found else ""
        return f"live changed since the plan{_who(now)}{where}: {_AGAIN}"
    if now.version != planned.version or now.remote_id != planned.remote_id:
        return f"it was saved again since the plan, with the same content{_who(now)}: {_AGAIN}"
    return ""


def _who(now: model.Seen) -> str:
    return f", last {now.edit}" if now.edit.told else ""


def named(paths: Sequence[document.Path]) -> str:
    """Return the names of the first few places, and how many more there are."""
    return listed([".".join(map(str, path)) for path in paths], MOST_NAMED)


def was_overtaken(before: model.Observation, now: model.Seen, answer: model.Written) -> bool:
    """Return whether a read after our write shows the work of another writer.

    Only sure signs count: another revision than that of our write, or an edit in the web interface
    where there was none before. Without a sign, a difference counts as rewritten by the service.
    """
    if answer.revision and now.revision and now.revision != answer.revision:
        return True
    return now.by_hand and isinstance(before, model.Seen) and not before.by_hand


def is_stale_read(before: model.Observation, now: model.Seen) -> bool:
    """Return whether a read after our write still shows the state before it."""
    return isinstance(before, model.Seen) and now.version != "" and now.version == before.version


def stored_otherwise(
    kind: Kind, declared: dict[str, document.Json], stored: dict[str, document.Json] | None
) -> tuple[document.Difference, ...]:
    """Return the declared fields that came back differently: `before` is stored, `after` sent."""
    if stored is None:
        return ()
    shown = conceal(stored, declared, kind.shape)
    wanted = document.merge(document.ABSENT, declared, shown, kind.shape)
    return tuple(document.differences(shown, wanted, kind.shape))


def is_empty(difference: document.Difference) -> bool:
    """Return whether a field is absent, null or holds nothing, before and after."""
    return all(
        value is document.ABSENT or value is None or value in ({}, [], "")
        for value in (difference.before, difference.after)
    )


def not_removed(
    change: model.Change, body: dict[str, document.Json], stored: dict[str, document.Json] | None
) -> tuple[document.Difference, ...]:
    """Return the fields that the plan removes and the service keeps.

    No later plan or drift would show them.
    """
    removed = {
        difference.path for difference in change.differences if difference.operation == "remove"
    }
    if stored is None or not removed:
        return ()
    shape = BY_NAME[change.ref.kind].shape
    found = document.differences(conceal(stored, body, shape), body, shape)
    return tuple(
        difference
        for difference in found
        if difference.operation == "remove" and difference.path in removed
    )


def as_reported(found: Sequence[document.Difference]) -> tuple[document.Difference, ...]:
    """Return the differences for a person: `before` is sent, `after` stored, without secrets."""
    return tuple(
        document.turned(
            replace(difference, before=HIDDEN)
            if holds_seal(difference.after) and difference.before is not document.ABSENT
            else difference
            for difference in found
        )
    )


def rewritten_entry(
    run: str, at: str, ref: model.Ref, found: Sequence[document.Difference]
) -> journaled.Stored:
    """Return the journal entry of fields stored differently; secrets only as fingerprints."""
    rewritten = (
        Rewritten(path, sent, fingerprint(got, sent) if holds_seal(sent) else got)
        for path, got, sent in ((field.path, field.before, field.after) for field in found)
    )
    return journaled.Stored(run=run, at=at, ref=ref, rewritten=tuple(rewritten))


async def objected(kind: Kind, api: Api, sendings: Sequence[Sending]) -> list[model.Refused]:
    """Return what the service objects to before anything is written.

    Raises errors that concern the whole service.
    """
    answers = await asyncio.gather(*(kind.remote.preflight(api, sending) for sending in sendings))
    return [
        model.Refused(sending.ref, "; ".join(foreseen.objections))
        for sending, foreseen in zip(sendings, answers, strict=True)
        if foreseen.objections
    ]


async def moved(
    kind: Kind,
    api: Api,
    history: History,
    sendings: Sequence[Sending],
    before: dict[model.Ref, model.Seen],
) -> list[model.Refused]:
    """Return what changed since the plan or cannot be read again, and add live to `before`.

    `before` is filled only for kinds that may have to be put back. Raises errors that concern the
    whole service.
    """
    if not kind.readable_by(api.assumptions):
        return []
    observed: list[model.Observation | errors.ReconcilerError] = await asyncio.gather(
        *(observe(kind, api, sending.manifest, history.of(sending.ref)) for sending in sendings)
    )
    refused = []
    for sending, now in zip(sendings, observed, strict=True):
        if kind.sampled and isinstance(now, model.Seen):
            before[sending.ref] = now
        if isinstance(now, errors.ReconcilerError):
            cause = f"it could not be read again before the write: {now}"
            refused.append(model.Refused(sending.ref, cause, now.exit_code))
        elif cause := what_moved(kind, sending.change, now):
            refused.append(model.Refused(sending.ref, cause, exit_code=errors.ExitCode.STALE))
    return refused


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A write that the service acknowledged; `memory` is what the journal will know after it."""

    sending: Sending
    answer: model.Written
    memory: Memory


PAUSES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.5)
PATIENCE_SECONDS = sum(PAUSES)


async def seen_after(
    kind: Kind, api: Api, written: Sequence[Acknowledged]
) -> list[model.Seen | model.Absent | None]:
    """Return live after each write, `Absent` if the write does not show within two seconds.

    None where it cannot be read. Never raises.
    """
    return await asyncio.gather(*(_seen(kind, api, acknowledged) for acknowledged in written))


async def _seen(
    kind: Kind, api: Api, acknowledged: Acknowledged
) -> model.Seen | model.Absent | None:
    """Read until the write shows: a service may show a write a little after its answer."""
    for pause in (*PAUSES, None):
        try:
            now = await observe(kind, api, acknowledged.sending.manifest, acknowledged.memory)
        except errors.ReconcilerError:
            return None
        if isinstance(now, errors.AnotherRecord):
            now = model.Absent(str(now))
        if not isinstance(now, model.Seen | model.Absent):
            return None
        missing = (
            now if isinstance(now, model.Absent) else _what_is_missing(kind, acknowledged, now)
        )
        if missing is None or pause is None:
            return missing or now
        await api.patience.sleep(pause)
    raise AssertionError("the last look has no pause after it")


def _what_is_missing(
    kind: Kind, acknowledged: Acknowledged, now: model.Seen
) -> model.Absent | None:
    """Return what a read does not show of a write; None where nothing is missing.

    What another writer removed again is reported as the work of that writer. A list member without
    a declared id is not missing, whatever id the service gave it.
    """
    sending, answer = acknowledged.sending, acknowledged.answer
    ids = (answer.remote_id, now.remote_id)
    if len({kind.id_form.normal(remote_id) for remote_id in ids if remote_id is not None}) > 1:
        return model.Absent(f"a look-up finds {now.remote_id} in its place")
    if _shows_the_state_before(kind, sending, now):
        return model.Absent("a read still shows what was there before")
    if was_overtaken(sending.change.observation, now, answer):
        return None
    declared = kind.remote.complete(sending.manifest, now, acknowledged.memory)
    found = stored_otherwise(kind, declared, now.document)
    members = [
        path for difference in found for path in document.members_missing(difference, kind.shape)
    ]
    return model.Absent(f"the service has no {named(members)}") if members else None


def _shows_the_state_before(kind: Kind, sending: Sending, now: model.Seen) -> bool:
    """Return whether a read after our write cannot show that write.

    If live is as before and not as sent, nothing was written, whatever the answer said. If the kind
    has a revision, which changes with every write, only the revision says whether live changed.
    """
    if not is_stale_read(sending.change.observation, now):
        return False
    unmoved = bool(now.revision) or not what_moved(kind, sending.change, now)
    # Fields recalled from the journal are as sent, whether they were written or not.
    is_as_sent = document.covers(now.document, sending.document, kind.shape) and not now.recalled
    return unmoved and not is_as_sent


def not_to_be_seen(written: model.Written, absent: model.Absent) -> model.Unconfirmed:
    """Return the outcome of a write that was acknowledged and that no read has shown."""
    whose = "" if written.remote_id is None else f" of {written.remote_id}"
    return model.Unconfirmed(
        written.ref,
        f"the service acknowledged the write{whose}, and {PATIENCE_SECONDS:g} seconds later "
        f"it is not to be seen ({absent.why}): plan again",
    )


@dataclass(frozen=True, slots=True)
class Proved:
    """The outcome of a write after its check; `said` is "" where all is as planned.

    `stopped_by` is the error that ends the run.
    """

    outcome: model.Outcome
    said: str = ""
    stopped_by: errors.ReconcilerError | None = None


class WriteProof(Protocol):
    """The check of one run. `left` is the message of a write that the run left unchecked."""

    left: ClassVar[str]

    async def proved(
        self, kind: Kind, sending: Sending, answer: model.Written, before: model.Seen | None
    ) -> Proved:
        """Check a write. Never raises for an answer.

        `before` is the resource that was read right before the write.
        """


MakeProof: TypeAlias = Callable[[Api, Scribe, Any], WriteProof]
"""Returns the check of a run, from the entries of the run and the section of its plan."""

AFTER_WRITE: Final = Rows[MakeProof]("after-write")
"""The key is the class name of the section of the plan that the check is for."""
