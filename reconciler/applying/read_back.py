"""Reading live again: before a write, whether the plan still holds; after it, what was stored.

After a write that was acknowledged and seen, features may check it too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from reconciler import document, model
from reconciler.api.client import Api
from reconciler.applying.write_entries import Scribe
from reconciler.errors import AnotherRecord, ExitCode, ReconcilerError
from reconciler.journal.entries import Stored
from reconciler.journal.history import History, Memory
from reconciler.journal.line_fields import Rewritten
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind, Sending, observe
from reconciler.model.quoting import listed
from reconciler.redaction.redact import conceal
from reconciler.redaction.templates import HIDDEN, fingerprint, holds_seal
from reconciler.runtime.rows import Rows

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
        # Zero values that appear or vanish are no difference, but show that another wrote.
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
    return tuple(document.turned(map(_without_secret, found)))


def _without_secret(difference: document.Difference) -> document.Difference:
    secret = holds_seal(difference.after) and difference.before is not document.ABSENT
    return replace(difference, before=HIDDEN) if secret else difference


def rewritten_entry(
    run: str, at: str, ref: model.Ref, found: Sequence[document.Difference]
) -> Stored:
    """Return the journal entry of fields stored differently; secrets only as fingerprints."""
    rewritten = []
    for field in found:
        sent, got = field.after, field.before
        kept = fingerprint(got, sent) if holds_seal(sent) else got
        rewritten.append(Rewritten(field.path, sent, kept))
    return Stored(run=run, at=at, ref=ref, rewritten=tuple(rewritten))


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
    observed: list[model.Observation | ReconcilerError] = await asyncio.gather(
        *(observe(kind, api, sending.manifest, history.of(sending.ref)) for sending in sendings)
    )
    refused = []
    for sending, now in zip(sendings, observed, strict=True):
        if kind.sampled and isinstance(now, model.Seen):
            before[sending.ref] = now
        if isinstance(now, ReconcilerError):
            cause = f"it could not be read again before the write: {now}"
            refused.append(model.Refused(sending.ref, cause, now.exit_code))
        elif cause := what_moved(kind, sending.change, now):
            refused.append(model.Refused(sending.ref, cause, exit_code=ExitCode.STALE))
    return refused


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A write that the service acknowledged, and what the journal will know of it then."""

    sending: Sending
    answer: model.Written
    memory: Memory


PAUSES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.5)
PATIENCE_SECONDS = sum(PAUSES)


async def seen_after(
    kind: Kind, api: Api, written: Sequence[Acknowledged]
) -> list[model.Seen | model.Absent | None]:
    """Return live after each write, `Absent` where two seconds do not show the write.

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
        except ReconcilerError:
            return None
        if isinstance(now, AnotherRecord):
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

    What another writer removed again is reported as the work of that writer. A member of a list
    without a declared id is there, whatever id the service gave it.
    """
    sending, answer = acknowledged.sending, acknowledged.answer
    ids = (answer.remote_id, now.remote_id)
    if len({kind.normal_id(remote_id) for remote_id in ids if remote_id is not None}) > 1:
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

    Live that is as before, and not as sent, was not written, whatever the answer said. Where a kind
    has a revision, which moves with every write, the revision alone says whether live moved.
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
    stopped_by: ReconcilerError | None = None


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
"""By the class name of the section that asks for the check."""
