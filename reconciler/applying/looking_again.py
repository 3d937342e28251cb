"""What the service says right before a write, and right after it (R16)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from reconciler.api.door import Api
from reconciler.applying.staleness import what_moved
from reconciler.errors import ReconcilerError
from reconciler.journal.history import History
from reconciler.kinds.kind import Kind, Sending
from reconciler.kinds.observing import observe
from reconciler.resource import Observation, Refused, Seen


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


async def seen_after(
    kind: Kind, api: Api, history: History, sendings: Sequence[Sending]
) -> list[Seen | None]:
    """Give what live is after a write; None where it cannot be read. Never raises."""
    return await asyncio.gather(*(_seen(kind, api, history, one) for one in sendings))


async def _seen(kind: Kind, api: Api, history: History, sending: Sending) -> Seen | None:
    try:
        found = await _observed(kind, api, history, sending) if kind.readable else None
    except ReconcilerError:
        return None
    return found if isinstance(found, Seen) else None


async def _observed(
    kind: Kind, api: Api, history: History, sending: Sending
) -> Observation | ReconcilerError:
    return await observe(kind, api, sending.change.manifest, history.of(sending.ref))
