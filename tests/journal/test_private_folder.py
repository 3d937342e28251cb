"""Where a journal in a file stands: no link, out of git, and itself until the end of a run."""

from __future__ import annotations

import fcntl
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.golden import Golden
from harness.repositories import begin, committed, git
from harness.stores import NO_TIME, journal_at, lease
from harness.workspaces import PROJECT, Workspace, project_at
from harness.workspaces import VIEW as VIEW_MANIFEST
from journals import AT, VIEW, WRITE, read, refused, written

from reconciler.errors import JournalError, Locked
from reconciler.journal import file_store
from reconciler.journal.entries import RunEntry, Settled
from reconciler.journal.file_store import IGNORE, IGNORED, FileStore
from reconciler.journal.journal import Journal
from reconciler.runtime.failpoints import Point

LEASE = lease(pid=7, run="run-1")
COMPACT = RunEntry(run="run-2", at=AT, actor="someone", commit="", digest="", command="compact")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".reconciler" / "local.journal.jsonl"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return project_at(tmp_path / "project", view=VIEW_MANIFEST)


def removed_folder(file: Path) -> None:
    shutil.rmtree(file.parent)


def replaced_folder(file: Path) -> None:
    """Do what `git clean` does, and then another run."""
    removed_folder(file)
    begin_anew(file)


def same_folder_again(file: Path) -> None:
    """Put back a copy, byte for byte."""
    shutil.copytree(file.parent, file.parent.with_name("copy"))
    removed_folder(file)
    file.parent.with_name("copy").rename(file.parent)


def moved_folder(file: Path) -> None:
    file.parent.rename(file.parent.with_name("elsewhere"))


def removed_file(file: Path) -> None:
    file.unlink(missing_ok=True)


def same_file_again(file: Path) -> None:
    if not file.exists():
        file.write_bytes(b"")
        return
    content = file.read_bytes()
    other = file.with_name("other")
    other.write_bytes(content)
    other.replace(file)


def removed_lock(file: Path) -> None:
    file.with_name(f"{file.name}.lock").unlink()


def replaced_lock(file: Path) -> None:
    removed_lock(file)
    file.with_name(f"{file.name}.lock").write_bytes(b"")


def begin_anew(file: Path) -> None:
    """Begin another journal, as a second run would."""
    journal = journal_at(file)
    with journal.locked():
        journal.append(WRITE)


def settled() -> Settled:
    return Settled(at=AT, ref=VIEW, remote_id=None)


HARMS: list[Callable[[Path], None]] = [
    removed_folder,
    replaced_folder,
    same_folder_again,
    moved_folder,
    removed_file,
    same_file_again,
    removed_lock,
    replaced_lock,
]


