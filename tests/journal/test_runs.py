"""What the runs of a journal were, where each stands in it, and the backups of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from journals import AT, RUN, VIEW, WRITE, refused, started, written

from reconciler.journal.entries import (
    Backup,
    Compacted,
    Drifted,
    Entry,
    Forgotten,
    ImportedEntry,
    Moved,
    MovedIn,
    OverrideEntry,
    Renamed,
    RunEntry,
    WrittenEntry,
)
from reconciler.journal.history import History, last_backups, once_written, runs_of, words_of
from reconciler.journal.line_fields import SeenDrift
from reconciler.model import Ref

SLO = Ref("SLO", "checkout")
OTHER = Ref("SavedView", "failures")
KEPT = Compacted(at=AT, ref=VIEW, remote_id=7, exists=True, attempts=1, protect=False)


def begun(name: str) -> RunEntry:
    """Give the entry of a run."""
    return RunEntry(run=name, at=AT, actor="alice", commit="c1", digest="d1", command="apply")


def backup(run: str, ref: Ref = VIEW) -> Backup:
    """Give what was live before a write of a run."""
    return Backup(run=run, at=AT, ref=ref, remote_id=7, size=2, live={})


def imported(*, adopted: bool = False) -> ImportedEntry:
    """Give what was seen of the view."""
    seen = ImportedEntry(
        run=RUN, at=AT, ref=VIEW, remote_id=9, origin="live", declared={}, revision="r"
    )
    return replace(seen, adopted=adopted)


def history_of(*listed: Entry) -> History:
    """Add entries up."""
    history = History()
    history.add(listed)
    return history


def test_where_a_run_stands() -> None:
    """A run begins with its own entry and ends before that of the next, with or without a name."""
    named: list[Entry] = [begun(RUN), *WRITE, backup(RUN), begun("two")]

    assert [(run.begins, run.ends) for run in runs_of(named)] == [(0, 3), (4, 5)]
    unnamed: list[Entry] = [begun("one"), *WRITE, replace(refused(), run="old"), *WRITE]
    assert [(run.entry.run, run.begins, run.ends) for run in runs_of(unnamed)] == [
        ("one", 0, 1),
        (RUN, 1, 3),
        ("old", 3, 4),
        (RUN, 4, 6),
    ]


def test_what_a_run_says_of_itself() -> None:
    """A run keeps who ran it, from which commit, and the digest of its plan."""
    (run,) = runs_of([begun("one")])

    assert (run.entry.actor, run.entry.commit, run.entry.digest, run.entry.command) == (
        "alice",
        "c1",
        "d1",
        "apply",
    )


def test_what_was_kept_is_no_run() -> None:
    """What compacting kept belongs to no run, and an override without one has no name."""
    assert runs_of([KEPT]) == []
    assert [run.entry.run for run in runs_of([OverrideEntry(at=AT, reason="because")])] == [""]


@pytest.mark.parametrize("adopted", [True, False])
def test_what_was_imported(adopted: bool) -> None:
    """What was imported is told apart from what a manifest took over."""
    (run,) = runs_of([imported(adopted=adopted)])

    assert run.counts == {"adopted" if adopted else "imported": 1}


def test_words() -> None:
    """The words of an append name the place of a move, and count only what is not named."""
    five: list[Entry] = [written(Ref("SLO", f"s{number}")) for number in range(5)]

    assert "b.jsonl" in words_of([Moved(at=AT, run=RUN, to="b.jsonl")])
    assert "a.jsonl" in words_of([MovedIn(at=AT, run=RUN, origin="a.jsonl")])
    assert "drift" in words_of([Drifted(at=AT)])
    assert words_of(five).endswith("SLO/s4")


def test_last_backups() -> None:
    """Of each resource the last backup is given, or the last of a run."""
    listed = [backup("one"), backup("one", SLO), backup("two")]

    assert last_backups(listed) == {VIEW: backup("two"), SLO: backup("one", SLO)}
    assert last_backups(listed, "one") == {VIEW: backup("one"), SLO: backup("one", SLO)}


def test_backups_by_todays_names() -> None:
    """A backup goes along with a new name, and one of whatever had that name before is no more."""
    rename = Renamed(at=AT, ref=OTHER, was=VIEW)

    assert last_backups([backup("one"), rename]) == {OTHER: backup("one", OTHER)}
    assert last_backups([backup("one", OTHER), rename]) == {}


def test_backups_of_what_is_forgotten() -> None:
    """A resource that was forgotten has no backup."""
    assert last_backups([backup("one"), Forgotten(at=AT, ref=VIEW)]) == {}


def test_drift_ends() -> None:
    """Drift that is over, or of what was forgotten, is known no more."""
    seen = SeenDrift(ref=VIEW, how="h", since=AT)
    found = Drifted(at=AT, found=(seen,))

    assert history_of(found).drifts == {VIEW: seen}
    assert history_of(found, Drifted(at=AT, over=(VIEW,))).drifts == {}
    assert history_of(*WRITE, found, Forgotten(at=AT, ref=VIEW)).drifts == {}


def test_drift_goes_along() -> None:
    """A resource that is renamed keeps that it drifted, by its new name."""
    seen = SeenDrift(ref=VIEW, how="h", since=AT)
    rename = Renamed(at=AT, ref=OTHER, was=VIEW)

    history = history_of(*WRITE, Drifted(at=AT, found=(seen,)), rename)

    assert history.drifts == {OTHER: replace(seen, ref=OTHER)}


def test_attempts_are_counted_on() -> None:
    """No request id comes again: each end of a resource, and each write in doubt, counts one."""
    forgotten = history_of(*WRITE, Forgotten(at=AT, ref=VIEW))
    seen = history_of(*WRITE, started(), started(), imported())

    assert forgotten.of(VIEW).attempts == history_of(*WRITE).of(VIEW).attempts + 1
    assert seen.of(VIEW).attempts == history_of(*WRITE).of(VIEW).attempts + 2


def test_what_a_write_is_known_by() -> None:
    """A write is known by its revision, and by the id that it took the place of."""
    entry = WrittenEntry(run=RUN, at=AT, ref=VIEW, remote_id=7, revision="r2", instead_of=5)
    memory = history_of(started()).of(VIEW)

    later = once_written(memory, entry)

    assert later == history_of(started(), entry).of(VIEW)
    assert memory.pending is not None
    assert later.last is not None
    assert (later.last.revision, later.instead_of) == ("r2", 5)
    last = history_of(imported()).of(VIEW).last
    assert last is not None
    assert last.revision == "r"
