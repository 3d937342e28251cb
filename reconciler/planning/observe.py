"""Reading the live side of many manifests at once.

An error that concerns the whole service ends the run; one unusable answer does not.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack

from reconciler.api.client import Api
from reconciler.api.replies import READS, ReadLog
from reconciler.errors import ReconcilerError, ServiceRefused, UnreadableReply
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import observe
from reconciler.model import Absent, Manifest, NotPermitted, Observation, Seen, Unread
from reconciler.planning.decision_cache import Decided, DecisionRow, EarlyDecisions, observed_before
from reconciler.runtime.progress import Deed, Progress

SIDE_BY_SIDE = 4
"""How many resources are observed at once for each request that may be open."""


async def observe_all(
    api: Api,
    manifests: Sequence[Manifest],
    history: History,
    decided: Decided | None = None,
    ahead: EarlyDecisions | None = None,
) -> list[Observation]:
    """Observe every manifest.

    An error that concerns the whole service cancels the other reads and is raised. With `decided`,
    a resource is only checked for change since the earlier plan. `ahead` decides resources while
    other reads are in flight. One unusable answer becomes `Unread`, and the other manifests are
    observed. Where no answer is usable, the service is at fault, and that is raised.
    """
    with ExitStack() as noted:
        counts = Counter(manifest.ref.kind for manifest in manifests)
        steps = {
            kind: noted.enter_context(api.waits.step(Deed.READING, kind, count))
            for kind, count in counts.items()
        }
        found: list[Observation | ReconcilerError] = [Absent()] * len(manifests)
        left = iter(enumerate(manifests))

        async def observe_some() -> None:
            for at, manifest in left:
                step = steps[manifest.ref.kind]
                found[at] = await _observe(api, manifest, history, step, decided, ahead)

        # More tasks than there can be open requests, so that no slot is idle, but not one for each
        # manifest.
        async with asyncio.TaskGroup() as group:
            for _ in range(min(len(manifests), SIDE_BY_SIDE * api.assumptions.requests_at_once)):
                group.create_task(observe_some())
    errors = [error for error in found if isinstance(error, ReconcilerError)]
    if errors and not any(isinstance(observation, Seen | Absent) for observation in found):
        raise ExceptionGroup("no answer about a resource is of use", errors)
    return [
        _unread(manifest, history, observation)
        if isinstance(observation, ReconcilerError)
        else observation
        for manifest, observation in zip(manifests, found, strict=True)
    ]


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


async def _observe(  # noqa: PLR0917 - what one task of `observe_all` is given
    api: Api,
    manifest: Manifest,
    history: History,
    step: Progress,
    decided: Decided | None,
    ahead: EarlyDecisions | None,
) -> Observation | ReconcilerError:
    reads = ReadLog()
    row = None
    if decided is not None:
        # Each resource runs in a task, and the other tasks do not see this value.
        READS.set(reads)
        row = decided.row(manifest)
    found: Observation | ReconcilerError
    if decided is not None and row is not None and await _is_unchanged(api, row):
        decided.same[manifest.ref] = row
        found = observed_before(row)
    else:
        found = await observe(BY_NAME[manifest.ref.kind], api, manifest, history.of(manifest.ref))
        if decided is not None:
            decided.reads[manifest.ref] = reads
        if ahead is not None and not isinstance(found, ReconcilerError):
            found = ahead.observed(manifest, found)
    step.done += 1
    return found


async def _is_unchanged(api: Api, row: DecisionRow) -> bool:
    """Return whether the reads of an earlier plan still have the same answers.

    An unusable answer counts as a change: `observe` reports it.
    """
    try:
        return await api.is_unchanged(row["reads"])
    except (UnreadableReply, ServiceRefused):
        return False


def _unread(manifest: Manifest, history: History, error: ReconcilerError) -> Unread:
    known = manifest.remote_id or history.of(manifest.ref).remote_id
    return Unread(known, str(error), error.exit_code)
