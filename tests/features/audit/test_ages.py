"""Since when something is declared: by the journal, by git, and never longer than it is."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness.repositories import git_environ
from hypothesis import given
from hypothesis import strategies as st

from reconciler.features.audit.command import GIT, JOURNAL, Ages
from reconciler.journal.entries import (
    Entry,
    Forgotten,
    RefusedEntry,
    Renamed,
    Started,
    WrittenEntry,
)
from reconciler.model import Manifest, Ref, Source

REF = Ref("AlertDefinition", "errors")
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
OFF = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: errors, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11}
spec:
  name: Errors
  enabled: false
"""


def at(days: int) -> str:
    """Give a moment so many days ago, as the journal has it."""
    return (NOW - timedelta(days=days)).isoformat()


def write(days: int, ref: Ref = REF, *, refused: bool = False, **declared: Any) -> list[Entry]:
    """Give the entries of one write."""
    started = Started(
        at=at(days),
        ref=ref,
        run="r",
        operation="replace",
        remote_id="x",
        request_id="",
        seen="",
        declared=declared,
    )
    if refused:
        return [started, RefusedEntry(at=at(days), ref=ref, run="r", message="no")]
    return [started, WrittenEntry(at=at(days), ref=ref, run="r", remote_id="x")]


def alert(**spec: Any) -> Manifest:
    """Give the manifest of an alert."""
    return Manifest(REF, spec, Source("errors.yaml", 1), "x")


def days_off(root: Path, entries: list[Entry], **spec: Any) -> tuple[int, str] | None:
    """Give for how many days an alert is off at least, and what tells."""
    found = Ages(root, os.environ, entries).since(alert(**spec), ("enabled",))
    return None if found is None else ((NOW - found.at).days, found.by)


def test_the_last_writes_that_agree(tmp_path: Path) -> None:
    """What counts is the first of the last acknowledged writes that all say so."""
    entries = [
        *write(90, enabled=False),
        *write(60, enabled=True),
        *write(40, enabled=False),
        *write(10, enabled=False, name="other"),
    ]

    assert days_off(tmp_path, entries, enabled=False) == (40, JOURNAL)
    assert days_off(tmp_path, entries, enabled=True) is None


def test_a_refused_write_says_nothing(tmp_path: Path) -> None:
    """A write that the service refused made nothing so."""
    assert days_off(tmp_path, write(40, refused=True, enabled=False), enabled=False) is None


def test_names_that_changed(tmp_path: Path) -> None:
    """What was written under an earlier name counts, and what was forgotten does not."""
    was = Ref("AlertDefinition", "old")
    renamed = [*write(40, was, enabled=False), Renamed(at=at(5), ref=REF, was=was)]
    forgotten = [*write(40, enabled=False), Forgotten(at=at(5), ref=REF), *write(3, enabled=False)]

    assert days_off(tmp_path, renamed, enabled=False) == (40, JOURNAL)
    assert days_off(tmp_path, forgotten, enabled=False) == (3, JOURNAL)


@given(st.lists(st.tuples(st.integers(1, 400), st.booleans(), st.booleans()), max_size=12))
def test_never_longer_than_it_is(writes: list[tuple[int, bool, bool]]) -> None:
    """However it was written, the journal never says that a flag is as it is for longer."""
    ordered = sorted(writes, key=lambda one: -one[0])
    entries = [
        entry
        for days, flag, refused in ordered
        for entry in write(days, refused=refused, enabled=flag)
    ]
    taken = [(days, flag) for days, flag, refused in ordered if not refused]
    found = days_off(Path("/nowhere"), entries, enabled=False)
    if not taken or taken[-1][1]:
        assert found is None
    else:
        last_on = max((i for i, (_, flag) in enumerate(taken) if flag), default=-1)
        assert found == (taken[last_on + 1][0], JOURNAL)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, 0, "init", "--quiet")
    return tmp_path


def git(root: Path, days: int, *arguments: str) -> None:
    """Run git as so many days ago."""
    when = str(int((NOW - timedelta(days=days)).timestamp()))
    dates = {"GIT_AUTHOR_DATE": f"{when} +0000", "GIT_COMMITTER_DATE": f"{when} +0000"}
    subprocess.run(["git", *arguments], cwd=root, check=True, env={**git_environ(), **dates})  # noqa: S607 - git of the PATH


def commit(root: Path, days: int, text: str) -> None:
    """Commit the manifest as so many days ago."""
    (root / "errors.yaml").write_text(text, encoding="utf-8")
    git(root, days, "add", ".")
    git(root, days, "commit", "--quiet", "--message", "x")


def test_git_tells_since_when(repository: Path) -> None:
    """The last commit that touched the line counts, not the last one of the file."""
    commit(repository, 90, OFF.replace("false", "true"))
    commit(repository, 50, OFF)
    commit(repository, 5, OFF.replace("name: Errors", "name: Errors of all"))

    assert days_off(repository, [], enabled=False) == (50, GIT)
    assert days_off(repository, write(60, enabled=False), enabled=False) == (60, JOURNAL)


def test_an_edit_that_is_not_committed(repository: Path) -> None:
    """A line that was edited since its commit says nothing about since when."""
    commit(repository, 50, OFF.replace("false", "true"))
    (repository / "errors.yaml").write_text(OFF, encoding="utf-8")

    assert days_off(repository, [], enabled=False) is None


def test_a_variable_has_no_history(repository: Path) -> None:
    """What a variable gives may have changed without its line."""
    commit(repository, 50, OFF.replace("false", '"${var:on}"'))

    assert days_off(repository, [], enabled=False) is None


def test_what_nobody_knows_is_counted(tmp_path: Path) -> None:
    """Where neither tells, the resource is among those that nobody knows of."""
    ages = Ages(tmp_path, os.environ)
    ages.since(alert(enabled=False), ("enabled",))

    assert ages.unknown == {REF}


def test_the_first_commit_of_a_manifest(repository: Path) -> None:
    """A manifest is as old as the first commit that names it, or its first write, if earlier."""
    commit(repository, 50, OFF)
    commit(repository, 5, OFF.replace("name: errors,", "name: errors , "))
    ages = Ages(repository, os.environ, write(70, enabled=False))

    declared = Ages(repository, os.environ).declared(alert(enabled=False))
    assert declared is not None
    assert ((NOW - declared.at).days, declared.by) == (50, GIT)
    earlier = ages.declared(alert(enabled=False))
    assert earlier is not None
    assert earlier.by == JOURNAL
