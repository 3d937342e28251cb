"""Plan: observe, decide, and tell what an apply would refuse."""

from __future__ import annotations

from reconciler.errors import Unsettled
from reconciler.guards import with_guards
from reconciler.journal.history import History
from reconciler.planning.plan import Place, make_plan
from reconciler.project import Embedded
from reconciler.resource import Plan
from reconciler.session.opening import Bench, open_api


def failures_of(made: Plan) -> set[int]:
    """Give the exit codes of what a plan could not find out."""
    unread = {one.exit_code for one in made.unread}
    return unread | ({Unsettled.exit_code} if made.unsettled else set())


async def plan_now(bench: Bench, history: History) -> Plan:
    """Observe and decide, over a door of its own, and tell what an apply would refuse."""
    place = Place(
        bench.name,
        bench.target.name,
        embedded=isinstance(bench.target, Embedded),
        salt=bench.salt(),
    )
    async with open_api(bench) as api:
        made = await make_plan(
            api,
            bench.workspace.manifests,
            history,
            place,
            whole=bench.whole,
            others=bench.others,
        )
        return await with_guards(api, made, bench.environment.guards)
