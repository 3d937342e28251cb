"""The entries of a journal for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from reconciler.journal.entries import (
    Entry,
    Identified,
    Override,
    RefusedEntry,
    Settled,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.journal.history import History
from reconciler.report.safe import safe
from reconciler.report.style import Colour, Style
from reconciler.report.words import plural


def journal_text(entries: Sequence[Entry], history: History, style: Style) -> str:
    """Give a line for each entry, and the unsettled creates at the end."""
    lines = [f"{entry.at}  {safe(_words(entry))}" for entry in entries]
    for ref, started in history.unsettled().items():
        said = f"unsettled since {started.at}: {ref}"
        lines.append(style.paint(safe(said), Colour.RED))
    lines.append(style.paint(f"{plural(len(entries), 'line')}.", Colour.DIM))
    return "\n".join(lines) + "\n"


def _words(entry: Entry) -> str:
    if isinstance(entry, Override):
        return f"override    {entry.reason}"
    match entry:
        case Started(operation=operation):
            name, said = "started", f" ({operation})"
        case Identified(remote_id=remote_id):
            name, said = "identified", f" as {remote_id}"
        case WrittenEntry(remote_id=remote_id, message=message):
            known = f" ({remote_id})" if remote_id is not None else ""
            name, said = "written", known + (f": {message}" if message else "")
        case Stored(rewritten=rewritten):
            name, said = "stored", f": {plural(len(rewritten), 'field')} not as sent"
        case RefusedEntry(message=message):
            name, said = "refused", f": {message}"
        case Settled(remote_id=remote_id):
            became = "never happened" if remote_id is None else f"exists as {remote_id}"
            name, said = "settled", f": {became}"
        case _:
            assert_never(entry)
    return f"{name:10}  {entry.ref}{said}"