def content_of(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


@pytest.mark.promise("P44")
@pytest.mark.parametrize(
    ("harm", "appended"),
    [
        (harm, appended)
        for harm in HARMS
        for appended in (True, False)
        # There is no file to remove before the first append.
        if appended or harm is not removed_file
    ],
    ids=lambda value: getattr(value, "__name__", "begun" if value else "not-begun"),
)
def test_replaced_during_a_run(
    file: Path, harm: Callable[[Path], None], appended: bool, golden: Golden
) -> None:
    """Once another file or lock stands where a run's own did, that run writes no line any more."""
    journal = journal_at(file)
    with journal.locked():
        if appended:
            journal.append(WRITE)
        harm(file)
        before = content_of(file)

        with pytest.raises(JournalError) as raised:
            journal.append([written(remote_id=42)])
        with pytest.raises(JournalError):
            journal.append([written(remote_id=43)])
        assert content_of(file) == before

    golden(re.sub(r"saved in .*", "saved in FILE", str(raised.value)))
    assert raised.value.exit_code == 8
    # The replaced one is whole, and the next run can use it.
    begin_anew(file)
    assert read(file).entries[-2:] == WRITE


@pytest.mark.promise("P44")
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_replaced_before_compacting(file: Path, harm: Callable[[Path], None]) -> None:
    """A journal that is not the one that was read is not put away either."""
    journal = journal_at(file)
    with journal.locked():
        journal.append(WRITE)
        harm(file)
        before = content_of(file)

        with pytest.raises(JournalError):
            journal.compact(COMPACT)

    assert content_of(file) == before


@pytest.mark.promise("P44")
def test_replaced_while_it_is_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An append into a file that is taken away meanwhile is no append."""

    def reached(at: Point) -> None:
        if at is Point.JOURNAL_WRITTEN:
            file.unlink()

    journal = journal_at(file)
    with journal.locked():
        journal.append(WRITE)
        monkeypatch.setattr(file_store, "reached", reached)
        with pytest.raises(JournalError, match="moved, removed or replaced"):
            journal.append([refused()])

    assert journal.entries == WRITE


@pytest.mark.promise("P44")
def test_two_runs_on_one_path(file: Path) -> None:
    """Of two runs whose locks both stood at the path, the one whose lock is gone writes nothing."""
    told: list[str] = []
    first, second = journal_at(file), journal_at(file)
    first.tell = told.append
    with first.locked():
        first.append(WRITE)
        removed_lock(file)
        with second.locked():
            with pytest.raises(JournalError):
                first.append([refused()])
            second.append([settled()])

    assert read(file).entries == [*WRITE, settled()]
    assert told == [f"the lock of {file} was lost before the end of the run"]


@pytest.mark.promise("P44")
def test_lock_taken_away_in_the_moment_it_is_taken(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock whose file is taken away before it is ours is taken again, at the file that stands."""
    real, taken = fcntl.flock, 0

    def flock(descriptor: int, operation: int) -> None:
        nonlocal taken
        taken += 1
        if taken == 1:
            removed_lock(file)
        real(descriptor, operation)

    journal = journal_at(file)
    monkeypatch.setattr(fcntl, "flock", flock)
    with journal.locked():
        monkeypatch.undo()
        with pytest.raises(Locked), journal_at(file).locked():
            pytest.fail("two runs hold one lock")
        journal.append(WRITE)


@pytest.mark.promise("P45")
@pytest.mark.parametrize("place", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("leads", ["outside", "inside", "nowhere"])
@pytest.mark.parametrize("act", ["read", "lock"])
def test_linked_folder(tmp_path: Path, place: str, leads: str, act: str) -> None:
    """Below the project's folder no link leads to a journal, wherever the link leads."""
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (outside, root / "inside"):
        (folder / "b" / "c").mkdir(parents=True)
        (folder / "c").mkdir()
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to({"outside": outside, "inside": root / "inside"}.get(leads, "nowhere"))
    store = FileStore(root / "a" / "b" / "c" / "journal.jsonl", root)

    with pytest.raises(JournalError, match="is a symbolic link") as raised:
        store.read() if act == "read" else store.lock(LEASE)

    assert str(root / place) in str(raised.value)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.promise("P45")
def test_linked_project(tmp_path: Path) -> None:
    """A link above the project's folder is nobody's business: no change of it can bring one."""
    (tmp_path / "real" / "project").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    root = tmp_path / "link" / "project"
    journal = Journal(
        store=FileStore(root / ".reconciler" / "journal.jsonl", root),
        environment="local",
        target="emulator",
        clock=lambda: NO_TIME,
    )

    with journal.locked():
        journal.append(WRITE)

    assert (tmp_path / "real" / "project" / ".reconciler" / "journal.jsonl").is_file()


@pytest.mark.promise("P45")
@pytest.mark.parametrize("command", ["plan", "apply", "drift"])
@pytest.mark.parametrize(("leads", "code"), [("outside", 4), ("project/inside", 8)])
def test_linked_folder_in_a_run(
    workspace: Workspace, tmp_path: Path, command: str, leads: str, code: int
) -> None:
    """A command whose `.reconciler` is a link is refused, names it, and writes nothing there."""
    linked = tmp_path / leads
    linked.mkdir()
    workspace.write("reconciler.yaml", PROJECT.replace(".reconciler/local.db", "local.db"))
    (workspace.root / ".reconciler").symlink_to(linked)

    ran = workspace.apply() if command == "apply" else workspace.run(command)

    assert ran.code == code, ran.err
    assert ".reconciler" in ran.err
    assert " link" in ran.err
    assert list(linked.iterdir()) == []


@pytest.mark.promise("P46")
@pytest.mark.parametrize("first", ["plan", "apply"])
def test_git_leaves_it_out(workspace: Workspace, first: str) -> None:
    """Nothing of a new `.reconciler` is committed by `git add -A`, so nothing blocks a revert."""
    root = workspace.root
    begin(root)
    assert (workspace.apply() if first == "apply" else workspace.run(first)).code == 0
    workspace.write("view.yaml", VIEW_MANIFEST.replace("name: Errors", "name: All errors"))
    committed(root, "edit")
    assert workspace.apply().code == 0

    git(root, "revert", "--no-edit", "HEAD")

    assert git(root, "ls-files").split() == ["reconciler.yaml", "view.yaml"]
    assert git(root, "status", "--porcelain") == ""
    assert workspace.plan()["summary"]["update"] == 1


@pytest.mark.promise("P46")
def test_folder_in_use_is_left_as_it_is(workspace: Workspace) -> None:
    """What stands in a `.reconciler` that is in use is not changed, and no file is added to it."""
    folder = workspace.root / ".reconciler"
    workspace.write(".reconciler/old", "")

    assert workspace.apply().code == 0
    assert not (folder / IGNORE).exists()

    workspace.write(f".reconciler/{IGNORE}", "")
    assert workspace.apply().code == 0
    assert (folder / IGNORE).read_text() == ""


@pytest.mark.promise("P46")
@pytest.mark.parametrize(
    "place", [".reconciler/x.jsonl", ".reconciler/a/b/x.jsonl", "state/x.jsonl", "x.jsonl"]
)
def test_only_our_own_folder(workspace: Workspace, place: str) -> None:
    """Git is told about `.reconciler`, and about no folder that a person named."""
    project = PROJECT.replace(".reconciler/local.db", "data/local.db")
    workspace.write("reconciler.yaml", project.replace(".reconciler/local.journal.jsonl", place))

    assert workspace.apply().code == 0

    found = {path.relative_to(workspace.root): path for path in workspace.root.rglob(IGNORE)}
    ours = [Path(".reconciler") / IGNORE] if place.startswith(".reconciler") else []
    assert list(found) == ours
    assert all(path.read_text(encoding="utf-8") == IGNORED for path in found.values())
