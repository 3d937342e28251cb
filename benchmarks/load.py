"""Many clients on one emulator: `python -m benchmarks.load --seconds 60`.

Reads and writes are mixed over loopback, against `reconciler emulator serve` in a process of its
own that keeps its data in a file. Afterwards the server is stopped and started again, and every
write that was acknowledged is looked for. A bare Starlette route, served by the same kind of
server and asked by the same clients, stands beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

KEY = "load"
ROOT = "/mgmt/openapi/latest"
DASHBOARDS, SLOS = "/v1/dashboards/dashboards", "/v1/slo/slos"
VIEWS, INCIDENTS = "/data-exploration/saved-views/v1", "/incidents/incidents/v1"
SLI = {"goodEvents": {"query": "good"}, "totalEvents": {"query": "all"}}

MOST_SECONDS = 600
MOST_CLIENTS = 256
MOST_REQUESTS = 500_000
WARM_UP_SHARE = 1 / 3
BARE_SHARE = 1 / 6
READS_IN_TEN = 7

BARE = """\
import asyncio, socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def answer(_):
    return JSONResponse({"status": "ok"})

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        print("ready: http://127.0.0.1:%d" % sockets[0].getsockname()[1], flush=True)

app = Starlette(routes=[Route("/", answer)])
config = uvicorn.Config(app, access_log=False, http="h11", lifespan="off", log_config=None)
listener = socket.create_server(("127.0.0.1", 0))
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
Server(config).run(sockets=[listener])
"""


@dataclass
class Figures:
    """What one run came to."""

    clients: int
    seconds: float = 0.0
    reads: int = 0
    writes: int = 0
    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    warm_kib: int = 0
    end_kib: int = 0
    bare_rate: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second."""
        return (self.reads + self.writes) / self.seconds if self.seconds else 0.0

    def text(self) -> str:
        """Give the figures as lines."""
        cuts = quantiles(self.latencies, n=100) if len(self.latencies) > 1 else [0.0] * 99
        grown = self.end_kib / self.warm_kib - 1 if self.warm_kib else 0.0
        ratio = self.rate / self.bare_rate if self.bare_rate else 0.0
        return (
            f"{self.clients} clients for {self.seconds:.0f} s\n"
            f"  requests        {self.reads:,} reads and {self.writes:,} writes, "
            f"{len(self.errors)} errors\n"
            f"  throughput      {self.rate:,.0f} a second; a bare route {self.bare_rate:,.0f} "
            f"({ratio:.2f} of it)\n"
            f"  latency         median {cuts[49] * 1e3:.0f} ms, 95 % {cuts[94] * 1e3:.0f} ms, "
            f"99 % {cuts[98] * 1e3:.0f} ms\n"
            f"  written things  {self.acknowledged:,} acknowledged, {len(self.lost)} lost\n"
            f"  server memory   {self.warm_kib / 1024:.1f} MB warm, {self.end_kib / 1024:.1f} MB "
            f"at the end ({grown:+.1%})\n"
        )


