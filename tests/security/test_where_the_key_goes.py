"""Base URL and key belong together: nothing that is read later changes where the key goes."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import click
import httpx
import pytest
from harness.doors import APPLY, KEY, command, environment, in_a_process
from harness.served import served
from harness.workspaces import workspace
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.api.client import Api
from reconciler.api.retry import Request
from reconciler.api.secret import Secret
from reconciler.api.wire import KeyForOneOrigin
from reconciler.cli.root import cli
from reconciler.document import Json
from reconciler.kinds import BY_NAME, KINDS
from reconciler.model import Manifest, Ref, Source
from reconciler.workspace.project_file import load_project

BASE = "https://service.test:8443/base"


class Noting(httpx.AsyncBaseTransport):
    """Notes where each request goes, and whether it carries the key."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer that there is none."""
        self.asked.append(request)
        return httpx.Response(404, json={"message": "Not Found: it"})


HOSTILE = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            *("@evil.test", "//evil.test/", "https://evil.test/", "../../../..", "..%2f..", "?x#y"),
            *(
                "\\\\evil.test\\",
                "/\\evil.test",
                ":80@evil.test",
                "%00",
                "\r\nHost: evil.test",
                "#",
            ),
        ]
    ),
)


@given(name=HOSTILE, slug=HOSTILE, own=HOSTILE, baseurl=HOSTILE)
@settings(max_examples=60)
def test_no_manifest_chooses_the_origin(name: str, slug: str, own: str, baseurl: str) -> None:
    """Whatever ids, names and slugs a manifest has, each request goes to the configured origin."""
    transport = Noting()
    spec: dict[str, Json] = {
        "name": name,
        "dashboard": {"name": name, "slugName": slug, "id": own, "layout": {}},
        "baseUrl": baseurl,
    }

    async def observe_all() -> None:
        from reconciler.errors import ReconcilerError  # noqa: PLC0415 - only here
        from reconciler.journal.history import Memory  # noqa: PLC0415 - only here

        async with Api(BASE, Secret(KEY), transport=transport) as api:
            for kind in KINDS:
                one = Manifest(Ref(kind.name, name), spec, Source("a.yaml", 1), own)
                try:
                    await kind.remote.observe(api, one, Memory())
                except ReconcilerError:
                    continue

    asyncio.run(observe_all())

    assert transport.asked
    for request in transport.asked:
        assert (request.url.scheme, request.url.host, request.url.port) == (
            "https",
            "service.test",
            8443,
        )
        assert request.url.raw_path.startswith(b"/base/mgmt/openapi/latest/")
        assert b"\r" not in request.url.raw_path


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.test:8443/base",
        "http://service.test:8443/base",
        "https://service.test/base",
        "https://service.test.evil.test:8443",
        "https://service.test:8444",
    ],
)
def test_the_key_is_for_one_origin(elsewhere: str) -> None:
    """Into a request to another scheme, host or port the key is not put, whoever makes it."""
    key = KeyForOneOrigin(Secret(KEY), "raw", BASE)
    request = httpx.Request("GET", elsewhere)

    with pytest.raises(RuntimeError, match="not for"):
        next(key.auth_flow(request))

    assert "authorization" not in request.headers


def test_one_header_of_one_request() -> None:
    """The key is in the header `Authorization`, and in no other part of a request or client."""
    transport = Noting()

    async def ask() -> str:
        async with Api(BASE, Secret(KEY), transport=transport) as api:
            await api.read("/x")
            exchange = api._exchange
            assert exchange is not None
            return f"{api!r} {exchange.client.headers!r} {dict(exchange.client.headers)}"

    shown = asyncio.run(ask())

    (request,) = transport.asked
    assert [name for name, value in request.headers.items() if KEY in value] == ["authorization"]
    assert KEY not in str(request.url) + shown + repr(request.headers)


