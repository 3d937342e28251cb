"""What is asked of this machine stays on it: no proxy sees a key, a token or a journal."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness.doors import KEY, in_this_process
from harness.served import served
from harness.workspaces import workspace

from reconciler.api.wire import make_transport, proxy_for
from reconciler.ci.forge import Client, ForgeError
from reconciler.runtime.connection import is_loopback, proxies_beyond
from reconciler.runtime.git import Git

VARIABLES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
OURS = ("127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]")
BEYOND = ("service.test", "10.0.0.7", "localhost.example.com", "127.0.0.1.example.com")
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """Listen on a port of this machine, and note the head of all that arrives."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(1 << 16))
                    connection.sendall(NOT_FOUND)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Let every variable name one proxy, and give what arrives there."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with listening() as (port, heard):
        for name in VARIABLES:
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        yield heard


@pytest.mark.promise("P7")
@pytest.mark.parametrize("name", VARIABLES)
def test_the_key_passes_no_proxy(tmp_path: Path, name: str) -> None:
    """Whichever variable names a proxy, a plan against this machine goes past it."""
    folder = workspace(tmp_path / "work")
    with served() as service, listening() as (port, heard):
        more = {name: f"http://127.0.0.1:{port}"}
        in_this_process(folder, service.base_url, "plan", more=more)

        assert service.switch.asked > 0
    assert heard == []


@pytest.mark.promise("P7")
@pytest.mark.parametrize("host", OURS)
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.usefixtures("proxied")
def test_every_name_of_this_machine(scheme: str, host: str) -> None:
    """In each spelling this machine is asked directly, over either scheme."""
    assert proxy_for(f"{scheme}://{host}:8080/base") == ""
    assert make_transport(f"{scheme}://{host}:8080/base") is not None


@pytest.mark.promise("P7")
@pytest.mark.parametrize("host", BEYOND)
@pytest.mark.usefixtures("proxied")
def test_other_hosts(host: str) -> None:
    """What only looks like this machine is asked as the environment says."""
    assert not is_loopback(host)
    assert proxy_for(f"https://{host}") != ""


@pytest.mark.promise("P7")
def test_the_token_passes_no_proxy(proxied: list[bytes]) -> None:
    """A forge on this machine is asked directly, as its token would be read too."""
    with listening() as (port, heard):
        url = f"http://127.0.0.1:{port}"
        with (
            Client(url, f"{url}/graphql", KEY) as client,
            pytest.raises(ForgeError, match="404"),
        ):
            client.get("/user")

    assert proxied == []
    assert [KEY.encode() in one for one in heard] == [True]


@pytest.mark.promise("P7")
def test_a_bucket_passes_no_proxy(proxied: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal's bucket on this machine is asked directly, and the environment stays as it was."""
    buckets = pytest.importorskip(
        "reconciler.journal.object_store", reason="needs the extra `remote`"
    )
    with listening() as (port, heard):
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
            monkeypatch.setenv(name, "nobody")
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        before = dict(os.environ)
        assert buckets.Bucket("s3://journals/production", os.environ).get("journal.jsonl") is None

        assert dict(os.environ) == before
    assert len(heard) == 1
    assert proxied == []


@pytest.mark.promise("P7")
def test_git_passes_no_proxy(proxied: list[bytes], tmp_path: Path) -> None:
    """A remote on this machine is asked directly."""
    with listening() as (port, heard):
        git = Git(tmp_path, os.environ, ("-c", "core.askPass=true"))
        with pytest.raises(Exception, match="not found"):
            git.run("ls-remote", f"http://127.0.0.1:{port}/journal.git")

    assert proxied == []
    assert heard


def test_what_is_excepted_stays_so() -> None:
    """Hosts that the environment excepts from its proxy go on being excepted."""
    said = proxies_beyond({"NO_PROXY": "a.test"})["no_proxy"].split(",")

    assert said[0] == "a.test"
    assert "127.0.0.1" in said
