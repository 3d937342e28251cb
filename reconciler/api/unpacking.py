"""The body of an answer, unpacked and counted while it comes. Source: failure-cases.md, R13.

The HTTP client unpacks each chunk whole, and packings may be nested: a few
kilobytes then fill the memory before anyone can count. So it is done here, by
gzip only, and never past the limit.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

ACCEPTED = "gzip"
_GZIP = zlib.MAX_WBITS | 16
_PLAIN = ("", "identity")


class UnusableBodyError(Exception):
    """The body is too large, or packed in a way that nobody asked for."""


async def unpacked(chunks: AsyncIterable[bytes], encoding: str, most: int) -> bytes:
    """Give the whole body. Raises UnusableBodyError for more than `most` bytes."""
    name = encoding.strip().lower()
    if name in _PLAIN:
        return await _collected(chunks, most)
    if name not in (ACCEPTED, f"x-{ACCEPTED}"):
        raise UnusableBodyError(f"the answer is packed as `{name[:40]}`, which was not asked for")
    unpacking = zlib.decompressobj(_GZIP)
    content, received = bytearray(), 0
    try:
        async for chunk in chunks:
            received += len(chunk)
            content += unpacking.decompress(chunk, most + 1 - len(content))
            _check_size(len(content), most)
            if unpacking.unused_data:
                raise UnusableBodyError("the answer goes on after the end of its gzip data")
    except zlib.error as error:
        raise UnusableBodyError("the answer says that it is gzip, and is not") from error
    if received and not unpacking.eof:
        raise UnusableBodyError("the answer ends in the middle of its gzip data")
    return bytes(content)


async def _collected(chunks: AsyncIterable[bytes], most: int) -> bytes:
    content = bytearray()
    async for chunk in chunks:
        content += chunk
        _check_size(len(content), most)
    return bytes(content)


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise UnusableBodyError(f"the answer is larger than {most >> 20} MB")
