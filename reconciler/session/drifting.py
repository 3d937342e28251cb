"""Drift: hold live against what was last applied."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.errors import ExitCode, worst
from reconciler.journal.history import History
from reconciler.planning.drift import find_drift
from reconciler.project import Embedded
from reconciler.resource import Drift
from reconciler.session.opening import Bench, open_api


def exit_code_of(found: Sequence[Drift]) -> int:
    """Give the exit code for what was found: what could not be read comes first."""
    unread = {one.exit_code for one in found} - {0}
    if unread:
        return worst(unread)
    return ExitCode.DIFFERENT if any(one.drifted for one in found) else ExitCode.DONE


async def drift_now(bench: Bench, history: History) -> tuple[Drift, ...]:
    """Compare every resource with its last write, over a door of its own."""
    async with open_api(bench) as api:
        return await find_drift(
            api,
            bench.workspace.manifests,
            history,
            bench.salt(),
            prove=not isinstance(bench.target, Embedded),
        )
