"""Reading live again: before a write, whether the plan still holds; after it, what was stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reconciler.api.client import Api
from reconciler.document import (
    ABSENT,
    Difference,
    Json,
    Path,
    covers,
    differences,
    digest,
    members_missing,
    merge,
    turned,
)
from reconciler.errors import AnotherRecord, ExitCode, ReconcilerError
from reconciler.journal.entries import Stored
from reconciler.journal.history import History, Memory
from reconciler.journal.line_fields import Rewritten
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind, Sending, observe
from reconciler.model import (
    Absent,
    Change,
    Manifest,
    Observation,
    Ref,
    Refused,
    Seen,
    Unconfirmed,
    Written,
)
from reconciler.redaction.redact import conceal
from reconciler.redaction.templates import HIDDEN, fingerprint, holds_seal

MOST_NAMED = 4
_AGAIN = "plan again"


def what_moved(kind: Kind, change: Change, now: Observation) -> str:
    """Return who changed what since the plan; "" where live is as the plan saw it.

    Fields are named without their values, as live may hold a secret.
    """
    planned = change.observation
    if isinstance(planned, Seen) and isinstance(now, Seen):
        return _moved(kind, change, planned, now)
    if type(planned) is type(now):
        return ""
    if isinstance(now, Absent):
        return f"it is gone since the plan: {_AGAIN}"
    if isinstance(now, Seen):
        return f"someone created it since the plan{_who(now)}: {_AGAIN}"
    return f"live changed since the plan: {_AGAIN}"


def _moved(kind: Kind, change: Change, planned: Seen, now: Seen) -> str:
    live = conceal(now.document, change.declared, kind.shape)
    if digest(live) != digest(planned.document):
        found = [*differences(planned.document, live, kind.shape)]
        # Zero values that appear or vanish are no difference, but show that another wrote.
        where = f" ({named([difference.path for difference in found])})" if found else ""
        return f"live changed since the plan{_who(now)}{where}: {_AGAIN}"
    if now.version != planned.version or now.remote_id != planned.remote_id:
        return f"it was saved again since the plan, with the same content{_who(now)}: {_AGAIN}"
    return ""


def _who(now: Seen) -> str:
    return f", last {now.edit}" if now.edit.told else ""


def named(paths: Sequence[Path]) -> str:
    """Return the names of the first few places, and how many more there are."""
    shown = ", ".join(".".join(map(str, path)) for path in paths[:MOST_NAMED])
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return f"{shown}{more}"


def was_overtaken(before: Observation, now: Seen, answer: Written) -> bool:
    """Return whether a read after our write shows the work of another writer.

    Only sure signs count: another revision than that of our write, or an edit in the web interface
    where there was none before. Without a sign, a difference counts as rewritten by the service.
    """
    if answer.revision and now.revision and now.revision != answer.revision:
        return True
    return now.by_hand and isinstance(before, Seen) and not before.by_hand


def is_stale_read(before: Observation, now: Seen) -> bool:
    """Return whether a read after our write still shows the state before it."""
    return isinstance(before, Seen) and now.version != "" and now.version == before.version


def not_ours(kind: Kind, sending: Sending, answer: Written, now: Seen) -> Absent | None:
    """Return why a read after our write cannot show that write; None where it may.

    Live that is as before, and not as sent, was not written, whatever the answer said. Where a kind
    has a revision, which moves with every write, the revision alone says whether live moved.
    """
    ids = [
        kind.normal_id(remote_id)
        for remote_id in (answer.remote_id, now.remote_id)
        if remote_id is not None
    ]
    if len(set(ids)) > 1:
        return Absent(f"a look-up finds {now.remote_id} in its place")
    before = sending.change.observation
    if not isinstance(before, Seen) or not is_stale_read(before, now):
        return None
    unmoved = bool(now.revision) or not what_moved(kind, sending.change, now)
    # Fields recalled from the journal are as sent, whether they were written or not.
    if unmoved and (now.recalled or not covers(now.document, sending.document, kind.shape)):
        return Absent("a read still shows what was there before")
    return None


def stored_otherwise(
    kind: Kind, declared: dict[str, Json], stored: dict[str, Json] | None
) -> tuple[Difference, ...]:
    """Return the declared fields that came back differently: `before` is stored, `after` sent."""
    if stored is None:
        return ()
    shown = conceal(stored, declared, kind.shape)
    wanted = merge(ABSENT, declared, shown, kind.shape)
    return tuple(differences(shown, wanted, kind.shape))


def is_empty(difference: Difference) -> bool:
    """Return whether a field is absent, null or holds nothing, before and after."""
    return all(
        value is ABSENT or value is None or value in ({}, [], "")
        for value in (difference.before, difference.after)
    )


def members_not_stored(
    kind: Kind, manifest: Manifest, now: Seen, memory: Memory
) -> tuple[Path, ...]:
    """Return the declared members of lists that a read after the write does not show.

    A member without a declared id is there, whatever id the service gave it. `memory` is what the
    journal will know of the write.
    """
    declared = kind.remote.complete(manifest, now, memory)
    found = stored_otherwise(kind, declared, now.document)
    return tuple(path for difference in found for path in members_missing(difference, kind.shape))


def not_removed(
    change: Change, body: dict[str, Json], stored: dict[str, Json] | None
) -> tuple[Difference, ...]:
    """Return the fields that the plan removes and the service keeps.

    No later plan or drift would show them.
    """
    removed = {
        difference.path for difference in change.differences if difference.operation == "remove"
    }
    if stored is None or not removed:
        return ()
    shape = BY_NAME[change.ref.kind].shape
    found = differences(conceal(stored, body, shape), body, shape)
    return tuple(
        difference
        for difference in found
        if difference.operation == "remove" and difference.path in removed
    )


def as_reported(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return the differences for a person: `before` is sent, `after` stored, without secrets."""
    return tuple(turned(map(_without_secret, found)))


