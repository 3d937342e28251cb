"""What a journal knows of the time before a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journals import AT, VIEW, all_entries, refused, started, written

from reconciler.journal.entries import (
    Backup,
    Entry,
    Forgotten,
    Renamed,
    RunEntry,
    Settled,
    WrittenEntry,
)
from reconciler.journal.history import History, compacted
from reconciler.journal.writes import Before, before_run, ids_since, is_compacted, runs_named
from reconciler.model import Ref

SLO = Ref("SLO", "checkout")
OTHER = Ref("SavedView", "failures")


def begun(name: str) -> RunEntry:
    """Give the entry of a run."""
    return RunEntry(run=name, at=AT, actor="a", commit="c", digest="", command="apply")


def wrote(run: str, ref: Ref = VIEW, said: str = "", *, create: bool = False) -> list[Entry]:
    """Give a run that wrote one resource."""
    return [begun(run), *wrote_too(run, ref, said, create=create)]


def wrote_too(run: str, ref: Ref, said: str = "", *, create: bool = False) -> list[Entry]:
    """Give the further write of a run."""
    sent = started(ref, create=create, declared={"name": said or run})
    return [replace(sent, run=run), replace(written(ref), run=run)]


def backup(run: str, ref: Ref = VIEW) -> Backup:
    """Give what was live before a write of a run."""
    return Backup(run=run, at=AT, ref=ref, remote_id=7, size=2, live={})


def before(entries: list[Entry], name: str) -> dict[Ref, Before]:
    """Give what is known of each resource of the one run of a name."""
    (run,) = runs_named(entries, name)
    return {one.ref: one for one in before_run(entries, run)}


def test_the_last_write_before() -> None:
    """It is the last acknowledged write before the run, with its line; later runs are named."""
    listed = [*wrote("one", create=True), *wrote("two"), *wrote("three"), *wrote("four")]

    found = before(listed, "three")[VIEW]

    assert found.last is not None
    assert (found.last.declared, found.line) == ({"name": "two"}, 6)
    assert (found.created, found.later) == (False, ("four",))


def test_what_a_run_made() -> None:
    """What a run made has nothing before; what it made again has what it was."""
    listed = [*wrote("one", create=True), *wrote("two", create=True)]

    assert before(listed, "one")[VIEW].created
    assert before(listed, "one")[VIEW].last is None
    assert not before(listed, "two")[VIEW].created
    assert before(listed, "two")[VIEW].last is not None


@pytest.mark.parametrize(
    "later",
    [
        [Forgotten(at=AT, ref=VIEW)],
        [Settled(at=AT, ref=VIEW, remote_id=None)],
    ],
)
def test_what_is_no_concern_any_more(later: list[Entry]) -> None:
    """What was forgotten since, or never happened, is not among what a run wrote."""
    assert before([*wrote("one"), *later], "one") == {}


def test_what_was_refused() -> None:
    """What the service refused is left out: it changed nothing."""
    sent = replace(started(), run="one")

    assert before([begun("one"), sent, replace(refused(), run="one")], "one") == {}
    assert VIEW in before([begun("one"), sent], "one")


def test_what_was_adopted() -> None:
    """What only ran along is known as that."""
    sent = replace(started(), run="one")
    same = WrittenEntry(run="one", at=AT, ref=VIEW, remote_id=7, adopted=True)

    assert before([begun("one"), sent, same], "one")[VIEW].adopted


def test_names_that_changed() -> None:
    """A resource has its name of today, whenever it was renamed; its old name is another."""
    rename = Renamed(at=AT, ref=OTHER, was=VIEW)
    listed = [*wrote("one"), *wrote("two"), rename, *wrote("three")]
    in_run = [*wrote("one"), begun("two"), replace(rename, run="two"), *wrote_too("two", OTHER)]

    found = before(listed, "two")
    assert list(found) == [OTHER]
    assert found[OTHER].last is not None
    assert found[OTHER].later == ()
    assert before(listed, "three")[VIEW].last is None
    last = before(in_run, "two")[OTHER].last
    assert last is not None
    assert last.declared == {"name": "one"}


def test_backups_of_a_run() -> None:
    """A backup is that of its run, also where all else of the run was compacted."""
    listed: list[Entry] = [*wrote("one"), begun("two"), backup("two"), *wrote_too("two", VIEW)]
    short = compacted(listed, AT)

    assert before(listed, "two")[VIEW].backup == backup("two")
    assert before(listed, "one")[VIEW].backup is None
    found = before(short, "two")[VIEW]
    assert (found.compacted, found.last, found.backup) == (True, None, backup("two"))
    assert before(short, "one") == {}


def test_runs_by_their_names() -> None:
    """A beginning will do, a whole id is itself, and `last` is the last one that wrote."""
    nothing = begun("abd")
    listed = [*wrote("abc"), *wrote("ab"), nothing]

    assert [run.entry.run for run in runs_named(listed, "a")] == ["abc", "ab", "abd"]
    assert [run.entry.run for run in runs_named(listed, "ab")] == ["ab"]
    assert [run.entry.run for run in runs_named(listed, "last")] == ["ab"]
    assert runs_named([nothing], "last") == []


def test_ids_that_changed() -> None:
    """What was made anew since a run began has its old id and the new one."""
    again: list[Entry] = [
        replace(started(SLO, create=True), run="two"),
        replace(written(SLO, "b"), run="two"),
    ]
    listed: list[Entry] = [begun("one"), started(SLO), written(SLO, "a"), begun("two"), *again]
    (run,) = runs_named(listed, "two")

    assert ids_since(listed, run) == {"a": "b"}


@given(st.lists(all_entries, max_size=30))
def test_any_journal(listed: list[Entry]) -> None:
    """Of any journal and run, what was before is a write that the journal had by then."""
    for run in {run.entry.run for run in runs_named(listed, "")}:
        for one in runs_named(listed, run)[:1]:
            earlier = History()
            earlier.add(listed[: one.begins])
            known = [memory.last for memory in earlier.memories.values()]
            for found in before_run(listed, one):
                assert found.compacted or found.last is None or found.last in known
            assert not is_compacted(listed, one)
