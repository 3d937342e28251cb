"""The wire's edges, through the transport that is really used, to a listener on loopback."""

from __future__ import annotations

import asyncio
import gzip
import socket
import tracemalloc
from pathlib import Path

import pytest
from harness.wire import KEY, Call, FakeTime, asked, create, read, replace
from raw_server import (
    Connection,
    Play,
    RawServer,
    always,
    close_after_reading,
    once,
    reset_after_reading,
    reset_unread,
    response,
)

from reconciler.api.client import Api
from reconciler.api.secret import Secret
from reconciler.api.wire import LARGEST_REPLY, proxy_for
from reconciler.errors import OutcomeUnknown, ReconcilerError, Redirected, Unavailable

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the machine's own proxies out of these tests."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def over_the_wire(
    call: Call, *plays: Play, deadline: float = 5.0
) -> tuple[object | ReconcilerError, RawServer]:
    """Ask a listener that plays this; give the answer or the error, and what it got."""

    async def ask() -> tuple[object | ReconcilerError, RawServer]:
        async with RawServer(plays) as server:
            patience = FakeTime().patience(deadline)
            async with Api(server.base_url, Secret(KEY), patience=patience) as api:
                try:
                    return await call(api), server
                except ReconcilerError as error:
                    return error, server

    return asyncio.run(ask())