@dataclass
class Client:
    """One of many: asks at random, and remembers what was acknowledged."""

    session: aiohttp.ClientSession
    number: int
    figures: Figures
    chance: random.Random
    dashboards: dict[str, str] = field(default_factory=dict)
    slos: dict[str, str] = field(default_factory=dict)
    views: dict[int, str] = field(default_factory=dict)
    count: int = 0

    async def step(self) -> None:
        """Send one request."""
        reads = self.chance.randrange(10) < READS_IN_TEN
        choices = self._reads() if reads else self._writes()
        started = time.perf_counter()
        await self.chance.choice(choices)()
        self.figures.latencies.append(time.perf_counter() - started)
        if reads:
            self.figures.reads += 1
        else:
            self.figures.writes += 1

    async def ask(self, method: str, path: str, body: object = None) -> Any:
        """Give the answer of a success, None for anything else, which is noted."""
        try:
            async with self.session.request(method, ROOT + path, json=body) as reply:
                answer = await reply.json()
                if reply.ok:
                    return answer
                self.figures.errors.append(f"{method} {path}: {reply.status} {answer}")
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            self.figures.errors.append(f"{method} {path}: {error!r}")
        return None

    def _reads(self) -> list[Callable[[], Awaitable[Any]]]:
        paged = "?pagination.pageSize=20"
        return [
            lambda: self.ask("GET", "/dataplans/policies/v1?source_type=SOURCE_TYPE_LOGS"),
            lambda: self.ask("POST", "/cases/cases/v1", {"pagination": {"pageSize": 20}}),
            lambda: self.ask("POST", INCIDENTS + paged, {}),
            lambda: self.ask("GET", self._known(DASHBOARDS, self.dashboards)),
            lambda: self.ask("GET", self._known(SLOS, self.slos)),
            lambda: self.ask(
                "POST", "/dataplans/data-usage/v2/daily:units", {"range": "RANGE_LAST_WEEK"}
            ),
        ]

    def _known(self, path: str, things: dict[str, str]) -> str:
        known = list(things)
        fallback = "/dataplans/policies/v1?source_type=SOURCE_TYPE_LOGS"
        return f"{path}/{self.chance.choice(known)}" if known else fallback

    def _writes(self) -> list[Callable[[], Awaitable[None]]]:
        return [self._dashboard, self._slo, self._view]

    def _word(self) -> str:
        self.count += 1
        return f"client {self.number} write {self.count}"

    async def _dashboard(self) -> None:
        word = self._word()
        old = self.chance.choice([None, *self.dashboards])
        board = {"name": word, "slugName": word.replace(" ", "-")}
        body = {"requestId": word, "dashboard": board | ({"id": old} if old else {})}
        answer = await self.ask("PUT" if old else "POST", DASHBOARDS, body)
        if answer is not None:
            self.dashboards[old or answer["dashboardId"]] = word

    async def _slo(self) -> None:
        word = self._word()
        old = self.chance.choice([None, *self.slos])
        body = {"name": word, "targetThresholdPercentage": 99, "requestBasedMetricSli": SLI}
        answer = await self.ask("PUT" if old else "POST", SLOS, body | ({"id": old} if old else {}))
        if answer is not None:
            self.slos[answer["slo"]["id"]] = word

    async def _view(self) -> None:
        word = self._word()
        old = self.chance.choice([None, *self.views])
        path = f"{VIEWS}/{old}" if old else VIEWS
        answer = await self.ask("PUT" if old else "POST", path, {"name": word, "timeSelection": {}})
        if answer is not None:
            if old is None and answer["id"] in self.views:
                self.figures.lost.append(f"view {answer['id']} was given out twice")
            self.views[answer["id"]] = word

    async def look_again(self) -> None:
        """Look for everything that was acknowledged."""
        for board, word in self.dashboards.items():
            answer = await self.ask("GET", f"{DASHBOARDS}/{board}")
            self._check(answer and answer["dashboard"]["name"], word)
        for slo, word in self.slos.items():
            answer = await self.ask("GET", f"{SLOS}/{slo}")
            self._check(answer and answer["slo"]["name"], word)

    def _check(self, found: object, word: str) -> None:
        self.figures.acknowledged += 1
        if found != word:
            self.figures.lost.append(f"{word}: found {found}")


@contextmanager
def process(*command: str) -> Iterator[tuple[int, str]]:
    """Run a server until the block ends; gives its process id and URL."""
    environ = {**os.environ, "RECONCILER_API_KEY": KEY}
    with subprocess.Popen(  # noqa: S603 - our own command lines
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ
    ) as server:
        assert server.stdout is not None  # noqa: S101 - a pipe, as asked for
        line = server.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:[0-9]+", line)
        try:
            if found is None:
                raise SystemExit(f"the server did not start: {line}")
            yield server.pid, found[0]
        finally:
            server.terminate()


