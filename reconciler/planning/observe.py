"""Reading the live side of many manifests at once.

An error that concerns the whole service ends the run; one unusable answer does not.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import TypeAlias

from reconciler.api.client import Api
from reconciler.errors import ReconcilerError
from reconciler.journal.history import History, Memory
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import observe
from reconciler.model import Absent, Manifest, NotPermitted, Observation, Ref, Seen, Unread
from reconciler.runtime.progress import Deed

Observer: TypeAlias = Callable[[Api, Manifest, Memory], Awaitable[Observation | ReconcilerError]]
"""Observes one resource. Raises errors about the service as a whole."""


def observe_one(
    api: Api, manifest: Manifest, memory: Memory
) -> Awaitable[Observation | ReconcilerError]:
    """Observe one resource. Raises errors about the service as a whole."""
    return observe(BY_NAME[manifest.ref.kind], api, manifest, memory)


SIDE_BY_SIDE = 4
"""How many resources are observed at once for each request that may be open."""


async def observe_all(
    api: Api, manifests: Sequence[Manifest], history: History, observe: Observer = observe_one
) -> dict[Ref, Observation]:
    """Observe every manifest.

    An error that concerns the whole service cancels the other reads and is raised. One unusable
    answer becomes `Unread`, and the other manifests are observed. Where no answer is usable, the
    service is at fault, and an ExceptionGroup is raised.
    """
    with ExitStack() as noted:
        counts = Counter(manifest.ref.kind for manifest in manifests)
        steps = {
            kind: noted.enter_context(api.waits.step(Deed.READING, kind, count))
            for kind, count in counts.items()
        }
        found: dict[Ref, Observation | ReconcilerError] = {}
        left = iter(manifests)

        async def observe_some() -> None:
            for manifest in left:
                found[manifest.ref] = await observe(api, manifest, history.of(manifest.ref))
                steps[manifest.ref.kind].done += 1

        # More tasks than there can be open requests, so that no slot is idle, but not one for each
        # manifest.
        async with asyncio.TaskGroup() as group:
            for _ in range(min(len(manifests), SIDE_BY_SIDE * api.assumptions.requests_at_once)):
                group.create_task(observe_some())
    errors = [error for error in found.values() if isinstance(error, ReconcilerError)]
    if errors and not any(isinstance(seen, Seen | Absent) for seen in found.values()):
        raise ExceptionGroup("no answer about a resource is of use", errors)
    return {
        manifest.ref: Unread(
            manifest.remote_id or history.of(manifest.ref).remote_id,
            str(observation),
            observation.exit_code,
        )
        if isinstance(observation := found[manifest.ref], ReconcilerError)
        else observation
        for manifest in manifests
    }


async def proof(
    api: Api, manifests: Sequence[Manifest], observations: Iterable[Observation]
) -> NotPermitted | None:
    """Check that target and key are right, where no observation has proved it yet.

    Without manifests nothing is requested. Returns what is not permitted, or None. Raises what
    `Api.prove` raises.
    """
    if not manifests or any(
        isinstance(observation, Seen | Absent | Unread) for observation in observations
    ):
        return None
    missing = await api.prove()
    return NotPermitted(missing) if missing else None