def _without_secret(difference: Difference) -> Difference:
    secret = holds_seal(difference.after) and difference.before is not ABSENT
    return replace(difference, before=HIDDEN) if secret else difference


def rewritten_entry(run: str, at: str, ref: Ref, found: Sequence[Difference]) -> Stored:
    """Return the journal entry of fields stored differently; secrets only as fingerprints."""
    return Stored(run=run, at=at, ref=ref, rewritten=tuple(map(_rewritten, found)))


def _rewritten(difference: Difference) -> Rewritten:
    sent, got = difference.after, difference.before
    if holds_seal(sent):
        got = fingerprint(got, sent)
    return Rewritten(difference.path, sent, got)


async def objected(kind: Kind, api: Api, sendings: Sequence[Sending]) -> list[Refused]:
    """Return what the service objects to before anything is written.

    Raises errors that concern the whole service.
    """
    answers = await asyncio.gather(*(kind.remote.preflight(api, sending) for sending in sendings))
    return [
        Refused(sending.ref, "; ".join(foreseen.objections))
        for sending, foreseen in zip(sendings, answers, strict=True)
        if foreseen.objections
    ]


async def moved(
    kind: Kind,
    api: Api,
    history: History,
    sendings: Sequence[Sending],
    before: dict[Ref, Seen],
) -> list[Refused]:
    """Return what changed since the plan or cannot be read again, and add live to `before`.

    `before` is filled only for kinds that may have to be put back. Raises errors that concern the
    whole service.
    """
    if not kind.readable_by(api.assumptions):
        return []
    observed = await asyncio.gather(
        *(_observed(kind, api, history, sending) for sending in sendings)
    )
    refused = []
    for sending, now in zip(sendings, observed, strict=True):
        if kind.sampled and isinstance(now, Seen):
            before[sending.ref] = now
        if isinstance(now, ReconcilerError):
            cause = f"it could not be read again before the write: {now}"
            refused.append(Refused(sending.ref, cause, now.exit_code))
        elif cause := what_moved(kind, sending.change, now):
            refused.append(Refused(sending.ref, cause, exit_code=ExitCode.STALE))
    return refused


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A write that the service acknowledged, and what the journal will know of it then."""

    sending: Sending
    answer: Written
    memory: Memory


PAUSES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.5)
PATIENCE_SECONDS = sum(PAUSES)


async def seen_after(
    kind: Kind, api: Api, written: Sequence[Acknowledged]
) -> list[Seen | Absent | None]:
    """Return live after each write, `Absent` where two seconds do not show the write.

    None where it cannot be read. Never raises.
    """
    return await asyncio.gather(*(_seen(kind, api, acknowledged) for acknowledged in written))


async def _seen(kind: Kind, api: Api, acknowledged: Acknowledged) -> Seen | Absent | None:
    """Read until the write shows: a service may show a write a little after its answer."""
    for pause in (*PAUSES, None):
        try:
            now = await observe(kind, api, acknowledged.sending.manifest, acknowledged.memory)
        except ReconcilerError:
            return None
        if isinstance(now, AnotherRecord):
            now = Absent(str(now))
        if not isinstance(now, Seen | Absent):
            return None
        missing = now if isinstance(now, Absent) else _what_is_missing(kind, acknowledged, now)
        if missing is None or pause is None:
            return missing or now
        await api.patience.sleep(pause)
    raise AssertionError("the last look has no pause after it")


def _what_is_missing(kind: Kind, acknowledged: Acknowledged, now: Seen) -> Absent | None:
    """Return what a read does not show of a write; None where nothing is missing.

    What another writer removed again is reported as the work of that writer.
    """
    change = acknowledged.sending.change
    if missing := not_ours(kind, acknowledged.sending, acknowledged.answer, now):
        return missing
    if was_overtaken(change.observation, now, acknowledged.answer):
        return None
    members = members_not_stored(kind, acknowledged.sending.manifest, now, acknowledged.memory)
    return Absent(f"the service has no {named(members)}") if members else None


def not_to_be_seen(written: Written, absent: Absent) -> Unconfirmed:
    """Return the outcome of a write that was acknowledged and that no read has shown."""
    whose = "" if written.remote_id is None else f" of {written.remote_id}"
    return Unconfirmed(
        written.ref,
        f"the service acknowledged the write{whose}, and {PATIENCE_SECONDS:g} seconds later "
        f"it is not to be seen ({absent.why}): plan again",
    )


async def _observed(
    kind: Kind, api: Api, history: History, sending: Sending
) -> Observation | ReconcilerError:
    return await observe(kind, api, sending.manifest, history.of(sending.ref))