def emulator(data: Path, *more: str) -> tuple[str, ...]:
    """Give the command that serves an emulator on a file."""
    program = (sys.executable, "-m", "reconciler", "emulator", "serve")
    return (*program, "--port", "0", "--data", str(data), *more)


def resident_kib(pid: int) -> int:
    """Give the memory of a process that is in use, in KiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0])


@asynccontextmanager
async def session_for(url: str, clients: int) -> AsyncIterator[aiohttp.ClientSession]:
    """Open as many connections as there are clients."""
    connector = aiohttp.TCPConnector(limit=clients)
    headers = {"Authorization": KEY}
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(
        url, connector=connector, headers=headers, timeout=timeout
    ) as session:
        yield session


async def press(clients: list[Client], seconds: float) -> float:
    """Let all clients ask until the time is over; gives how long it took."""
    figures = clients[0].figures
    started = time.perf_counter()

    async def ask_on(client: Client) -> None:
        while time.perf_counter() - started < seconds:
            if figures.reads + figures.writes >= MOST_REQUESTS:
                return
            await client.step()

    await asyncio.gather(*map(ask_on, clients))
    return time.perf_counter() - started


async def bare_rate(url: str, count: int, seconds: float) -> float:
    """Give the requests a second of a route that does nothing."""
    started = time.perf_counter()
    asked = 0

    async with session_for(url, count) as session:

        async def ask_on() -> None:
            nonlocal asked
            while time.perf_counter() - started < seconds:
                async with session.get("/") as reply:
                    await reply.read()
                asked += 1

        await asyncio.gather(*(ask_on() for _ in range(count)))
    return asked / (time.perf_counter() - started)


async def measure(count: int, seconds: float, data: Path) -> Figures:
    """Run everything once. Nothing leaves this machine."""
    figures = Figures(count)
    with process(sys.executable, "-c", BARE) as (_, url):
        figures.bare_rate = await bare_rate(url, count, max(0.5, seconds * BARE_SHARE))
    clients: list[Client] = []
    with process(*emulator(data, "--seed", "demo")) as (pid, url):
        async with session_for(url, count) as session:
            clients += [Client(session, at, figures, random.Random(at)) for at in range(count)]  # noqa: S311 - chance, no secret
            warm = await press(clients, seconds * WARM_UP_SHARE)
            figures.warm_kib = resident_kib(pid)
            figures.seconds = warm + await press(clients, seconds * (1 - WARM_UP_SHARE))
            figures.end_kib = resident_kib(pid)
    with process(*emulator(data)) as (_, url):
        async with session_for(url, count) as session:
            for client in clients:
                client.session = session
            await asyncio.gather(*(client.look_again() for client in clients))
            await look_for_views(clients)
    return figures


async def look_for_views(clients: list[Client]) -> None:
    """Look for saved views, which have no read: the answer to a replace shows that one is there."""
    owners = [view for client in clients for view in client.views]
    if len(owners) != len(set(owners)):
        clients[0].figures.lost.append("two clients were given the same view")
    for client in clients:
        for view, word in client.views.items():
            body = {"name": word, "timeSelection": {}}
            answer = await client.ask("PUT", f"{VIEWS}/{view}", body)
            client._check(answer and answer["name"], word)  # noqa: SLF001 - its own module


def main() -> None:
    """Print the figures; ends with 1 where there was an error or something was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=64)
    asked = parser.parse_args()
    seconds = min(max(asked.seconds, 1), MOST_SECONDS)
    clients = min(max(asked.clients, 1), MOST_CLIENTS)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores")
    with TemporaryDirectory() as folder:
        figures = asyncio.run(measure(clients, seconds, Path(folder) / "load.db"))
    print(figures.text(), end="")
    for trouble in (*figures.errors[:5], *figures.lost[:5]):
        print(f"  {trouble}")
    sys.exit(1 if figures.errors or figures.lost else 0)


if __name__ == "__main__":
    main()
