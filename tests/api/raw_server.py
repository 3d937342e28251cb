"""A listener on loopback that answers with the very bytes a test chooses."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

Play = Callable[["Connection"], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    """One request as it came over the wire; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Connection:
    """One client, and what it may be done to."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    server: RawServer

    async def request(self) -> Request | None:
        """Read one whole request; None where the client is gone."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
        }
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        method, target, _ = first.split(" ")
        request = Request(method, target, headers, body)
        self.server.requests.append(request)
        return request

    async def send(self, content: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(content)
        await self.writer.drain()
        self.server.sent += len(content)

    def reset(self) -> None:
        """Break the connection with a reset, not a close."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@dataclass
class RawServer:
    """Plays one thing for each connection, the last one for ever."""

    plays: tuple[Play, ...]
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    sent: int = 0
    base_url: str = ""
    tls: ssl.SSLContext | None = None
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        """Listen on a port that is free."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http{'s' if self.tls else ''}://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        play = self.plays[min(self.connections, len(self.plays)) - 1]
        try:
            await play(Connection(reader, writer, self))
        except ConnectionError:
            pass
        finally:
            writer.close()


def response(
    status: str = "200 OK", body: bytes = b"{}", length: int | None = None, **headers: str
) -> bytes:
    """Give the bytes of one answer; `length` is what it says of itself."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}"]
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    given.setdefault("Content-Type", "application/json")
    lines.extend(f"{name}: {value}" for name, value in given.items())
    return "\r\n".join([*lines, "", ""]).encode() + body


def always(content: bytes) -> Play:
    """Answer every request of a connection with the same bytes."""

    async def play(connection: Connection) -> None:
        while await connection.request() is not None:
            await connection.send(content)

    return play


def once(content: bytes) -> Play:
    """Answer one request, then close."""

    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(content)

    return play


async def reset_unread(connection: Connection) -> None:
    """Break the connection before the request is read."""
    connection.reset()


async def reset_after_reading(connection: Connection) -> None:
    """Read the request, as a server that carries it out, then break the connection."""
    await connection.request()
    connection.reset()


async def close_after_reading(connection: Connection) -> None:
    """Read the request, then close without an answer."""
    await connection.request()