BROKEN: dict[str, Play] = {
    "reset unread": reset_unread,
    "reset after reading": reset_after_reading,
    "closed after reading": close_after_reading,
    "no HTTP": once(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    "bad status": once(b"HTTP/1.1 abc OK\r\n\r\n"),
    "only a status line": once(b"HTTP/1.1 200 OK\r\n"),
    "cut in the headers": once(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "endless header": once(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n{}"),
    "negative length": once(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}"),
    "two lengths": once(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}"),
    "cut body": once(response(body=b'{"slo": {', length=100)),
    "cut JSON of right length": once(response(body=b'{"slo": {')),
    "cut chunk": once(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n{}"),
    "bad chunk": once(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"
    ),
    "HTML": once(response(body=b"<html>", Content_Type="text/html")),
    "empty": once(response(body=b"")),
    "cut gzip": once(response(body=gzip.compress(b"{}" * 99)[:-9], Content_Encoding="gzip")),
    "no gzip": once(response(body=b"{}", Content_Encoding="gzip")),
    "brotli": once(response(body=b"{}", Content_Encoding="br")),
    "gzip twice": once(
        response(body=gzip.compress(gzip.compress(b"{}")), Content_Encoding="gzip, gzip")
    ),
}


@pytest.mark.parametrize("play", BROKEN.values(), ids=BROKEN)
def test_broken_answer_to_a_create(play: Play) -> None:
    """However the answer breaks, a create is in doubt and the service sees it once at most."""
    error, server = over_the_wire(create, play)

    assert isinstance(error, OutcomeUnknown)
    assert server.connections == 1
    assert len(server.requests) <= 1


@pytest.mark.parametrize("play", BROKEN.values(), ids=BROKEN)
def test_broken_answer_to_a_replace(play: Play) -> None:
    """However the answer breaks, a replace is repeated and then known to be unsure."""
    error, server = over_the_wire(replace, play)

    assert isinstance(error, Unavailable)
    assert error.doubtful
    assert KEY not in str(error)
    assert 1 <= server.connections <= 10


@pytest.mark.parametrize("play", [BROKEN["reset unread"], BROKEN["cut body"], BROKEN["HTML"]])
def test_recovery(play: Play) -> None:
    """A read whose first answer breaks is read again."""
    answer, _ = over_the_wire(read, play, always(response(body=b'{"a": 1}')))

    assert answer == {"a": 1}


@pytest.mark.parametrize("size", range(len(b'{"slo": {"id": "abc"}}')))
def test_every_cut(size: int) -> None:
    """An answer cut at any byte, its length right or wrong, leaves a create in doubt."""
    body = b'{"slo": {"id": "abc"}}'

    for length in (size, len(body)):
        error, server = over_the_wire(create, once(response(body=body[:size], length=length)))
        assert isinstance(error, OutcomeUnknown)
        assert len(server.requests) == 1


async def drip_body(connection: Connection) -> None:
    """Send a body for ever, a byte at a time."""
    await connection.request()
    await connection.send(response(body=b"", length=1_000_000))
    while True:
        await connection.send(b" ")
        await asyncio.sleep(0.01)


async def drip_headers(connection: Connection) -> None:
    """Send headers for ever."""
    await connection.request()
    await connection.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await connection.send(b"X: y\r\n")
        await asyncio.sleep(0.01)


async def silence(connection: Connection) -> None:
    """Take the request and say nothing."""
    await connection.request()
    await connection.reader.read()


@pytest.mark.parametrize("play", [drip_body, drip_headers, silence])
def test_deadline(play: Play) -> None:
    """A slow answer ends at the deadline for the whole request, however often a byte comes."""
    error, server = over_the_wire(create, play, deadline=0.3)

    assert isinstance(error, OutcomeUnknown)
    assert "0.3 seconds" in str(error)
    assert len(server.requests) == 1


async def flood(connection: Connection) -> None:
    """Send 100 MB of spaces."""
    await connection.request()
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")
    for _ in range(1600):
        await connection.send(b" " * 65536)


def test_flood() -> None:
    """Reading stops at the limit; the rest is not even received."""
    error, server = over_the_wire(create, flood, deadline=60.0)

    assert isinstance(error, OutcomeUnknown)
    assert "16 MB" in str(error)
    assert server.sent < 2 * LARGEST_REPLY


def test_gzip_bomb() -> None:
    """A small answer that unpacks to a gigabyte is refused without being unpacked."""
    unit = gzip.compress(b" " * (64 << 20), 9)
    tracemalloc.start()

    error, _ = over_the_wire(create, once(response(body=unit, Content_Encoding="gzip")))

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(error, OutcomeUnknown)
    assert "16 MB" in str(error)
    assert peak < 3 * LARGEST_REPLY


def test_gzip() -> None:
    """An answer packed as asked for is unpacked."""
    packed = response(
        body=gzip.compress(b'{"a": "' + b"x" * 100_000 + b'"}'), Content_Encoding="gzip"
    )

    answer, _ = over_the_wire(read, always(packed))

    assert answer == {"a": "x" * 100_000}


def _dead_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize("call", [read, create, replace])
def test_dead_port(call: Call) -> None:
    """Where nobody listens nothing was sent: all is tried again, and nothing is in doubt."""
    time = FakeTime()

    with pytest.raises(Unavailable) as raised:
        asked(None, call, base_url=f"http://127.0.0.1:{_dead_port()}", time=time)

    assert len(time.slept) == 4
    assert not isinstance(raised.value, OutcomeUnknown)
    assert not raised.value.doubtful


@pytest.mark.parametrize("call", [read, create])
def test_unknown_host(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host name that leads nowhere is named, with a hint, and nothing is in doubt."""

    async def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", fail)

    with pytest.raises(Unavailable, match=r"is the host name right\?") as raised:
        asked(None, call, base_url="https://no-such-host.test")

    assert "no-such-host.test" in str(raised.value)
    assert not raised.value.doubtful


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 T", "308 P"])
@pytest.mark.parametrize("call", [read, create, replace])
def test_key_and_redirects(status: str, call: Call) -> None:
    """The key reaches no other origin than the one it was meant for."""

    async def ask() -> tuple[int, int]:
        async with RawServer((always(response()),)) as elsewhere:
            leading = response(status, Location=f"{elsewhere.base_url}/x", Connection="close")
            async with RawServer((always(leading),)) as server:
                async with Api(server.base_url, Secret(KEY)) as api:
                    with pytest.raises(Redirected):
                        await call(api)
                return len(server.requests), elsewhere.connections

    assert asyncio.run(ask()) == (1, 0)


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 60\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBad Header ",
    ],
)
def test_what_came_is_not_shown(first: bytes) -> None:
    """Where more came than was said, or what is no HTTP, the error quotes nothing of it."""
    document = b'{"dashboard": "of-the-company ' + b"x" * 3_000 + b'"}\r\n\r\n'
    answer, _ = over_the_wire(read, always(first + document))

    assert isinstance(answer, ReconcilerError)
    assert "of-the-company" not in str(answer)
    assert len(str(answer)) < 400


def test_cookies() -> None:
    """A cookie that the service sets is not sent back."""

    async def read_twice(api: Api) -> None:
        await read(api)
        await read(api)

    _, server = over_the_wire(read_twice, always(response(Set_Cookie="session=1; Path=/")))

    assert len(server.requests) == 2
    assert all("cookie" not in request.headers for request in server.requests)


def test_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password in `.netrc` is never sent."""
    (tmp_path / ".netrc").write_text("default login someone password netrc-password\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))

    _, server = over_the_wire(read, always(response()))

    assert server.requests[0].headers["authorization"] == KEY


def test_idle_connection() -> None:
    """Connections are used again, so a run does not pay for one each time."""

    async def read_often(api: Api) -> None:
        for _ in range(5):
            await read(api)

    _, server = over_the_wire(read_often, always(response()))

    assert len(server.requests) == 5
    assert server.connections == 1


def test_at_most_sixteen() -> None:
    """No more than 16 requests are open at once."""
    open_now, most = 0, 0

    async def count(connection: Connection) -> None:
        nonlocal open_now, most
        while await connection.request() is not None:
            open_now += 1
            most = max(most, open_now)
            await asyncio.sleep(0.01)
            open_now -= 1
            await connection.send(response())

    async def read_many(api: Api) -> None:
        await asyncio.gather(*(read(api) for _ in range(80)))

    over_the_wire(read_many, count)

    assert most == 16


def test_odd_id() -> None:
    """An id from elsewhere stays one part of the path, whatever it holds."""

    async def read_odd(api: Api) -> object:
        return await api.read("/v1/slo/slos/a%2F..%2Fb%3Fc")

    _, server = over_the_wire(read_odd, always(response()))

    assert server.requests[0].target.endswith("/v1/slo/slos/a%2F..%2Fb%3Fc")


def test_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment is used for what is not this machine."""

    async def ask() -> RawServer:
        async with RawServer((always(response()),)) as proxy:
            monkeypatch.setenv("http_proxy", proxy.base_url)
            async with Api("http://service.test:9", Secret(KEY)) as api:
                await read(api)
            return proxy

    proxy = asyncio.run(ask())

    assert proxy.requests[0].target.startswith("http://service.test:9/")


def test_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that the environment excepts is asked directly."""
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{_dead_port()}")
    monkeypatch.setenv("no_proxy", "service.test")

    assert proxy_for("http://service.test") == ""
    assert proxy_for("http://other.test") != ""


@pytest.mark.parametrize("call", [read, create])
def test_refusing_proxy(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that builds no tunnel means that nothing was sent; its password is not shown."""

    async def ask() -> tuple[ReconcilerError, RawServer]:
        async with RawServer((always(response("407 Proxy Authentication Required")),)) as proxy:
            address = proxy.base_url.replace("http://", "http://me:proxy-password@")
            monkeypatch.setenv("https_proxy", address)
            patience = FakeTime().patience()
            async with Api("https://service.test", Secret(KEY), patience=patience) as api:
                with pytest.raises(Unavailable) as raised:
                    await call(api)
            return raised.value, proxy

    error, proxy = asyncio.run(ask())

    assert not error.doubtful
    assert "proxy-password" not in str(error)
    assert all(request.method == "CONNECT" for request in proxy.requests)
    assert all(KEY not in str(request) for request in proxy.requests)


def test_closed_door() -> None:
    """A door that is not open says so."""

    async def ask() -> None:
        await read(Api("https://service.test", Secret(KEY)))

    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(ask())
