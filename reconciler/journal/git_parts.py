"""Long journals in git as parts, so that an append does not write all lines again. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reconciler.errors import JournalError
from reconciler.journal.content import line_of

WHOLE = 1 << 20
"""Bytes of lines up to which they are one file, as programs before there were parts read them."""
_IN_PARTS = b'{"journal":2,"lines":"in parts"'
LINES = "journal.jsonl"
PART = f"{LINES}."
_DIGITS = 15
_EARLIER = "the commit before has it whole (docs/journal.md)"


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
class JournalPart:
    """Lines in a file of their own: from which byte of all on, how many bytes, and the blob."""

    begins: int
    size: int
    blob: str

    @property
    def name(self) -> str:
        """The file, so that names are in the order of the lines."""
        return f"{PART}{self.begins:0{_DIGITS}}"


def kept_parts(parts: Sequence[JournalPart], size: int) -> list[JournalPart]:
    """Give the parts that stay as they are where lines grow to a size; one new part is the rest.

    Each stays larger than all after it, as digits of a binary counter do: so there are few, and
    a line is written again about as often as the journal doubles, not at every append.
    """
    for at, part in enumerate(parts):
        if part.size <= size - part.begins - part.size:
            return list(parts[:at])
    return list(parts)


def joined(
    place: str, blobs: Mapping[str, str], content: Callable[[str], bytes], size: int | None
) -> tuple[bytes, list[JournalPart]]:
    """Read all parts of the journal at a place, of which the file beside them tells the size.

    `blobs` are those of the commit's files, `content` reads one, and a size of 0 is not told, as
    by older programs. Raises JournalError where a part is missing, or is not where it belongs,
    or where that file is missing (None).
    """
    if size is None:
        raise JournalError(
            f"{place}: {LINES} is missing beside the parts of the journal: {_EARLIER}"
        )
    found, parts = bytearray(), []
    for name in sorted(name for name in blobs if name.startswith(PART)):
        lines = content(blobs[name])
        part = JournalPart(len(found), len(lines), blobs[name])
        if part.name != name:
            raise JournalError(f"{place}: a part of the journal is missing before {name}")
        parts.append(part)
        found += lines
    if not found:
        raise JournalError(
            f"{place}: all parts of the journal are missing, as where a program of before there "
            f"were parts took its lock: {_EARLIER}"
        )
    if size and size != len(found):
        raise JournalError(
            f"{place}: the parts of the journal have {len(found):,} bytes, and should have "
            f"{size:,}: {_EARLIER}"
        )
    return bytes(found), parts
