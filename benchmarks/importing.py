"""An import of 2,000 dashboards that nobody declared, over real HTTP on this machine.

The floor is the same GETs by the same client with nothing done to the answers: what is read,
named, judged, written as YAML, read back and journaled costs what is on top. The service runs
in another process, and only the CPU time of this one counts.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import tempfile
from pathlib import Path
from uuid import uuid4

import httpx

from benchmarks.manifests import dashboard_spec
from benchmarks.measuring import cpu_of, medians, verdict
from benchmarks.planning import API_ROOT, KEY, PATHS, get_all, service
from reconciler.api.wire import make_transport
from reconciler.document import Json
from reconciler.features.import_.import_resources import import_now
from reconciler.features.import_.import_sources import ToImport
from reconciler.journal.store import LockTimeout
from reconciler.kinds import BY_NAME
from reconciler.operations.open_project import Options

DASHBOARDS = 2_000
WIDGETS = 6
ROUNDS = 3
AT_ONCE = 20
TARGET = 1.5
MEBIBYTE = 1 << 20
# ru_maxrss is in KiB here, as the house runs its figures on Linux.
KIBIBYTE = 1 << 10


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name, service(Path(name)) as base_url:
        os.environ |= {"RECONCILER_BASE_URL": base_url, "RECONCILER_API_KEY": KEY}
        print(f"making {DASHBOARDS:,} dashboards", flush=True)
        ids = asyncio.run(_make(base_url))
        _measure(Path(name), base_url, ids)


def _measure(folder: Path, base_url: str, ids: list[str]) -> None:
    urls = [base_url + API_ROOT + PATHS["Dashboard"] + id_ for id_ in ids]
    took = medians(
        ROUNDS,
        {
            "floor": lambda: cpu_of(lambda: get_all(urls, make_transport(base_url))),
            "import": lambda: cpu_of(lambda: _import(folder / str(uuid4()), ids)),
        },
    )
    ratio = took["import"] / took["floor"]
    each = {name: seconds / DASHBOARDS * 1e3 for name, seconds in took.items()}
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIBIBYTE / MEBIBYTE
    print(f"an import of {DASHBOARDS:,} dashboards of {WIDGETS} widgets")
    print(
        f"  floor: the same GETs, same client  {took['floor']:6.2f} s   {each['floor']:.2f} ms each"
    )
    print(
        f"  the import                         {took['import']:6.2f} s   {each['import']:.2f} ms "
        f"each, {ratio:.2f} x the floor (target {TARGET:g} x: {verdict(ratio, TARGET)})"
    )
    print(f"  for information: most memory       {most:6.0f} MiB")


def _import(folder: Path, ids: list[str]) -> None:
    folder.mkdir()
    file = folder / "reconciler.yaml"
    file.write_text("environments: {}\n", encoding="utf-8")
    asked = Options(paths=(), environment=None, project=file, verbose=False, quiet=True)
    live = tuple((BY_NAME["Dashboard"], id_) for id_ in ids)
    result = import_now(asked, ToImport(live=live), LockTimeout())
    if len(result.imported) < DASHBOARDS:
        raise SystemExit(f"{len(result.imported)} were imported: {result.skipped[:3]}")


async def _make(base_url: str) -> list[str]:
    gate = asyncio.Semaphore(AT_ONCE)
    async with httpx.AsyncClient(headers={"Authorization": KEY}, timeout=60) as client:

        async def make(nth: int) -> str:
            url = base_url + API_ROOT + PATHS["Dashboard"].rstrip("/")
            async with gate:
                answer = await client.post(url, json=_board(nth))
            answer.raise_for_status()
            made: str = answer.json()["dashboardId"]
            return made

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(make(nth)) for nth in range(DASHBOARDS)]
        return [task.result() for task in tasks]


def _board(nth: int) -> Json:
    board = dashboard_spec(WIDGETS)["dashboard"]
    assert isinstance(board, dict)  # noqa: S101 - as written there
    named = {**board, "name": f"Service {nth}", "slugName": f"service-{nth}"}
    text = json.dumps(named).replace("sum(rate(x_", f"sum(rate(x_{nth}_")
    return {"dashboard": json.loads(text), "requestId": str(uuid4())}
