"""A new entry of the journal: what a person notes in it, which changes no memory."""

from __future__ import annotations

import json

from workbench import Workbench

ENTRIES = "reconciler/journal/entries.py"
GOLDEN = "tests/journal/golden/every-entry.jsonl"


def entry(bench: Workbench) -> None:
    """Let a journal keep what a person notes."""
    bench.replace(
        ENTRIES,
        "@dataclass(frozen=True, slots=True, kw_only=True)\nclass Compacted(",
        "@dataclass(frozen=True, slots=True, kw_only=True)\n"
        "class Noted(_Entry):\n"
        '    """What a person noted; nothing follows from it."""\n\n'
        '    entry: Literal["noted"] = "noted"\n'
        "    text: of.Text\n\n\n"
        "@dataclass(frozen=True, slots=True, kw_only=True)\nclass Compacted(",
    )
    bench.replace(ENTRIES, "OverrideEntry | Unfrozen | ", "OverrideEntry | Noted | Unfrozen | ")
    runs = "reconciler/journal/history.py"
    bench.replace(
        runs,
        '        case journaled.Renamed(run=""):\n            return None\n',
        '        case journaled.Renamed(run="") | journaled.Noted():\n            return None\n',
    )
    known = "        case journaled.Stored() | journaled.Compacted() | journaled.RunEntry()"
    bench.replace(runs, f"{known}:\n", f"{known} | journaled.Noted():\n")
    bench.after(
        runs, "                | journaled.Unfrozen()", "                | journaled.Noted()"
    )
    bench.after(runs, "    journaled.Unfrozen: ", '    journaled.Noted: "a note",')
    report = "reconciler/report/journal_formats.py"
    bench.after(report, "    entry_types.MovedIn: ", '    entry_types.Noted: "{0.text}",')
    _tested(bench)


def _tested(bench: Workbench) -> None:
    journals, docs = "tests/journal/journals.py", "tests/journal/test_journal_docs.py"
    for name in (journals, docs):
        bench.after(name, "    OverrideEntry,", "    Noted,")
    bench.replace(
        journals,
        "    st.builds(OverrideEntry, at=texts, reason=texts),\n",
        "    st.builds(OverrideEntry, at=texts, reason=texts),\n"
        "    st.builds(Noted, at=texts, text=texts),\n",
    )
    bench.after(docs, '    OverrideEntry(at="at",', '    Noted(at="at", text="why"),')
    bench.after(
        "tests/journal/test_entries.py",
        '        {"entry": "override"},',
        '        {"entry": "noted"},',
    )
    noted = {"entry": "noted", "at": "2025-01-31T09:00:00Z", "text": "why"}
    written = bench.python("-c", _NEXT_LINE, GOLDEN, json.dumps(noted))
    bench.append(GOLDEN, written)


_NEXT_LINE = """
import json, sys
from reconciler.journal.content import line_of
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
print(line_of(json.loads(sys.argv[2]), json.loads(lines[-1])["sum"])[0], end="")
"""
