"""`plan` of 10,000 resources with nothing to do, as a command, against its GETs by the same client.

Cold reads every manifest; warm finds them in the cache of the run before. `UNCHANGED` is another
number of resources.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measuring import cpu_of, cpu_of_process, figures
from benchmarks.planning import get_all
from benchmarks.worlds import world_of
from reconciler.api.wire import make_transport

ROUNDS = 3
TARGETS = {"warm": 1.25, "cold": 2.0}


def run() -> None:
    """Print the figures."""
    count = int(os.environ.get("UNCHANGED", "10000"))
    with tempfile.TemporaryDirectory() as name, world_of(count, Path(name) / "world") as world:
        environ = {**world.environ, "RECONCILER_CACHE": f"{name}/cache"}
        warm = partial(cpu_of_process, world.command("plan", "--exit-code"), environ)
        warm()
        took = figures(
            ROUNDS,
            lambda: cpu_of(lambda: get_all(world.urls, make_transport(world.base_url))),
            {
                "warm": warm,
                "cold": partial(
                    cpu_of_process, world.command("plan", "--exit-code", "--no-cache"), environ
                ),
            },
        )
    print(f"a no-change plan of {count:,} resources, {len(world.urls):,} of them read live")
    for how, figure in took.items():
        print(figure.text(f"`reconciler plan`, {how}", "the same GETs, same client", TARGETS[how]))
