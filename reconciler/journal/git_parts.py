"""Long journals in git as parts, so that an append does not write all lines again. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from reconciler.journal.content import line_of

WHOLE = 1 << 20
"""Bytes of lines up to which they are one file, as programs before there were parts read them."""
_IN_PARTS = b'{"journal":2,"lines":"in parts"'
LINES = "journal.jsonl"
PART = f"{LINES}."
_DIGITS = 15


def in_parts(size: int) -> bytes:
    """Give what stands in that file otherwise, for parts of so many bytes in all.

    Programs that know no parts refuse it, and write nothing.
    """
    return line_of({"journal": 2, "lines": "in parts", "bytes": size}, "")[0].encode()


def size_of_parts(lines: bytes) -> int | None:
    """Read that: how many bytes the parts have, 0 where it does not tell, None for lines."""
    if not lines.startswith(_IN_PARTS):
        return None
    try:
        told = json.loads(lines).get("bytes", 0)
    except ValueError:
        return 0
    return told if isinstance(told, int) else 0


@dataclass(frozen=True, slots=True)
class Part:
    """Lines in a file of their own: from which byte of all on, how many bytes, and the blob."""

    begins: int
    size: int
    blob: str

    @property
    def name(self) -> str:
        """The file, so that names are in the order of the lines."""
        return f"{PART}{self.begins:0{_DIGITS}}"


def kept_parts(parts: Sequence[Part], size: int) -> list[Part]:
    """Give the parts that stay as they are where lines grow to a size; one new part is the rest.

    Each stays larger than all after it, as digits of a binary counter do: so there are few, and
    a line is written again about as often as the journal doubles, not at every append.
    """
    for at, part in enumerate(parts):
        if part.size <= size - part.begins - part.size:
            return list(parts[:at])
    return list(parts)
