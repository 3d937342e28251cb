"""Asking for the live side of every manifest, side by side."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack

from reconciler.api.client import Api
from reconciler.errors import ReconcilerError
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import observe
from reconciler.resource import Absent, Manifest, NotPermitted, Observation, Seen, Unread
from reconciler.waits import Deed, Step


async def observe_all(
    api: Api, manifests: Sequence[Manifest], history: History
) -> list[Observation]:
    """Observe every manifest; what concerns the whole service cancels the rest and is raised.

    One answer that is of no use is `Unread`, and the others are observed all the same. Where
    no answer at all is of use, it is the service, and that is raised.
    """
    with ExitStack() as noted:
        counts = Counter(one.ref.kind for one in manifests)
        steps = {
            kind: noted.enter_context(api.waits.step(Deed.READING, kind, count))
            for kind, count in counts.items()
        }
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_observe(api, one, history, steps[one.ref.kind]))
                for one in manifests
            ]
    found = [task.result() for task in tasks]
    errors = [one for one in found if isinstance(one, ReconcilerError)]
    if errors and not any(isinstance(one, Seen | Absent) for one in found):
        raise ExceptionGroup("no answer about a resource is of use", errors)
    return [
        _unread(manifest, history, one) if isinstance(one, ReconcilerError) else one
        for manifest, one in zip(manifests, found, strict=True)
    ]


async def proof(
    api: Api, manifests: Sequence[Manifest], observations: Iterable[Observation]
) -> NotPermitted | None:
    """Find out whether target and key are right where no observation has told it yet.

    With nothing to examine nothing is asked. Raises what `Api.prove` raises.
    """
    if not manifests or any(isinstance(one, Seen | Absent | Unread) for one in observations):
        return None
    said = await api.prove()
    return NotPermitted(said) if said else None


async def _observe(
    api: Api, manifest: Manifest, history: History, step: Step
) -> Observation | ReconcilerError:
    found = await observe(BY_NAME[manifest.ref.kind], api, manifest, history.of(manifest.ref))
    step.done += 1
    return found


def _unread(manifest: Manifest, history: History, error: ReconcilerError) -> Unread:
    known = manifest.remote_id or history.of(manifest.ref).remote_id
    return Unread(known, str(error), error.exit_code)