def test_tracebacks_with_locals() -> None:
    """Not even a traceback that prints the locals of our frames shows the key."""

    class Broken(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise ZeroDivisionError(str(request.url))

    async def ask() -> None:
        async with Api(BASE, Secret(KEY), "bearer", transport=Broken()) as api:
            await api.send("POST", "/x", {"a": 1}, request=Request.BLIND)

    with pytest.raises(ZeroDivisionError) as raised:
        asyncio.run(ask())

    told = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
    frames = [one for one in told.stack if f"{os.sep}reconciler{os.sep}api" in one.filename]
    shown = "".join(str(frame.locals) for frame in frames)
    assert len(frames) >= 3
    assert KEY not in shown


def options(group: click.Command) -> Iterator[str]:
    """Yield the flags of every command."""
    for parameter in group.params:
        yield from parameter.opts
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            inner = group.get_command(context, name)
            assert inner is not None
            yield from options(inner)


def test_no_flag_takes_a_key() -> None:
    """No command has a flag for a key, a password or a token, nor one that trusts anybody."""
    flags = set(options(cli))

    assert "--yes" in flags
    words = ("key", "token", "secret", "password", "insecure", "verify", "no-check", "header")
    # They name a file of keys that an emulator accepts, and a person's own SSH key.
    assert {flag for flag in flags for word in words if word in flag} <= {
        "--key",
        "--keys",
        "--verify",
    } & flags


def test_the_process_list(tmp_path: Path) -> None:
    """While a command runs, the key is in no argument of any process, and cores are off."""
    with served() as service:
        service.switch.misbehave({"fault": {"delay": 1}})
        folder = workspace(tmp_path / "work")
        with subprocess.Popen(
            command("plan"),
            cwd=folder,
            env=environment(service.base_url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:
            while service.switch.asked == 0 and running.poll() is None:
                threading.Event().wait(0.01)
            limits = Path(f"/proc/{running.pid}/limits").read_text(encoding="ascii")
            listed = [
                line.read_bytes()
                for line in Path("/proc").glob("[0-9]*/cmdline")
                if (line.parent / "status").exists()
            ]
            running.kill()

    assert service.switch.asked > 0
    assert re.search(r"Max core file size +0 +0", limits)
    assert all(KEY.encode() not in one for one in listed)


def test_outage_of_the_real_command(tmp_path: Path) -> None:
    """Where the service answers 503 to all, N operations send at most N + 35 requests."""
    folder = workspace(tmp_path / "work", MANY)
    with served() as service:
        service.switch.misbehave({"fault": {"status": 503}})

        ended = in_a_process(folder, service.base_url, *APPLY, "--yes")

        assert ended.code == 9, ended.err
        assert service.switch.asked <= RESOURCES + 35
        assert service.writes == []


RESOURCES = 60
MANY = "\n---\n".join(
    f"apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {{name: board-{number}}}\n"
    f"spec: {{dashboard: {{name: B{number}, layout: {{sections: []}}}}}}"
    for number in range(RESOURCES)
)


@pytest.mark.parametrize("kind", BY_NAME)
def test_no_manifest_has_a_target(kind: str) -> None:
    """No kind of manifest has a field for an address of the service, a key or a header."""
    fields = {name.lower() for name in BY_NAME[kind].spec.model_fields}

    assert not fields & {"baseurl", "authorization", "key", "apikey", "headers", "target", "proxy"}


@pytest.mark.parametrize(
    "line", ["apiKey: x", "key: x", "headers: {Authorization: x}", "insecure: true", "caFile: x"]
)
def test_no_project_file_has_a_key(tmp_path: Path, line: str) -> None:
    """A project file has no place for a key, a header, or a switch that trusts anybody."""
    file = tmp_path / "reconciler.yaml"
    file.write_text(f"environments: {{a: {{baseUrl: 'https://a.test', {line}}}}}\n")

    project, complaints = load_project(file)

    assert project is None
    assert complaints
