"""What a journal remembers when a resource gets another name, or is forgotten."""

from __future__ import annotations

import pytest
from harness.golden import Golden
from hypothesis import given
from hypothesis import strategies as st
from journals import AT, RUN, VIEW, WRITE, entries, started, written

from reconciler.journal.entries import Entry, Forgotten, Renamed, RunEntry
from reconciler.journal.history import History, Memory, compacted, runs_of, words_of
from reconciler.model import Ref
from reconciler.report.journal_formats import journal_text
from reconciler.report.table import Style

pytestmark = pytest.mark.promise("P17")

NEW = Ref("SavedView", "failures")
RENAMED = Renamed(at=AT, ref=NEW, was=VIEW)
FORGOTTEN = Forgotten(at=AT, ref=VIEW)


def history_of(listed: list[Entry]) -> History:
    """Give what entries add up to."""
    history = History()
    history.add(listed)
    return history


def test_memory_follows_the_name() -> None:
    """What was remembered of the old name is the memory of the new one, and the old has none."""
    before, history = history_of(WRITE), history_of([*WRITE, RENAMED])

    assert history.of(NEW) == before.of(VIEW)
    assert history.of(VIEW).is_blank


def test_doubt_follows_the_name() -> None:
    """A create without an answer stays unsettled under its new name, compacted or not."""
    listed: list[Entry] = [started(create=True), started(), started(create=True), RENAMED]

    for history in (history_of(listed), history_of(compacted(listed, AT))):
        assert list(history.unsettled()) == [NEW]
        assert history.of(VIEW).is_blank
        assert len(history.of(NEW).candidates) == 3
    answered = history_of([*listed, written(NEW)])
    assert (answered.unsettled(), answered.of(NEW).remote_id) == ({}, 7)


def test_forgotten() -> None:
    """Nothing is remembered of what was forgotten: no id, no last write, no protection."""
    history = history_of([*WRITE, started(create=True), FORGOTTEN])

    assert history.of(VIEW).is_blank
    assert history.unsettled() == {}


@pytest.mark.parametrize("end", [RENAMED, FORGOTTEN])
def test_no_attempt_is_repeated(end: Entry) -> None:
    """A name that is used again counts on, so that no create repeats an earlier request id."""
    assert history_of([*WRITE, end]).of(VIEW).attempts > history_of(WRITE).of(VIEW).attempts
    assert history_of([started(), end]).of(VIEW).attempts > 0


def test_a_name_used_before_counts_on() -> None:
    """The attempts of a resource and of the earlier one of its new name are added."""
    refusal: list[Entry] = [started(NEW, create=True), *(written(NEW) for _ in range(4))]

    assert history_of([*refusal, *WRITE, RENAMED]).of(NEW).attempts == 5


@pytest.mark.parametrize("entry", [RENAMED, FORGOTTEN, Renamed(at=AT, ref=VIEW, was=VIEW)])
def test_nothing_known(entry: Entry) -> None:
    """What is unknown has nothing to carry or to lose, and no resource is renamed to itself."""
    known = written(NEW)

    assert history_of([known, entry]) == history_of([known])
    assert history_of([*WRITE, Renamed(at=AT, ref=VIEW, was=VIEW)]) == history_of(WRITE)


@given(st.lists(entries, max_size=12), st.lists(entries, max_size=6))
def test_there_and_back(before: list[Entry], after: list[Entry]) -> None:
    """A name that is unused, taken and given back changes nothing but attempts."""
    unused = Ref("SavedView", "unused")
    there: list[Entry] = [
        Renamed(at=AT, ref=unused, was=VIEW),
        Renamed(at=AT, ref=VIEW, was=unused),
    ]
    plain, moved = history_of([*before, *after]), history_of([*before, *there, *after])

    moved.memories.pop(unused, None)
    for history in (plain, moved):
        for memory in history.memories.values():
            memory.attempts = 0
    for ref in {*plain.memories, *moved.memories}:
        assert without_refs(plain.of(ref)) == without_refs(moved.of(ref))


def without_refs(memory: Memory) -> tuple[object, ...]:
    """Give a memory without the names in it; an entry of a rename may put another there."""
    return (memory.remote_id, memory.last, memory.candidates, memory.exists, memory.protected)


def test_runs_tell() -> None:
    """A run counts what it renamed and forgot; a write of the same resource counts alone."""
    run = RunEntry(run=RUN, at=AT, actor="alice", commit="", digest="", command="rename")
    other = Ref("SLO", "a")
    listed: list[Entry] = [run, RENAMED, written(other), Forgotten(at=AT, ref=other)]

    (told,) = runs_of(listed)
    (applied,) = runs_of(
        [run, Renamed(at=AT, ref=NEW, was=VIEW, run=RUN), started(NEW), written(NEW)]
    )

    assert told.counts == {"renamed": 1, "forgotten": 1}
    assert applied.counts == {"written": 1}
    assert runs_of([*compacted(listed, AT)])[0].counts == told.counts
    assert words_of([RENAMED, FORGOTTEN]) == f"renamed {VIEW} to {NEW}; forgotten {VIEW}"


def test_shown(golden: Golden) -> None:
    """Both names stand in the line of a rename."""
    text = journal_text([RENAMED, FORGOTTEN], History(), Style(colour=False))

    golden(text)
    assert f"forgotten   {VIEW}\n" in text
