"""A compacted journal adds up to the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journals import AT, RUN, VIEW, WRITE, all_entries, filled, read, started, written

from reconciler.journal.content import entry_document, parse_entry
from reconciler.journal.entries import (
    Entry,
    OverrideEntry,
    RunEntry,
    Settled,
    Unfrozen,
    WrittenEntry,
)
from reconciler.journal.history import History, compacted, runs_of, words_of
from reconciler.journal.store import ending_of
from reconciler.model import Ref

LATER = "2026-01-31T09:00:00Z"


def history_of(listed: list[Entry]) -> History:
    history = History()
    history.add(listed)
    return history


def run_entry(name: str, command: str = "apply") -> RunEntry:
    return RunEntry(
        run=name, at=AT, actor="alice", commit="abc", digest="sha256:0", command=command
    )


@given(st.lists(all_entries, max_size=30))
def test_same_memories(listed: list[Entry]) -> None:
    """Whatever a journal holds, its compacted form adds up to the same memories."""
    assert history_of(compacted(listed, LATER)) == history_of(listed)


@given(st.lists(all_entries, max_size=20), st.lists(all_entries, max_size=10))
def test_same_memories_afterwards(before: list[Entry], after: list[Entry]) -> None:
    """What is appended later adds up as if nothing had been compacted."""
    assert history_of([*compacted(before, LATER), *after]) == history_of([*before, *after])


@given(st.lists(all_entries, max_size=20))
def test_compacted_twice(listed: list[Entry]) -> None:
    """Compacting again changes nothing more."""
    once = compacted(listed, LATER)

    assert compacted(once, LATER) == once


@given(st.lists(all_entries, max_size=20))
def test_same_runs(listed: list[Entry]) -> None:
    """Runs keep their actor, commit, counts and overrides."""
    before = [
        (run.entry.run, run.entry.actor, run.counts, run.overrides) for run in runs_of(listed)
    ]
    runs = runs_of(compacted(listed, LATER))

    assert [(run.entry.run, run.entry.actor, run.counts, run.overrides) for run in runs] == before


@given(st.lists(all_entries, max_size=20))
def test_read_back(listed: list[Entry]) -> None:
    """Every entry of a compacted journal is read back the same."""
    for entry in compacted(listed, LATER):
        assert parse_entry(entry_document(entry), 2) == entry


def test_shorter() -> None:
    """A hundred writes of one resource become a run's line and the resource's line."""
    listed: list[Entry] = [run_entry(RUN), *WRITE * 100]

    assert len(compacted(listed, LATER)) == 2


def test_protection_is_kept() -> None:
    """The protection of the last acknowledged write survives, and one in doubt does not count."""
    protected = replace(started(), protect=True)
    shielded = history_of(compacted([protected, written()], LATER))
    doubtful = history_of(compacted([started(), written(), protected], LATER))

    assert shielded.of(VIEW).protected
    assert not doubtful.of(VIEW).protected


def test_runs() -> None:
    """A run is who, when, from what, and what became of each resource."""
    slo = Ref("SLO", "a")
    listed: list[Entry] = [
        run_entry("one"),
        OverrideEntry(at=AT, reason="because"),
        replace(started(), run="one"),
        replace(written(), run="one"),
        replace(started(slo, create=True), run="one"),
        run_entry("two", "settle"),
        Settled(at=AT, ref=slo, remote_id="x"),
        run_entry("three"),
        replace(started(), run="three"),
        WrittenEntry(run="three", at=AT, ref=VIEW, remote_id=7, adopted=True),
    ]
    first, second, third = runs_of(listed)
    assert first.counts == {"written": 1, "unanswered": 1}
    assert [override.reason for override in first.overrides] == ["because"]
    assert (second.entry.command, second.outcomes) == ("settle", {slo: "settled"})
    assert third.counts == {"adopted": 1}


def test_broken_glass_is_kept() -> None:
    """A compacted journal still says who broke a freeze, why, and in which run."""
    broken = Unfrozen(at=AT, reason="it burns", frozen="until monday")
    listed: list[Entry] = [
        run_entry("one"),
        broken,
        replace(written(), run="one"),
        run_entry("two"),
    ]

    first, second = runs_of(compacted(compacted(listed, AT), AT))

    assert (first.unfrozen, second.unfrozen) == ([broken], [])


def test_runs_of_an_old_journal() -> None:
    """A journal from before runs were named gives its runs without a name for who it was."""
    other = replace(started(), run="another")

    assert [(run.entry.run, run.entry.actor) for run in runs_of([*WRITE, other])] == [
        (RUN, ""),
        ("another", ""),
    ]


def test_words_of_an_append() -> None:
    """The words of a large append name some resources and count the rest."""
    many: list[Entry] = [written(Ref("SLO", f"s{n}")) for n in range(9)]

    assert words_of(many) == "written SLO/s0, SLO/s1, SLO/s2, SLO/s3, SLO/s4 and 4 more"
    assert (
        words_of([run_entry("one"), OverrideEntry(at=AT, reason="canary")])
        == "apply by alice; guard overridden"
    )


@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_ends_from_before(tmp_path: Path, times: int) -> None:
    """However often a journal was compacted, it goes on from its former end, no other does."""
    file = tmp_path / "journal.jsonl"
    filled(file, [run_entry("one")], WRITE)
    before = ending_of(file.read_bytes())
    other = tmp_path / "other.jsonl"
    filled(other, [run_entry("another")], WRITE)
    for path in [file, other] * times:
        journal = read(path)
        with journal.locked():
            journal.compact(run_entry("compacting", "journal compact"))

    assert read(file).content.goes_on_from(before)
    assert not read(other).content.goes_on_from(before)
