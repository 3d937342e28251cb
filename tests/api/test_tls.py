"""Whom the client believes: certificates of an authority made here."""

from __future__ import annotations

import asyncio
import socket
import ssl
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from authority import DAY, LOOPBACK, Authority
from harness.wire import KEY, FakeTime, read
from raw_server import Connection, RawServer, always, response

from reconciler.api.client import Api
from reconciler.api.secret import Secret
from reconciler.errors import Unavailable

pytestmark = pytest.mark.slow


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.certificate))
    return made


def asked_over_tls(tls: ssl.SSLContext) -> tuple[object, RawServer]:
    """Ask a server that shows this certificate; give the answer or the error, and what it got."""

    async def ask() -> tuple[object, RawServer]:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        plays = (always(response(body=b'{"a": 1}')),)
        patience = FakeTime().patience()
        async with (
            RawServer(plays, tls=tls) as server,
            Api(server.base_url, Secret(KEY), patience=patience) as api,
        ):
            try:
                return await read(api), server
            except Unavailable as error:
                return error, server

    return asyncio.run(ask())


def test_own_authority(authority: Authority) -> None:
    """A service of a company's own authority is believed where SSL_CERT_FILE names that."""
    answer, server = asked_over_tls(authority.serving())

    assert answer == {"a": 1}
    assert server.requests[0].headers["authorization"] == KEY


def _old(authority: Authority) -> ssl.SSLContext:
    context = authority.serving()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


WRONG: dict[str, tuple[Callable[[Authority], ssl.SSLContext], str]] = {
    "expired": (lambda own: own.serving(begins=-2 * DAY, ends=-DAY), "out of date"),
    "not yet": (lambda own: own.serving(begins=DAY, ends=2 * DAY), "out of date"),
    "other host": (lambda own: own.serving(host="other.test"), "another host"),
    "other address": (lambda own: own.serving(host="127.0.0.2"), "another host"),
    "self-signed": (lambda own: own.serving(self_signed=True), "SSL_CERT_FILE"),
    "unknown authority": (lambda own: Authority(own.folder).serving(), "SSL_CERT_FILE"),
    "old version": (_old, "TLS 1.2"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_certificates(authority: Authority, wrong: str) -> None:
    """A server that cannot prove who it is never sees the key, and the error says why."""
    make, hint = WRONG[wrong]

    error, server = asked_over_tls(make(authority))

    assert isinstance(error, Unavailable)
    assert hint in str(error)
    assert not error.doubtful
    assert server.requests == []


@pytest.mark.parametrize(
    "name", ["PYTHONHTTPSVERIFY", "SSL_NO_VERIFY", "NODE_TLS_REJECT_UNAUTHORIZED"]
)
def test_no_switch(authority: Authority, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """No variable of the environment turns the checks off."""
    monkeypatch.setenv(name, "0")

    error, server = asked_over_tls(authority.serving(self_signed=True))

    assert isinstance(error, Unavailable)
    assert server.requests == []


@contextmanager
def full_listener() -> Iterator[str]:
    """Give the address of a listener whose queue is full: no connection is ever made."""
    waiting = [socket.socket() for _ in range(4)]
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        listener.listen(0)
        for one in waiting:
            one.settimeout(0)
            one.connect_ex(listener.getsockname())
        yield f"http://{LOOPBACK}:{listener.getsockname()[1]}"
        for one in waiting:
            one.close()


@pytest.mark.usefixtures("authority")
def test_connection_hangs() -> None:
    """Where no connection comes about nothing was sent, so nothing is in doubt."""

    async def ask() -> str:
        with full_listener() as base_url:
            patience = FakeTime().patience(deadline=0.4)
            async with Api(base_url, Secret(KEY), patience=patience) as api:
                with pytest.raises(Unavailable) as raised:
                    await read(api)
                assert not raised.value.doubtful
                return str(raised.value)

    assert "reachable" in asyncio.run(ask())


@pytest.mark.usefixtures("authority")
def test_plain_listener() -> None:
    """A service that does not speak TLS at all is named so, and never sees the key."""

    async def object_to_tls(connection: Connection) -> None:
        await connection.send(response("400 Bad Request"))

    async def ask() -> tuple[str, RawServer]:
        async with RawServer((object_to_tls,)) as server:
            base_url = server.base_url.replace("http:", "https:")
            async with Api(base_url, Secret(KEY), patience=FakeTime().patience()) as api:
                with pytest.raises(Unavailable) as raised:
                    await read(api)
            return str(raised.value), server

    said, server = asyncio.run(ask())

    assert "TLS 1.2" in said
    assert server.requests == []
