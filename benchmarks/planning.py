"""A plan of 1,000 resources with nothing to do, over real HTTP on this machine.

It is what runs at every push and every night, and most of it is unchanged. The
floor is the same GETs by the same client with nothing done to the answers: what
the plan costs on top is ours. The service runs in another process, and only the
CPU time of this one counts.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks.manifests import alert, dashboard, slo
from benchmarks.measuring import cpu_of, cpu_of_process, medians, verdict
from reconciler.api.wire import make_transport
from reconciler.model import Action
from reconciler.model.assumptions import REQUESTS_AT_ONCE
from reconciler.operations.open_project import Options
from reconciler.operations.open_session import Session, begin_session
from reconciler.operations.plan_and_drift import plan_now

DASHBOARDS = 600
SLOS = 350
ALERTS = 50
WIDGETS = 6
ROUNDS = 5
TARGET = 2.5
KEY = "benchmark"
READY = "emulator ready: "
COMMAND = str(Path(sys.executable).with_name("reconciler"))
API_ROOT = "/mgmt/openapi/latest"
PATHS = {"Dashboard": "/v1/dashboards/dashboards/", "SLO": "/v1/slo/slos/"}


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name, service(Path(name)) as base_url:
        os.environ |= {"RECONCILER_BASE_URL": base_url, "RECONCILER_API_KEY": KEY}
        folder = Path(name) / "manifests"
        _write(folder)
        print("applying the workspace once", flush=True)
        _quietly([COMMAND, "apply", "--yes", "--new-journal", "--quiet", str(folder)])
        _measure(folder, base_url)


def _measure(folder: Path, base_url: str) -> None:
    bench = begin_session(
        Options(paths=(folder,), environment=None, project=None, verbose=False, quiet=True)
    )
    history = bench.journal().history
    urls = [
        base_url + API_ROOT + PATHS[ref.kind] + str(memory.remote_id)
        for ref, memory in history.memories.items()
        if ref.kind in PATHS
    ]
    plan = asyncio.run(plan_now(bench, history))
    if plan.count(Action.KEEP) != DASHBOARDS + SLOS + ALERTS:
        raise SystemExit("the plan to measure has changes")
    took = medians(
        ROUNDS,
        {
            "floor": lambda: cpu_of(lambda: get_all(urls, make_transport(base_url))),
            "plan": lambda: cpu_of(lambda: asyncio.run(plan_now(bench, history))),
            "plain httpx": lambda: cpu_of(lambda: get_all(urls, None)),
            "command": lambda: cpu_of_process([COMMAND, "plan", "--quiet", str(folder)]),
            "help": lambda: cpu_of_process([sys.executable, "-c", "import reconciler.cli.plan"]),
        },
    )
    _report(bench, len(urls), took)


def _report(bench: Session, requests: int, took: dict[str, float]) -> None:
    ratio = took["plan"] / took["floor"]
    each = took["floor"] / requests * 1e3
    print(f"a plan of {len(bench.workspace.manifests):,} resources, {requests} of them read live")
    print(f"  floor: the same GETs, same client  {took['floor']:6.2f} s   {each:.2f} ms each")
    print(
        f"  the plan                           {took['plan']:6.2f} s   {ratio:.2f} x the floor "
        f"(target {TARGET:g} x: {verdict(ratio, TARGET)})"
    )
    print(f"  for information: GETs, plain httpx {took['plain httpx']:6.2f} s")
    whole = "with all imports, and the manifests read"
    print(f"  for information: `reconciler plan` {took['command']:6.2f} s   {whole}")


def _write(folder: Path) -> None:
    folder.mkdir()
    texts = {
        **{f"alert-{index}": alert(index) for index in range(ALERTS)},
        **{f"dashboard-{index}": dashboard(index, WIDGETS) for index in range(DASHBOARDS)},
        **{f"slo-{index}": _without_id(slo(index)) for index in range(SLOS)},
    }
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def _without_id(text: str) -> str:
    """Leave the id to the service, which gives one when the SLO is created."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("  id:"))


def get_all(urls: Sequence[str], transport: httpx.AsyncBaseTransport | None) -> None:
    """Ask for all of these and do nothing with the answers."""
    asyncio.run(_get_side_by_side(urls, transport))


async def _get_side_by_side(
    urls: Sequence[str], transport: httpx.AsyncBaseTransport | None
) -> None:
    gate = asyncio.Semaphore(REQUESTS_AT_ONCE)
    async with httpx.AsyncClient(transport=transport, headers={"Authorization": KEY}) as client:

        async def get(url: str) -> None:
            async with gate:
                (await client.get(url)).raise_for_status()

        async with asyncio.TaskGroup() as group:
            for url in urls:
                group.create_task(get(url))


def _quietly(command: Sequence[str]) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if ran.returncode:
        raise SystemExit(f"{' '.join(command[1:3])} failed: {ran.stderr[-2000:]}")


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """Serve the emulator from another process; give its base URL."""
    ids = [f"--alert-id={line.split()[1]}" for line in _alert_id_lines()]
    command = [COMMAND, "emulator", "serve", "--port", "0", "--data", str(folder / "service.db")]
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, *ids], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - as asked for
            line = next((line for line in process.stdout if READY in line), "")
            if not line:
                raise SystemExit("the emulator did not start")
            yield line.partition(READY)[2].split()[0].rstrip("/")
        finally:
            process.terminate()


def _alert_id_lines() -> Iterator[str]:
    for index in range(ALERTS):
        yield from (line for line in alert(index).splitlines() if line.startswith("  id:"))
