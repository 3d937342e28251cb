"""Where entries go that the journal could not take."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reconciler.journal.entries import (
    Arrived,
    Entry,
    Forgotten,
    Moved,
    Override,
    Renamed,
    RunEntry,
    Started,
)
from reconciler.journal.entry_documents import entry_document

_UNSENT = (Started, RunEntry, Override, Renamed, Forgotten, Moved, Arrived)


def rescued(entries: Sequence[Entry]) -> str:
    """Save what happened and could not be journaled, and say where, after a `; `.

    What was never sent, or was only said by a person, needs no saving: "" then.
    Secrets are sealed as always, and the file is private. Source: failure-cases.md, R4.
    """
    if all(isinstance(entry, _UNSENT) for entry in entries):
        return ""
    documents = map(entry_document, entries)
    text = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    saved = _saved(text)
    return f"; its entries were saved in {saved}" if saved else f"; its entries are:\n{text}"


def _saved(text: str) -> str:
    """Write a new private file in the temporary folder; gives its name, "" where it has no room."""
    name = ""
    try:
        descriptor, name = tempfile.mkstemp(prefix="reconciler-journal-", suffix=".jsonl")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(descriptor)
    except OSError:
        if name:
            with suppress(OSError):
                Path(name).unlink()
        return ""
    return name
