"""The emulator on a real port."""

import asyncio
import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from reconciler.emulator import create_app
from reconciler.emulator.serving import HostCheck, serve

PROGRAM = """
import sys
from pathlib import Path
from reconciler.emulator import create_app
from reconciler.emulator.serving import serve
data = Path(sys.argv[2]) if len(sys.argv) > 2 else None
say = lambda line: print(line, flush=True)
try:
    app = create_app(data, api_key="canary")
    serve(app, sys.argv[1], hosts=["emulator"], announce=say)
except KeyboardInterrupt:
    sys.exit(130)
"""
VIEW = '{"name": "v", "timeSelection": {}}'
VIEWS = "/mgmt/openapi/latest/data-exploration/saved-views/v1"


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a server of its own; gives the process and its port."""
    command = [sys.executable, "-c", PROGRAM, *(arguments or ("127.0.0.1",))]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line.startswith("emulator ready: http://127.0.0.1:"), process.communicate()
        try:
            yield process, int(line.rpartition(":")[2])
        finally:
            process.kill()


def ask(
    port: int, method: str, path: str, *, host: str = "localhost", body: str | None = None
) -> tuple[int, object]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        connection.request(method, path, body, {"Host": host, "Authorization": "canary"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("LOCALHOST", 200),
        ("[::1]:80", 200),
        ("emulator:8080", 200),
        ("evil.example.com", 421),
        ("localhost.evil.example.com", 421),
        ("localhost:x", 421),
        ("", 421),
    ],
)
def test_host_header(host: str, status: int) -> None:
    """Only requests for a loopback name or a named host are answered, on any port."""
    transport = httpx.ASGITransport(HostCheck(create_app(), ["Emulator"]))

    async def probe() -> int:
        async with httpx.AsyncClient(transport=transport, base_url="http://emulator") as client:
            return (await client.get("/healthz", headers={"Host": host})).status_code

    assert asyncio.run(probe()) == status


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with serving() as (_, port):
        yield port


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1:9", 200), ("evil.example.com", 421)])
def test_served_host(server: int, host: str, status: int) -> None:
    """The real server looks at the Host header too."""
    assert ask(server, "GET", "/healthz", host=host)[0] == status


def test_large_body(server: int) -> None:
    """A body over the limit is answered, not cut off."""
    status, body = ask(server, "POST", VIEWS, body="x" * (16 * 2**20 + 1))

    assert (status, body) == (
        413,
        {"code": 413, "message": "the body is larger than 16777216 bytes"},
    )


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_stops_on_signal(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """A signal ends the server in order, with nothing said and the data folded into one file."""
    data = tmp_path / "local.db"
    with serving("127.0.0.1", str(data)) as (process, port):
        assert ask(port, "POST", VIEWS, body=VIEW)[0] == 200
        process.send_signal(number)
        rest, noise = process.communicate(timeout=30)

    assert (process.returncode, rest, noise) == (code, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["local.db"]


def test_living_server(tmp_path: Path) -> None:
    """A living server with the demo and a log starts, answers and stops without a word."""
    program = PROGRAM.replace("data, api", 'data, seed="demo", log=Path("log"), api')
    program = program.replace("hosts=", "live=True, hosts=")
    command = [sys.executable, "-c", program, "127.0.0.1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        status, events = ask(port, "GET", "/mgmt/openapi/latest/alerts/events/v3/alert-events")
        process.terminate()
        rest, noise = process.communicate(timeout=30)

    assert status == 200
    assert isinstance(events, dict)
    assert events["pagination"]["totalSize"] > 200
    assert (process.returncode, rest, noise) == (-signal.SIGTERM, "", "")
    assert len((tmp_path / "log").read_text().splitlines()) == 1


def test_taken_port() -> None:
    """A port in use is an error at once."""
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(OSError, match="in use"):
        serve(create_app(), "127.0.0.1", other.getsockname()[1])


def test_cut_body() -> None:
    """A client that goes away in the middle of its body writes nothing and breaks nothing."""
    head = f"POST {VIEWS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: canary\r\n"
    with serving() as (process, port):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(f"{head}Content-Length: 100\r\n\r\n{VIEW}".encode())

        _, view = ask(port, "POST", VIEWS, body=VIEW)
        process.terminate()
        _, noise = process.communicate(timeout=30)

    assert isinstance(view, dict)
    assert (view["id"], noise) == (1, "")
