"""A journal read a second way: from its documented text, with nothing of the product's code.

Source: docs/journal.md. Kinds of entries that are not known here are passed over.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

SUM = re.compile(r',"sum":"([0-9a-f]{16})"\}$')


@dataclass
class Known:
    """What the entries say of one resource: its ids, how often it was started, what is open."""

    ids: set[str] = field(default_factory=set)
    started: int = 0
    open_creates: int = 0
    open_writes: int = 0


@dataclass(frozen=True)
class Book:
    """The entries of a journal; `fault` says where it cannot be read."""

    entries: tuple[dict[str, Any], ...]
    torn: bool
    fault: str = ""

    def known(self) -> dict[str, Known]:
        """Give what is known of each resource."""
        found: dict[str, Known] = {}
        for entry in self.entries:
            if "ref" in entry:
                _take(found.setdefault(entry["ref"], Known()), entry)
        return found


def _take(known: Known, entry: dict[str, Any]) -> None:
    name, remote_id = entry["entry"], entry.get("remoteId")
    if remote_id is not None:
        known.ids.add(str(remote_id))
    if name == "started":
        known.started += 1
        known.open_writes += 1
        known.open_creates += entry["operation"] == "create"
    elif name == "identified":
        known.open_creates = 0
    elif name in ("written", "settled"):
        known.open_creates = known.open_writes = 0
    elif name == "refused":
        known.open_writes = max(known.open_writes - 1, 0)
        known.open_creates = min(known.open_creates, known.open_writes)


def read(content: bytes) -> Book:
    """Read a journal's bytes; a last line without its end is torn and left out."""
    whole, newline, tail = content.rpartition(b"\n")
    entries: list[dict[str, Any]] = []
    total = ""
    lines = whole.decode("utf-8", "replace").split("\n") if newline else []
    for number, line in enumerate(lines, 1):
        found = SUM.search(line)
        if found is None:
            return Book(tuple(entries), bool(tail), f"line {number} has no sum")
        text = SUM.sub("}", line)
        total = hashlib.sha256(f"{total}\n{text}".encode()).hexdigest()[:16]
        if found[1] != total:
            return Book(tuple(entries), bool(tail), f"line {number} has another sum")
        document = json.loads(text)
        if number == 1 and "journal" not in document:
            return Book((), bool(tail), "the first line is no header")
        entries.extend([document] if number > 1 else [])
    return Book(tuple(entries), bool(tail))
