"""Journals in a temporary folder, and random entries."""

from __future__ import annotations

from pathlib import Path

from harness.stores import journal_at
from hypothesis import strategies as st

from reconciler.document import ABSENT, Json
from reconciler.journal.entries import (
    Arrived,
    Entry,
    Forgotten,
    Identified,
    Moved,
    Override,
    RefusedEntry,
    Renamed,
    Rewritten,
    RunEntry,
    Settled,
    Started,
    Stored,
    WrittenEntry,
)
from reconciler.journal.journal import Journal
from reconciler.journal.runs import OUTCOMES
from reconciler.resource import Ref

AT = "2025-01-31T09:00:00Z"
RUN = "00000000-0000-4000-8000-000000000001"
VIEW = Ref("SavedView", "errors")


def started(
    ref: Ref = VIEW, *, create: bool = False, declared: dict[str, Json] | None = None
) -> Started:
    """Give the entry before a write."""
    body: dict[str, Json] = {"name": "Errors"} if declared is None else declared
    return Started(RUN, AT, ref, "create" if create else "replace", body, "id-1", None, "")


def written(ref: Ref = VIEW, remote_id: str | int | None = 7) -> WrittenEntry:
    """Give the entry after an acknowledged write."""
    return WrittenEntry(RUN, AT, ref, remote_id)


def refused(ref: Ref = VIEW) -> RefusedEntry:
    """Give the entry after a refusal."""
    return RefusedEntry(RUN, AT, ref, "no")


WRITE: list[Entry] = [started(create=True), written()]


def filled(file: Path, *batches: list[Entry]) -> Journal:
    """Write batches of entries into a new journal."""
    journal = journal_at(file)
    with journal.locked():
        for batch in batches or (WRITE,):
            journal.append(batch)
    return journal


def read(file: Path) -> Journal:
    """Read a journal anew."""
    journal = journal_at(file)
    journal.load()
    return journal


texts = st.text(max_size=8) | st.sampled_from(["\ud83d", "\u2028", "\n", '"', "é", "\x00"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
documents: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, documents, max_size=3)
refs = st.sampled_from([VIEW, Ref("SLO", "checkout"), Ref("Dashboard", "a.b-c")])
remote_ids = st.sampled_from([7, 2**31 - 1, "abc", "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"])
rewritten = st.builds(
    Rewritten,
    st.lists(texts | st.integers(0, 9), max_size=3).map(tuple),
    documents | st.just(ABSENT),
    documents | st.just(ABSENT),
)
entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(
        Started,
        texts,
        texts,
        refs,
        st.sampled_from(["create", "replace"]),
        objects,
        texts,
        st.none() | remote_ids,
        texts,
        st.booleans(),
    ),
    st.builds(Identified, texts, texts, refs, remote_ids),
    st.builds(WrittenEntry, texts, texts, refs, st.none() | remote_ids, texts),
    st.builds(Stored, texts, texts, refs, st.lists(rewritten, max_size=2).map(tuple)),
    st.builds(RefusedEntry, texts, texts, refs, texts),
    st.builds(Settled, texts, refs, st.none() | remote_ids),
    st.builds(Renamed, texts, refs, refs, texts),
    st.builds(Forgotten, texts, refs),
    st.builds(Override, texts, texts),
    st.builds(
        RunEntry, *[texts] * 6, st.dictionaries(st.sampled_from(OUTCOMES), st.integers(1, 9))
    ),
)

all_entries: st.SearchStrategy[Entry] = st.one_of(
    entries, st.builds(Moved, texts, texts, texts), st.builds(Arrived, texts, texts, texts)
)
"""With those that say where a journal is: as its last line, they keep it from being used."""
