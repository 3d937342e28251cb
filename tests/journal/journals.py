"""Journals in a temporary folder, and random entries."""

from __future__ import annotations

from pathlib import Path

from harness.stores import journal_at
from hypothesis import strategies as st

from reconciler.document import ABSENT, Json
from reconciler.journal.entries import (
    ApprovalEntry,
    Backup,
    Compacted,
    Drifted,
    Entry,
    Forgotten,
    IdentifiedEntry,
    ImportedEntry,
    LastWrite,
    Moved,
    MovedIn,
    OverrideEntry,
    RefusedEntry,
    Renamed,
    RunEntry,
    Settled,
    Started,
    Stored,
    Unfrozen,
    WatchedEntry,
    WrittenEntry,
)
from reconciler.journal.history import OUTCOMES
from reconciler.journal.journal import Journal
from reconciler.journal.line_fields import (
    KnownSeal,
    KnownVersion,
    Rewritten,
    SeenDrift,
    SeenVerdict,
)
from reconciler.model import Ref, ServerInfo

AT = "2025-01-31T09:00:00Z"
RUN = "00000000-0000-4000-8000-000000000001"
VIEW = Ref("SavedView", "errors")


def started(
    ref: Ref = VIEW, *, create: bool = False, declared: dict[str, Json] | None = None
) -> Started:
    """Give the entry before a write."""
    body: dict[str, Json] = {"name": "Errors"} if declared is None else declared
    return Started(
        run=RUN,
        at=AT,
        ref=ref,
        operation="create" if create else "replace",
        declared=body,
        request_id="id-1",
        remote_id=None,
        seen="",
    )


def written(ref: Ref = VIEW, remote_id: str | int | None = 7) -> WrittenEntry:
    """Give the entry after an acknowledged write."""
    return WrittenEntry(run=RUN, at=AT, ref=ref, remote_id=remote_id)


def refused(ref: Ref = VIEW) -> RefusedEntry:
    """Give the entry after a refusal."""
    return RefusedEntry(run=RUN, at=AT, ref=ref, message="no")


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
told = st.builds(
    ServerInfo,
    version=texts,
    updated=texts,
    ids=st.dictionaries(texts, texts, max_size=2),
    alerts=st.none() | st.lists(texts, max_size=2).map(tuple),
)
seen_drifts = st.builds(SeenDrift, ref=refs, how=texts, since=texts)
seen_verdicts = st.builds(SeenVerdict, ref=refs, verdict=texts)
entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(
        WatchedEntry,
        at=texts,
        run=texts,
        until=texts,
        found=st.lists(seen_verdicts, max_size=3).map(tuple),
    ),
    st.builds(
        Drifted,
        at=texts,
        found=st.lists(seen_drifts, max_size=3).map(tuple),
        over=st.lists(refs, max_size=3).map(tuple),
    ),
    st.builds(
        Started,
        run=texts,
        at=texts,
        ref=refs,
        operation=st.sampled_from(["create", "replace"]),
        declared=objects,
        request_id=texts,
        remote_id=st.none() | remote_ids,
        seen=texts,
        protect=st.booleans(),
    ),
    st.builds(
        IdentifiedEntry,
        run=texts,
        at=texts,
        ref=refs,
        remote_id=remote_ids,
        instead_of=st.none() | remote_ids,
    ),
    st.builds(
        WrittenEntry,
        run=texts,
        at=texts,
        ref=refs,
        remote_id=st.none() | remote_ids,
        message=texts,
        revision=texts,
        instead_of=st.none() | remote_ids,
        told=told,
    ),
    st.builds(
        WrittenEntry,
        run=texts,
        at=texts,
        ref=refs,
        remote_id=st.none() | remote_ids,
        adopted=st.just(value=True),
    ),
    st.builds(
        Stored, run=texts, at=texts, ref=refs, rewritten=st.lists(rewritten, max_size=2).map(tuple)
    ),
    st.builds(
        ImportedEntry,
        run=texts,
        at=texts,
        ref=refs,
        remote_id=st.none() | remote_ids,
        origin=st.sampled_from(["live", "export"]),
        declared=objects,
        adopted=st.booleans(),
        revision=texts,
    ),
    st.builds(RefusedEntry, run=texts, at=texts, ref=refs, message=texts),
    st.builds(Settled, at=texts, ref=refs, remote_id=st.none() | remote_ids),
    st.builds(Renamed, at=texts, ref=refs, was=refs, run=texts),
    st.builds(Forgotten, at=texts, ref=refs),
    st.builds(
        Backup,
        run=texts,
        at=texts,
        ref=refs,
        remote_id=st.none() | remote_ids,
        size=st.integers(0, 2**70),
        live=st.none() | objects,
        unseen=st.lists(st.lists(texts | st.integers(0, 9), max_size=3).map(tuple), max_size=2).map(
            tuple
        ),
    ),
    st.builds(OverrideEntry, at=texts, reason=texts),
    st.builds(Unfrozen, at=texts, reason=texts, frozen=texts),
    st.builds(ApprovalEntry, at=texts, principal=texts, fingerprint=texts, until=texts),
    st.builds(
        RunEntry,
        run=texts,
        at=texts,
        actor=texts,
        commit=texts,
        digest=texts,
        command=texts,
        outcomes=st.dictionaries(st.sampled_from(OUTCOMES), st.integers(1, 9)),
    ),
)

all_entries: st.SearchStrategy[Entry] = st.one_of(
    entries,
    st.builds(Moved, at=texts, run=texts, to=texts),
    st.builds(MovedIn, at=texts, run=texts, origin=texts),
)
"""With those that say where a journal is: as its last line, they keep it from being used."""

last_writes = st.builds(
    LastWrite,
    remote_id=st.none() | remote_ids,
    at=texts,
    declared=objects,
    rewritten=st.lists(rewritten, max_size=2).map(tuple),
    revision=texts,
    origin=st.sampled_from(["", "live", "export"]),
    told=told,
)
kept_entries = st.builds(
    Compacted,
    at=texts,
    ref=refs,
    remote_id=st.none() | remote_ids,
    exists=st.booleans(),
    attempts=st.integers(0, 2**70),
    protect=st.booleans(),
    instead_of=st.none() | remote_ids,
    last=st.none() | last_writes,
    versions=st.lists(st.builds(KnownVersion, version=texts, at=texts), max_size=3).map(tuple),
    seals=st.lists(st.builds(KnownSeal, name=texts, seal=texts), max_size=3).map(tuple),
)
"""What compacting alone writes."""
