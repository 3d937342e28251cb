"""What the service says right before a write, and right after it (R16)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.api.door import Api
from reconciler.applying.reading_back import members_not_stored
from reconciler.applying.staleness import named, not_ours, was_overtaken, what_moved
from reconciler.errors import ReconcilerError
from reconciler.journal.history import History, Memory
from reconciler.kinds.kind import Kind, Sending
from reconciler.kinds.observing import observe
from reconciler.resource import Absent, Observation, Refused, Seen, Unconfirmed, Written


async def objected(kind: Kind, api: Api, sendings: Sequence[Sending]) -> list[Refused]:
    """Give what the service objects to before anything is written.

    Raises what is about the service as a whole.
    """
    asked = await asyncio.gather(*(kind.preflight(api, one) for one in sendings))
    return [
        Refused(sending.ref, "; ".join(objections))
        for sending, objections in zip(sendings, asked, strict=True)
        if objections
    ]


async def moved(
    kind: Kind, api: Api, history: History, sendings: Sequence[Sending]
) -> list[Refused]:
    """Give what changed since the plan, or cannot be read again.

    Raises what is about the service as a whole.
    """
    if not kind.readable:
        return []
    observed = await asyncio.gather(*(_observed(kind, api, history, one) for one in sendings))
    refused = []
    for sending, now in zip(sendings, observed, strict=True):
        if isinstance(now, ReconcilerError):
            said = f"it could not be read again before the write: {now}"
            refused.append(Refused(sending.ref, said, now.exit_code))
        elif said := what_moved(kind, sending.change, now):
            refused.append(Refused(sending.ref, said, exit_code=6))
    return refused


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A write that the service says it did, and what the journal will know of it then."""

    sending: Sending
    answer: Written
    memory: Memory


_PAUSES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.5)
PATIENCE_SECONDS = sum(_PAUSES)


async def seen_after(
    kind: Kind, api: Api, written: Sequence[Acknowledged]
) -> list[Seen | Absent | None]:
    """Give what live is after each write, `Absent` where two seconds do not show it.

    None where it cannot be read. Never raises.
    """
    return await asyncio.gather(*(_seen(kind, api, one) for one in written))


async def _seen(kind: Kind, api: Api, one: Acknowledged) -> Seen | Absent | None:
    """Look until the write shows, as a service may know of it a little later than it says so."""
    for pause in (*_PAUSES, None):
        try:
            now = await observe(kind, api, one.sending.change.manifest, one.memory)
        except ReconcilerError:
            return None
        if not isinstance(now, Seen | Absent):
            return None
        missing = now if isinstance(now, Absent) else _what_is_missing(kind, one, now)
        if missing is None or pause is None:
            return missing or now
        await api.patience.sleep(pause)
    raise AssertionError("the last look has no pause after it")


def _what_is_missing(kind: Kind, one: Acknowledged, now: Seen) -> Absent | None:
    """Say what of a write a read does not show; None where nothing is missing.

    What another writer took out again is told as the work of that writer.
    """
    change = one.sending.change
    if missing := not_ours(kind, one.sending, one.answer, now):
        return missing
    if was_overtaken(change.observation, now, one.answer):
        return None
    members = members_not_stored(kind, change, now, one.memory)
    return Absent(f"the service has no {named(members)}") if members else None


def not_to_be_seen(written: Written, absent: Absent) -> Unconfirmed:
    """Give a write that was acknowledged, and that no read has shown, as its outcome."""
    whose = "" if written.remote_id is None else f" of {written.remote_id}"
    return Unconfirmed(
        written.ref,
        f"the service acknowledged the write{whose}, and {PATIENCE_SECONDS:g} seconds later "
        f"it is not to be seen ({absent.why}): plan again",
    )


async def _observed(
    kind: Kind, api: Api, history: History, sending: Sending
) -> Observation | ReconcilerError:
    return await observe(kind, api, sending.change.manifest, history.of(sending.ref))
