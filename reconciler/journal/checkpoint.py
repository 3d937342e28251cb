"""Checkpoint of a long journal: its state at the last reading, so that only newer lines are read.

It is in the user's cache, with a digest of the lines that it covers: where those bytes are the
same, they are neither read nor summed again. It holds no document, but the span of each in the
journal's own text. Source: docs/performance.md.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any, Final, TypeAlias

from reconciler.journal.content import (
    Content,
    UncheckedLines,
    entry_document,
    header_document,
    parse_entry,
    parse_header,
    read_content,
)
from reconciler.journal.entries import Compacted, Drifted, Entry, LastWrite, Started
from reconciler.journal.history import History
from reconciler.journal.line_fields import LazyJson, held, pack
from reconciler.journal.runs import resource_entries

CheckpointRow: TypeAlias = list[Any]
"""An entry without its document, and the document's span: start, end, and the names around it."""

FORMAT: Final = 1
WORTH: Final = 256 << 10
"""Up to this many bytes without a checkpoint are read faster than a checkpoint is made."""


def is_long(text: bytes) -> bool:
    """Return whether a text is long enough for a checkpoint."""
    return len(text) > WORTH


def worth_it(text: bytes, content: Content) -> bool:
    """Return whether so much was read that a new checkpoint pays."""
    return len(text) - content.known > max(WORTH, len(text) // 10)


def checkpoint(text: bytes, content: Content, history: History) -> bytes:
    """Return the checkpoint of the whole lines of a text."""
    assert content.header is not None  # noqa: S101 - a text worth it has a first line
    size = text.rfind(b"\n") + 1
    entries: list[Entry] = [
        entry
        for ref, memory in history.memories.items()
        for entry in resource_entries(ref, memory, "")
    ]
    if history.looked is not None:
        entries.append(Drifted(at=history.looked, found=tuple(history.drifts.values())))
    about = {
        "size": size,
        "digest": _digest(text, size),
        "count": content.count,
        "end": content.end,
        "header": header_document(content.header),
        "rows": [*map(_row, entries)],
    }
    return json.dumps(about, separators=(",", ":")).encode()


def resumed(text: bytes, known: bytes | None, place: str, history: History) -> Content | None:
    """Read the lines after a checkpoint, and add the whole state to `history`.

    None where there is no checkpoint, or the text does not begin as it did then. Raises
    JournalError, naming `place`, where the later lines cannot be trusted.
    """
    about = json.loads(known) if known is not None else {}
    size = about.get("size", 0)
    if not 0 < size <= len(text) or _digest(text, size) != about["digest"]:
        return None
    header = parse_header(about["header"])
    before = UncheckedLines(text, size, about["count"], about["end"], header)
    content = read_content(text, place, before)
    history.add(_entry(row, text) for row in about["rows"])
    history.add(content.later)
    return content


def _digest(text: bytes, size: int) -> str:
    return hashlib.sha256(memoryview(text)[:size]).hexdigest()


def _row(entry: Entry) -> CheckpointRow:
    """Return an entry without its document, and the document's span in the text."""
    owner = _holder(entry)
    packed = held(owner, "declared") if owner is not None else None
    if not isinstance(packed, LazyJson):
        return [entry_document(entry)]
    match entry:
        case Compacted(last=LastWrite() as last):
            entry = replace(entry, last=replace(last, declared={}))
        case Started():
            entry = replace(entry, declared={})
        case _:
            pass
    return [entry_document(entry), packed.start, packed.end, packed.place]


def _entry(row: CheckpointRow, text: bytes) -> Entry:
    document, *span = row
    entry = parse_entry(document, 0)
    if span:
        start, end, place = span
        pack(_holder(entry), "declared", LazyJson(text, start, end, tuple(place)))
    return entry


def _holder(entry: Entry) -> Started | LastWrite | None:
    match entry:
        case Compacted(last=last):
            return last
        case Started():
            return entry
        case _:
            return None
