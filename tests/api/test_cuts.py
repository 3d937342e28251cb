"""Answers cut at every byte, and answers far too large."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from harness.wire import KEY, FakeTime, create
from raw_server import Connection, Play, RawServer, response

from reconciler.api.client import Api
from reconciler.api.secret import Secret
from reconciler.errors import OutcomeUnknown

pytestmark = pytest.mark.slow

# The long form cuts longer bodies: CUT_BYTES=2000 makes 10,000 positions and more.
CUT_BYTES = int(os.environ.get("CUT_BYTES", "90"))
MOST_GROWTH_MB = 64
CHUNKED = b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"


def slo() -> bytes:
    return json.dumps({"slo": {"id": "abc", "name": "x" * (CUT_BYTES - 40)}}).encode()


def listing() -> bytes:
    one = {"id": 1, "name": "Ü😀\n"}
    return json.dumps({"items": [one] * (CUT_BYTES // 40)}, ensure_ascii=False).encode()


def spaced() -> bytes:
    return b'\xef\xbb\xbf { "a" : [ 1.5e3 , true , null ] ,\r\n "b" : "\\ud83d\\ude00" } \r\n'


def right_length(body: bytes, at: int) -> bytes:
    """Give an answer that says of itself that it is as short as it is."""
    return response(body=body[:at], Connection="close")


def wrong_length(body: bytes, at: int) -> bytes:
    """Give an answer that says that more was to come."""
    return response(body=body[:at], length=len(body), Connection="close")


def cut_chunks(body: bytes, at: int) -> bytes:
    """Give chunks that break off in the middle of one."""
    half = body[: at // 2], body[at // 2 : at]
    chunks = b"%x\r\n%b\r\n%x\r\n%b" % (len(half[0]) or 1, half[0] or b" ", len(body), half[1])
    return CHUNKED + chunks


def whole_chunks(body: bytes, at: int) -> bytes:
    """Give chunks that end as they should, around a body that does not."""
    chunks = (b"%x\r\n%b\r\n" % (at, body[:at]) if at else b"") + b"0\r\n\r\n"
    return CHUNKED + chunks


def cut_gzip(body: bytes, at: int) -> bytes:
    """Give packed bytes that end too soon."""
    packed = gzip.compress(body, mtime=0)
    return response(body=packed[: at % len(packed)], Content_Encoding="gzip", Connection="close")


Cut = Callable[[bytes, int], bytes]
CUTS: list[Cut] = [right_length, wrong_length, cut_chunks, whole_chunks, cut_gzip]


def each_in_turn(answers: Iterator[bytes]) -> Play:
    """Answer each connection with the next of these, and close it."""

    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(next(answers))

    return play


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("body", [slo, listing, spaced])
def test_every_cut(cut: Cut, body: Callable[[], bytes]) -> None:
    """An answer cut at any byte leaves a create in doubt, and it was sent exactly once."""
    whole = body()
    # What is cut in the blanks at its end is still whole.
    cuts = [cut(whole, at) for at in range(len(whole.rstrip()))]

    async def ask() -> tuple[int, int]:
        in_doubt = 0
        async with RawServer((each_in_turn(iter(cuts)),)) as server:
            patience = FakeTime().patience(deadline=60.0)
            async with Api(server.base_url, Secret(KEY), patience=patience) as api:
                for _ in cuts:
                    try:
                        await create(api)
                    except OutcomeUnknown:
                        in_doubt += 1
            return in_doubt, len(server.requests)

    assert asyncio.run(ask()) == (len(cuts), len(cuts))


CHILD = """\
import asyncio, resource, sys
from reconciler.api.client import Api
from reconciler.api.retry import Request
from reconciler.api.secret import Secret
from reconciler.errors import OutcomeUnknown

async def ask(base_url):
    async with Api(base_url, Secret("canary")) as api:
        await api.read("/small")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            await api.send("POST", "/large", {}, request=Request.BLIND)
        except OutcomeUnknown as error:
            said = str(error)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print((after - before) // 1024, said)

asyncio.run(ask(sys.argv[1]))
"""


async def flood(connection: Connection) -> None:
    """Send 100 MB."""
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")
    for _ in range(1600):
        await connection.send(b" " * 65536)


async def bomb(connection: Connection) -> None:
    """Send 64 MB in a few hundred bytes, as a packing of a packing."""
    layer = gzip.compress(gzip.compress(b"[" * (1 << 26), 9), 9)
    await connection.send(response(body=layer, Content_Encoding="gzip, gzip"))


async def plain_bomb(connection: Connection) -> None:
    """Send 64 MB in 64 KB."""
    await connection.send(
        response(body=gzip.compress(b" " * (1 << 26), 9), Content_Encoding="gzip")
    )


async def many_members(connection: Connection) -> None:
    """Send a gigabyte in a megabyte, as many packings one after the other."""
    member = gzip.compress(b" " * (1 << 20), 9)
    await connection.send(response(body=member * 1024, Content_Encoding="gzip"))


async def endless_chunks(connection: Connection) -> None:
    """Send chunks for ever."""
    await connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        await connection.send(b"10000\r\n" + b" " * 65536 + b"\r\n")


def small_then(large: Play) -> Play:
    """Answer GET with a small document, and anything else with a large one."""

    async def play(connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            if request.method == "GET":
                await connection.send(response())
            else:
                await large(connection)

    return play


@pytest.mark.parametrize("large", [flood, bomb, plain_bomb, many_members, endless_chunks])
def test_memory(large: Play) -> None:
    """However large an answer is or unpacks to, a process grows by less than 64 MB."""
    ready, done = threading.Event(), threading.Event()
    address: list[str] = []

    async def serve() -> None:
        async with RawServer((small_then(large),)) as server:
            address.append(server.base_url)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(60)
        ended = subprocess.run(
            [sys.executable, "-c", CHILD, address[0]],
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        done.set()
        thread.join()

    assert ended.returncode == 0, ended.stderr
    growth, _, said = ended.stdout.partition(" ")
    assert int(growth) < MOST_GROWTH_MB
    assert re.search("16 MB|not asked for|after the end", said)
