"""Asking for the live side of every manifest, side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from reconciler.api.door import Api
from reconciler.errors import ReconcilerError
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.kinds.observing import observe
from reconciler.resource import Absent, Manifest, Observation, Seen, Unknown


async def observe_all(
    api: Api, manifests: Sequence[Manifest], history: History
) -> list[Observation]:
    """Observe every manifest; what concerns the whole service cancels the rest and is raised.

    One answer that is of no use is `Unknown` with its exit code, and the others
    are observed all the same. Where no answer at all is of use, it is the
    service, and that is raised.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_observe(api, manifest, history)) for manifest in manifests]
    found = [task.result() for task in tasks]
    errors = [one for one in found if isinstance(one, ReconcilerError)]
    if errors and not any(isinstance(one, Seen | Absent) for one in found):
        raise ExceptionGroup("no answer about a resource is of use", errors)
    return [
        _unread(manifest, history, one) if isinstance(one, ReconcilerError) else one
        for manifest, one in zip(manifests, found, strict=True)
    ]


async def _observe(api: Api, manifest: Manifest, history: History) -> Observation | ReconcilerError:
    return await observe(BY_NAME[manifest.ref.kind], api, manifest, history.of(manifest.ref))


def _unread(manifest: Manifest, history: History, error: ReconcilerError) -> Unknown:
    known = manifest.remote_id or history.of(manifest.ref).remote_id
    return Unknown(known, str(error), error.exit_code)
