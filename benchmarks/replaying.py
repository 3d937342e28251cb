"""A service that costs nothing but time: what another one answered, each answer after a while.

`python -m benchmarks.replaying FILE PORT LATENCY` serves lines of `PATH<TAB>BODY` until stopped.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

READY = "replaying"
HEAD = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


async def _serve(answers: Mapping[str, bytes], port: int, latency: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        while head := await _head(reader):
            came = loop.time()
            body = answers.get(head.split(b" ", 2)[1].decode(), b"")
            status = b"200 OK" if body else b"404 Not Found"
            await asyncio.sleep(max(0.0, came + latency - loop.time()))
            writer.write(HEAD % (status, len(body)) + body)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port)
    print(READY, flush=True)
    await server.serve_forever()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


@contextmanager
def replayed(
    answers: Mapping[str, bytes], folder: Path, port: int, latency: float
) -> Iterator[None]:
    """Serve these answers by path from another process, `latency` in seconds."""
    file = folder / "answers"
    file.write_bytes(b"".join(b"%b\t%b\n" % (path.encode(), answers[path]) for path in answers))
    command = [sys.executable, "-m", "benchmarks.replaying", str(file), str(port), str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        try:
            assert process.stdout is not None  # noqa: S101 - a pipe was asked for
            assert process.stdout.readline().strip() == READY  # noqa: S101 - it stands
            yield
        finally:
            process.terminate()


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_bytes().splitlines()
    pairs = (line.split(b"\t", 1) for line in lines)
    asyncio.run(
        _serve({path.decode(): body for path, body in pairs}, int(sys.argv[2]), float(sys.argv[3]))
    )
