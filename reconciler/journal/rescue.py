"""Where entries go that the journal could not take."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reconciler.journal.entries import Entry, Override, RunEntry, Started
from reconciler.journal.entry_documents import entry_document


def rescued(entries: Sequence[Entry]) -> str:
    """Save what happened and could not be journaled, and say where, after a `; `.

    Entries of what was never sent need no saving: "" then. Secrets are sealed as
    always, and the file is private. Source: failure-cases.md, R4.
    """
    if all(isinstance(entry, Started | RunEntry | Override) for entry in entries):
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
