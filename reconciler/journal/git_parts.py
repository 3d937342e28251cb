"""Long journals in git as parts, so that an append does not write all lines again. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reconciler.errors import JournalError
from reconciler.journal.content import line_of

WHOLE = 1 << 20
"""Up to this many bytes, lines are one file: older programs, which know no parts, can read it."""
_IN_PARTS = b'{"journal":2,"lines":"in parts"'
LINES = "journal.jsonl"
PART = f"{LINES}."
_DIGITS = 15
_EARLIER = "the commit before has it whole (docs/journal.md)"


def in_parts(size: int) -> bytes:
    """Return the content of `journal.jsonl` when all lines are in parts, of `size` bytes in all.

    Programs that know no parts refuse it, and write nothing.
    """
    return line_of({"journal": 2, "lines": "in parts", "bytes": size}, "")[0].encode()


def size_of_parts(lines: bytes) -> int | None:
    """Return the size of all parts in bytes, from the content of `journal.jsonl`.

    0 where it has no size, None where it has the lines themselves.
    """
    if not lines.startswith(_IN_PARTS):
        return None
    try:
        size = json.loads(lines).get("bytes", 0)
    except ValueError:
        return 0
    return size if isinstance(size, int) else 0


@dataclass(frozen=True, slots=True)
class JournalPart:
    """Lines in a separate file: its first byte among all lines, its bytes, and the blob."""

    begins: int
    size: int
    blob: str

    @property
    def name(self) -> str:
        """The name of the file; names sort in the order of the lines."""
        return f"{PART}{self.begins:0{_DIGITS}}"


def kept_parts(parts: Sequence[JournalPart], size: int) -> list[JournalPart]:
    """Return the parts that stay when the lines grow to a size; one new part is the rest.

    Each part stays larger than all after it together, like digits of a binary counter. So there are
    few parts, and a line is written again only about as often as the journal doubles.
    """
    for at, part in enumerate(parts):
        if part.size <= size - part.begins - part.size:
            return list(parts[:at])
    return list(parts)


def joined(
    place: str, blobs: Mapping[str, str], content: Callable[[str], bytes], size: int | None
) -> tuple[bytes, list[JournalPart]]:
    """Read all parts of the journal at a place; their size is in the file next to them.

    `blobs` are the files of the commit, and `content` reads a blob. `size` is 0 where it is
    unknown, as from older programs, and None where that file is missing. Raises JournalError where
    a part is missing or out of place, or that file is missing.
    """
    if size is None:
        raise JournalError(
            f"{place}: {LINES} is missing next to the parts of the journal: {_EARLIER}"
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
